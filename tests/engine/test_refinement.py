"""Refined sweeps: which cells are halved, the bits of a full grid, and faults of [refine]."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import sweep
from sweep.errors import ConfigError
from sweep.file import load
from sweep.model.table import Status
from sweep.points.mesh import halved
from sweep.points.refinement import first_points, next_points
from sweep.request.sweeps import Refinement
from tests.command import Run
from tests.file.test_sample import PARAMETERS

AXES = {
    "friction": {"geomspace": [0.01, 1.0, 5]},
    "base_acceleration": {"linspace": [0.5, 15.0, 9]},
}
REFINE: Mapping[str, object] = {"output": "regime", "levels": 3}


def document(refine: Mapping[str, object] = REFINE, **changed: object) -> dict[str, object]:
    whole = {"model": "friction_oscillator", "outputs": ["wear_power", "regime"]}
    return whole | {"parameters": PARAMETERS, "axes": AXES, "refine": dict(refine)} | changed


def plain(requested: Mapping[str, object]) -> dict[str, object]:
    """The same grid, not refined."""
    return {key: value for key, value in requested.items() if key != "refine"}


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
    """The [axes] of the whole finest grid, in the refined sweep's own values."""
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
    grid_points = grid.isel(places)
    for name in names:  # otherwise searchsorted found a neighbour
        np.testing.assert_array_equal(grid_points[name].values, refined[name].values)
    return grid_points


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
    requested = document({"output": "regime", "levels": levels}, axes=axes, parameters=parameters)
    refined = sweep.run(requested, store=None)
    grid = sweep.run({**plain(requested), "axes": finest(refined, levels, axes)}, store=None)
    assert refined.sizes["point"] < grid["regime"].size
    grid_points = at_points(grid, refined, list(axes))
    for name in ("wear_power", "regime", "status"):
        assert grid_points[name].values.tobytes() == refined[name].values.tobytes()


@pytest.mark.parametrize("changed", [{"workers": 2, "chunk_points": 7}, {"chunk_points": 1}])
def test_chunks_and_workers_change_no_bit(changed: Mapping[str, object]) -> None:
    whole = sweep.run(document(), store=None)
    assert same_bits(whole, sweep.run(document(run=changed), store=None))


def test_a_store_holds_the_same_as_memory_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    inside = sweep.run(document(), store=None)
    path = tmp_path / "a.zarr"
    kept = sweep.run(document(), store=path)
    assert same_bits(inside, kept)
    assert kept.attrs == inside.attrs
    assert list(kept.coords) == list(inside.coords)
    assert kept["level"].dtype == np.uint8
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {"a.zarr", "a.zarr.lock", "a.zarr.log"}
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")}
    again = sweep.run(document(), store=path)
    assert same_bits(inside, again)
    assert before == {file: file.stat().st_mtime_ns for file in path.rglob("*")}


def test_coarse_points_come_first_and_levels_are_those_of_the_halved_axes() -> None:
    refined = sweep.run(document(), store=None)
    levels = refined["level"].values
    assert ((levels == 0) == (np.arange(levels.size) < 5 * 9)).all()
    for level in range(1, 4):
        coarser = finest(refined, level - 1, AXES)
        on_coarser = np.ones(levels.size, bool)
        for name, axis in coarser.items():
            on_coarser &= np.isin(refined[name].values, axis["values"])
        np.testing.assert_array_equal(on_coarser, levels < level)


def test_midpoints_are_geometric_means_for_geomspace_and_else_arithmetic() -> None:
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


# Which cells are halved.


