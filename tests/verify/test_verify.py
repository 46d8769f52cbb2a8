"""`sweep verify`: the framework, and the figures of SDND104."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

import sweep.verify
from sweep.errors import SweepError
from sweep.theory.friction_oscillator import asymptotic_wear_power
from sweep.verify import documents
from sweep.verify.record import Check, Column, Picture, Record, Table
from sweep.verify.sdnd104 import compare, plain, tabulated
from sweep.verify.writing import as_json, json_text, markdown, number, save
from tests.command import CHECKOUT, Run
from tests.oracles import penalised_schemes

COMMITTED = CHECKOUT / "results" / "verification"
WINDOW = (4.0, 12.0)


# --- The framework ---


def record(name: str = "paper", found: float = 0.5, **changes: Any) -> Record:
    """A small one, with a cell of each kind."""
    columns = (
        Column("case", "case"),
        Column("power", "mean of N|v|", "W", 4),
        Column("ratio", "ratio", "1", 2),
    )
    rows = (("first", 1.23456e-4, None), ("second", 15.26709959, math.nan), ("third", 0.0, -1.0))
    fields: dict[str, Any] = {
        "name": name,
        "title": "A paper",
        "source": "somebody",
        "tables": (Table("powers", "Powers", columns, rows),),
        "notes": ("A note.",),
        "checks": (Check("half is below one", found, 1.0), Check("none is none", 0.0, 0.0, "W")),
    }
    return Record(**(fields | changes))


def draw(path: Path) -> None:
    path.write_bytes(b"a picture")


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Record]:
    """Documents whose records are at hand, instead of those that are computed."""
    made = {
        "newspaper": record("newspaper"),
        "paper": record(pictures=(Picture("p.png", "p", draw),)),
    }
    known = {name: lambda each=each: each for name, each in made.items()}
    monkeypatch.setattr(sweep.verify, "documents", lambda: known)
    return made


def test_documents_are_found_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "abstract.py").write_text("def compare(): return 'a record'\n")
    (tmp_path / "abacus.py").write_text("def count(): return 1\n")
    monkeypatch.setattr(sweep.verify, "__path__", [*sweep.verify.__path__, str(tmp_path)])
    known = documents.__wrapped__()
    for name in ("abstract", "abacus"):
        monkeypatch.delitem(sys.modules, f"sweep.verify.{name}")
    assert known["abstract"]() == "a record"
    assert {"abstract", "sdnd104"} <= set(known)
    assert not {"abacus", "record", "writing", "runs"} & set(known)
    assert list(known) == sorted(known)


def test_every_document_has_its_record_committed() -> None:
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
def test_numbers_as_texts(value: float, digits: int, text: str) -> None:
    assert number(value, digits) == text


def test_markdown_has_units_digits_and_no_stray_bars() -> None:
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
    told = json.loads(json_text(record()))
    assert told["tables"][0]["rows"] == [
        {"case": "first", "power": 1.235e-4, "ratio": None},
        {"case": "second", "power": 15.27, "ratio": None},
        {"case": "third", "power": 0.0, "ratio": -1.0},
    ]
    assert told["tables"][0]["columns"][1] == {
        "name": "power",
        "title": "mean of N|v|",
        "unit": "W",
    }
    assert (told["holds"], told["verdict"]) == (True, "All 2 checks hold.")


@pytest.mark.parametrize("found", [1.5, math.nan])
def test_a_check_that_does_not_hold(found: float) -> None:
    failed = record(found=found)
    assert not failed.holds
    assert failed.verdict == "1 of 2 checks do not hold."
    assert "| NO |" in markdown(failed)


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="table powers: a row is not of 1 cells"):
        Table("powers", "Powers", (Column("power", "power", "W"),), ((1.0, 2.0),))


def test_files_are_the_same_every_time_and_nothing_else_is_left(tmp_path: Path) -> None:
    made = record(pictures=(Picture("paper.png", "A picture", draw),))
    first = {path: path.read_bytes() for path in save(made, tmp_path / "a" / "b")}
    again = {path: path.read_bytes() for path in save(made, tmp_path / "a" / "b")}
    assert first == again
    assert sorted(path.name for path in first) == ["paper.json", "paper.md", "paper.png"]
    assert set((tmp_path / "a" / "b").iterdir()) == set(first)
    assert b"\r" not in first[tmp_path / "a" / "b" / "paper.md"]


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SweepError, match=r"cannot write to .*file.*name another -o"):
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
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep.verify, "documents", lambda: {"paper": lambda: record(found=2.0)})
    status, out, _ = run("verify")
    assert status == 1
    assert "1 of 2 checks do not hold." in out
    assert (tmp_path / "results" / "verification" / "paper.md").is_file()


# --- SDND104 ---


@pytest.fixture(scope="module")
def sdnd104() -> dict[str, Any]:
    """A fresh run, as plain values."""
    return as_json(compare())


def rows(told: dict[str, Any], table: str, **wanted: object) -> list[dict[str, Any]]:
    (found,) = (each["rows"] for each in told["tables"] if each["name"] == table)
    return [row for row in found if wanted.items() <= row.items()]


def test_the_committed_record_is_that_of_a_fresh_run(sdnd104: dict[str, Any]) -> None:
    kept = json.loads((COMMITTED / "sdnd104.json").read_text(encoding="utf-8"))
    for fresh, committed in zip(sdnd104["tables"], kept["tables"], strict=True):
        assert fresh == committed
    assert sdnd104 == kept


def test_every_check_holds(sdnd104: dict[str, Any]) -> None:
    assert [check for check in sdnd104["checks"] if check["holds"] != "yes"] == []
    assert sdnd104["holds"]


def test_the_numbers_of_the_table_are_those_of_the_longer_window(sdnd104: dict[str, Any]) -> None:
    """Against 50-digit arithmetic; the document's own numbers are these, rounded."""
    wanted = {
        15.0: (15.267099589372, 15.257521793944, 15.266764915376),
        1.5: (0.40906245101571, 0.40910313286351, 0.409062758890),
        1.01: (2.2616412127979e-4, 2.2644718025511e-4, 2.2616412588e-4),
        0.99: (0.0, 0.0, 0.0),
    }
    for row in rows(sdnd104, "reference"):
        longer, shorter, sprung = wanted[row["base_acceleration"]]
        assert row["exact"] == pytest.approx(longer, rel=1e-12, abs=0)
        assert row["exact_shorter"] == pytest.approx(shorter, rel=1e-12, abs=0)
        assert row["sprung"] == pytest.approx(sprung, rel=1e-10, abs=0)
        assert row["document"] == pytest.approx(longer, rel=2e-7, abs=0)
        assert not longer or abs(row["document"] / shorter - 1) > 5e-5


