"""What several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest

from sweep.cli import main
from tests.command import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command line run in this process and in an empty folder: status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        return status, *capsys.readouterr()

    return run