def brute_force(
    counts: Sequence[int], levels: int, codes: NDArray[Any], numbers: NDArray[Any], span: float
) -> set[tuple[int, ...]]:
    """The points by the rule as documented, cell by cell and point by point."""
    Cell = tuple[int, tuple[int, ...]]  # level, first corner on the finest lattice

    def box(cell: Cell) -> list[tuple[int, int]]:
        size = 2 ** (levels - cell[0])
        return [(start, start + size) for start in cell[1]]

    def corners(cell: Cell) -> set[tuple[int, ...]]:
        return set(itertools.product(*box(cell)))

    def unlike(cell: Cell) -> bool:
        edge = [
            p for p in known if all(a <= x <= b for x, (a, b) in zip(p, box(cell), strict=True))
        ]
        spread = [numbers[p] for p in edge if not np.isnan(numbers[p])]
        wide = bool(spread) and max(spread) - min(spread) > span
        return len({codes[p] for p in edge}) > 1 or wide

    def touch(one: Cell, other: Cell) -> bool:
        pairs = zip(box(one), box(other), strict=True)
        return all(a <= d and c <= b for (a, b), (c, d) in pairs)

    whole = 2**levels
    starts = itertools.product(*(range(0, (n - 1) * whole, whole) for n in counts))
    cells: set[Cell] = {(0, start) for start in starts}
    known = {point for cell in cells for point in corners(cell)}
    while True:
        chosen = {cell for cell in cells if cell[0] < levels and unlike(cell)}
        if not chosen:
            return known
        spreading = [cell for cell in chosen if cell[0] < levels - 1]
        chosen |= {
            cell for cell in cells for each in spreading if cell[0] <= each[0] and touch(cell, each)
        }
        for cell in chosen:
            half = 2 ** (levels - cell[0] - 1)
            steps = itertools.product((0, half), repeat=len(counts))
            cells |= {(cell[0] + 1, tuple(np.add(cell[1], step).tolist())) for step in steps}
        cells -= chosen
        known |= {point for cell in cells for point in corners(cell)}


NAMES = ("friction", "base_acceleration", "vertical_acceleration", "phase")


def refined_points(
    counts: Sequence[int], levels: int, codes: NDArray[Any], numbers: NDArray[Any], share: float
) -> set[tuple[int, ...]]:
    """The points by the same rule, extended step by step from values on the finest grid.

    A random permutation of what was added last must not matter: points know where they are.
    """
    random, places = np.random.default_rng(3), list[NDArray[np.intp]]()
    names = NAMES[: len(counts)]
    axes = {name: {"linspace": [0.5, 4.5, n]} for name, n in zip(names, counts, strict=True)}
    others = {"friction": 0.3, "base_acceleration": 3.0}
    constants = {name: value for name, value in others.items() if name not in names}
    refinement = Refinement(("regime", "wear_power"), levels, share)
    coarse = load(plain(document(axes=axes, parameters={**PARAMETERS, **constants}))).sweep
    (points,) = first_points(coarse, refinement).grid.axes
    lattice = [
        halved(axis.columns[name][:], levels, geometric=False)
        for name, axis in zip(names, coarse.grid.axes, strict=True)
    ]
    while True:
        columns = zip(names, lattice, strict=True)
        places = [np.searchsorted(values, points.columns[name][:]) for name, values in columns]
        known = {
            "status": np.zeros(points.size, np.uint8),
            "regime": codes[tuple(places)].astype(np.uint8),
            "wear_power": numbers[tuple(places)],
        }
        longer = next_points(coarse.grid, refinement, points, known)
        if longer is None:
            return set(zip(*(place.tolist() for place in places), strict=True))
        new = points.size + random.permutation(longer.size - points.size)
        order = np.concatenate([np.arange(points.size), new])
        assert longer.levels is not None
        columns = {name: values[:][order] for name, values in longer.columns.items()}
        points = replace(longer, columns=columns, levels=longer.levels[order])


