"""What is kept of points: the same bits however they are divided, and the statistics of oracles."""

from __future__ import annotations

import functools
import io
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from SALib.analyze.sobol import first_order, total_order
from scipy.stats import qmc, sobol_indices, uniform

from sweep.kernel.reducing import DeviceLauncher
from sweep.model.table import Output, Status
from sweep.model.tables.friction_oscillator import MODEL
from sweep.request.chunk import Points
from sweep.request.sweeps import Axis, Sweep
from sweep.statistics import tree
from sweep.statistics.counts import STATUSES
from sweep.statistics.outputs import reduced
from sweep.statistics.partial import Kept, from_bytes, part_in, to_bytes
from sweep.statistics.quantiles import rank
from tests.gpu.twin import TwinDevice
from tests.kernel.device_arrays import DeviceArray
from tests.oracles import statistics as oracle

POWER = Output(name="power", unit="W", long_name="power")
IMPACTS = Output(name="impacts", unit="1", long_name="impacts", kind="count")
REGIME = Output(name="regime", unit="1", long_name="regime", kind="flag", flags=("stick", "slip"))
LAST = Output(name="last", unit="m", long_name="last values", values=2, optional=True)
LEVELS = ("0.05", "0.5", "0.95", "1.0")
QUANTILES = tuple(f"quantile {level}" for level in LEVELS)
TEXTS = {
    "power": (
        "mean",
        "standard_deviation",
        "minimum",
        "maximum",
        *(f"quantile {level}" for level in LEVELS),
        "share above 1.5",
        "share below -1.0",
        "histogram 12",
    ),
    "impacts": ("mean", "maximum"),
    "regime": ("share",),
    "last": ("mean", "quantile 0.5"),
}


def kept_for(
    size: int, texts: Mapping[str, tuple[str, ...]] = TEXTS, scramblings: int = 1, k: int = 1
) -> Kept:
    columns = {f"x{i}": np.zeros(size) for i in range(k)}
    recipe: dict[str, object] = {} if scramblings == 1 else {"scramblings": scramblings}
    if "sobol_indices" in texts.get("power", ()):
        recipe["sobol_indices"] = True
    axes = (Axis("point", columns, recipe),)
    outputs = tuple(each for each in (POWER, IMPACTS, REGIME, LAST) if each.name in texts)
    points = Sweep(
        model=MODEL,
        method=MODEL.methods[0],
        parameter_set=MODEL.parameter_sets[0],
        constants={},
        axes=axes,
        outputs=outputs,
    )
    return Kept(reduced(points, 1, texts))


def random_arrays(cells: int, size: int, seed: int, ok_share: float) -> dict[str, NDArray[Any]]:
    """Values of many sizes and both signs, with zeros; some points are not ok."""
    rng = np.random.default_rng(seed)
    shape = (cells, size)
    power = rng.normal(1.0, 2.0, shape) * 10.0 ** rng.choice([-200, -3, 0, 0, 3], shape)
    power[rng.random(shape) < 0.1] = 0.0
    status = np.where(rng.random(shape) < ok_share, 0, rng.integers(1, 4, shape)).astype(np.uint8)
    last = rng.normal(size=(2, *shape))
    last[rng.random(last.shape) < 0.2] = np.nan
    arrays = {
        "power": power,
        "impacts": rng.integers(0, 9, shape).astype(np.int32),
        "regime": rng.integers(0, 2, shape).astype(np.uint8),
        "last 0": last[0],
        "last 1": last[1],
    }
    bad = status != Status.ok
    for name, missing in {"power": np.nan, "impacts": -1, "regime": 255}.items():
        arrays[name][bad] = missing
    return {**arrays, "status": status}


def divided(
    kept: Kept, arrays: Mapping[str, NDArray[Any]], cuts: Sequence[int], order: Sequence[int]
) -> dict[str, NDArray[Any]]:
    """The statistics from stretches that end at the cuts, merged in some order, through files."""
    cells, size = arrays["status"].shape
    edges = [0, *sorted(set(cuts)), size]
    parts = [
        kept.of({n: a[:, i:j].ravel() for n, a in arrays.items()}, cells, i)
        for i, j in itertools.pairwise(edges)
        if i < j
    ]
    whole, *others = [from_bytes(to_bytes(parts[i])) for i in order if i < len(parts)]
    for other in others:
        whole = kept.merged(whole, other)
    return kept.statistics(whole)


