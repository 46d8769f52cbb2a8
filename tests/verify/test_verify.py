"""`sweep verify`: records, how they are written, and the command."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

import sweep.verify
from sweep.errors import SweepError
from sweep.verify import documents
from sweep.verify.record import Check, Column, Picture, Record, Table
from sweep.verify.writing import as_json, json_text, markdown, number, save
from tests.command import CHECKOUT, Run

COMMITTED = CHECKOUT / "results" / "verification"


def record(name: str = "paper", value: float = 0.5, **changes: Any) -> Record:
    """A small record with a cell of each kind."""
    columns = (
        Column("case", "case"),
        Column("power", "mean of N|v|", "W", 4),
        Column("ratio", "ratio", "1", 2),
    )
    rows = (
        {"case": "first", "power": 1.23456e-4, "ratio": None},
        {"case": "second", "power": 15.26709959, "ratio": math.nan},
        {"case": "third", "power": 0.0, "ratio": -1.0},
    )
    fields: dict[str, Any] = {
        "name": name,
        "title": "A paper",
        "source": "somebody",
        "tables": (Table("powers", "Powers", columns, rows),),
        "notes": ("A note.",),
        "checks": (Check("half is below one", value, 1.0), Check("no wear", 0.0, 0.0, "W")),
    }
    return Record(**(fields | changes))


def draw(path: Path) -> None:
    path.write_bytes(b"a picture")


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Record]:
    """Ready-made records in place of those that are computed."""
    records = {
        "newspaper": record("newspaper"),
        "paper": record(pictures=(Picture("p.png", "p", draw),)),
    }
    known = {name: lambda name=name: records[name] for name in records}
    monkeypatch.setattr(sweep.verify, "documents", lambda: known)
    return records


def test_every_module_with_compare_is_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abstract.py").write_text("def compare(): return 'a record'\n")
    (tmp_path / "abacus.py").write_text("def count(): return 1\n")
    monkeypatch.setattr(sweep.verify, "__path__", [*sweep.verify.__path__, str(tmp_path)])
    known = documents()
    for name in ("abstract", "abacus"):
        monkeypatch.delitem(sys.modules, f"sweep.verify.{name}")
    assert known["abstract"]() == "a record"
    assert {"abstract", "sdnd104"} <= set(known)
    assert not {"abacus", "document", "record", "writing", "runs"} & set(known)
    assert list(known) == sorted(known)


def test_every_document_has_a_committed_record() -> None:
    for name in documents():
        kept = json.loads((COMMITTED / f"{name}.json").read_text(encoding="utf-8"))
        assert kept["name"] == name
        assert kept["holds"] is True
        assert (COMMITTED / f"{name}.md").is_file()
        assert all((COMMITTED / picture["file"]).is_file() for picture in kept["pictures"])


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 4, "0"),
        (-0.0, 4, "0"),
        (2.26326449113e-4, 12, "2.26326449113e-4"),
        (15.2671, 12, "15.2671"),
        (0.40906245101571, 6, "0.409062"),
        (-6.2e-10, 4, "-6.2e-10"),
        (9e6, 3, "9000000"),
        (1.5e9, 3, "1.5e9"),
        (99.999, 3, "100"),
        (9.9999e-4, 3, "0.001"),
        (math.nan, 4, "nan"),
        (math.inf, 4, "inf"),
    ],
)
def test_numbers_are_printed_with_significant_digits(value: float, digits: int, text: str) -> None:
    assert number(value, digits) == text


def test_markdown_has_units_and_digits_and_escapes_bars() -> None:
    text = markdown(record())
    lines = text.splitlines()
    assert r"| case | mean of N\|v\| (W) | ratio |" in lines
    assert "| first | 1.235e-4 | – |" in lines
    assert "| second | 15.27 | nan |" in lines
    assert "| third | 0 | -1 |" in lines
    assert "| half is below one | 0.5 | 1 | 1 | yes |" in lines
    assert "All 2 checks hold." in lines
    assert "- A note." in lines


def test_json_has_rounded_numbers_by_column() -> None:
    plain = json.loads(json_text(record()))
    assert plain["tables"][0]["rows"] == [
        {"case": "first", "power": 1.235e-4, "ratio": None},
        {"case": "second", "power": 15.27, "ratio": None},
        {"case": "third", "power": 0.0, "ratio": -1.0},
    ]
    assert plain["tables"][0]["columns"][1] == {
        "name": "power",
        "title": "mean of N|v|",
        "unit": "W",
    }
    assert (plain["holds"], plain["verdict"]) == (True, "All 2 checks hold.")


@pytest.mark.parametrize("value", [1.5, math.nan])
def test_a_failed_check(value: float) -> None:
    failed = record(value=value)
    assert not failed.holds
    assert failed.verdict == "1 of 2 checks do not hold."
    assert "| NO |" in markdown(failed)


@pytest.mark.parametrize(
    ("value", "text"), [(2.2e-16, "0"), (-4e-16, "0"), (1.26e-12, "1e-12"), (0.25, "0.25")]
)
def test_numbers_are_rounded_to_the_resolution_of_their_column(value: float, text: str) -> None:
    columns = (Column("off", "off", "1", 4, resolution=1e-12),)
    table = Table("differences", "Differences", columns, ({"off": value},))
    verification = record(
        tables=(table,), checks=(Check("equal", abs(value), 1.0, resolution=1e-12),)
    )
    assert f"| {text} |" in markdown(verification).splitlines()
    plain = as_json(verification)
    assert plain["tables"][0]["rows"] == [{"off": float(text)}]
    assert plain["checks"][0]["found"] == float(text)


def test_files_are_the_same_every_time_and_no_others_are_left(tmp_path: Path) -> None:
    verification = record(pictures=(Picture("paper.png", "A picture", draw),))
    first = {path: path.read_bytes() for path in save(verification, tmp_path / "a" / "b")}
    again = {path: path.read_bytes() for path in save(verification, tmp_path / "a" / "b")}
    assert first == again
    assert sorted(path.name for path in first) == ["paper.json", "paper.md", "paper.png"]
    assert set((tmp_path / "a" / "b").iterdir()) == set(first)
    assert b"\r" not in first[tmp_path / "a" / "b" / "paper.md"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SweepError, match=r"file': a file stands .*; choose another folder$"):
        save(record(), tmp_path / "file")


# --- The command ---


def test_an_unknown_document_is_refused_with_the_nearest(run: Run, tmp_path: Path) -> None:
    status, out, err = run("verify", "sdnd14")
    assert (status, out) == (2, "")
    assert "there is no document 'sdnd14'; did you mean 'sdnd104'?" in err
    assert not list(tmp_path.iterdir())


def test_one_document(run: Run, tmp_path: Path, stubs: dict[str, Record]) -> None:
    status, out, err = run("verify", "paper")
    assert (status, err) == (0, "")
    assert "mean of N|v| (W)" in out
    assert "All 2 checks hold." in out
    folder = tmp_path / "results" / "verification"
    assert sorted(each.name for each in folder.iterdir()) == ["p.png", "paper.json", "paper.md"]
    assert (folder / "paper.md").read_text(encoding="utf-8") == markdown(stubs["paper"])


def test_json_of_one_document_is_its_file(
    run: Run, tmp_path: Path, stubs: dict[str, Record]
) -> None:
    status, out, _ = run("verify", "paper", "--json", "-o", "there")
    kept = json.loads((tmp_path / "there" / "paper.json").read_text(encoding="utf-8"))
    assert (status, json.loads(out)) == (0, kept)


def test_without_a_name_all_documents(run: Run, stubs: dict[str, Record]) -> None:
    status, out, _ = run("verify", "--json")
    assert status == 0
    assert [each["name"] for each in json.loads(out)] == ["newspaper", "paper"]


def test_a_failed_check_is_the_exit_status(
    run: Run, tmp_path: Path, stubs: dict[str, Record]
) -> None:
    stubs["paper"] = record(value=2.0)
    status, out, _ = run("verify")
    assert status == 1
    assert "1 of 2 checks do not hold." in out
    assert (tmp_path / "results" / "verification" / "paper.md").is_file()