@pytest.mark.parametrize(
    ("counts", "levels"), [((4,), 4), ((2, 3), 3), ((3, 4), 2), ((2, 2, 3), 2), ((4, 2, 2, 2), 1)]
)
def test_the_rule_by_brute_force(counts: tuple[int, ...], levels: int) -> None:
    """On classes with tongues and islands, and on varying numbers, some of them missing."""
    shape = tuple(((n - 1) << levels) + 1 for n in counts)
    random = np.random.default_rng(5)
    refined = 0
    for _ in range(6):
        places = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
        centre, slope = random.uniform(0, shape), random.normal(size=len(shape))
        distance = np.linalg.norm((places - centre) / shape, axis=-1)
        codes = (distance < 0.15) + 2 * (np.abs((places - centre) @ slope) < 0.5 / len(shape) ** 2)
        numbers = np.sin(3 * distance + random.uniform())
        numbers[random.uniform(size=shape) < 0.02] = np.nan
        share = 0.5 if len(counts) < 4 else 0.99
        coarse = numbers[tuple(slice(None, None, 1 << levels) for _ in counts)]
        span = share * float(np.nanmax(coarse) - np.nanmin(coarse))
        by_hand = brute_force(counts, levels, codes, numbers, span)
        assert refined_points(counts, levels, codes, numbers, share) == by_hand
        refined += len(by_hand) < np.prod(shape)
    assert refined


@pytest.mark.parametrize(
    ("output", "dtype"),
    [
        pytest.param("wear_power", "float64", marks=pytest.mark.broad),
        ("wear_power", "float32"),
        ("slip_phases", "float64"),
    ],
)
def test_an_output_is_refined_by_the_same_rule(output: str, dtype: str) -> None:
    """From its whole grid, with 0.1 of its span on the coarse grid as tolerance."""
    refine = {"output": output, "levels": 3, "tolerance": 0.1}
    requested = document(refine, outputs=[output], dtype=dtype)
    refined = sweep.run(requested, store=None)
    grid = sweep.run({**plain(requested), "axes": finest(refined, 3, AXES)}, store=None)
    values = grid[output].values.astype(np.float64)
    coarse = values[::8, ::8]
    span = 0.1 * (coarse.max() - coarse.min())
    expected = brute_force((5, 9), 3, np.zeros(values.shape), values, span)
    assert 45 < len(expected) < values.size
    columns = (np.searchsorted(grid[name].values, refined[name].values) for name in AXES)
    assert set(zip(*(column.tolist() for column in columns), strict=True)) == expected


def test_the_tolerance_is_a_share_of_the_coarse_span() -> None:
    """Where the mass always slips, the slope and so the number of points are known."""
    axes = {"base_acceleration": {"linspace": [100.0, 200.0, 2]}}
    parameters = {**PARAMETERS, "friction": 0.01}
    for tolerance, points in ((0.51, 3), (0.49, 5), (0.26, 5), (0.24, 9), (0.12, 17)):
        refine = {"output": "wear_power", "levels": 6, "tolerance": tolerance}
        refined = sweep.run(document(refine, axes=axes, parameters=parameters), store=None)
        assert refined.sizes["point"] == points  # the wear power is linear there to 1e-4


def test_a_border_of_validity_is_a_border() -> None:
    """The mass lifts off where the plane's vertical acceleration reaches gravity: by status."""
    parameters = {**PARAMETERS, "friction": 0.001, "base_acceleration": 30.0}
    axes = {"vertical_acceleration": {"linspace": [0.0, 20.3, 3]}}
    refined = sweep.run(document({"output": "regime", "levels": 8}, axes=axes,
                               parameters=parameters), store=None)  # fmt: skip
    assert set(refined["regime"].values.tolist()) == {2, 255}
    ok = refined["status"].values == Status.ok
    acceleration = refined["vertical_acceleration"].values
    assert acceleration[ok].max() < 10.0 <= acceleration[~ok].min()
    assert acceleration[~ok].min() - acceleration[ok].max() == pytest.approx(
        20.3 / 2 / 2**8, rel=1e-12
    )
    assert len(acceleration) < 25


def test_hanging_points_lead_into_a_cell_whose_corners_are_alike() -> None:
    """A tongue crosses edges at their midpoints: no corner of the coarse cells there shows it."""
    counts, levels = (9, 3), 4
    shape = tuple(((n - 1) << levels) + 1 for n in counts)
    codes = np.zeros(shape)
    codes[:, 0] = 1  # the border that corners show
    codes[: shape[0] - 3, 8] = 1  # the tongue: one value wide, halfway between coarse values
    codes[2, :9] = 1  # what joins them
    positions = refined_points(counts, levels, codes, np.zeros(shape), 1.0)
    tongue = {(i, 8) for i in range(shape[0] - 3)}
    assert tongue <= positions


