"""What is kept of some points of each cell, until the points of the cells are complete."""

from __future__ import annotations

import io
import itertools
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.model.table import DTYPES, MISSING, Output, Status, planes
from sweep.request.chunk import Points
from sweep.request.sweeps import Reduced
from sweep.statistics.counts import STATUSES, Classes, EqualBins, Extremes, Shares, by_status
from sweep.statistics.indices import Indices
from sweep.statistics.launches import Launcher, Then
from sweep.statistics.moments import Array, Moments
from sweep.statistics.on_device import reduced
from sweep.statistics.outputs import POINTS_BY_STATUS, Wanted, wanted
from sweep.statistics.quantiles import QUANTILE_BITS, LeadingBits, Sorted

Partial = Mapping[str, NDArray[Any]]  # by "output/kind/part"
# The kinds of numbers that are kept of the values of an output. The state `of` some points of each
# cell, whose `values` and `ok` have shape (cells, points), can be `merged` with that of others.
Kind = Classes | EqualBins | Extremes | Indices | LeadingBits | Moments | Shares | Sorted


INFINITE = np.errstate(invalid="ignore")  # such values, as of a time, make some statistics NaN
BEGINNING = b"tribosweep piece 1\n"  # of files with what is kept
START = len(BEGINNING) + 4  # of what the checksum is of


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept for a reduced sweep: made of points, merged, and read as statistics."""

    sweep: Reduced

    @INFINITE
    def of(self, arrays: Mapping[str, Array], cells: int, first: int) -> Partial:
        """What is kept of the arrays of points from `first` on, one cell after another."""
        row = self.sweep.row
        status = arrays["status"].reshape(cells, -1)
        computed = by_status(status)
        of_points = computed if row == 1 else by_status(status[:, ::row])
        kept = {"status/computed/status": computed, "status/points/status": of_points}
        for _, plane, kinds in self.planes():
            values, ok = _values_of(arrays, plane, cells)
            for name, kind in kinds.items():
                if name == "indices":
                    state = kind.of(values, ok, first)
                else:
                    state = kind.of(values[:, ::row], ok[:, ::row], first // row)
                kept |= {f"{plane.name}/{name}/{part}": a for part, a in state.items()}
        return kept

    def then(self, points: Points, counts: Sequence[int] = ()) -> Then:
        """What is kept of these points as a function of their arrays, for a backend.

        With `counts`, what is kept of as many parts of the points of each cell: `part_in` finds it.
        """
        cells = points.cells
        edges = list(itertools.accumulate(counts or [points.n_points // cells], initial=0))

        def kept(arrays: Mapping[str, Any], launcher: Launcher | None = None) -> Partial:
            if launcher is None:
                partials = [
                    self.of(_between(arrays, cells, a, b), cells, points.first + a)
                    for a, b in itertools.pairwise(edges)
                ]
            else:
                runs = [(points.first + a, b - a) for a, b in itertools.pairwise(edges)]
                wanted = ((plane, kinds) for _, plane, kinds in self.planes())
                partials = reduced(wanted, arrays, cells, runs, self.sweep.row, launcher)
            if not counts:
                return partials[0]
            return {f"{i}/{name}": a for i, each in enumerate(partials) for name, a in each.items()}

        return kept

    def of_cells(self, partial: Partial, first: int, stop: int) -> Partial:
        """What is kept of some of the cells, from `first` up to `stop`."""
        own: dict[str, NDArray[Any]] = {}
        for name, array in partial.items():
            if name.endswith("/fields"):
                streams = self.sweep.scramblings
                own[name] = array[..., first * streams : stop * streams]
            elif "/bits/" in name:
                cells = partial[f"{name.rpartition('/')[0]}/cells"]
                own[name] = array[slice(*np.searchsorted(cells, [first, stop]))]
                own[name] = own[name] - first if name.endswith("/cells") else own[name]
            else:
                own[name] = array if name.endswith("/nodes") else array[first:stop]
        return own

    @INFINITE
    def merged(self, one: Partial, other: Partial) -> Partial:
        """What is kept of two parts of a chunk: other points of its cells, which share none.

        With exact quantiles, they are all points of some cells, and of those behind them.
        """
        if self.sweep.exact_quantiles:
            return _behind(one, other)
        kept = {name: one[name] + other[name] for name in one if name.startswith("status/")}
        for _, plane, kinds in self.planes():
            for name, kind in kinds.items():
                place = f"{plane.name}/{name}"
                state = kind.merged(state_in(one, place), state_in(other, place))
                kept |= {f"{place}/{part}": array for part, array in state.items()}
        return kept

    @INFINITE
    def statistics(self, partial: Partial) -> dict[str, NDArray[Any]]:
        """The planes of the statistics and the status of each cell, from all of its points."""
        status = _status_of(partial["status/points/status"])
        n_cells = len(status)
        computed = partial["status/computed/status"]
        columns_by_output: dict[str, list[NDArray[Any]]] = {POINTS_BY_STATUS: [*computed.T]}
        for each, plane, kinds in self.planes():
            read: dict[str, NDArray[Any]] = {}
            for name, kind in kinds.items():
                state = state_in(partial, f"{plane.name}/{name}")
                if isinstance(kind, LeadingBits):
                    read["quantile"] = kind.quantiles(state, n_cells)
                else:
                    read |= kind.read(state)
            for suffix, values in read.items():
                columns = [values] if values.ndim == 1 else [*values.T]
                columns_by_output.setdefault(f"{each.output.name}_{suffix}", []).extend(columns)
        arrays: dict[str, NDArray[Any]] = {"status": status}
        for output in self.sweep.outputs:
            for name, values in zip(output.planes, columns_by_output[output.name], strict=True):
                arrays[name] = _of_ok(output, values, status)
        return arrays

    def current(self, partial: Partial) -> Partial:
        """What an earlier version kept, as this one keeps it."""
        kept = dict(partial)
        for _, plane, kinds in self.planes():
            for name, kind in kinds.items():
                if isinstance(kind, Moments | Indices) and (
                    state := state_in(partial, f"{plane.name}/{name}")
                ):
                    parts = kind.current(state).items()
                    kept |= {f"{plane.name}/{name}/{part}": a for part, a in parts}
        return kept

    @staticmethod
    def counts(partial: Partial) -> NDArray[np.int64]:
        """The number of computed points by status, in the order of `counts.STATUSES`."""
        return partial["status/computed/status"].sum(axis=0)

    def planes(self) -> Iterator[tuple[Wanted, Output, dict[str, Kind]]]:
        """What is wanted of each plane of the outputs, and what is kept of it."""
        for each in wanted(self.sweep):
            for plane in planes([each.output]):
                yield each, plane, self._kinds(each)

    def _kinds(self, each: Wanted) -> dict[str, Kind]:
        if each.output.kind == "flag":
            return {"classes": Classes(len(each.output.flags))}
        scramblings, names = self.sweep.scramblings, each.names
        indices = Indices(self.sweep.row - 2, scramblings)
        bits, is_exact = self.sweep.quantile_bits or QUANTILE_BITS, self.sweep.exact_quantiles
        kinds: dict[str, Kind | None] = {
            "shares": Shares(each.thresholds),
            "moments": Moments(scramblings) if names & {"mean", "standard_deviation"} else None,
            "extremes": Extremes() if names & {"minimum", "maximum"} else None,
            "bits": LeadingBits(each.levels, bits) if each.levels and not is_exact else None,
            "sorted": Sorted(each.levels) if each.levels and is_exact else None,
            "bins": EqualBins(each.bins) if each.bins else None,
            "indices": indices if "sobol_indices" in names else None,
        }
        return {name: kind for name, kind in kinds.items() if kind is not None}


def part_in(partials: Partial, number: int) -> Partial:
    """What is kept of a part of the points, of what `Kept.then` has made of several."""
    return state_in(partials, f"{number}")


def _between(arrays: Mapping[str, Array], cells: int, first: int, stop: int) -> dict[str, Array]:
    """The arrays of the points of each cell from one to another."""
    return {name: each.reshape(cells, -1)[:, first:stop].ravel() for name, each in arrays.items()}


def _values_of(arrays: Mapping[str, Array], plane: Output, cells: int) -> tuple[Array, Array]:
    """The values of an output and whether each counts: (cells, points)."""
    values = arrays[plane.name].reshape(cells, -1)
    ok = arrays["status"].reshape(cells, -1) == int(Status.ok)
    if plane.kind == "flag":
        return values, ok
    values = values.astype(np.float64, copy=False)
    return values, ok & ~np.isnan(values) if plane.optional else ok


def _behind(one: Partial, other: Partial) -> Partial:
    """What is kept of some cells and of others behind them, of as many points."""
    whole = dict(one)
    for name, array in other.items():
        if not name.endswith("/nodes"):  # the same tree for each cell, which is the last dimension
            axis = -1 if name.endswith("/fields") else 0
            whole[name] = np.concatenate([one[name], array], axis=axis)
    return whole


def state_in(partial: Partial, place: str) -> dict[str, NDArray[Any]]:
    """What is kept under OUTPUT/KIND."""
    prefix = f"{place}/"
    return {n.removeprefix(prefix): a for n, a in partial.items() if n.startswith(prefix)}


def _status_of(counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """ok for cells with a point that is ok, otherwise the most frequent status of their points."""
    codes = np.array(STATUSES, np.uint8)
    return np.where(counts[:, 0] > 0, np.uint8(Status.ok), codes[counts.argmax(axis=1)])


def _of_ok(output: Output, values: NDArray[Any], status: NDArray[np.uint8]) -> NDArray[Any]:
    """The values as the output's type, missing in cells that are not ok; points are counted."""
    dtype = DTYPES[output.kind]
    if output.name == POINTS_BY_STATUS:
        return values.astype(dtype)
    return np.where(status == Status.ok, values, MISSING[output.kind]).astype(dtype)


def to_bytes(partial: Partial) -> bytes:
    """A checksum, a list of the arrays, and their bytes.

    NumPy's npz takes ten times as long, and a run writes and reads these files for every block.
    """
    arrays = [[name, array.dtype.str, array.shape] for name, array in partial.items()]
    listed = json.dumps(arrays).encode()
    content = b"".join([listed, b"\n", *(array.tobytes() for array in partial.values())])
    return BEGINNING + zlib.crc32(content).to_bytes(START - len(BEGINNING), "little") + content


def from_bytes(content: bytes) -> Partial:
    """The inverse of `to_bytes`; earlier versions wrote npz. Raises if the content is damaged."""
    if not content.startswith(BEGINNING):
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            return dict(stored)
    checksum = int.from_bytes(content[len(BEGINNING) : START], "little")
    if zlib.crc32(memoryview(content)[START:]) != checksum:
        raise ValueError("what is kept of points has another checksum")
    end = content.index(b"\n", START)
    arrays, at = dict[str, NDArray[Any]](), end + 1
    for name, dtype, shape in json.loads(content[START:end]):
        array = np.frombuffer(content, dtype, math.prod(shape), at)
        arrays[name], at = array.reshape(shape).copy(), at + array.nbytes
    return arrays
