"""Sweeps with exact quantiles: values of points, whose cells are never divided."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import xarray as xr
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sweep
from sweep.engine.driver import run_in_store
from sweep.engine.loop import run
from sweep.errors import ConfigError, StoreError
from sweep.file import load
from sweep.file.stored import text_of
from sweep.points.recipes import fingerprint, recipe
from sweep.request.sweeps import MAX_EXACT_POINTS, Reduced
from sweep.results.summary import state
from sweep.store import Arrays, Blocks, Store, remaining, target_of
from tests.command import Run
from tests.oracles import statistics as oracle
from tests.statistics.test_reduced_sweeps import SWEEP, assert_resumed_bits, kill
from tests.store.test_store import tree

LEVELS = ("0.05", "0.5", "0.95")
POINTS = {**SWEEP, "axes": {"base_acceleration": {"linspace": [0.5, 15.0, 5]}}}
REDUCE: Mapping[str, Any] = {
    "wear_power": ["mean", *(f"quantile {level}" for level in LEVELS)],
    "slip_phases": ["quantile 0.5"],
    "regime": ["share"],
}
EXACT: Mapping[str, Any] = {**POINTS, "reduce": {"exact_quantiles": True, **REDUCE}}
TOO_MANY = "a cell has 1,048,577 points, and 1,048,576 can be sorted at once"


@pytest.fixture(scope="module")
def points() -> xr.Dataset:
    return sweep.run(POINTS, store=None)


@pytest.fixture(scope="module")
def cells(points: xr.Dataset) -> xr.Dataset:
    """All cells in one chunk; the quantiles are the oracle's."""
    quantiles = sweep.run(EXACT, store=None)
    for name in ("wear_power", "slip_phases"):
        exact = [
            [oracle.quantile(row.tolist(), level) for level in LEVELS]
            for row in points[name].values
        ]
        np.testing.assert_array_equal(quantiles[f"{name}_quantile"], exact)
    return quantiles


def exact(**tables: Any) -> dict[str, Any]:
    return {**EXACT, **tables}


def binned(**keys: Any) -> dict[str, Any]:
    return {**POINTS, "reduce": {**REDUCE, **keys}}