# The table.


@pytest.mark.parametrize(
    ("refine", "message"),
    [
        ({"levels": 3}, "[refine] output: missing; name one or more of wear_power, regime"),
        ({"output": [], "levels": 3}, "[refine] output: empty; name one or more of"),
        ({"output": "regim", "levels": 3}, "output: 'regim' is unknown; did you mean 'regime'"),
        ({"output": "slip_phases", "levels": 3}, "'slip_phases' is not computed; add it"),
        ({"output": "status", "levels": 3}, "'status' always counts; remove it"),
        ({"output": ["regime", "regime"], "levels": 3}, "'regime' is listed 2 times"),
        ({"output": 5, "levels": 3}, "[refine] output: 5 is not the name of an output"),
        ({"output": "regime"}, "[refine] levels: missing; give how often"),
        ({"output": "regime", "levels": 0}, "levels: 0 is not a whole number from 1 to 20"),
        ({"output": "regime", "levels": 2.5}, "[refine] levels: 2.5 is not a whole number"),
        ({"output": "wear_power", "levels": 3}, "tolerance: missing; give the share"),
        ({"output": "wear_power", "levels": 3, "tolerance": 0}, "0 is not a number above 0"),
        ({"output": "wear_power", "levels": 3, "tolerance": 1.5}, "1.5 is not a number above"),
        ({**REFINE, "tolerance": 0.1}, "tolerance: regime is a flag, which need no tolerance"),
        ({**REFINE, "depth": 3}, "[refine] depth: there is no such key; choose one of output"),
    ],
)  # fmt: skip
def test_each_fault_of_the_table_is_reported(refine: Mapping[str, object], message: str) -> None:
    (fault,) = faults(refine)
    assert message in fault


@pytest.mark.parametrize(
    ("axis", "message"),
    [
        ({"values": [3.0]}, "[axes] friction: it has one value, so there is nothing to halve"),
        ({"values": [0.1, 0.3, 0.2]}, "its values rise and fall; for [refine] they must only rise"),
        ({"values": [0.1, 0.1]}, "the value 0.1 occurs twice"),
        ({"values": [0.1, 0.1000000000000001]}, "neighbouring values are equal; give fewer levels"),
        ({"linspace": [0.1, 0.9, 3_000_000]}, "3 levels make 23,999,993 values, more than"),
    ],
)
def test_each_fault_of_an_axis_is_reported(axis: Mapping[str, object], message: str) -> None:
    (fault,) = faults(axes={**AXES, "friction": axis})
    assert message in fault


STEPPED: Mapping[str, object] = {
    **PARAMETERS, "friction": 0.1, "base_acceleration": 5, "step": 1e-3,
    "tangential_stiffness": 1e4,
}  # fmt: skip


def test_midpoints_must_be_allowed_values() -> None:
    """Blocks are whole numbers: the interval from 2 to 4 can be halved once."""
    axes = {"blocks": {"values": [2, 4]}}
    requested = {"method": "euler", "parameters": STEPPED, "axes": axes}
    load(document({"output": "regime", "levels": 1}, **requested))
    (fault,) = faults({"output": "regime", "levels": 2}, **requested)
    assert "[axes] blocks: halved 2 times, it takes 2.5; it has to be a whole number" in fault


def test_an_interval_to_infinity_cannot_be_halved() -> None:
    axes = {"tolerance": {"values": [1e-6, float("inf")]}}
    (fault,) = faults(method="rk54", parameters=STEPPED, axes=axes)
    assert "[axes] tolerance: halved 3 times, neighbouring values are equal" in fault


