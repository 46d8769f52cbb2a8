"""Refined sweeps: which cells are halved, the same bits as a grid's, and faults of [refine]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.config import load
from sweep.errors import ConfigError
from sweep.mesh import halved

PARAMETERS = {
    "mass": 1, "gravity": 10, "angular_frequency": 6.25, "window_start": 4, "window_end": 12,
}  # fmt: skip
AXES = {
    "friction": {"geomspace": [0.01, 1.0, 5]},
    "base_acceleration": {"linspace": [0.5, 15.0, 9]},
}
REFINE: Mapping[str, object] = {"output": "regime", "levels": 3}


def document(refine: Mapping[str, object] = REFINE, **changed: object) -> dict[str, object]:
    whole = {"model": "friction_oscillator", "outputs": ["wear_power", "regime"]}
    return whole | {"parameters": PARAMETERS, "axes": AXES, "refine": dict(refine)} | changed


def faults(refine: Mapping[str, object] = REFINE, *overrides: str, **changed: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(document(refine, **changed), overrides)
    return [str(fault) for fault in caught.value.faults]


def same_bits(one: xr.Dataset, other: xr.Dataset) -> bool:
    names = [str(name) for name in (*one.data_vars, *one.coords)]
    return set(names) == {*map(str, other.data_vars), *map(str, other.coords)} and all(
        one[name].values.tobytes() == other[name].values.tobytes() for name in names
    )


def finest(refined: xr.Dataset, levels: int, axes: Mapping[str, object]) -> dict[str, object]:
    """The [axes] of the whole finest grid, each value one of the refined sweep's own."""
    lattices: dict[str, object] = {}
    for name, axis in axes.items():
        coarse = np.unique(refined[name].values[refined["level"].values == 0])
        assert isinstance(axis, Mapping)
        fine = halved(coarse, levels, geometric="geomspace" in axis)
        lattices[name] = {"values": fine.tolist()}
    return lattices


def at_points(grid: xr.Dataset, refined: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """The points of a grid that a refined sweep has, in its order."""
    places = {
        name: xr.DataArray(np.searchsorted(grid[name].values, refined[name].values), dims="point")
        for name in names
    }
    found = grid.isel(places)
    for name in names:  # otherwise searchsorted has found a neighbour
        np.testing.assert_array_equal(found[name].values, refined[name].values)
    return found


# The same bits as the same points of a grid.


@pytest.mark.parametrize(
    "axes",
    [
        {"base_acceleration": {"values": [0.5, 3.0, 15.0]}},
        AXES,
        {**AXES, "vertical_acceleration": {"linspace": [0.0, 6.0, 3]}},
    ],
    ids=["one axis", "two axes", "three axes"],
)
def test_points_have_the_bits_of_the_same_points_of_a_grid(axes: Mapping[str, object]) -> None:
    parameters = PARAMETERS if "friction" in axes else {**PARAMETERS, "friction": 0.3}
    levels = 2 if len(axes) == 3 else 3
    asked = document({"output": "regime", "levels": levels}, axes=axes, parameters=parameters)
    refined = sweep.run(asked, store=None)
    whole = {key: value for key, value in asked.items() if key != "refine"}
    grid = sweep.run({**whole, "axes": finest(refined, levels, axes)}, store=None)
    assert refined.sizes["point"] < grid["regime"].size
    found = at_points(grid, refined, list(axes))
    for name in ("wear_power", "regime", "status"):
        assert found[name].values.tobytes() == refined[name].values.tobytes()


@pytest.mark.parametrize("changed", [{"workers": 2, "chunk_points": 7}, {"chunk_points": 1}])
def test_chunks_and_workers_change_no_bit(changed: Mapping[str, object]) -> None:
    whole = sweep.run(document(), store=None)
    assert same_bits(whole, sweep.run(document(run=changed), store=None))


def test_store_holds_what_memory_holds_and_is_left_alone(tmp_path: Path) -> None:
    inside = sweep.run(document(), store=None)
    path = tmp_path / "a.zarr"
    kept = sweep.run(document(), store=path)
    assert same_bits(inside, kept)
    assert kept.attrs == inside.attrs
    assert list(kept.coords) == list(inside.coords)
    assert kept["level"].dtype == np.uint8
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "a.zarr",
        "a.zarr.lock",
        "a.zarr.log",
    ]
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    again = sweep.run(document(), store=path)
    assert same_bits(inside, again)
    assert before == {file: file.stat().st_mtime_ns for file in path.rglob("*")}


def test_results_open_without_a_warning_in_plain_xarray(tmp_path: Path) -> None:
    sweep.run(document(), store=tmp_path / "a.zarr")
    plain = xr.open_zarr(tmp_path / "a.zarr")
    assert plain["regime"].dims == ("point",)
    assert {"level", "friction", "base_acceleration"} <= set(plain.coords)


def test_levels_are_those_of_the_halved_axes_in_order() -> None:
    found = sweep.run(document(), store=None)
    levels = found["level"].values
    assert np.all(np.diff(levels.astype(int)) >= 0)
    assert np.count_nonzero(levels == 0) == 5 * 9
    for level in range(1, 4):
        coarser = finest(found, level - 1, AXES)
        on_coarser = np.ones(levels.size, bool)
        for name, axis in coarser.items():
            on_coarser &= np.isin(found[name].values, axis["values"])  # type: ignore[index]
        np.testing.assert_array_equal(on_coarser, levels < level)


def test_middles_are_geometric_means_of_geomspace_and_arithmetic_ones_else() -> None:
    np.testing.assert_array_equal(halved(np.array([1.0, 2.0, 4.0]), 1, geometric=False),
                                  [1.0, 1.5, 2.0, 3.0, 4.0])  # fmt: skip
    np.testing.assert_array_equal(halved(np.array([1.0, 4.0, 16.0]), 1, geometric=True),
                                  [1.0, 2.0, 4.0, 8.0, 16.0])  # fmt: skip
    np.testing.assert_array_equal(halved(np.array([-16.0, -4.0]), 1, geometric=True),
                                  [-16.0, -8.0, -4.0])  # fmt: skip
    far = halved(np.array([1e-300, 1e300]), 1, geometric=True)
    assert far[1] == pytest.approx(1.0, rel=1e-15)
    assert halved(np.array([-1.7e308, 1.7e308]), 2, geometric=False).tolist() == [
        -1.7e308, -0.85e308, 0.0, 0.85e308, 1.7e308,
    ]  # fmt: skip
