"""What is kept of a stretch of points of each cell, until the points of the cells are complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.spec import DTYPES, MISSING, Output, Status, planes
from sweep.statistics.bins import EqualBins
from sweep.statistics.brackets import Brackets
from sweep.statistics.counts import Classes, Extremes, Shares, Statuses, share, status_of
from sweep.statistics.indices import Indices
from sweep.statistics.moments import Array, Moments, State
from sweep.statistics.outputs import (
    OF_FLAGS,
    POINTS_BY_STATUS,
    Wanted,
    statistic_outputs,
    wanted,
)
from sweep.statistics.quantiles import SHIFT, LeadingBits, summed
from sweep.statistics.reduction import Reduction

Partial = Mapping[str, NDArray[Any]]  # by "output/kind/part"
Arrays = Mapping[str, NDArray[Any]]


class Kind(Protocol):
    """A kind of numbers that is kept of the values of an output."""

    def of(self, xp: Any, values: Array, ok: Array, first: int, /) -> State: ...

    def merged(self, one: State, other: State, /) -> State: ...


@dataclass(frozen=True)
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
        """Of the outputs and status of points from `first` on, one cell after another.

        The arrays may be those of a device's library `xp`; what is kept is on the host.
        """
        row = self.reduction.row
        kept = self.statuses(arrays, cells, xp)
        for each, plane in self.planes():
            values, there = values_of(arrays, plane, cells, xp)
            for name, kind in self._kinds(each).items():
                if name == "indices":
                    state = kind.of(xp, values, there, first)
                else:
                    state = kind.of(xp, values[:, ::row], there[:, ::row], first // row)
                kept |= {f"{plane.name}/{name}/{part}": a for part, a in state.items()}
        return {name: to_host(array) for name, array in kept.items()}

    def merged(self, one: Partial, other: Partial) -> Partial:
        """Of two stretches that share no point, of the same cells."""
        kept = {name: one[name] + other[name] for name in one if name.startswith("status/")}
        for each, plane in self.planes():
            for name, kind in self._kinds(each).items():
                place = f"{plane.name}/{name}"
                state = kind.merged(state_in(one, place), state_in(other, place))
                kept |= {f"{place}/{part}": array for part, array in state.items()}
        return kept

    def statistics(self, partial: Partial) -> dict[str, NDArray[Any]]:
        """The planes of the statistics and the status of each cell, from all of its points."""
        status = status_of(partial["status/points/status"])
        computed = partial["status/computed/status"]
        found: dict[str, list[NDArray[Any]]] = {POINTS_BY_STATUS: [*computed.T]}
        for each, plane in self.planes():
            for suffix, values in self._read(each, plane.name, partial):
                columns = [values] if values.ndim == 1 else [*values.T]
                found.setdefault(f"{each.name}_{suffix}", []).extend(columns)
        arrays: dict[str, NDArray[Any]] = {"status": status}
        for output in statistic_outputs(self.reduction):
            for name, values in zip(output.planes, found[output.name], strict=True):
                arrays[name] = _of_ok(output, values, status)
        return arrays

    def brackets(self, partial: Partial, plane: str, levels: Sequence[float]) -> Brackets:
        """The bins of the quantiles, as narrow as they are known."""
        if found := state_in(partial, f"{plane}/brackets"):
            return Brackets.from_arrays(found)
        n_cells = len(partial["status/points/status"])
        return Brackets.of(state_in(partial, f"{plane}/{self._bits}"), levels, n_cells)

    def current(self, partial: Partial) -> Partial:
        """What an earlier version kept, as this one keeps it."""
        kept = dict(partial)
        for each, plane in self.planes() if self.reduction.exact_quantiles else ():
            if each.levels and (values := state_in(partial, f"{plane.name}/bits")):
                coarse = summed(np, values["cells"], values["bins"] >> SHIFT, values["counts"])
                kept |= {f"{plane.name}/{self._bits}/{part}": a for part, a in coarse.items()}
        return kept

    @staticmethod
    def counts(partial: Partial) -> NDArray[np.int64]:
        """The number of computed points by status, in the order of `counts.STATUSES`."""
        return partial["status/computed/status"].sum(axis=0)

    def failed(self, cells: int, first: int, n_points: int) -> Partial:
        """What is kept of stretches of points that could not be computed."""
        size = cells * n_points
        arrays: dict[str, NDArray[Any]] = {
            plane.name: np.full(size, MISSING[plane.kind], DTYPES[plane.kind])
            for plane in planes(self.reduction.outputs)
        }
        status = np.full(size, Status.failed, np.uint8)
        return self.of({**arrays, "status": status}, cells, first)

    def statuses(self, arrays: Mapping[str, Array], cells: int, xp: Any) -> dict[str, Array]:
        """The numbers of computed points by status, and of those that are no part of a row."""
        status, row = arrays["status"].reshape(cells, -1), self.reduction.row
        computed = Statuses().of(xp, status)["status"]
        of_points = computed if row == 1 else Statuses().of(xp, status[:, ::row])["status"]
        return {"status/computed/status": computed, "status/points/status": of_points}

    def planes(self) -> Iterator[tuple[Wanted, Output]]:
        """What is wanted of each plane of the outputs."""
        for each in wanted(self.reduction):
            for plane in planes([each.output]):
                yield each, plane

    def _kinds(self, each: Wanted) -> dict[str, Kind]:
        if each.output.kind == "flag":
            return {"classes": Classes(len(each.output.flags))}
        scramblings, plain = self.reduction.scramblings, each.plain
        kinds: dict[str, Kind | None] = {
            "shares": Shares(each.thresholds),
            "moments": Moments(scramblings) if plain & {"mean", "standard_deviation"} else None,
            "extremes": Extremes() if plain & {"minimum", "maximum"} else None,
            self._bits: LeadingBits() if each.levels else None,
            "bins": EqualBins(each.bins) if each.bins else None,
            "indices": self._indices if "sobol_indices" in plain else None,
        }
        return {name: kind for name, kind in kinds.items() if kind is not None}

    @property
    def _bits(self) -> str:
        """For exact quantiles earlier versions kept every value, as `bits`."""
        return "leading_bits" if self.reduction.exact_quantiles else "bits"

    @property
    def _indices(self) -> Indices:
        return Indices(self.reduction.row - 2, self.reduction.scramblings)

    def _read(
        self, each: Wanted, plane: str, partial: Partial
    ) -> Iterator[tuple[str, NDArray[Any]]]:
        """The statistics of one plane: suffix of the name, (cells,) or (cells, labels)."""
        if OF_FLAGS in each.plain:
            classes = partial[f"{plane}/classes/classes"]
            yield "share", share(classes, classes.sum(axis=1, keepdims=True))
            return
        number = partial[f"{plane}/shares/number"]
        if each.plain & {"mean", "standard_deviation"}:
            read = Moments(self.reduction.scramblings).read(state_in(partial, f"{plane}/moments"))
            names = ("mean", "mean_error") if "mean" in each.plain else ()
            for name in (*names, *each.plain & {"standard_deviation"}):
                yield name, read[name]
        for name in each.plain & {"minimum", "maximum"}:
            yield name, np.where(number[:, 0] > 0, partial[f"{plane}/extremes/{name}"], np.nan)
        if each.levels:
            yield "quantile", self.brackets(partial, plane, each.levels).values()
        if each.above:
            yield "share_above", share(partial[f"{plane}/shares/above"], number)
        if each.below:
            yield "share_below", share(partial[f"{plane}/shares/below"], number)
        if each.bins:
            read = EqualBins(each.bins).read(state_in(partial, f"{plane}/bins"))
            yield "histogram", read["counts"]
            yield "histogram_start", read["start"]
            yield "histogram_width", read["width"]
        if "sobol_indices" in each.plain:
            yield from self._indices.read(state_in(partial, f"{plane}/indices")).items()


def values_of(
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
