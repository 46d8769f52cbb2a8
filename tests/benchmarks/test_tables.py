"""The tables of speeds in the pages and in `sweep bench` are those of the record."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from sweep.cli import main
from sweep.model.shipped import shipped_configs
from sweep.request.sweeps import Request
from sweep.results.forecast import Speed, recorded_speeds
from tests.benchmarks import gpu_tables, tables
from tests.benchmarks.__main__ import NAMES, RECORD


@pytest.fixture
def record() -> dict[str, Any]:
    contents: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return contents


def test_the_pages_have_what_is_recorded(record: dict[str, Any]) -> None:
    """If not: `python -m tests.benchmarks`, or `...gpu_tables`."""
    assert {*NAMES} == record["benchmarks"].keys()
    pages = gpu_tables.pages(record)
    assert {path.name for path in pages} == {"README.md", "speed.md", "speeds.csv"}
    for page, text in pages.items():
        assert page.read_text(encoding="utf-8") == text


def test_each_gpu_has_a_table() -> None:
    text = tables.SPEED.read_text(encoding="utf-8")
    for record in gpu_tables.records().values():
        assert f"{record['device']['name']}; driver" in text
    assert gpu_tables.records()
    with pytest.raises(ValueError, match="no lines"):
        gpu_tables.with_tables(text.replace(gpu_tables.END, ""))


def test_tables_tell_the_dates(record: dict[str, Any]) -> None:
    other = copy.deepcopy(record)
    other["benchmarks"]["exact_speed"]["date"] = "2026-01-02T03:04:05+00:00"
    last = max(record["benchmarks"][name]["date"][:10] for name in tables.benchmarks())
    for text in tables.pages(other).values():
        assert f"; 2026-01-02 to {last}" in " ".join(text.split())


def test_a_row_without_a_figure_makes_no_table(record: dict[str, Any]) -> None:
    for row in tables.rows():
        other = copy.deepcopy(record)
        entry = other["benchmarks"][row.benchmark]
        entry["figures"] = [each for each in entry["figures"] if each["name"] != row.figure]
        with pytest.raises(KeyError):
            tables.pages(other)


def test_cells_of_a_row() -> None:
    row = tables.Row("b", "grid", in_readme=True, computed="a `grid`")
    figures = [
        figure("grid", 4_449_000, "points/s"),
        figure("grid: ours to scalar build", 10.1, "times"),
        figure("grid, sorted: ours to scalar numba", 3.0, "times"),
    ]
    assert cells(row, figures) == ("a `grid`", "4.4e6 points", "10 × our scalar build")
    figures[1] = figure("grid: ours to scalar numba", 0.796, "times")
    assert cells(row, figures)[2] == "0.80 × scalar numba"
    assert cells(row, [figure("grid", 999.6, "points/s")])[1:] == ("1.0e3 points", "no peer")
    shown = [cells(row, [figure("grid", value, "points/s")])[1] for value in (0.98, 1, 11.4, 131)]
    assert shown == ["0.98 points", "1.0 points", "11 points", "130 points"]


# Shipped since the record was made, on a machine that is not at hand.
NOT_MEASURED = {"atomic_friction", "chain_cycles", "drill_string_map", "earthquake_cycles",
                "gear_rattle", "pendulum_hits", "tube_wear"}  # fmt: skip


def test_every_shipped_sweep_has_a_recorded_speed(record: dict[str, Any]) -> None:
    figures = record["benchmarks"]["shipped_speed"]["figures"]
    recorded = {each["name"]: each["value"] for each in figures}
    known = recorded_speeds()
    assert list(known) == [each for each in shipped_configs() if each not in NOT_MEASURED]
    for name, speed in known.items():
        assert speed.points_per_second == recorded[name]
        assert record["machine"]["compiler"] in speed.machine


def test_sweep_bench_prints_the_record_beside_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def speed_of(request: Request, workers: int) -> Speed:
        return Speed(request.name, "a model", "a method", "here", workers, 1234.0)

    monkeypatch.setattr("sweep.cli.actions.bench_action.speed_of", speed_of)
    recorded = recorded_speeds()["wear_power"]
    smoke = str(tables.ROOT / "configs" / "smoke" / "sdnd122.toml")

    assert main(["bench", "wear_power", smoke, "--json"]) == 0
    shipped, own = json.loads(capsys.readouterr().out)
    assert shipped["points_per_second"] == 1234.0
    assert shipped["recorded"]["points_per_second"] == recorded.points_per_second
    assert shipped["recorded"]["machine"] == recorded.machine
    assert own["recorded"] is None

    assert main(["bench", smoke, "wear_power"]) == 0
    header, other, line, *_, last = capsys.readouterr().out.splitlines()
    assert header.split()[-2:] == ["computes", "recorded"]
    assert other.split()[-2:] == ["1,230", "points/s"]
    assert line.split()[-2:] == [f"{float(f'{recorded.points_per_second:.3g}'):,.0f}", "points/s"]
    assert last == f"recorded: {recorded.machine}"

    assert main(["bench", "wear_power", "--set", "mass=2"]) == 0
    assert "recorded" not in capsys.readouterr().out


def figure(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit}


def cells(row: tables.Row, figures: list[dict[str, Any]]) -> tuple[str, ...]:
    return tables.cells({"benchmarks": {row.benchmark: {"figures": figures}}}, row)