def test_with_time_added_up_the_values_published_since_come_out(sdnd104: dict[str, Any]) -> None:
    """To the last of their 12 digits."""
    wanted = {15.0: 15.2667964799, 1.5: 0.409077335988, 1.01: 2.26326449113e-4, 0.99: 0.0}
    for row in rows(sdnd104, "since"):
        value = wanted[row["base_acceleration"]]
        assert (row["published"], row["drifting"]) == (value, value)


def test_nothing_wears_at_the_least_acceleration(sdnd104: dict[str, Any]) -> None:
    for table in ("columns", "windows", "equal_steps", "since", "tabulated"):
        for row in rows(sdnd104, table, base_acceleration=0.99):
            assert {row[key] for key in ("ours", "time_mean", "blocks", "table") if key in row} == {
                0
            }


def test_shares_add_up_to_what_is_printed(sdnd104: dict[str, Any]) -> None:
    for row in rows(sdnd104, "shares"):
        mean = row["exact"] + row["spring"] + row["law_and_scheme"]
        assert mean == pytest.approx(row["time_mean"], rel=1e-7)
        assert mean + row["gaps"] == pytest.approx(row["printed"], rel=1e-7)
    (row,) = rows(sdnd104, "shares", base_acceleration=15.0)
    assert (row["spring"], row["law_and_scheme"], row["gaps"]) == pytest.approx(
        (-3.35e-4, 6.23e-4, -5.92e-4), abs=5e-7
    )


