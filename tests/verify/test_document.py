"""Records from a document's files: CSV figures, columns and checks, and the prose template."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sweep.verify import documents
from sweep.verify.document import Rows, constants, csv_rows, figures, record_of
from tests.command import CHECKOUT

FOLDERS = [CHECKOUT / "sweep" / "verify" / name for name in documents()]
SHIPPED = [path for folder in FOLDERS for path in folder.glob("*.csv")]
SETTINGS = ("tables.csv", "columns.csv", "checks.csv")  # the files that are not published figures
BY_ROWS = ("sdnd101", "sdnd106", "zzzz405a")  # whose rows are named, not numbered

TABLES = """name,title,rows
powers,Powers,methods
"""
COLUMNS = """table,name,title,unit,digits,resolution,figure
powers,method,method,,,,
powers,ours,ours,W,6,,
powers,theirs,theirs,W,6,,published
powers,difference,difference,W,3,1e-9,ours - theirs
powers,relative,relative,1,3,,ours / theirs
"""
CHECKS = """claim,cell,target,bound,unit,resolution
euler,powers|euler|relative,0,0.3,1,
all,powers|*|ours,1,1,W,
other,other,1.5,1,W,
"""
RECORD = """# A paper

An author,
2020

- Euler gives {powers|euler|ours:3} W,
  {powers|euler|relative:+.0%} off.
- Nothing {{braced}} but {other:.1f}.
"""


METHODS: Rows = {
    "methods": [
        {"method": "euler", "ours": 1.25, "published": 1.0, "unused": 3.0},
        {"method": "none", "ours": 0.5, "published": 0.0, "unused": None},
    ]
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "paper"
    folder.mkdir()
    tables = {"tables.csv": TABLES, "columns.csv": COLUMNS}
    for name, text in {**tables, "checks.csv": CHECKS, "record.md": RECORD}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_record_of_a_folder(folder: Path) -> None:
    record = record_of(folder, METHODS, {"other": 2.0})
    assert (record.name, record.title, record.source) == ("paper", "A paper", "An author, 2020")
    assert record.tables[0].rows == (
        {"method": "euler", "ours": 1.25, "theirs": 1.0, "difference": 0.25, "relative": 0.25},
        {"method": "none", "ours": 0.5, "theirs": 0.0, "difference": 0.5, "relative": None},
    )
    assert [(c.claim, c.value, c.bound, c.unit) for c in record.checks] == [
        ("euler", 0.25, 0.3, "1"),
        ("all", 0.5, 1.0, "W"),
        ("other", 0.5, 1.0, "W"),
    ]
    assert record.notes == ("Euler gives 1.25 W, +25% off.", "Nothing {braced} but 2.0.")


@pytest.mark.parametrize(
    "address",
    ["powers|heun|ours", "power|euler|ours", "powers|none|relative", "powers|euler|method"],
)
def test_a_citation_of_no_number_fails(folder: Path, address: str) -> None:
    row = f"claim,{address},0,1,1,\n"
    (folder / "checks.csv").write_text(CHECKS.splitlines()[0] + "\n" + row)
    with pytest.raises(KeyError, match="power"):
        record_of(folder, METHODS, {"other": 2.0})


def test_a_figure_that_the_prose_lacks_fails(folder: Path) -> None:
    with pytest.raises(KeyError, match="other"):
        record_of(folder, METHODS)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("key,power\n15,1.0,2.0\n", "line 2"),
        ("key,power,unit\n15,1.0\n", "line 2: 2 cells"),
        ("key,power\n15,1,0\n", "line 2"),
        ("key,power\n15,1.0\n1.5,fast\n", "line 3: could not convert string to float: 'fast'"),
        ("key,power\n15,\n", "line 2: could not convert"),
        ("key,power\n15,1.0\n15,2.0\n", "line 3: '15' has a row already"),
        ("key,power,power\n15,1.0,2.0\n", "two columns are called 'power'"),
        ("key,power\n", "no rows"),
        ("", "empty"),
    ],
)
def test_a_malformed_file_of_figures_fails(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "powers.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=fault) as caught:
        figures(path, float)
    assert "powers.csv" in str(caught.value)


def test_comments_are_skipped_and_constants_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "constants.csv"
    path.write_text("# SI units\nname,value\n# section 1\nmass,1\nspring,3e-5\n")
    assert constants(path) == {"mass": 1.0, "spring": 3e-5}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_shipped_file_is_well_formed(path: Path) -> None:
    assert csv_rows(path)
    if path.name not in SETTINGS and path.parent.name not in BY_ROWS:
        key: Callable[[str], object] = str
        assert all(figures(path, key).values())
