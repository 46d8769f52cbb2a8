"""What a newcomer does wrong: each is answered in one sentence that says what to write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import sweep
from sweep.errors import SweepError
from sweep.model.shipped import configs_folder
from tests.command import Run

SMOKE = configs_folder() / "smoke"
PLACE = "--at friction=0.1 --at base_acceleration=1"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with map.toml and results/map.zarr."""
    folder = tmp_path_factory.mktemp("newcomer")
    (folder / "map.toml").write_text((SMOKE / "wear_power.toml").read_text("utf-8"))
    sweep.run(folder / "map.toml", store=folder / "results" / "map.zarr", progress=False)
    return folder


@pytest.fixture(autouse=True)
def inside(stores: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:  # `run` goes elsewhere
    monkeypatch.chdir(stores)


def listing() -> set[str]:
    return {str(each) for each in Path().iterdir()}


# What is typed, and what the answer says.
TYPED = (
    # Stores and files.
    ("plot map.toml", "is a file, not a store; `sweep run"),
    ("plot map.zarr", "no store", "did you mean 'results/map.zarr'?"),
    ("plot results/map", "no store", "did you mean 'map.zarr'?"),
    ("show results/mpa.zarr", "did you mean 'map.zarr'?"),
    ("run map.tml", "there is no file 'map.tml'", "did you mean 'map.toml'?"),
    ("run wearpower", "did you mean 'wear_power'?"),
    ("run results/map.zarr --set mass=2 -o results/map.zarr", "mass: 1.0 kg", "another store"),
    ("run hanisch_fig3 -o results/map.zarr", "holds another sweep", "give another store"),
    ("extend results/map.zarr hanisch_fig3", "more than longer axes", "in a store of its own"),
    # Where results go.
    ("run map.toml -o map.png", "give 'map.zarr'", "the .png from it by `sweep plot`"),
    ("run map.toml -o map.csv --dry-run", "give 'map.zarr'", "`sweep export`"),
    ("wear results/map.zarr --law edf_mz --years 1 -o w.html", "give 'w.zarr'", "`sweep explore`"),
    ("plot results/map.zarr -o map", "'map' has no suffix of a picture format", ".png"),
    ("explore results/map.zarr -o map.zarr", "no suffix of a page: write 'map.html'"),
    ("export results/map.zarr -o map.xlsx", "unknown suffix: use .nc or .csv or .parquet"),
    ("export results/map.zarr", "missing option '--output' / '-o'"),
    (f"trace map.toml {PLACE} -o motion", "use one of .nc, .zarr, .csv, .png, .pdf, .svg"),
    # Commands and options.
    ("graph map.zarr", "there is no command 'graph'; choose one of run,"),
    ("help", "did you mean '--help'?"),
    ("run map.toml --worker 2", "did you mean '--workers'?"),
    ("run map.toml --out a.zarr", "did you mean '--output'?"),
    ("run map.toml friction=0.2", "write --set friction=0.2"),
    ("trace map.toml friction=0.2", "write --at friction=0.2"),
    ("run map.toml --set friction 0.2", "'0.2' is one argument too many"),
    ("trace map.toml --samples few", "'--samples': give a whole number"),
    ("run map.toml --shard 9/8", "'9/8' is not I/N with whole numbers, I from 1 to N"),
    # Values.
    ("run map.toml --set mass=1m", "override mass: '1m' has the wrong dimension; write a number"),
    ("run map.toml --set gravity=9,81", 'override gravity: \'9,81\' is not', 'write "9.81"'),
    ("run map.toml --set friction=0.1,0.2", "on an axis a list: [0.1,0.2]"),
    ("run map.toml --set gravty=1", "override gravty", "did you mean 'gravity'?"),
    (f"trace map.toml {PLACE} --at mass=[1,2]", "[1, 2] is not one number"),
    ("trace map.toml --at friction=0.1", "Give one value of base_acceleration (at)"),
    ("plot results/map.zarr --at friction=9", "friction = 9 is outside the axis", "0.01 to 1"),
    ("plot results/map.zarr --at fricton=0.1", "did you mean 'friction'?"),
    ("plot results/map.zarr wear_pwer", "did you mean 'wear_power'?"),
    ("fit results/map.zarr", "master curves are fitted to mdr_contact"),
    ("wear results/map.zarr --law archrd --years 1", "--law", "did you mean 'archard'?"),
)  # fmt: skip


@pytest.mark.parametrize("case", TYPED, ids=lambda case: case[0])
def test_a_mistake_on_the_command_line_is_answered(run: Run, case: tuple[str, ...]) -> None:
    typed, *parts = case
    before = listing()
    status, out, err = run(*typed.split())
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert all(part in err for part in parts), err
    assert listing() == before


@pytest.mark.parametrize("typed", ["runn", "run", "run map.toml --set mass=-1"])
def test_a_mistake_is_json_where_that_is_requested(run: Run, typed: str) -> None:
    status, out, err = run(*typed.split(), "--json")
    error = json.loads(out)
    assert (error["event"], error["exit_status"]) == ("error", status)
    assert err.startswith(f"error: {error['message'].splitlines()[0]}")


Call = Callable[[xr.Dataset], object]
map_, store_ = "map.toml", "results/map.zarr"
wrong: Any = sweep  # whose calls no type checker knows

CALLS: dict[str, tuple[Call, str]] = {
    "a parameter as a keyword": (
        lambda _: wrong.run(map_, friction=0.1), "give {'friction': 0.1} as the overrides",
    ),
    "a misspelt option": (lambda _: wrong.run(map_, wrokers=2), "did you mean 'workers'"),
    "a number as overrides": (lambda _: wrong.run(map_, 0.1), 'is not text such as "friction=0.2"'),
    "a unit": (lambda _: sweep.run(map_, {"mass": "1 m"}, store=None), "override mass: '1 m'"),
    "a comma": (lambda _: sweep.load(map_, at={"mass": "1,5"}), 'at mass: .* write "1.5"'),
    "a picture as a store": (lambda _: sweep.run(map_, store="a.png"), "give 'a.zarr'"),
    "another sweep": (lambda _: sweep.run(map_, {"mass": 2}, store=store_), "another store"),
    "results to run": (lambda ds: wrong.run(ds), "these are results, not a sweep; give the sweep"),
    "a file to plot": (lambda _: sweep.plot(map_), "a file, not a store; `sweep run .*` makes"),
    "a store elsewhere": (lambda _: sweep.open_results("map.zarr"), "mean 'results/map.zarr'"),
    "a list for a point": (
        lambda _: wrong.trace(map_, {"friction": [0.1, 0.2]}), "is not one number",
    ),
    "text for a point": (lambda _: wrong.trace(map_, "friction=0.1"), "values by name, as a dict"),
    "an array to export": (lambda ds: wrong.export(ds.wear_power, "a.nc"), "pass the Dataset"),
    "a table of another program": (lambda ds: sweep.export(ds, "a.xlsx"), "use .nc or .csv"),
    "a number to explore": (lambda _: wrong.explore(3), "pass the Dataset that sweep.run returns"),
    "an array to explore": (lambda ds: wrong.explore(ds.wear_power), "pass the Dataset"),
    "a picture of a page": (lambda ds: sweep.explore(ds, "a.png"), "write 'a.html'"),
    "a misspelt output": (
        lambda ds: sweep.explore(ds, outputs="wear_pwer"), "did you mean 'wear_power'",
    ),
    "a misspelt key": (lambda ds: wrong.wear(ds, lwa="archard"), "did you mean 'law'?"),
    "a misspelt method": (lambda ds: sweep.compare(ds, "exat"), "did you mean 'exact'?"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_mistake_in_python_is_answered(name: str) -> None:
    call, answer = CALLS[name]
    results = sweep.open_results(store_)
    before = listing()
    with pytest.raises(SweepError, match=answer):
        call(results)
    assert listing() == before


def test_values_to_fit_are_chosen_by_name() -> None:
    contacts = sweep.run(SMOKE / "hanisch_fig3.toml", store=None)
    with pytest.raises(SweepError, match="Give values by name, as a dict"):
        wrong.fit(contacts, at="delta=1")