def test_only_the_greater_stiffness_gives_the_published_values(sdnd104: dict[str, Any]) -> None:
    for row in rows(sdnd104, "stiffness")[:3]:
        assert abs(row["used_relative"]) < 1e-11
        assert abs(row["named_relative"]) > 1e-5


def test_two_column_values_come_of_no_variant(sdnd104: dict[str, Any]) -> None:
    for row in rows(sdnd104, "unexplained"):
        assert row["least"] < row["greatest"] < row["document"] * (1 - 2e-3)


def test_greatest_differences_of_the_document_and_of_its_columns(sdnd104: dict[str, Any]) -> None:
    """By hand from the printed columns, in per cent."""
    wanted = [
        (0.0065, 100 * (15.26709959 - 15.2655) / 15.26709959),
        (0.0078, 100 * (0.409071 - 0.40906245) / 0.40906245),
        (2.45, 100 * (2.31715 - 2.261641) / 2.261641),
    ]
    found = [(row["document"], row["columns"]) for row in rows(sdnd104, "greatest")[:3]]
    for (printed, of_columns), (document, by_hand) in zip(found, wanted, strict=True):
        assert printed == document
        assert of_columns == pytest.approx(by_hand, rel=5e-3)


# --- The excitation from a table ---


def steady(a0: float) -> float:
    return float(asymptotic_wear_power(1.0, 10.0, 0.1, a0, 2 * math.pi))


@pytest.mark.parametrize(("a0", "shift"), [(1.5, -2.4e-5), (1.01, -9.5e-4)])
def test_the_shift_of_the_table_falls_with_the_square_of_its_intervals(
    a0: float, shift: float
) -> None:
    """The limit is the closed form of stick-slip: [4, 12] s is eight whole periods."""
    coarse, fine = (
        tabulated.wear_power(a0, WINDOW, intervals) / steady(a0) - 1
        for intervals in (10_000, 40_000)
    )
    assert coarse == pytest.approx(shift, rel=0.03)
    assert coarse / fine == pytest.approx(16, rel=0.01)


def test_a_mass_that_always_slips_under_a_fine_table() -> None:
    power = tabulated.wear_power(15.0, WINDOW, 100_000)
    assert power == pytest.approx(15.267099589372, rel=1e-7)


@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_plain_schemes_are_those_of_the_oracle(scheme: str) -> None:
    """With the table, over one period with slip and stick."""
    sine = tabulated.sine_table()
    point = {
        "m": 1, "g": 10, "mu": 0.1, "k": 3e-5, "c": 0, "a0": 1.5, "w": 2 * math.pi,
        "av": 0, "phi": 0, "t0": 0.25, "t1": 1.25,
    }  # fmt: skip
    settings: dict[str, Any] = {"step": 1e-4, "tangential_stiffness": 9e6, "blocks": 8}

    def of_angle(angle: float) -> float:
        return sine(angle / (2 * math.pi))

    wanted = penalised_schemes.run(scheme, point, sine=of_angle, **settings)
    assert wanted is not None
    found = plain.wear_power(getattr(plain, scheme), 1.5, sine, (0.25, 1.25))
    assert found == pytest.approx(wanted["wear_power"], rel=1e-11)


@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_plain_schemes_are_those_of_the_kernels(scheme: str, sdnd104: dict[str, Any]) -> None:
    name = {"euler": "EULER", "devogelaere": "DEVOGE"}[scheme]
    (row,) = rows(sdnd104, "columns", base_acceleration=1.5, method=name)
    found = plain.wear_power(getattr(plain, scheme), 1.5, tabulated.true_sine, WINDOW)
    assert found == pytest.approx(row["ours"], rel=1e-11)
