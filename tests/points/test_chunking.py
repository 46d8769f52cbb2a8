"""Chunks cover a grid once, columns are numpy.meshgrid, and a recipe says all that matters."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sweep.errors import SweepError
from sweep.model.table import Variant
from sweep.model.tables.friction_oscillator import EXACT, MODEL
from sweep.points import chunking, columns, recipes
from sweep.request.chunk import Chunk
from sweep.request.sweeps import Axis, Sweep

# How long an example takes says something of the machine and its load, nothing of what is tested.
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

CONSTANTS = {
    "mass": 1.0,
    "gravity": 10.0,
    "friction": 0.1,
    "stiffness": 0.0,
    "damping": 0.0,
    "base_acceleration": 2.5,
    "angular_frequency": 2 * math.pi,
    "vertical_acceleration": 0.0,
    "phase": 0.0,
    "window_start": 4.0,
    "window_end": 12.0,
}
OUTPUTS = ("wear_power", "slip_phases", "regime")


def sweep_over(*axes: Axis, outputs: tuple[str, ...] = OUTPUTS, **constants: float) -> Sweep:
    """A friction oscillator over these axes, all else at SDND104's values or as given."""
    on_axes = {name for axis in axes for name in axis.columns}
    values = CONSTANTS | constants
    return Sweep(
        model=MODEL,
        method=EXACT,
        parameter_set=MODEL.parameter_sets[0],
        constants={name: value for name, value in values.items() if name not in on_axes},
        axes=axes,
        outputs=tuple(o for o in MODEL.outputs if o.name in outputs),
    )


def linear(name: str, start: float, stop: float, size: int) -> Axis:
    return Axis(name, {name: np.linspace(start, stop, size)}, {"linspace": [start, stop, size]})


def grid(*shape: int) -> Sweep:
    """A sweep of this shape that takes no memory: the values of an axis are all zero."""
    zeros = {f"d{i}": np.broadcast_to(0.0, size) for i, size in enumerate(shape)}
    axes = tuple(Axis(name, {name: values}, {}) for name, values in zeros.items())
    return replace(sweep_over(), axes=axes)


AXIS_NAMES = ("friction", "base_acceleration", "stiffness", "phase")


@st.composite
def sweeps_and_chunks(draw: st.DrawFn) -> tuple[Sweep, tuple[int, ...]]:
    """Up to four dimensions, the last of which may bear two parameters, cut anyhow."""
    values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6)
    axes = [
        Axis(name, {name: np.array(draw(values))}, {})
        for name in AXIS_NAMES[: draw(st.integers(0, len(AXIS_NAMES)))]
    ]
    if draw(st.booleans()):
        rows = np.array(draw(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), min_size=1)))
        axes.append(Axis("point", {"mass": rows[:, 0], "gravity": rows[:, 1]}, {}))
    sweep = sweep_over(*axes)
    return sweep, tuple(draw(st.integers(1, size + 2)) for size in sweep.grid.shape)


