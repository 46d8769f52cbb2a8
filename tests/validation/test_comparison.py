"""What no committed record has: checks that fail, and files and figures that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validation import __main__ as command
from tests.validation.comparison import Ours, figures, json_text, markdown, record_of

COLUMNS = """table,name,title,unit,digits,resolution,figure
powers,method,method,,,,
powers,ours,ours,W,4,,
powers,relative,relative,1,3,,ours / published - 1
"""
CHECKS = """claim,cell,target,bound,unit,resolution
euler,powers|euler|relative,0,0.3,1,
all,powers|*|ours,1,0.4,W,
"""
TEMPLATE = """# A paper

An author

## The powers

powers

## Notes

- Euler gives {powers|euler|ours:3} W.
"""
ROWS = [
    {"method": "euler", "ours": 1.23456, "published": 1.0},
    {"method": "none", "ours": 0.5, "published": 0.0},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"columns.csv": COLUMNS, "checks.csv": CHECKS, "record.md": TEMPLATE}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_record_with_a_failed_check(folder: Path) -> None:
    record = record_of(folder, Ours({"powers": ROWS}))
    assert not record["holds"]
    assert {
        "1 of 2 checks do not hold.",
        "| euler | 0.23 | 0.3 | 1 | yes |",
        "| all | 0.5 | 0.4 | W | NO |",
        "| none | 0.5 | – |",
        "- Euler gives 1.23 W.",
    } <= set(markdown(record).splitlines())


@pytest.mark.parametrize("holds", [True, False])
def test_a_failed_check_is_the_exit_status(
    holds: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = {"claim": "no wear", "found": 1.0, "bound": 0.0, "unit": "W", "holds": "NO"}
    record = {"holds": holds, "verdict": "…", "checks": [check][holds:]}
    for name, value in {"compute": None, "record_of": record, "save": None}.items():
        monkeypatch.setattr(command, name, lambda *_, value=value: value)
    assert command.main(["sdnd100"]) == (0 if holds else 1)
    assert ("no wear: 1.0 > 0.0 W" in capsys.readouterr().out) is not holds


def test_an_unknown_document_is_refused() -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["sdnd14"])


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_figure_that_is_not_finite_fails(folder: Path, wrong: float) -> None:
    rows = [{**row, "ours": wrong} for row in ROWS]
    with pytest.raises((ValueError, OverflowError)):
        json_text(record_of(folder, Ours({"powers": rows})))


@pytest.mark.parametrize(
    "address",
    ["powers|heun|ours", "power|euler|ours", "powers|none|relative", "powers|euler|method", "it"],
)
def test_a_citation_of_no_number_fails(folder: Path, address: str) -> None:
    (folder / "checks.csv").write_text(f"{CHECKS}claim,{address},0,1,1,\n", encoding="utf-8")
    with pytest.raises((KeyError, NameError, TypeError, ValueError)):
        record_of(folder, Ours({"powers": ROWS}))


@pytest.mark.parametrize("rows", ["m,1,0\n", "m\n", "m,\n", "m,1\nm,2\n"])
def test_a_malformed_file_of_figures_fails(tmp_path: Path, rows: str) -> None:
    (tmp_path / "figures.csv").write_text(f"name,value\n{rows}")
    with pytest.raises((ValueError, AssertionError)):
        figures(tmp_path / "figures.csv")
