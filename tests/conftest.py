"""What several test files share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.command import Run

GPU_TESTS = "test_on_gpu.py"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-gpu", action="store_true", help="a test that needs a GPU fails where none is"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m gpu` reads the GPU's tests alone: they need less to be installed than the others."""
    alone = config.option.markexpr == "gpu" and collection_path.suffix == ".py"
    return True if alone and collection_path.name != GPU_TESTS else None


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command line run in this process and in an empty folder: status, stdout, stderr."""
    from sweep.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        return status, *capsys.readouterr()

    return run
