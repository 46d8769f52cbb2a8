"""What is kept of a stretch of points of each cell, until the points of the cells are complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.request import Reduction
from sweep.spec import DTYPES, MISSING, Output, Status, planes
from sweep.statistics.bins import EqualBins
from sweep.statistics.brackets import Brackets
from sweep.statistics.counts import Classes, Extremes, Shares, by_status, status_of
from sweep.statistics.indices import Indices
from sweep.statistics.moments import Array, Moments
from sweep.statistics.outputs import POINTS_BY_STATUS, Wanted, statistic_outputs, wanted
from sweep.statistics.quantiles import LeadingBits, doubles, leading, summed

Partial = Mapping[str, NDArray[Any]]  # by "output/kind/part"
# The kinds of numbers that are kept of the values of an output.
Kind = Classes | EqualBins | Extremes | Indices | LeadingBits | Moments | Shares


@dataclass(frozen=True, eq=False)
class Kept:
    """What is kept for a reduction: made of points, merged, and read as statistics."""

    reduction: Reduction

    def of(
        self,
        arrays: Mapping[str, Array],
        cells: int,
        first: int,
        xp: Any = np,
        to_host: Callable[[Array], NDArray[Any]] = np.asarray,
    ) -> Partial:
        """What is kept of the arrays of points from `first` on, one cell after another.

        The arrays may be those of a device's library `xp`; what is kept is on the host.
        """
        row = self.reduction.row
        status = arrays["status"].reshape(cells, -1)
        computed = by_status(xp, status)
        of_points = computed if row == 1 else by_status(xp, status[:, ::row])
        kept = {"status/computed/status": computed, "status/points/status": of_points}
        for _, plane, kinds in self.planes():
            values, ok = _values_of(arrays, plane, cells, xp)
            for name, kind in kinds.items():
                if name == "indices":
                    state = kind.of(xp, values, ok, first)
                else:
                    state = kind.of(xp, values[:, ::row], ok[:, ::row], first // row)
                kept |= {f"{plane.name}/{name}/{part}": a for part, a in state.items()}
        return {name: to_host(array) for name, array in kept.items()}

    def merged(self, one: Partial, other: Partial) -> Partial:
        """What is kept of two stretches of the same cells that share no point."""
        kept = {name: one[name] + other[name] for name in one if name.startswith("status/")}
        for _, plane, kinds in self.planes():
            for name, kind in kinds.items():
                place = f"{plane.name}/{name}"
                state = kind.merged(state_in(one, place), state_in(other, place))
                kept |= {f"{place}/{part}": array for part, array in state.items()}
        return kept

    def statistics(self, partial: Partial) -> dict[str, NDArray[Any]]:
        """The planes of the statistics and the status of each cell, from all of its points."""
        status = status_of(partial["status/points/status"])
        computed = partial["status/computed/status"]
        columns_by_output: dict[str, list[NDArray[Any]]] = {POINTS_BY_STATUS: [*computed.T]}
        for each, plane, kinds in self.planes():
            read: dict[str, NDArray[Any]] = {}
            for name, kind in kinds.items():
                read |= kind.read(state_in(partial, f"{plane.name}/{name}"))
            if each.levels:
                read["quantile"] = self.brackets(partial, plane.name, each.levels).values()
            for suffix, values in read.items():
                columns = [values] if values.ndim == 1 else [*values.T]
                columns_by_output.setdefault(f"{each.output.name}_{suffix}", []).extend(columns)
        arrays: dict[str, NDArray[Any]] = {"status": status}
        for output in statistic_outputs(self.reduction):
            for name, values in zip(output.planes, columns_by_output[output.name], strict=True):
                arrays[name] = _of_ok(output, values, status)
        return arrays

    def brackets(self, partial: Partial, plane: str, levels: Sequence[float]) -> Brackets:
        """The bins of the quantiles, as narrow as they are known."""
        if state := state_in(partial, f"{plane}/brackets"):
            return Brackets.from_arrays(state)
        n_cells = len(partial["status/points/status"])
        return Brackets.of(state_in(partial, f"{plane}/{self._bits}"), levels, n_cells)

    def current(self, partial: Partial) -> Partial:
        """What an earlier version kept, as this one keeps it."""
        kept = dict(partial)
        for each, plane, kinds in self.planes():
            for name, kind in kinds.items():
                if isinstance(kind, Moments | Indices) and (
                    state := state_in(partial, f"{plane.name}/{name}")
                ):
                    parts = kind.current(state).items()
                    kept |= {f"{plane.name}/{name}/{part}": a for part, a in parts}
            if not (self.reduction.exact_quantiles and each.levels):
                continue
            if values := state_in(partial, f"{plane.name}/bits"):
                bins = leading(doubles(values["bins"]))
                coarse = summed(np, values["cells"], bins, values["counts"])
                kept |= {f"{plane.name}/{self._bits}/{part}": a for part, a in coarse.items()}
        return kept

    @staticmethod
    def counts(partial: Partial) -> NDArray[np.int64]:
        """The number of computed points by status, in the order of `counts.STATUSES`."""
        return partial["status/computed/status"].sum(axis=0)

    def planes(self) -> Iterator[tuple[Wanted, Output, dict[str, Kind]]]:
        """What is wanted of each plane of the outputs, and what is kept of it."""
        for each in wanted(self.reduction):
            for plane in planes([each.output]):
                yield each, plane, self._kinds(each)

    def _kinds(self, each: Wanted) -> dict[str, Kind]:
        if each.output.kind == "flag":
            return {"classes": Classes(len(each.output.flags))}
        scramblings, names = self.reduction.scramblings, each.names
        indices = Indices(self.reduction.row - 2, scramblings)
        kinds: dict[str, Kind | None] = {
            "shares": Shares(each.thresholds),
            "moments": Moments(scramblings) if names & {"mean", "standard_deviation"} else None,
            "extremes": Extremes() if names & {"minimum", "maximum"} else None,
            self._bits: LeadingBits() if each.levels else None,
            "bins": EqualBins(each.bins) if each.bins else None,
            "indices": indices if "sobol_indices" in names else None,
        }
        return {name: kind for name, kind in kinds.items() if kind is not None}

    @property
    def _bits(self) -> str:
        """For exact quantiles earlier versions kept every value, as `bits`."""
        return "leading_bits" if self.reduction.exact_quantiles else "bits"


def _values_of(
    arrays: Mapping[str, Array], plane: Output, cells: int, xp: Any
) -> tuple[Array, Array]:
    """The values of an output and whether each counts: (cells, points)."""
    values = arrays[plane.name].reshape(cells, -1)
    ok = arrays["status"].reshape(cells, -1) == int(Status.ok)
    if plane.kind == "flag":
        return values, ok
    values = values.astype(np.float64, copy=False)
    return values, ok & ~xp.isnan(values) if plane.optional else ok


def state_in(partial: Partial, place: str) -> dict[str, NDArray[Any]]:
    """What is kept under OUTPUT/KIND."""
    prefix = f"{place}/"
    return {n.removeprefix(prefix): a for n, a in partial.items() if n.startswith(prefix)}


def _of_ok(output: Output, values: NDArray[Any], status: NDArray[np.uint8]) -> NDArray[Any]:
    """The values as the output's type, missing in cells that are not ok; points are counted."""
    dtype = DTYPES[output.kind]
    if output.name == POINTS_BY_STATUS:
        return values.astype(dtype)
    return np.where(status == Status.ok, values, MISSING[output.kind]).astype(dtype)
