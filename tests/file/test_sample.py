"""Samples: their points against scipy's own sequences, their ranges, their files, their stores."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import qmc

import sweep
from sweep.errors import StoreError
from sweep.file import load
from sweep.model.table import Status
from sweep.points.recipes import fingerprint, recipe
from sweep.request.sweeps import Sweep
from sweep.sampling.drawing import sequence
from sweep.store import Store
from tests.command import Run
from tests.file import documents
from tests.file.documents import PARAMETERS

RANGES = {"friction": {"loguniform": [0.01, 1.0]}, "base_acceleration": {"uniform": [0.5, 15]}}
SOBOL: Mapping[str, object] = {"method": "sobol", "points": 64, "seed": 7, **RANGES}


def document(sample: Mapping[str, object], **changed: object) -> dict[str, object]:
    whole = {"model": "friction_oscillator", "outputs": ["wear_power"]}
    return whole | {"parameters": PARAMETERS, "sample": dict(sample)} | changed


def drawn(sample: Mapping[str, object], *overrides: str) -> Sweep:
    return load(document(sample), overrides).sweep


def columns(sample: Mapping[str, object], *overrides: str) -> Mapping[str, np.ndarray]:
    (axis,) = drawn(sample, *overrides).axes
    assert axis.name == "point"
    return axis.columns


def faults(sample: Mapping[str, object], *overrides: str, **changed: object) -> list[str]:
    return documents.faults(document(sample, **changed), *overrides)


@pytest.mark.parametrize("count", [1, 64, 100])
@pytest.mark.parametrize("seed", [None, 7])
def test_sobol_points_are_scipys_scaled_to_the_ranges(count: int, seed: int | None) -> None:
    sample = {"method": "sobol", "points": count, **RANGES}
    sampled_values = columns(sample if seed is None else {**sample, "seed": seed})
    scramble = seed is not None
    unit = qmc.Sobol(2, scramble=scramble, rng=np.random.default_rng(seed)).random_base2(7)[:count]
    expected = qmc.scale(unit, [0.5, math.log(0.01)], [15, 0.0])  # in the order of the names
    np.testing.assert_array_equal(sampled_values["base_acceleration"], expected[:, 0])
    np.testing.assert_allclose(sampled_values["friction"], np.exp(expected[:, 1]), rtol=1e-14)


def test_every_slice_of_a_latin_hypercube_holds_one_point() -> None:
    unit = sequence("latin_hypercube", 1000, 3, 2).rows(0, 1000)
    for side in unit.T:
        assert sorted(np.floor(side * 1000)) == list(range(1000))


def test_whole_parameters_take_each_whole_value_equally_often() -> None:
    request = {
        "model": "impact_oscillator", "method": "harmonic_balance",
        "parameters": {"mass": 1, "stiffness": 1, "wall_stiffness": 1, "gap": 1, "energy": 1},
        "sample": {"method": "sobol", "points": 4096, "harmonics": {"uniform": [3, 6]}},
    }  # fmt: skip
    (axis,) = load(request).sweep.axes
    values, counts = np.unique(axis.columns["harmonics"], return_counts=True)
    assert values.tolist() == [3, 4, 5, 6]
    assert counts.tolist() == [1024] * 4


def test_equal_seeds_give_equal_points() -> None:
    for method in ("sobol", "random", "latin_hypercube"):
        sample = {**SOBOL, "method": method}
        first, again, other = columns(sample), columns(sample), columns({**sample, "seed": 8})
        for name in RANGES:
            np.testing.assert_array_equal(first[name], again[name])
            assert not np.isin(first[name], other[name]).any()


@pytest.mark.parametrize("method", ["sobol", "random"])
def test_a_shorter_sample_is_the_beginning_of_a_longer_one(method: str) -> None:
    fewer = columns({**SOBOL, "method": method, "points": 50})
    more = columns({**SOBOL, "method": method, "points": 500})
    for name in RANGES:
        np.testing.assert_array_equal(fewer[name], more[name][:50])


def test_the_order_of_keys_does_not_matter() -> None:
    turned = dict(reversed(SOBOL.items()))
    assert recipe(drawn(SOBOL)) == recipe(drawn(turned))
    for name in RANGES:
        np.testing.assert_array_equal(columns(SOBOL)[name], columns(turned)[name])
    prints = {
        fingerprint(recipe(drawn({**SOBOL, **change})))
        for change in (
            {}, {"points": 65}, {"seed": 8}, {"method": "random"},
            {"friction": {"uniform": [0.01, 1.0]}}, {"friction": {"loguniform": [0.02, 1.0]}},
        )
    }  # fmt: skip
    assert len(prints) == 6


def csv(folder: Path, text: str) -> Mapping[str, object]:
    (folder / "points.csv").write_text(text, encoding="utf-8")
    return {"file": str(folder / "points.csv")}


def test_rows_of_a_csv_are_points(tmp_path: Path) -> None:
    sample = csv(
        tmp_path, " \n# two\nfriction, base_acceleration\n0.1, 2\n\n\t \n0.2, 300 cm/s^2\n"
    )
    sampled_values = columns(sample)
    assert {name: values.tolist() for name, values in sampled_values.items()} == {
        "friction": [0.1, 0.2], "base_acceleration": [2.0, 3.0],
    }  # fmt: skip
    made_from = recipe(drawn(sample))["axes"][0]["recipe"]["file"]
    content = b"base_acceleration\0" + np.array([2.0, 3.0]).tobytes()
    content += b"friction\0" + np.array([0.1, 0.2]).tobytes()
    assert made_from["sha256"] == hashlib.sha256(content).hexdigest()


def test_columns_of_a_csv_can_be_chosen(tmp_path: Path) -> None:
    sample = csv(tmp_path, "name,friction,base_acceleration\na,0.1,2\nb,0.2,3\n")
    (fault,) = faults(sample)
    assert fault.startswith(f"[sample] file: the column 'name' of {sample['file']!r} is not a para")
    known = {p.name for p in drawn(SOBOL).parameters} | {"start_cycle", "end_cycle", "normal_force"}
    assert all(f" {name}" in fault for name in known)
    assert fault.endswith("to use only some of the columns, name them: columns = [...]")
    chosen = {**sample, "columns": ["base_acceleration", "friction"]}
    assert set(columns(chosen)) == set(RANGES)


# fmt: off
BROKEN = [
    ({"points": 2 * 10**11}, "200000000000 is not a whole number from 1 to 104,857,600,000"),
    ({"points": 10**7 + 1, "method": "latin_hypercube"},
     "10,000,001 is too many: latin_hypercube draws at most 10,000,000; method = \"sobol\""),
    ({"friction": 0.1}, "[sample] friction: 0.1 is not a table; write friction = { uniform = "),
    ({"friction": {}}, "; give one of uniform, loguniform, normal"),
    ({"friction": {"uniform": [1, 2], "loguniform": [1, 2]}}, "uniform, loguniform exclude each"),
    ({"friction": {"linspace": [0, 1, 5]}}, "[sample] friction: linspace: there is no such key"),
    ({"friction": {"uniform": [1, 0.1]}}, "uniform from 1.0 to 0.1 is empty; give the smaller"),
    ({"friction": {"uniform": [0.1, 0.1]}}, "a single value goes under [parameters]"),
    ({"friction": {"uniform": [-1, 1]}}, "[sample] friction: least: -1 is out of range"),
    ({"friction": {"uniform": [0.1, "1 m"]}}, "[sample] friction: greatest: '1 m' has the wrong"),
    ({"friction": {"loguniform": [0, 1]}}, "friction: loguniform from 0.0 is undefined; give ends"),
    ({"frction": {"uniform": [0.1, 1]}}, "[sample] frction: friction_oscillator has no such param"),
    ({"point": 3}, "[sample] point: friction_oscillator has no such parameter; did you mean 'po"),
]
# fmt: on


@pytest.mark.parametrize(("change", "gist"), BROKEN)
def test_a_faulty_sample_is_reported_with_a_cure(change: Mapping[str, object], gist: str) -> None:
    sample = {key: value for key, value in {**SOBOL, **change}.items() if value is not None}
    (fault,) = faults(sample)
    assert gist in fault


def test_all_faults_of_a_sample_come_at_once() -> None:
    sample = {
        "method": "random", "points": -1, "friction": 3, "phase": {"uniform": [2, 1]}, "x": {},
    }  # fmt: skip
    assert sorted(fault.split(":")[0] for fault in faults(sample)) == [
        "[parameters] base_acceleration", "[sample] friction", "[sample] phase",
        "[sample] points", "[sample] seed", "[sample] x",
    ]  # fmt: skip


def test_a_range_together_with_a_file_is_one_fault(tmp_path: Path) -> None:
    """Though the file has no such column: it is not missing."""
    sample = {**csv(tmp_path, "base_acceleration\n2\n"), "friction": {"uniform": [0.1, 1]}}
    assert faults(sample) == [
        "[sample] friction: cannot be combined with file, whose rows are the points"
    ]


def test_an_empty_sample_and_a_faulty_csv(tmp_path: Path) -> None:
    messages = faults({"method": "sobol", "points": 4}, parameters={**PARAMETERS, "friction": 0.1})
    assert "[sample]: there is no parameter; write friction = " in messages[-1]
    broken = csv(tmp_path, "friction,base_acceleration\n-1,2\n0.1,x\n")
    messages = faults(broken)
    assert [fault.split(":")[0] for fault in messages] == [
        "[sample] base_acceleration", "[sample] friction",
    ]  # fmt: skip
    assert "line 3: 'x' is not a number" in messages[0]
    assert "line 2: -1.0 is out of range" in messages[1]
    assert "is empty" in faults(csv(tmp_path, ""))[0]
    assert "cannot be read" in faults({"file": str(tmp_path / "none.csv")})[0]
    assert "cannot be read" in faults({"file": str(tmp_path / f"{'a' * 300}.csv")})[0]
    decimal_commas = csv(tmp_path, "friction,base_acceleration\n0.1,2,,\n0,25,3,5\n")
    (message,) = faults(decimal_commas)
    assert "line 3: 4 cells, but the header has 2; commas separate cells" in message
    unread = {"file": str(tmp_path)}  # what is missing may stand there
    for sample in (unread, {"file": 3}, {**unread, "columns": [*RANGES]}):
        assert [fault.split(":")[0] for fault in faults(sample)] == ["[sample] file"]
    named = {**csv(tmp_path, "friction,base_acceleration\n0.1,2\n"), "columns": 3}
    assert [fault.split(":")[0] for fault in faults(named)] == ["[sample] columns"]
    (message,) = [fault for fault in faults({**named, "columns": []}) if "[sample]" in fault]
    assert message.startswith("[sample] columns: empty; name at least one")
    assert set(columns({**named, "columns": None})) == set(RANGES)
    assert "[sample] method: missing" in "\n".join(faults({"file": None}))
    assert len(faults(unread, parameters={**PARAMETERS, "mass": -1}, outputs=["x"])) == 3
    twice = csv(tmp_path, "friction,friction,base_acceleration\n1,1,1\n")
    assert "column 'friction' occurs more than once" in faults(twice)[0]


def test_options_change_a_sample(tmp_path: Path) -> None:
    assert drawn(SOBOL, "sample.points=10").grid.shape == (10,)
    assert set(columns(SOBOL, "friction=0.3")) == {"base_acceleration"}
    assert drawn(SOBOL, "friction=0.3").constants["friction"] == 0.3
    assert set(columns(SOBOL, "mass={ uniform = [1, 2] }")) == {*RANGES, "mass"}
    assert set(columns(SOBOL, "sample.mass={ uniform = [1, 2] }")) == {*RANGES, "mass"}
    narrow = columns(SOBOL, "friction={ uniform = [0.1, 0.2] }")["friction"]
    assert 0.1 <= narrow.min() < narrow.max() <= 0.2
    sample = csv(tmp_path, "friction,base_acceleration\n0.1,2\n0.2,3\n")
    assert set(columns(sample, "friction=0.3")) == {"base_acceleration"}
    for name in ("mass", "axes.mass"):
        assert drawn(SOBOL, f"{name}={{ values = [1, 2] }}").grid.dimensions == ("mass", "point")
    moved = drawn(SOBOL, "friction={ values = [0.1, 0.2, 0.3] }")
    assert moved.grid.shape == (3, 64)
    assert set(moved.axes[1].columns) == {"base_acceleration"}
    assert (
        "set a range as a whole: 'mass={ uniform = [least, greatest] }'"
        in faults(SOBOL, "sample.mass.uniform=1")[0]
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "a.zarr"
    sweep.run(document(SOBOL, run={"chunk_points": 10}), store=path)
    return path


def test_a_store_holds_the_points_and_their_recipe(finished: Path) -> None:
    store = Store.open(finished)
    assert store.chunk_shape == (10,)
    (axis,) = store.sweep.axes
    for name, values in columns(SOBOL).items():
        assert axis.columns[name].tobytes() == values.tobytes()
    assert recipe(store.sweep) == recipe(drawn(SOBOL))
    dataset = xr.open_zarr(finished)
    assert dict(dataset.sizes) == {"point": 64}
    assert dataset["friction"].dims == ("point",)
    assert np.all(dataset["status"] == Status.ok)


def test_points_have_the_bits_they_have_in_a_grid(finished: Path) -> None:
    dataset = sweep.open_results(finished)
    for i in (0, 17, 63):
        at = {name: float(dataset[name][i]) for name in RANGES}
        single = {"model": "friction_oscillator", "parameters": {**PARAMETERS, **at}}
        expected = sweep.run(single, store=None)["wear_power"]
        assert dataset["wear_power"][i].values.tobytes() == expected.values.tobytes()


def test_another_sample_at_the_same_place_is_refused(finished: Path, tmp_path: Path) -> None:
    unseeded = {key: value for key, value in SOBOL.items() if key != "seed"}
    for other, gist in (
        ({**SOBOL, "seed": 8}, "seed: 7 in the store, 8"),
        ({**SOBOL, "points": 65}, "points: 64 in the store, 65"),
        ({**SOBOL, "friction": {"loguniform": [0.02, 1.0]}}, r"friction: .*0\.01"),
        (unseeded, "seed: 7 in the store, not given"),
    ):
        with pytest.raises(StoreError, match=f"axis point, {gist}"):
            sweep.run(document(other), store=finished)
    rows = csv(tmp_path, "friction,base_acceleration\n0.1,2\n0.2,3\n")
    for _ in range(2):
        sweep.run(document(rows), store=tmp_path / "rows.zarr")
    rows = csv(tmp_path, "friction,base_acceleration\n0.1,2\n0.2,4\n")
    with pytest.raises(StoreError, match=r"value 2 of base_acceleration is 3\.0 in the store"):
        sweep.run(document(rows), store=tmp_path / "rows.zarr")


def test_an_exported_sample_is_a_sample(run: Run, tmp_path: Path) -> None:
    first = sweep.run(document(SOBOL), store=tmp_path / "a.zarr")
    assert run("export", "a.zarr", "-o", "a.csv")[0] == 0
    again = {"file": str(tmp_path / "a.csv"), "columns": list(RANGES)}
    second = sweep.run(document(again), store=None)
    np.testing.assert_array_equal(second["wear_power"], first["wear_power"])


def test_methods_are_compared_at_the_points_of_a_sample(finished: Path) -> None:
    errors = sweep.compare(str(finished), "exact")
    assert errors["wear_power_error"].shape == (64,)
    assert np.all(errors["wear_power_error"] == 0)