def test_conflicts_are_reported_all_at_once() -> None:
    sampled = document({"output": "regime", "levels": 3, "tolerance": 3.0})
    del sampled["axes"]
    ranges = {"method": "sobol", "points": 8, "friction": {"uniform": [0.1, 0.2]}}
    with pytest.raises(ConfigError) as caught:
        load({**sampled, "sample": {**ranges, "base_acceleration": {"uniform": [1, 2]}}})
    texts = [str(fault) for fault in caught.value.faults]
    places = [text.partition(":")[0] for text in texts]
    assert places == ["[refine]", "[refine] tolerance", "[refine] tolerance"]
    assert "a [sample] has no cells" in texts[0]
    alone = {**PARAMETERS, "friction": 0.1, "base_acceleration": 3}
    (fault,) = faults(axes={}, parameters=alone)
    assert "[refine]: there is no axis; give the coarse grid" in fault
    (fault,) = faults(axes={**AXES, **{name: {"linspace": [0.1, 0.2, 2]} for name in
                      ("stiffness", "damping", "phase")}})  # fmt: skip
    assert "5 axes are more than the 4 that can be refined" in fault
    (fault,) = faults({"output": "regime", "levels": 20}, axes={
        name: {"linspace": [0.1, 0.2, 9]} for name in ("friction", "base_acceleration", "phase")
    })  # fmt: skip
    assert "[refine] levels: the finest grid would have 5.9e+20 points; give fewer" in fault
    (fault,) = faults(axes={name: {"linspace": [0.1, 0.2, 10_001]} for name in AXES})
    assert "[refine]: a coarse grid of 100,020,001 points is more than 100,000,000" in fault


def test_overrides_change_the_table() -> None:
    requested = load(document(), ["refine.levels=2", 'refine.output="wear_power"',
                              "refine.tolerance=0.5"])  # fmt: skip
    assert requested.refinement == Refinement(("wear_power",), 2, 0.5)
    (fault,) = faults(REFINE, "refine.levels=99")
    assert fault.startswith("override refine.levels: 99 is not a whole number")


def test_a_trace_ignores_the_table() -> None:
    shared = {name: value for name, value in document().items() if name != "outputs"}  # its kernel
    trace = sweep.trace(shared, {"friction": 0.1, "base_acceleration": 3}, samples=5)
    assert trace.sizes["time"] == 5


# Commands.

TOML = """
format = 1
model = "friction_oscillator"
outputs = ["wear_power", "regime"]
[parameters]
mass = 1.0
gravity = 10.0
angular_frequency = 6.25
window_start = 4.0
window_end = 12.0
[axes]
friction = { geomspace = [0.01, 1.0, 3] }
base_acceleration = { linspace = [0.5, 15.0, 5] }
[refine]
output = "regime"
levels = 3
"""


@pytest.mark.usefixtures("quick_probe")
def test_commands_say_what_a_refined_sweep_is(run: Run, tmp_path: Path) -> None:
    """Pictures and other formats of it are made in store/test_many_chunks."""
    (tmp_path / "a.toml").write_text(TOML)
    status, out, err = run("run", "a.toml", "-o", "a.zarr", "--dry-run")
    assert (status, err) == (0, "")
    assert re.search(r"points +15 pending; more follow from their results, to at most 561", out)
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.toml"}
    status, out, _ = run("run", "a.toml", "-o", "a.zarr", "--json")
    last = json.loads(out.splitlines()[-1])
    assert (status, last["event"]) == (0, "summary")
    assert last["points_total"] == sweep.open_results("a.zarr").sizes["point"]
    assert "nothing to do" in run("run", "a.toml", "-o", "a.zarr")[1]
    assert "0 pending, of" in run("run", "a.toml", "-o", "a.zarr", "--dry-run")[1]
    assert "level" in run("show", "a.zarr")[1]
    assert run("status", "a.zarr", "--verify")[0] == 0
    status, _, err = run("compile", "a.toml")
    assert (status, err) == (0, "")


def test_shards_and_extensions_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    for more in ((), ("--dry-run",)):
        status, _, err = run("run", "a.toml", "-o", "a.zarr", "--shard", "1/2", *more)
        assert (status, "`shard` excludes [refine]" in err) == (2, True)
    assert {entry.name for entry in tmp_path.iterdir()} == {"a.toml"}
    assert run("run", "a.toml", "-o", "a.zarr")[0] == 0
    status, _, err = run("extend", "a.zarr", "a.toml")
    assert (status, "a refined sweep cannot be extended" in err) == (2, True)
