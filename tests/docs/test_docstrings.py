"""The examples in docstrings run, in an empty folder."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from tests.command import CHECKOUT

WITH_EXAMPLES = [
    ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((CHECKOUT / "sweep").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.broad
@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(import_module(module))
    assert results.attempted > 0
    assert results.failed == 0


def test_those_of_the_package_are_among_them() -> None:
    assert "sweep" in WITH_EXAMPLES
