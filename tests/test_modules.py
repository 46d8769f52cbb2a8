"""Names of modules: a name says which module is meant."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from sweep.model.tables import models

ROOT = Path(__file__).resolve().parents[1]
OF_PYTEST_AND_PYTHON = {"__init__", "__main__", "conftest"}


def test_no_two_public_classes_have_one_name() -> None:
    definition = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "sweep").rglob("*.py")]
    counts = Counter(name for text in texts for name in definition.findall(text))
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("folder", ["sweep", "tests"])
def test_no_two_modules_have_one_name(folder: str) -> None:
    """Except those of a model, which have its name in each room."""
    counts = Counter(file.stem for file in (ROOT / folder).rglob("*.py"))
    repeated = {name for name, count in counts.items() if count > 1}
    assert repeated - OF_PYTEST_AND_PYTHON - models().keys() == set()
