"""Points that are reduced on the device that has computed them, by kernels/reduction_gpu.h.

What is kept has the bits of NumPy's code in this room. A launch reduces all cells and all parts of
their points at once; launches that wait for no result are begun together, and the results of all
outputs are copied together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sweep.model.table import Output
from sweep.statistics import quantiles, tree
from sweep.statistics.counts import STATUSES, Classes, EqualBins, Extremes, Shares
from sweep.statistics.indices import FIXED, Indices
from sweep.statistics.launches import (
    LEVELS_AT_ONCE,
    Condition,
    Device,
    Division,
    Launcher,
    PlaneValues,
    Reduction,
    Runs,
    Step,
)
from sweep.statistics.moments import Moments, State
from sweep.statistics.quantiles import LeadingBits, Sorted

MOMENT_FIELDS = 4  # of a node: number, sum, deviations, exponent of the unit
AT_ONCE = 16  # kinds of outputs, whose tables take memory until they are done
BINS_PER_VALUE = 4  # of a table in which bins are counted; where it were longer, they are sorted
LONG = 2**16  # values of a cell that are sorted by themselves
LEAST, GREATEST = ~quantiles.MAGNITUDE, quantiles.MAGNITUDE  # in the order of values: NaN
INFINITE = 0x7FF0 << 48  # +inf in the order of values; ~INFINITE: -inf
States = list[State]  # by part


class Result(NamedTuple):
    """Arrays on the device, and how they are read there where they were copied to."""

    arrays: list[Device]
    read: Callable[[list[NDArray[Any]]], States]


Steps = Generator[list[Reduction], None, Result]  # launches that wait for no result at a time
Begun = Generator[list[Reduction], None, Device]


def reduced(
    wanted: Iterator[tuple[Output, Mapping[str, Any]]],
    arrays: Mapping[str, Device],
    cells: int,
    runs: Runs,
    row: int,
    launcher: Launcher,
) -> list[dict[str, NDArray[Any]]]:
    """What is kept of parts of the cells, as `partial.Kept.of` keeps it of each.

    `runs` has the parts, one behind another, and `row` the points of a row of Sobol' indices.
    """
    division = Division(launcher, arrays["status"], cells, runs)
    status = PlaneValues(division, arrays["status"], "flag", optional=False, stride=1)
    steps: dict[str, Steps] = {"status/computed": _statuses(status)}
    if row > 1:
        steps["status/points"] = _statuses(replace(status, stride=row))
    for output, kinds in wanted:
        is_optional = output.optional and output.kind != "flag"
        values = PlaneValues(division, arrays[output.name], output.kind, is_optional, row)
        for name, kind in kinds.items():
            steps[f"{output.name}/{name}"] = STEPS[type(kind)](kind, values)
    results = _run(steps, row - 2 if row > 1 else 0, launcher)
    computed = results["status/computed"]
    results = {"status/computed": computed, "status/points": computed, **results}
    partials: list[dict[str, NDArray[Any]]] = [{} for _ in runs]
    for place, states in results.items():
        for kept, state in zip(partials, states, strict=True):
            kept |= {f"{place}/{part}": array for part, array in state.items()}
    return partials


def _run(steps: Mapping[str, Steps], n_parameters: int, launcher: Launcher) -> dict[str, States]:
    """The results of all steps, of which those that wait for no result are launched together."""
    results, waiting = dict[str, Result](), list(steps)
    while waiting:
        requests: list[Reduction] = []
        for place in waiting[:AT_ONCE]:
            try:
                requests += next(steps[place])
            except StopIteration as end:
                results[place] = end.value
                waiting.remove(place)
        if requests:
            launcher.reduce(requests, n_parameters)
    results = {place: results[place] for place in steps}
    arrays = [array.ravel().view(np.int64) for each in results.values() for array in each.arrays]
    numbers = launcher.to_host(launcher.library.concatenate(arrays))
    ends = list(itertools.accumulate((array.size for array in arrays), initial=0))
    copied = iter([numbers[a:b] for a, b in itertools.pairwise(ends)])
    own = {place: [next(copied) for _ in each.arrays] for place, each in results.items()}
    return {place: results[place].read(own[place]) for place in steps}


def _statuses(values: PlaneValues) -> Steps:
    return _codes("status", [(Condition.HAS_STATUS, float(each)) for each in STATUSES], values)


def _classes(kind: Classes, values: PlaneValues) -> Steps:
    codes = [(Condition.HAS_CODE, float(code)) for code in range(kind.size)]
    return _codes("classes", codes, values)


def _codes(name: str, codes: Sequence[tuple[Condition, float]], values: PlaneValues) -> Steps:
    table = yield from _counted(values, codes)

    def read(arrays: list[NDArray[Any]]) -> States:
        return [{name: rows} for rows in values.division.by_part(arrays[0])]

    return Result([table], read)


def _shares(kind: Shares, values: PlaneValues) -> Steps:
    limits, n = kind.thresholds, len(kind.thresholds)
    sides = [(Condition.IS_ABOVE, each) for each in limits] + [
        (Condition.IS_BELOW, each) for each in limits
    ]
    table = yield from _counted(values, [(Condition.IS_OK, 0.0), *sides])
    parts = {"number": slice(0, 1)}
    parts |= {"above": slice(1, n + 1), "below": slice(n + 1, None)} if n else {}

    def read(arrays: list[NDArray[Any]]) -> States:
        tables = values.division.by_part(arrays[0])
        return [{name: table[:, part] for name, part in parts.items()} for table in tables]

    return Result([table], read)


def _counted(values: PlaneValues, conditions: Sequence[tuple[Condition, float]]) -> Begun:
    """The numbers of leaves for which each condition holds: (rows, conditions)."""
    n = len(conditions)
    table = values.xp.zeros(values.division.n_rows * n, np.int64)
    kinds = np.array([kind for kind, _ in conditions], np.int64)
    limits = np.array([limit for _, limit in conditions], np.float64).view(np.int64)
    pairs = values.division.table(np.stack([kinds, limits], axis=1))
    yield [values.request(Step.COUNT, n=n, input=pairs, output=table)]
    return table


def _extremes(_kind: Extremes, values: PlaneValues) -> Steps:
    table = yield from _ends(values, finite=False)

    def read(arrays: list[NDArray[Any]]) -> States:
        ends = values.division.by_part(_doubles(arrays[0]))
        return [{"minimum": each[:, 0], "maximum": each[:, 1]} for each in ends]

    return Result([table], read)


def _ends(values: PlaneValues, *, finite: bool) -> Begun:
    """The least and the greatest value of each row, as places in the order of values."""
    table = values.xp.full((values.division.n_rows, 2), INFINITE, np.int64)
    table[:, 1] = ~INFINITE
    yield [values.request(Step.EXTREMES, finite=int(finite), output=table)]
    return table


def _doubles(places: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values at these places in the order of values."""
    is_nan = (places == LEAST) | (places == GREATEST)
    return np.where(is_nan, np.nan, quantiles.doubles(places))