@pytest.mark.parametrize("chunk_points", [1, 77, 200, 300, 1000, None])
def test_cells_are_never_divided(cells: xr.Dataset, chunk_points: int | None) -> None:
    """Whatever the size of chunks, which have so many whole cells."""
    results = Arrays(load(EXACT).sweep, chunk_points=chunk_points)
    n_cells = 5 if chunk_points is None else -(-chunk_points // 200)
    assert Blocks(results).chunk_shape == (n_cells, 200)
    assert run(target_of(results)).points == 1000
    xr.testing.assert_equal(results.dataset(), cells)


@pytest.mark.broad
@settings(max_examples=4, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    chunk_points=st.integers(50, 1100),
    workers=st.integers(1, 3),
    computed=st.integers(0, 5),
    backends=st.lists(st.sampled_from(["cpu", "gpu"]), min_size=2, max_size=2),
)
def test_chunks_workers_stops_and_backends_change_no_bit(
    cells: xr.Dataset, chunk_points: int, workers: int, computed: int, backends: list[str]
) -> None:
    request = load(exact(run={"workers": workers, "chunk_points": chunk_points}))
    assert_resumed_bits(request, computed, backends, cells)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_are_those_of_a_sort(dtype: Literal["float64", "float32"]) -> None:
    """Of doubles, as they are computed; a quantile is rounded once, if at all."""
    axes = {"base_acceleration": [15.0], "vertical_acceleration": [0.0, 11.0]}
    power = sweep.run({**SWEEP, "axes": axes}, store=None).wear_power.values
    quantiles = sweep.run(exact(axes=axes, dtype=dtype), store=None).wear_power_quantile
    ranks = [int(np.ceil(round(200 * float(level), 9))) - 1 for level in LEVELS]
    expected = np.sort(power, axis=-1)[..., ranks].astype(dtype)
    assert np.isnan(expected[0, 1]).all()  # too much vertical shaking
    assert quantiles.dtype == dtype
    np.testing.assert_array_equal(quantiles, expected)


def test_a_killed_run_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    document = exact(run={"workers": 2, "chunk_points": 40})
    whole, path = tmp_path / "whole.zarr", tmp_path / "killed.zarr"
    sweep.run(document, store=whole)
    assert kill(path, document, 4)
    done = state(Store.open(path)).chunks_done
    assert 0 < done < state(Store.open(path)).chunks_total == 5
    sweep.run(document, store=path)
    assert tree(path) == tree(whole)


def test_a_sample_grows(tmp_path: Path) -> None:
    """All points of its cells are computed again, since they are sorted together."""
    longer = exact(sample={**SWEEP["sample"], "points": 260})
    path = tmp_path / "a.zarr"
    sweep.run(EXACT, store=path, chunk_points=77)
    grown = Store.extend(path, load(longer).sweep)
    assert remaining(grown).points_left == 5 * 260
    assert run(target_of(grown)).points == 5 * 260
    xr.testing.assert_equal(grown.dataset().load(), sweep.run(longer, store=None))


def test_cells_that_have_grown_are_computed_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk of all cells would otherwise need as much more memory."""
    monkeypatch.setattr("sweep.store.blocks.MAX_CHUNK_POINTS", 1000)
    document = {**EXACT, "axes": SWEEP["axes"]}
    longer = {**document, "sample": {**SWEEP["sample"], "points": 300}}
    sweep.run(document, store=tmp_path / "a.zarr", chunk_points=1000)
    blocks = Blocks(Store.extend(tmp_path / "a.zarr", load(longer).sweep))
    sizes = [[part.shape for part in blocks.parts(block)] for block in blocks.pending()]
    two_rows = 2 * [(1, 2, 300), (1, 1, 300)]
    assert sizes == [two_rows, two_rows, [(1, 3, 300)]]
    run(blocks)
    dataset = Store.open(tmp_path / "a.zarr").dataset().load()
    xr.testing.assert_equal(dataset, sweep.run(longer, store=None))


def test_a_store_of_divided_cells_grows_and_resumes(cells: xr.Dataset, tmp_path: Path) -> None:
    """As earlier versions made them: with nodes, which had other kinds of numbers."""
    path = tmp_path / "a.zarr"
    sweep.run(EXACT, store=path)
    group = path / "zarr.json"
    group.write_text(re.sub(r'"stretch": \d+', '"stretch": 50', group.read_text()))
    kept = Store.open(path)
    assert kept.step == 50
    kept.nodes.put("c.0/4", b"what an earlier version knew of a cell")
    assert sweep.run(EXACT, store=path).equals(cells)
    assert remaining(kept).points_left == 0
    longer = load(exact(sample={**SWEEP["sample"], "points": 260})).sweep
    run(target_of(Store.extend(path, longer)))
    xr.testing.assert_equal(
        Store.open(path).dataset().load(),
        sweep.run(exact(sample={**SWEEP["sample"], "points": 260}), store=None),
    )


def too_large() -> dict[str, Any]:
    sample = {**SWEEP["sample"], "method": "random", "points": MAX_EXACT_POINTS + 1}
    return exact(sample=sample)


def test_more_points_of_a_cell_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"exact_quantiles: {TOO_MANY}; remove it"):
        load(too_large())
    most = too_large()["sample"] | {"points": MAX_EXACT_POINTS}
    assert load(exact(sample=most)).sweep.computed_shape == (5, MAX_EXACT_POINTS)
    sample = {**most, "points": 64}
    sweep.run(exact(sample=sample), store=tmp_path / "a.zarr")
    with pytest.raises(ConfigError, match=TOO_MANY):
        sweep.run(too_large(), store=tmp_path / "a.zarr")


def test_the_command_refuses_them_too(run: Run, tmp_path: Path) -> None:
    small = too_large()
    small["sample"] |= {"points": 64}
    (tmp_path / "small.toml").write_text(text_of({**small, "format": 1}))
    (tmp_path / "large.toml").write_text(text_of({**too_large(), "format": 1}))
    assert run("run", "small.toml", "-o", "a.zarr")[0] == 0
    for command in (["run", "large.toml"], ["extend", "a.zarr", "large.toml"]):
        status, _, err = run(*command)
        assert status == 2
        assert f"exact_quantiles: {TOO_MANY}" in err


def test_an_unfinished_store_of_more_points_says_what_can_be_done(run: Run, tmp_path: Path) -> None:
    """An earlier version made it; what it holds can be looked at."""
    made = load({**too_large(), "reduce": REDUCE}).sweep
    assert isinstance(made, Reduced)
    larger = replace(made, exact_quantiles=True)
    kept = Store.create(tmp_path / "a.zarr", larger, provenance={})
    request = replace(load(EXACT), sweep=larger)
    with pytest.raises(StoreError, match=f"{TOO_MANY}; without exact_quantiles, in a store of its"):
        run_in_store(kept, request)
    status, out, _ = run("status", "a.zarr")
    assert (status, "0 of 5,242,885 points done" in out) == (0, True)


@pytest.mark.parametrize("bits", [8, 9, 12])
def test_quantile_bits_bound_the_error(points: xr.Dataset, cells: xr.Dataset, bits: int) -> None:
    for chunk_points in (None, 77):
        quantiles = sweep.run(binned(quantile_bits=bits), store=None, chunk_points=chunk_points)
        for name in ("wear_power", "slip_phases"):
            exact_quantiles = cells[f"{name}_quantile"]
            error = abs(quantiles[f"{name}_quantile"] - exact_quantiles)
            assert (error <= exact_quantiles * 2.0**-bits).all()
    coarse = abs(sweep.run(binned(), store=None).wear_power_quantile - cells.wear_power_quantile)
    fine = abs(quantiles.wear_power_quantile - cells.wear_power_quantile)
    assert (fine.sum() < coarse.sum()) == (bits > 8)


def test_only_given_bits_are_in_the_recipe(tmp_path: Path) -> None:
    """So that fingerprints stay; a store with other bits is another sweep's."""
    without = load(binned()).sweep
    assert "quantile_bits" not in recipe(without)["reduce"]
    prints = {fingerprint(recipe(load(binned(quantile_bits=bits)).sweep)) for bits in range(8, 13)}
    assert len({*prints, fingerprint(recipe(without))}) == 6
    path = tmp_path / "a.zarr"
    nine = sweep.run(binned(quantile_bits=9), store=path).load()
    with pytest.raises(StoreError, match="quantile_bits"):
        sweep.run(binned(), store=path)
    xr.testing.assert_equal(sweep.run(path, store=tmp_path / "b.zarr").load(), nine)


def test_show_says_what_quantiles_are(run: Run, tmp_path: Path) -> None:
    for name, document in (("exact", EXACT), ("bins", binned()), ("ten", binned(quantile_bits=10))):
        sweep.run(document, store=tmp_path / f"{name}.zarr")
    assert re.search(r"quantiles +exact\n", run("show", "exact.zarr")[1])
    assert re.search(r"quantiles +within 0.4 %\n", run("show", "bins.zarr")[1])
    assert re.search(r"quantiles +within 0.1 %\n", run("show", "ten.zarr")[1])