def flat(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: array.ravel() for name, array in arrays.items()}


def all_ok(power: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Points in one row for each cell."""
    return {"power": power, "status": np.zeros(power.shape, np.uint8)}


def exactly(kept: Kept) -> Kept:
    """The same with exact quantiles."""
    return Kept(replace(kept.sweep, exact_quantiles=True))


def same_on_device(kept: Kept, arrays: Mapping[str, NDArray[Any]], start: int = 0) -> bool:
    """Whether a device changes no bit. What CuPy lacks or rejects raises."""
    points = points_in(len(arrays["status"]), arrays["status"].size, start)
    then, twin = kept.then(points), TwinDevice()
    on_device = {name: DeviceArray(array) for name, array in flat(arrays).items()}
    return same(then(on_device, DeviceLauncher(twin, twin)), then(flat(arrays)))


def points_in(cells: int, n_points: int, first: int) -> Points:
    """So many points in cells, from the `first` one of each on."""
    return Points(n_points=n_points, columns={}, cells=cells, first=first)


def same(one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]) -> bool:
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes()
        for name in one
    )


@settings(max_examples=40, deadline=None)
@given(
    size=st.integers(1, 300),
    cells=st.sampled_from([1, 2, 3, 50]),
    seed=st.integers(0, 99),
    ok_share=st.sampled_from([0.0, 0.9, 1.0]),
    cuts=st.lists(st.integers(1, 299), max_size=5),
    order=st.permutations(range(6)),
)
def test_stretches_change_no_bit(
    size: int, cells: int, seed: int, ok_share: float, cuts: list[int], order: list[int]
) -> None:
    kept, arrays = kept_for(size), random_arrays(cells, size, seed, ok_share)
    arrays["power"] *= 2.0 ** -(seed % 2 * 60)
    whole = divided(kept, arrays, [], [0])
    assert same(divided(kept, arrays, [c for c in cuts if c < size], order), whole)


def test_what_an_earlier_version_kept_is_read() -> None:
    kept = {"wear_power/moments/nodes": np.array([[0, 3]]), "status/points/status": np.ones((2, 5))}
    file = io.BytesIO()
    np.savez(file, **kept)
    read = from_bytes(file.getvalue())
    assert read.keys() == kept.keys()
    for name, array in kept.items():
        np.testing.assert_array_equal(read[name], array, strict=True)


@settings(max_examples=40, deadline=None)
@given(place=st.integers(0, 2**20), bit=st.integers(0, 7))
def test_a_damaged_file_of_a_piece_is_refused(place: int, bit: int) -> None:
    """Any bit of it, or any part of it that is missing at the end."""
    content = to_bytes(kept_for(9).of(flat(random_arrays(2, 9, 1, 0.9)), 2, 0))
    damaged = bytearray(content)
    damaged[place % len(content)] ^= 1 << bit
    for each in (bytes(damaged), content[: place % len(content)]):
        with pytest.raises((ValueError, OSError, EOFError)):
            from_bytes(each)


VALUES = st.one_of(  # kernels write one NaN alone
    st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1.0]),
    st.floats(width=64, allow_nan=False),
)


@settings(max_examples=100, deadline=None)
@given(rows=st.integers(1, 30).flatmap(lambda n: st.lists(
    st.lists(st.tuples(VALUES, st.booleans()), min_size=n, max_size=n), min_size=1, max_size=4
)))  # fmt: skip
def test_exact_quantiles_are_values_of_points_that_are_ok(
    rows: list[list[tuple[float, bool]]],
) -> None:
    """Bit by bit those that np.sort finds, here and on a device; a zero has no sign."""
    power = np.array([[value for value, _ in row] for row in rows])
    status = np.array([[Status.diverged * (not ok) for _, ok in row] for row in rows], np.uint8)
    arrays = {"power": power, "status": status}
    kept = exactly(kept_for(power.shape[1], {"power": (*QUANTILES, "minimum")}))
    assert same_on_device(kept, arrays)
    statistics = divided(kept, arrays, [], [0])
    for cell, is_ok in enumerate(status == 0):
        values = np.sort(power[cell][is_ok])
        for i, level in enumerate(LEVELS):
            place = max(math.ceil(Fraction(level) * len(values)), 1) - 1
            expected = values[place] + 0.0 if len(values) else np.nan
            own = statistics[f"power_quantile {i}"][cell]
            np.testing.assert_array_equal(own, expected)
            assert np.isnan(own) or np.signbit(own) == np.signbit(expected)


def test_exact_quantiles_of_an_output_that_may_lack_values_are_of_those_that_have_one() -> None:
    kept, arrays = exactly(kept_for(200)), random_arrays(3, 200, 4, 0.9)
    statistics = divided(kept, arrays, [], [0])
    for cell, plane in itertools.product(range(3), range(2)):
        values = arrays[f"last {plane}"][cell][arrays["status"][cell] == Status.ok]
        exact = oracle.quantile(values[~np.isnan(values)].tolist(), "0.5")
        assert statistics[f"last_quantile {plane * len(LEVELS) + 1}"][cell] == exact


@pytest.mark.parametrize(("scramblings", "k"), [(1, 1), (4, 2)])
def test_cells_with_exact_quantiles_are_put_behind_others(scramblings: int, k: int) -> None:
    texts = {**TEXTS, "power": (*TEXTS["power"], *["sobol_indices"] * (k > 1))}
    kept, arrays = exactly(kept_for(80, texts, scramblings, k)), random_arrays(6, 80, 1, 0.9)
    parts = [{n: a[i:j].ravel() for n, a in arrays.items()} for i, j in ((0, 1), (1, 4), (4, 6))]
    partials = [kept.of(part, len(part["status"]) // 80, 0) for part in parts]
    assert same(functools.reduce(kept.merged, partials), kept.of(flat(arrays), 6, 0))


def test_many_merged_parts_take_the_memory_of_one() -> None:
    """A merge in order holds one part and, of sums, a node for each bit of the number of parts."""
    kept, sizes = kept_for(64 * 200), list[int]()
    arrays = random_arrays(1, 64 * 200, 1, 0.9)
    merged: Mapping[str, NDArray[Any]] | None = None
    for start in range(0, 64 * 200, 64):
        part = {name: a[:, start : start + 64].ravel() for name, a in arrays.items()}
        own = kept.of(part, 1, start)
        merged = own if merged is None else kept.merged(merged, own)
        sizes.append(len(merged["power/moments/nodes"]))
        assert len(merged["power/bits/bins"]) <= 64 * 200
    assert sizes == [(part + 1).bit_count() for part in range(200)]


@pytest.mark.parametrize(("cells", "size"), [(40, 4), (3, 60), (3, 300), (2, 9000), (1, 20_000)])
@pytest.mark.parametrize("ok_share", [0.0, 0.9, 1.0])
def test_a_devices_array_library_changes_no_bit(ok_share: float, cells: int, size: int) -> None:
    """Short cells are counted in other ways."""
    assert same_on_device(kept_for(size), random_arrays(cells, size, 1, ok_share), 5)


INDICES = {**TEXTS, "power": (*TEXTS["power"], "sobol_indices")}


@pytest.mark.parametrize(("scramblings", "k"), [(1, 0), (8, 0), (1, 3), (4, 1)])
@pytest.mark.parametrize("seed", range(6))
def test_a_device_reduces_parts_of_cells_as_each_alone(scramblings: int, k: int, seed: int) -> None:
    """With and without rows of Sobol' indices, from anywhere on, of values of all magnitudes."""
    kept = kept_for(9, INDICES if k else TEXTS, scramblings, max(k, 1))
    kept = Kept(replace(kept.sweep, quantile_bits=(None, 12)[seed % 2]))
    rng, unit = np.random.default_rng(seed), kept.sweep.unit
    n, cells = int(rng.integers(5, 3000 // unit)), (1, 3, 40)[seed % 3]
    first = int(rng.integers(100)) * unit
    arrays = random_arrays(cells, n * unit, seed, (1.0, 0.9, 0.0)[seed % 3])
    if seed % 2:
        arrays["power"] = of_magnitudes(cells, n * unit, seed)
    edges = [0, *sorted({*(unit * rng.integers(1, n, 3)).tolist()}), n * unit]
    then = kept.then(points_in(cells, cells * n * unit, first), [*np.diff(edges).tolist()])
    twin = TwinDevice()
    on_device = {name: DeviceArray(array) for name, array in flat(arrays).items()}
    partials = then(on_device, DeviceLauncher(twin, twin))
    assert same(then(flat(arrays)), partials)
    for part, (a, b) in enumerate(itertools.pairwise(edges)):
        for one, other in ((0, cells), (cells - 1, cells)):
            own = {name: each[one:other, a:b].ravel() for name, each in arrays.items()}
            of_part = kept.of_cells(part_in(partials, part), one, other)
            assert to_bytes(of_part) == to_bytes(kept.of(own, other - one, first + a))


def test_long_cells_are_sorted_apart_on_a_device() -> None:
    kept, arrays = exactly(kept_for(70_000)), random_arrays(2, 70_000, 1, 0.9)
    assert same_on_device(kept, arrays)


@settings(max_examples=50, deadline=None)
@given(first=st.integers(0, 200), count=st.integers(1, 200))
def test_the_fewest_nodes_that_cover_points(first: int, count: int) -> None:
    """They have every point once, and no two of them form a node."""
    nodes = tree.covering(first, count)
    points = [i for level, j in nodes for i in range(j << level, (j + 1) << level)]
    assert sorted(points) == list(range(first, first + count))
    assert not any((level, j ^ 1) in nodes for level, j in nodes)
    assert nodes == sorted(nodes)


def test_long_stretches_change_no_bit() -> None:
    """Long ones are taken in blocks, whose inner sums must be nodes of the tree, too."""
    kept = kept_for(70_001, {"power": ("mean", "standard_deviation")})
    for ok_share in (1.0, 0.999):
        arrays = random_arrays(2, 70_001, 3, ok_share)
        whole = divided(kept, arrays, [], [0])
        assert same(divided(kept, arrays, [1, 16_383, 40_001], [2, 0, 3, 1]), whole)
        if ok_share == 1.0:
            values = arrays["power"]
            assert [oracle.tree_sum(row) / 70_001 for row in values] == whole["power_mean"].tolist()


def check_order(statistics: Mapping[str, NDArray[Any]], cell: int, values: Sequence[float]) -> None:
    """Check the extremes, quantiles and shares of a cell with these values of the power."""
    assert statistics["power_minimum"][cell] == min(values)
    assert statistics["power_maximum"][cell] == max(values)
    for i, level in enumerate(LEVELS):
        exact = oracle.quantile(values, level)
        assert abs(statistics[f"power_quantile {i}"][cell] - exact) <= 2**-8 * abs(exact)
    above, below = sum(v > 1.5 for v in values), sum(v < -1.0 for v in values)
    assert statistics["power_share_above 1"][cell] == above / len(values)
    assert statistics["power_share_below 0"][cell] == below / len(values)


def test_statistics_are_those_of_the_points_that_are_ok() -> None:
    cells, size = 3, 1000
    kept, arrays = kept_for(size), random_arrays(cells, size, 1, 0.9)
    arrays["status"][2] = Status.diverged
    arrays["status"][2, :400] = Status.outside_validity
    statistics = divided(kept, arrays, [137, 700], [2, 0, 1])
    assert statistics["status"].tolist() == [0, 0, Status.diverged]
    counts = np.stack([statistics[f"points_by_status {i}"] for i in range(len(STATUSES))])
    for cell in range(cells):
        status = arrays["status"][cell].tolist()
        assert counts[:, cell].tolist() == [status.count(each) for each in STATUSES]
    for cell in range(2):
        ok = arrays["status"][cell] == 0
        values = arrays["power"][cell][ok].tolist()
        size_of = math.fsum(map(abs, values)) / len(values)
        assert abs(statistics["power_mean"][cell] - oracle.mean(values)) <= 1e-14 * size_of
        deviation = oracle.deviation(values)
        assert statistics["power_standard_deviation"][cell] == pytest.approx(deviation, rel=1e-12)
        error = deviation / math.sqrt(len(values))
        assert statistics["power_mean_error"][cell] == pytest.approx(error, rel=1e-12)
        check_order(statistics, cell, values)
        start = statistics["power_histogram_start"][cell]
        width = statistics["power_histogram_width"][cell]
        edges = start + width * np.arange(13)
        assert edges[0] <= min(values)
        assert edges[-1] > max(values)
        assert math.frexp(width)[0] == 0.5
        inside = [sum(a <= v < b for v in values) for a, b in itertools.pairwise(edges)]
        assert [statistics[f"power_histogram {i}"][cell] for i in range(12)] == inside
        impacts = arrays["impacts"][cell][ok]
        assert statistics["impacts_mean"][cell] == impacts.mean()
        slip = (arrays["regime"][cell][ok] == 1).mean()
        assert statistics["regime_share 1"][cell] == slip
        for plane in range(2):
            known = arrays[f"last {plane}"][cell][ok & ~np.isnan(arrays[f"last {plane}"][cell])]
            assert statistics[f"last_mean {plane}"][cell] == pytest.approx(
                oracle.mean(known), rel=1e-13
            )
    for output in kept.sweep.outputs[:-1]:
        for plane in output.planes:
            missing = -1 if output.kind == "number" else np.nan
            np.testing.assert_equal(statistics[plane][2], missing)


DIGITS = ("mean", "standard_deviation")


def of_magnitudes(cells: int, size: int, seed: int) -> NDArray[np.float64]:
    """From the smallest double to the largest; in each cell all are similar or they differ."""
    rng = np.random.default_rng(seed)
    exponents = rng.uniform(-322, 308, (cells, 1)) + rng.choice([0, 1], (cells, 1)) * rng.choice(
        [-600, -150, 0, 150], (cells, size)
    )
    signs = rng.choice([-1, 1, 1, 1], (cells, size))
    values = signs * rng.uniform(0.5, 1.7, (cells, size)) * 10.0 ** np.clip(exponents, -323, 308)
    return np.where(rng.random((cells, size)) < 0.05, 0.0, values)


@pytest.mark.parametrize("seed", range(4))
def test_moments_neither_overflow_nor_underflow(seed: int) -> None:
    cells, size = 60, 40
    values = of_magnitudes(cells, size, seed)
    status = (np.random.default_rng(seed).random((cells, size)) < 0.1).astype(np.uint8)
    kept, arrays = kept_for(size, {"power": DIGITS}), {"power": values, "status": status}
    statistics = divided(kept, arrays, [], [0])
    for cell, (row, is_bad) in enumerate(zip(values, status, strict=True)):
        known = row[is_bad == 0].tolist()
        largest = max(map(abs, known))
        deviation, mean = oracle.deviation(known), oracle.mean(known)
        least = 2.0**-1074  # the spacing of subnormal numbers
        own = statistics["power_standard_deviation"][cell]
        assert own == pytest.approx(deviation, rel=1e-13, abs=least)
        own = statistics["power_mean"][cell]
        assert own == pytest.approx(mean, rel=0.0, abs=largest * 1e-14 + least)
        own = statistics["power_mean_error"][cell]
        assert own == pytest.approx(deviation / math.sqrt(len(known)), rel=1e-13, abs=least)


@pytest.mark.parametrize("seed", range(4))
def test_stretches_of_all_magnitudes_change_no_bit(seed: int) -> None:
    size, cells = 240, 30
    status = np.zeros((cells, size), np.uint8)
    status[::3, ::7] = Status.diverged
    arrays = {"power": of_magnitudes(cells, size, seed), "status": status}
    for k, scramblings in ((1, 1), (1, 4), (2, 1), (2, 4)):
        names = (*DIGITS, "sobol_indices") if k > 1 else DIGITS
        kept = kept_for(size, {"power": names}, scramblings, k)
        whole = divided(kept, arrays, [], [0])
        assert same(divided(kept, arrays, [16, 32, 128], [2, 0, 3, 1]), whole)
        assert same_on_device(kept, arrays)


@pytest.mark.parametrize("power", [-1020, -700, -450, 450, 700, 1018])
def test_statistics_of_other_units_have_the_same_digits(power: int) -> None:
    """Those of values between 1 and 2, whose squares need no scale."""
    n, k, scramblings = 64, 2, 4
    values = np.random.default_rng(3).uniform(1.0, 2.0, (1, n * (k + 2)))
    values[0, :5] = 0.0
    kept = kept_for(values.size, {"power": (*DIGITS, "sobol_indices")}, scramblings, k)
    plain = divided(kept, all_ok(values), [], [0])
    other = divided(kept, all_ok(np.ldexp(values, power)), [], [0])
    for name, expected in plain.items():
        scale = power if name in ("power_mean", "power_standard_deviation") else 0
        scale = power if name == "power_mean_error" else scale
        np.testing.assert_array_equal(other[name], np.ldexp(expected, scale), err_msg=name)


def test_what_was_kept_without_units_is_read_and_merged() -> None:
    """By an earlier version: its nodes lack the last field."""
    size, k = 64, 2
    kept = kept_for(size, {"power": (*DIGITS, "sobol_indices")}, k=k)
    arrays = random_arrays(3, size, 6, 1.0)
    arrays["power"][1] = 0.0
    halves = [{n: a[:, i : i + 32].ravel() for n, a in arrays.items()} for i in (0, 32)]
    first, second = (kept.of(half, 3, i * 32) for i, half in enumerate(halves))
    earlier = {n: a[:, :-1] if n.endswith("/fields") else a for n, a in first.items()}
    assert same(kept.current(earlier), first)
    assert same(kept.merged(kept.current(earlier), second), kept.merged(first, second))


def test_many_short_cells_have_the_statistics_of_each() -> None:
    """Which are reduced together, in another order of memory."""
    kept, arrays = kept_for(5), random_arrays(200, 5, 4, 0.9)
    statistics = divided(kept, arrays, [], [0])
    for cell in range(200):
        if values := arrays["power"][cell][arrays["status"][cell] == 0].tolist():
            check_order(statistics, cell, values)


@pytest.mark.parametrize(
    "values",
    [[7.0], [0.0] * 5, [1e-320, 0.0], [np.inf, 1.0, 2.0], [-np.inf, np.inf], [5e300, -5e300],
     [1e-310, 3e-309, 1.0, -2e-315, 5e-324], [-5e-324, -1e-320, 0.0, 1e-320, -2.3e-308],
     [-1e-200, 1e300], [-1.7e308, 1.7e308, 1.0]],
)  # fmt: skip
def test_extreme_values_have_statistics(values: list[float]) -> None:
    texts = {"power": ("minimum", "maximum", "quantile 0.5", "quantile 1.0", "histogram 4")}
    statistics = divided(kept_for(len(values), texts), all_ok(np.array([values])), [], [0])
    for i, level in enumerate(("0.5", "1.0")):
        exact = oracle.quantile(values, level)
        assert statistics[f"power_quantile {i}"][0] == pytest.approx(exact, rel=2**-8, abs=5e-324)
    assert statistics["power_maximum"][0] == max(values)
    counted = sum(statistics[f"power_histogram {i}"][0] for i in range(4))
    assert counted == np.isfinite(values).sum()


@pytest.mark.parametrize("seed", range(4))
def test_bins_of_all_magnitudes(seed: int) -> None:
    """Quantiles to 2^-8, exact ones, and histograms of the smallest width that holds all values."""
    cells, size, n_bins = 40, 50, 12
    names = (f"histogram {n_bins}", *(f"quantile {level}" for level in LEVELS))
    values = of_magnitudes(cells, size, seed)
    values[::5] = np.random.default_rng(seed).integers(-40, 40, values[::5].shape) * 5e-324
    arrays, kept = all_ok(values), kept_for(size, {"power": names})
    statistics = divided(kept, arrays, [], [0])
    assert same(divided(kept, arrays, [7, 8, 30], [2, 0, 3, 1]), statistics)
    exact_quantiles = divided(exactly(kept), arrays, [], [0])
    for cell, row in enumerate(values.tolist()):
        for i, level in enumerate(LEVELS):
            quantile = oracle.quantile(row, level)
            own = statistics[f"power_quantile {i}"][cell]
            assert own == pytest.approx(quantile, rel=2**-8, abs=5e-324)
            assert exact_quantiles[f"power_quantile {i}"][cell] == quantile
        start = Fraction(statistics["power_histogram_start"][cell])
        width = Fraction(statistics["power_histogram_width"][cell])
        counts = [int(statistics[f"power_histogram {i}"][cell]) for i in range(n_bins)]
        start -= start % width  # for -2^1024 stands the largest double
        places = [math.floor((Fraction(value) - start) / width) for value in row]
        assert counts == [places.count(i) for i in range(n_bins)]
        half = [math.floor(2 * Fraction(value) / width) for value in row]
        least = 2.0 ** max(math.frexp(max(map(abs, row)))[1] - 53, -1074)
        assert max(half) - min(half) >= n_bins or width == least


@settings(max_examples=60, deadline=None)
@given(
    bits=st.integers(8, 12),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50),
    level=st.sampled_from(LEVELS),
)
def test_bins_of_more_bits_are_narrower(bits: int, values: list[float], level: str) -> None:
    """A quantile is right to 2^-bits of its value, and subnormal ones to a half of the least."""
    kept = kept_for(len(values), {"power": (f"quantile {level}",)})
    kept = Kept(replace(kept.sweep, quantile_bits=bits))
    arrays = all_ok(np.array([values]))
    statistics = divided(kept, arrays, [], [0])
    own, exact = (
        Fraction(statistics["power_quantile 0"][0]),
        Fraction(oracle.quantile(values, level)),
    )
    assert abs(own - exact) <= abs(exact) / 2**bits + Fraction(5e-324) / 2
    assert same(divided(kept, arrays, [1, 3, 17][: len(values) // 9 + 1], [2, 0, 3, 1]), statistics)
    assert same_on_device(kept, arrays)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("bits", range(8, 13))
def test_bins_are_no_narrower_than_their_bits_say(bits: int, seed: int) -> None:
    """Otherwise a store of bins would be larger than it has to be: the worst error is near 2^-bits.

    The bins of values in [1, 2) are 2^(1 - bits) wide.
    """
    values = np.random.default_rng(seed).uniform(1.0, 2.0, (1, 4000))
    kept = kept_for(values.size, {"power": ("quantile 0.5",)})
    state = Kept(replace(kept.sweep, quantile_bits=bits)).of(flat(all_ok(values)), 1, 0)
    assert len(state["power/bits/bins"]) == len(np.unique(np.floor(values * 2 ** (bits - 1))))


def test_quantile_of_a_decimal_number() -> None:
    """0.07 as a double is a little more than 0.07: seven of a hundred, not eight."""
    assert rank(0.07, 100) == 7
    assert rank(1e-9, 5) == 1


def test_errors_come_from_the_scramblings() -> None:
    size, scramblings = 800, 8
    kept = kept_for(size, {"power": ("mean",)}, scramblings)
    arrays = random_arrays(2, size, 5, 1.0)
    statistics = divided(kept, arrays, [8, 160], [1, 0, 2])
    assert same(statistics, divided(kept, arrays, [], [0]))
    for cell in range(2):
        values = arrays["power"][cell]
        means = [oracle.mean(values[i::scramblings]) for i in range(scramblings)]
        assert statistics["power_mean"][cell] == pytest.approx(oracle.mean(values), rel=1e-13)
        error = oracle.deviation(means) / math.sqrt(scramblings)
        assert statistics["power_mean_error"][cell] == pytest.approx(error, rel=1e-12)


def saltelli(n: int, k: int, seed: int) -> NDArray[np.float64]:
    """Rows of points between 0 and 1: A, B, and A with one value from B; (n, k + 2, k)."""
    both = qmc.Sobol(2 * k, seed=seed).random(n)
    a, b = both[:, :k], both[:, k:]
    mixed = [np.where(np.arange(k) == i, b, a) for i in range(k)]
    return np.stack([a, b, *mixed], axis=1)


def test_indices_of_ishigami() -> None:
    n, k = 2**12, 3
    texts = {"power": ("sobol_indices", "mean")}
    x = np.pi * (2 * saltelli(n, k, 1).reshape(-1, k) - 1)
    power = np.apply_along_axis(oracle.ishigami, 1, x)
    size = n * (k + 2)
    kept = kept_for(size, texts, k=k)
    arrays = all_ok(power[None])
    statistics = divided(kept, arrays, [5, 500, 5000], [3, 1, 0, 2])
    assert same(statistics, divided(kept, arrays, [], [0]))
    rows = power.reshape(n, k + 2)
    scipy_indices = sobol_indices(
        func={"f_A": rows[:, 0][None], "f_B": rows[:, 1][None], "f_AB": rows[:, 2:].T[:, None]},
        n=n,
        dists=[uniform(-np.pi, 2 * np.pi)] * k,
    )
    for i, (first, total) in enumerate(zip(*oracle.ishigami_indices(), strict=True)):
        own = statistics[f"power_first_order {i}"][0], statistics[f"power_total_order {i}"][0]
        assert own == pytest.approx((first, total), abs=0.01)
        assert own[0] == pytest.approx(np.ravel(scipy_indices.first_order)[i], abs=1e-12)
        assert own[1] == pytest.approx(np.ravel(scipy_indices.total_order)[i], abs=1e-12)
        a, b, mixed = (rows[:, j] - rows[:, :2].mean() for j in (0, 1, 2 + i))
        assert own[0] == pytest.approx(first_order(a, mixed, b), abs=1e-12)
        assert own[1] == pytest.approx(total_order(a, mixed, b), abs=1e-12)
    assert statistics["power_mean"][0] == pytest.approx(oracle.mean(rows[:, 0]), rel=1e-13)


def test_a_row_with_a_point_that_is_not_ok_is_left_out_of_indices() -> None:
    n, k = 64, 2
    power = np.random.default_rng(2).normal(size=(n, k + 2))
    status = np.zeros((n, k + 2), np.uint8)
    status[5, 1], status[9, 3] = Status.diverged, Status.diverged
    kept = kept_for(n * (k + 2), {"power": ("sobol_indices",)}, k=k)
    arrays = {"power": power.reshape(1, -1), "status": status.reshape(1, -1)}
    statistics = divided(kept, arrays, [], [0])
    left = np.delete(power, [5, 9], axis=0)
    shorter = kept_for(left.size, {"power": ("sobol_indices",)}, k=k)
    expected = divided(shorter, all_ok(left.reshape(1, -1)), [], [0])
    for name in ("power_first_order 0", "power_total_order 1"):
        assert statistics[name] == pytest.approx(expected[name], rel=1e-12)


def test_indices_of_scramblings_have_errors() -> None:
    n, k, scramblings = 2**9, 3, 8
    rows = np.stack([saltelli(n // scramblings, k, seed) for seed in range(scramblings)], axis=1)
    x = np.pi * (2 * rows.reshape(-1, k) - 1)
    power = np.apply_along_axis(oracle.ishigami, 1, x)
    kept = kept_for(len(x), {"power": ("sobol_indices",)}, scramblings, k)
    statistics = divided(kept, all_ok(power[None]), [40, 400], [1, 2, 0])
    single = kept_for(len(x) // scramblings, {"power": ("sobol_indices",)}, k=k)
    power_by_scrambling = power.reshape(-1, scramblings, k + 2)
    each = [
        divided(single, all_ok(power_by_scrambling[:, i].reshape(1, -1)), [], [0])
        for i in range(scramblings)
    ]
    for order in ("first_order", "total_order"):
        indices = [single_statistics[f"power_{order} 1"][0] for single_statistics in each]
        error = oracle.deviation(indices) / math.sqrt(scramblings)
        assert statistics[f"power_{order}_error 1"][0] == pytest.approx(error, rel=1e-9)