@untimed
@given(sweeps_and_chunks())
def test_columns_of_all_chunks_are_the_meshgrid(drawn: tuple[Sweep, tuple[int, ...]]) -> None:
    sweep, chunk_shape = drawn
    mesh = np.meshgrid(*(np.arange(n) for n in sweep.grid.shape), indexing="ij")
    visits = np.zeros(sweep.grid.shape, dtype=int)
    for chunk in chunking.chunks(sweep.grid.shape, chunk_shape):
        points = columns.points(sweep, chunk)
        i = np.arange(points.n_points)
        visits[chunk.slices] += 1
        assert list(points.columns) == [parameter.name for parameter in sweep.parameters]
        for name, column in points.columns.items():
            values = column.values[(i // column.repeat) % len(column.values)]
            np.testing.assert_array_equal(values, _whole(sweep, mesh, name)[chunk.slices].ravel())
    assert np.all(visits == 1)


@untimed
@given(sweeps_and_chunks(), st.randoms())
def test_the_marked_chunks_are_those_at_their_indices(
    drawn: tuple[Sweep, tuple[int, ...]], random: Random
) -> None:
    sweep, chunk_shape = drawn
    counts = [-(-size // step) for size, step in zip(sweep.grid.shape, chunk_shape, strict=True)]
    marked = {index: random.random() < 0.5 for index in np.ndindex(*counts)}
    expected = [
        chunking.chunk_at(index, sweep.grid.shape, chunk_shape) for index in marked if marked[index]
    ]
    assert list(chunking.chunks(sweep.grid.shape, chunk_shape, marked.values())) == expected


@untimed
@given(sweeps_and_chunks(), st.integers(1, 200), st.randoms())
def test_chunks_are_joined_to_blocks_that_hold_every_point_once(
    drawn: tuple[Sweep, tuple[int, ...]], most: int, random: Random
) -> None:
    sweep, chunk_shape = drawn
    some = [c for c in chunking.chunks(sweep.grid.shape, chunk_shape) if random.random() < 0.8]
    blocks = chunking.joined(some, most, lambda _: None)
    assert [chunk for _, chunks in blocks for chunk in chunks] == some
    for block, chunks in blocks:
        visits = np.zeros(sweep.grid.shape, dtype=int)
        for chunk in chunks:
            visits[chunk.slices] += 1
        assert visits.sum() == visits[block.slices].sum() == block.n_points
        assert np.all(visits[block.slices] == 1)
        assert len(chunks) == 1 or block.n_points <= most


@pytest.mark.parametrize(
    ("most", "expected"),
    [(24, [(4, 6)]), (17, [(2, 6), (2, 6)]), (4, [(1, 4), (1, 2)] * 4), (1, [(1, 2)] * 12)],
)
def test_as_many_chunks_are_joined_as_allowed(most: int, expected: list[tuple[int, ...]]) -> None:
    grid = list(chunking.chunks((4, 6), (1, 2)))
    assert [block.shape for block, _ in chunking.joined(grid, most, lambda _: None)] == expected
    apart = chunking.joined(grid, 24, lambda block: block.start[0] + block.shape[0] <= 2)
    assert [block.shape for block, _ in apart] == [(2, 6), (2, 6)]


def _whole(sweep: Sweep, mesh: tuple[np.ndarray, ...], name: str) -> np.ndarray:
    for places, axis in zip(mesh, sweep.axes, strict=True):
        if name in axis.columns:
            return axis.columns[name][places]
    return np.full(sweep.grid.shape, sweep.constants[name])


def test_a_column_of_a_constant_has_one_value_and_no_axis_is_expanded() -> None:
    sweep = sweep_over(linear("friction", 0, 1, 30), linear("phase", 0, 1, 70))
    points = columns.points(sweep, Chunk((1, 0), (10, 0), (10, 70)))
    sizes = {name: (len(c.values), c.repeat) for name, c in points.columns.items()}
    assert sizes.pop("friction") == (10, 70)
    assert sizes.pop("phase") == (70, 1)
    assert set(sizes.values()) == {(1, 1)}


SHAPES = [
    (),
    (1,),
    (512, 1024),
    (1000, 1000),
    (9, 65535),
    (10**5, 10**4),
    (3, 2**20 + 1),
    (10**6, 3),
    (10**9,),
    (7,) * 8,
    (10**11,),
    (2**16, 1, 1),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_chunks_have_between_2_16_and_2_20_points(shape: tuple[int, ...]) -> None:
    chunk_shape = chunking.chunk_shape(grid(*shape))
    points, total = math.prod(chunk_shape), math.prod(shape)
    assert min(total, 2**16) <= points <= 2**20
    assert math.prod(chunking.chunk_counts(shape, chunk_shape)) <= 10**5
    assert _is_contiguous(shape, chunk_shape)


def test_the_demo_has_chunks_for_eight_workers_and_a_small_grid_has_one() -> None:
    assert chunking.chunk_shape(grid(512, 1024)) == (64, 1024)
    assert chunking.chunk_shape(grid(200, 300)) == (200, 300)


def test_a_run_has_64_chunks_where_their_size_allows_it() -> None:
    assert chunking.chunk_shape(grid(2**11, 2**11)) == (2**5, 2**11)
    assert chunking.chunk_shape(grid(2**12, 2**12)) == (2**6, 2**12)
    assert chunking.chunk_shape(grid(2**12 - 1, 2**12)) == (2**5, 2**12)  # a power of two, below


def test_chunks_grow_when_there_would_be_too_many() -> None:
    assert chunking.chunk_shape(grid(10**5, 2**19)) == (1, 2**19)
    assert chunking.chunk_shape(grid(10**5 + 1, 2**19)) == (2, 2**19)
    chunk_shape = chunking.chunk_shape(grid(10**6, 10**6))
    assert math.prod(chunk_shape) > 2**20
    assert math.prod(chunking.chunk_counts((10**6, 10**6), chunk_shape)) <= 10**5


@untimed
@given(st.lists(st.integers(1, 20), max_size=4), st.integers(1, 10**4))
def test_chunk_points_gives_the_smallest_block_of_that_size(
    sizes: list[int], requested_points: int
) -> None:
    assume(math.prod(sizes) <= 10**5)  # else a small `requested_points` makes too many chunks
    chunk_shape = chunking.chunk_shape(grid(*sizes), requested_points)
    points = math.prod(chunk_shape)
    assert points >= min(requested_points, math.prod(sizes))
    assert _is_contiguous(tuple(sizes), chunk_shape)
    first = next((size for size in chunk_shape if size > 1), None)
    assert first is None or points // first * (first - 1) < requested_points


def _is_contiguous(shape: tuple[int, ...], chunk_shape: tuple[int, ...]) -> bool:
    """Whole trailing dimensions, then a part of one, then ones."""
    cut = [i for i, (n, c) in enumerate(zip(shape, chunk_shape, strict=True)) if c < n]
    return not cut or all(c == 1 for c in chunk_shape[: cut[-1]])


def test_chunk_points_out_of_range_are_refused() -> None:
    with pytest.raises(SweepError, match=r"chunk_points=0: give at least 1"):
        chunking.chunk_shape(grid(5), 0)
    with pytest.raises(SweepError, match=r"chunk_points=1 cuts .* into 1,000,000 chunks"):
        chunking.chunk_shape(grid(10**6), 1)
    assert chunking.chunk_shape(grid(10**5), 1) == (1,)


def test_an_extension_has_no_more_chunks_than_a_file_system_lists() -> None:
    chunking.refuse_many_chunks((10**3, 200), (1, 2))
    with pytest.raises(SweepError, match=r"into 100,100 chunks, at most 100,0"):
        chunking.refuse_many_chunks((1001, 200), (1, 2))


def test_variants_hold_chunk_by_chunk() -> None:
    stiffness = Axis("stiffness", {"stiffness": np.array([0.0, 0.0, 3.0, 3.0])}, {})
    variants = (
        *EXACT.variants,
        Variant(name="one_stiffness", parameters=("stiffness",)),
        Variant(name="one_of_both", parameters=("stiffness", "base_acceleration")),
    )
    sweep = replace(sweep_over(stiffness), method=replace(EXACT, variants=variants))
    variants_of_chunks = [
        set(columns.points(sweep, c).variants) for c in chunking.chunks((4,), (2,))
    ]
    common, chunk_variants = {"no_damping", "no_shaking"}, {"one_stiffness", "one_of_both"}
    assert variants_of_chunks == [common | chunk_variants | {"no_spring"}, common | chunk_variants]
    (mixed,) = chunking.chunks((4,), (4,))
    assert set(columns.points(sweep, mixed).variants) == common


SWEEP = sweep_over(linear("friction", 0.1, 0.5, 5), linear("base_acceleration", 1.0, 15.0, 3))


def test_the_fingerprint_of_a_sweep_never_changes() -> None:
    """Frozen: with another value every store made so far would be refused."""
    assert recipes.fingerprint(recipes.recipe(SWEEP)) == (
        "742e9ffedc3592b9415ccb97f583b7cf866fab47d0761402bf96c4313bf39484"
    )


def test_the_fingerprint_does_not_see_how_a_sweep_was_written() -> None:
    turned = replace(
        SWEEP,
        constants=dict(reversed(SWEEP.constants.items())),
        outputs=SWEEP.outputs[::-1],
        method=replace(EXACT, revision=99),
    )
    whole_numbers = Axis("friction", SWEEP.axes[0].columns, {"linspace": (0.1, 0.5, 5.0)})
    for same in (turned, replace(SWEEP, axes=(whole_numbers, SWEEP.axes[1]))):
        assert recipes.recipe(same) == recipes.recipe(SWEEP)
    columns = {name: np.array([0.1, 0.2]) for name in ("friction", "base_acceleration")}
    point, swapped = (
        Axis("point", dict(each), {}) for each in (columns.items(), reversed(columns.items()))
    )
    assert recipes.recipe(sweep_over(point)) == recipes.recipe(sweep_over(swapped))


def test_neutral_defaults_are_omitted_and_restored() -> None:
    recipe = recipes.recipe(SWEEP)
    assert set(recipe["constants"]) == {
        "mass", "gravity", "angular_frequency", "window_start", "window_end"
    }  # fmt: skip
    assert recipes.from_recipe(recipe, _columns(SWEEP)).constants == SWEEP.constants
    stiff = sweep_over(*SWEEP.axes, stiffness=3.0)
    assert recipes.from_recipe(recipes.recipe(stiff), _columns(SWEEP)).constants == stiff.constants


def test_other_defaults_are_written_because_they_may_change() -> None:
    method = next(method for method in MODEL.methods if method.name == "rk54")
    defaults = {p.name: p.default for p in method.parameters if p.default is not None}
    constants = SWEEP.constants | {"step": 1e-4, "tangential_stiffness": 1e6} | defaults
    sweep = replace(SWEEP, method=method, constants=constants)
    recipe = recipes.recipe(sweep)
    assert defaults.keys() <= recipe["constants"].keys()
    assert recipes.recipe(recipes.from_recipe(recipe, _columns(sweep))) == recipe
    del recipe["constants"]["tolerance"]
    with pytest.raises(SweepError, match="recipe lacks tolerance"):
        recipes.from_recipe(recipe, _columns(sweep))


@pytest.mark.parametrize(
    "other",
    [
        sweep_over(*SWEEP.axes, mass=math.nextafter(1.0, 2.0)),
        sweep_over(*SWEEP.axes, stiffness=1e-300),
        sweep_over(*SWEEP.axes[::-1]),
        sweep_over(SWEEP.axes[0]),
        sweep_over(SWEEP.axes[0], linear("base_acceleration", 1.0, 15.0, 4)),
        sweep_over(*SWEEP.axes, outputs=OUTPUTS[:1]),
        replace(SWEEP, dtype="float32"),
        replace(SWEEP, method=replace(EXACT, name="other")),
        replace(SWEEP, parameter_set=MODEL.parameter_sets[1]),
        replace(SWEEP, model=replace(MODEL, name="other")),
    ],
)
def test_the_fingerprint_sees_everything_else(other: Sweep) -> None:
    assert recipes.fingerprint(recipes.recipe(other)) != recipes.fingerprint(recipes.recipe(SWEEP))


@untimed
@given(st.floats(allow_nan=False), st.lists(st.floats(allow_nan=False), min_size=1))
def test_a_recipe_gives_its_sweep_to_the_last_bit(mass: float, values: list[float]) -> None:
    axis = Axis("friction", {"friction": np.array(values)}, {"values": values})
    sweep = sweep_over(axis, mass=mass)
    written = json.loads(json.dumps(recipes.recipe(sweep)))
    again = recipes.from_recipe(written, _columns(sweep))
    assert again.constants == sweep.constants
    assert math.copysign(1.0, again.constants["mass"]) == math.copysign(1.0, mass)
    assert again.axes[0].recipe == {"values": values}
    assert recipes.recipe(again) == written
    assert (again.model, again.method, again.outputs) == (MODEL, EXACT, sweep.outputs)


def _columns(sweep: Sweep) -> dict[str, np.ndarray]:
    return {name: values for axis in sweep.axes for name, values in axis.columns.items()}


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@untimed
@given(JSON)
def test_canonical_survives_json_and_plain(value: object) -> None:
    written = json.loads(json.dumps(recipes.canonical(value)))
    assert written == recipes.canonical(value) == recipes.canonical(recipes.plain(written))


def test_numbers_of_all_types_are_written_the_same_way() -> None:
    numbers = [3, 3.0, np.float64(3), np.int32(3), np.float32(3)]
    assert recipes.canonical({"b": numbers, "a": np.array([3.0])}) == {
        "a": [(3.0).hex()],
        "b": [(3.0).hex()] * 5,
    }
    assert list(recipes.canonical({"b": 1, "a": 2})) == ["a", "b"]
    assert recipes.canonical((True, None, "text")) == [True, None, "text"]
    with pytest.raises(TypeError, match="cannot be part of a recipe"):
        recipes.canonical(object())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "recipe has format 2, this version reads format 1"),
        ({"model": "friction_oscilator"}, "no model 'friction_oscilator'.* 'friction_oscillator'"),
        ({"method": "exakt"}, "no method 'exakt'; the nearest is 'exact'"),
        ({"parameter_set": "years"}, r"no parameter set 'years' .*it has seconds, cycles"),
        ({"outputs": ["wear"]}, "no output 'wear'"),
        ({"constants": {"mas": (1.0).hex()}}, "no parameter 'mas'.* nearest is 'mass'"),
        ({"constants": {}}, "lacks mass, gravity, angular_frequency, window_start"),
    ],
)
def test_a_recipe_of_another_version_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(SweepError, match=message):
        recipes.from_recipe(recipes.recipe(SWEEP) | change, _columns(SWEEP))


def test_an_axis_that_this_version_does_not_know_is_refused() -> None:
    sweep = sweep_over(linear("frction", 0.1, 0.5, 5), friction=0.1)
    with pytest.raises(SweepError, match=r"no parameter 'frction'.* nearest is 'friction'"):
        recipes.from_recipe(recipes.recipe(sweep), _columns(sweep))


def test_a_recipe_that_names_no_format_is_refused() -> None:
    recipe = recipes.recipe(SWEEP)
    del recipe["format"]
    with pytest.raises(SweepError, match="recipe has format None, this version reads format 1"):
        recipes.from_recipe(recipe, _columns(SWEEP))