def _moments(kind: Moments, values: PlaneValues) -> Steps:
    return _sums(Step.MOMENTS, MOMENT_FIELDS, kind.scramblings, values)


def _indices(kind: Indices, values: PlaneValues) -> Steps:
    return _sums(Step.INDICES, FIXED + 3 * kind.parameters + 1, kind.scramblings, values)


def _sums(step: Step, n_fields: int, scramblings: int, values: PlaneValues) -> Steps:
    """The nodes of the tree that cover each part; a launch takes LEVELS_AT_ONCE of its levels."""
    division, xp, in_all = values.division, values.xp, 1 << LEVELS_AT_ONCE
    leaves = division.leaves(values.stride * scramblings)
    keys = [tree.covering(*each) for each in leaves]
    shapes = [(len(each), n_fields, division.cells * scramblings) for each in keys]
    sizes = list(map(math.prod, shapes))
    nodes = xp.empty(sum(sizes), np.float64)
    requests, stages = list[Reduction](), [nodes]  # which must live until they are launched
    spans, level, width = [(first, first + count) for first, count in leaves], 0, 0
    while any(a < b for a, b in spans):
        groups = max(-(-b // in_all) - a // in_all for a, b in spans if a < b)
        spans = [(-(-a // in_all), b // in_all) for a, b in spans]
        next_width = max(max(b - a for a, b in spans), 0)
        n_next = division.n_rows * scramblings * next_width
        inner, outer = stages[-1], xp.empty(n_next * n_fields, np.float64)
        stages.append(outer)
        requests.append(
            values.request(
                step, scramblings, groups=groups, level=level, width=width, next_width=next_width,
                input=inner, output=outer, nodes=nodes,
            )
        )  # fmt: skip
        level, width = level + LEVELS_AT_ONCE, next_width
    yield requests

    def read(arrays: list[NDArray[Any]]) -> States:
        ends = list(itertools.accumulate(sizes, initial=0))
        fields = arrays[0].view(np.float64)
        own = [fields[a:b] for a, b in itertools.pairwise(ends)]
        return [
            {"nodes": np.array(key), "fields": each.reshape(shape)}
            for key, each, shape in zip(keys, own, shapes, strict=True)
        ]

    return Result([nodes], read)


def _leading_bits(kind: LeadingBits, values: PlaneValues) -> Steps:
    """Bins that any row has are numbered first, so that a table of all rows is short."""
    division, xp = values.division, values.xp
    shift, _, subnormal, _ = quantiles.bin_layout(kind.bits)
    middle = subnormal + subnormal // 4  # bins of lifted values are less than that from bin 0
    marks = xp.zeros(2 * middle, np.uint8)
    own = {"shift": shift, "subnormal": subnormal, "middle": middle}
    yield [values.request(Step.MARK, output=marks, **own)]
    (found,) = xp.nonzero(marks != 0)
    numbers, n = xp.empty(2 * middle, np.int32), max(found.size, 1)
    numbers[found] = xp.arange(found.size, dtype=np.int32)
    most = max(count for _, count in division.leaves(values.stride))
    if n <= BINS_PER_VALUE * most:
        table = xp.zeros(division.n_rows * n, np.int64)
        yield [values.request(Step.COUNT_BINS, n=n, input=numbers, output=table, **own)]
        (occupied,) = xp.nonzero(table != 0)
        counts = table[occupied]
    else:
        bins = xp.full(division.n_rows * most, -1, np.int64)
        yield [values.request(Step.NUMBER_BINS, n=n, width=most, input=numbers, output=bins, **own)]
        occupied, counts = _occurrences(xp, bins)
    results = [occupied // n, found[occupied % n] - middle, counts]

    def read(arrays: list[NDArray[Any]]) -> States:
        rows, bins, counts = arrays
        edges = np.searchsorted(rows, np.arange(len(division.runs) + 1) * division.cells)
        return [
            {"cells": rows[a:b] - part * division.cells, "bins": bins[a:b], "counts": counts[a:b]}
            for part, (a, b) in enumerate(itertools.pairwise(edges))
        ]

    return Result(results, read)


def _occurrences(xp: Any, numbers: Device) -> tuple[Device, Device]:
    """The numbers from 0 on, ascending, and how often each occurs."""
    ascending = xp.sort(numbers)
    ascending = ascending[ascending >= 0]
    edges = xp.ones(ascending.size + 1, np.bool_)
    edges[1:-1] = ascending[1:] != ascending[:-1]
    (at,) = xp.nonzero(edges)
    return ascending[at[:-1]], at[1:] - at[:-1]


def _sorted(kind: Sorted, values: PlaneValues) -> Steps:
    """The quantiles of whole cells; there is one part."""
    division, xp = values.division, values.xp
    ((_, size),) = division.leaves(values.stride)
    places = xp.empty((division.cells, size), np.int64)
    yield [values.request(Step.ORDER, output=places)]
    table = yield from _counted(values, [(Condition.IS_OK, 0.0)])
    if size < LONG:
        places.sort(axis=1)
    else:  # by their bits, which is several times as fast
        for row in places:
            row.sort()
    launcher = division.launcher
    ranks = quantiles.ranks_of(kind.levels, launcher.to_host(table))
    at = launcher.upload(np.maximum(ranks - 1, 0).ravel()).reshape(ranks.shape)
    chosen = xp.take_along_axis(places, at, axis=1)

    def read(arrays: list[NDArray[Any]]) -> States:
        found = _doubles(arrays[0]).reshape(ranks.shape)
        return [{"values": np.where(ranks > 0, found, np.nan)}]

    return Result([chosen], read)


def _equal_bins(kind: EqualBins, values: PlaneValues) -> Steps:
    division = values.division
    table = yield from _ends(values, finite=True)
    low, high = division.launcher.to_host(table).reshape(-1, 2).T
    low, high = _doubles(low), _doubles(high)
    exponent, start = kind.places(low, high)
    places = division.launcher.upload(np.stack([exponent, start], axis=1).ravel())
    counts = values.xp.zeros(division.n_rows * kind.size, np.int64)
    yield [values.request(Step.HISTOGRAM, n=kind.size, input=places, output=counts)]
    rows = {"low": low, "high": high, "exponent": exponent, "start": start}

    def read(arrays: list[NDArray[Any]]) -> States:
        by_part = division.by_part
        each_row = {name: by_part(array)[..., 0] for name, array in rows.items()}
        each_row["counts"] = by_part(arrays[0])
        n_parts = range(len(division.runs))
        return [{name: array[part] for name, array in each_row.items()} for part in n_parts]

    return Result([counts], read)


STEPS: dict[type, Callable[[Any, PlaneValues], Steps]] = {
    Classes: _classes,
    EqualBins: _equal_bins,
    Extremes: _extremes,
    Indices: _indices,
    LeadingBits: _leading_bits,
    Moments: _moments,
    Shares: _shares,
    Sorted: _sorted,
}
