"""Exact quantiles: passes over the points of cells after the first one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import MachineError
from sweep.spec import Status
from sweep.statistics.brackets import MAX_VALUES, Brackets
from sweep.statistics.counts import STATUSES
from sweep.statistics.moments import Array, State
from sweep.statistics.partial import Kept, Partial, state_in, values_of
from sweep.statistics.quantiles import LeadingBits

FAILED = STATUSES.index(Status.failed)
NOTHING: State = dict.fromkeys(("cells", "bins", "counts"), np.empty(0, np.int64))


class OtherValuesError(MachineError):
    """A later pass has found other values than the first one."""


@dataclass(frozen=True, eq=False)
class Again:
    """What a pass keeps of points: how many values are in open brackets, by finer bins."""

    kept: Kept
    brackets: Mapping[str, Brackets]  # the open ones, by plane
    most: int  # bins in all

    def of(
        self,
        arrays: Mapping[str, Array],
        cells: int,
        xp: Any = np,
        to_host: Callable[[Array], NDArray[Any]] = np.asarray,
    ) -> Partial:
        """Of the outputs and status of points, one cell after another, as `Kept.of`."""
        row = self.kept.reduction.row
        found = self.kept.statuses(arrays, cells, xp)
        for _, plane in self.kept.planes():
            if own := self.brackets.get(plane.name):
                values, ok = values_of(arrays, plane, cells, xp)
                state = own.count(xp, values[:, ::row], ok[:, ::row], self._finer(own))
                found |= {f"{plane.name}/finer/{part}": a for part, a in state.items()}
        return {name: to_host(array) for name, array in found.items()}

    def merged(self, one: Partial, other: Partial) -> Partial:
        """Of two stretches that share no point, of the same cells."""
        found = {name: one[name] + other[name] for name in one if name.startswith("status/")}
        for plane in self.brackets:
            state = LeadingBits().merged(_counts(one, plane), _counts(other, plane))
            found |= {f"{plane}/finer/{part}": array for part, array in state.items()}
        return found

    def narrowed(self, whole: Partial, found: Partial) -> Partial:
        """What was known before, with narrower brackets, from what was found at all points.

        A cell without exact quantiles, because points have failed in one pass and not in the other,
        gets the status failed. OtherValuesError if points of no cell have failed and yet have
        other values than in the first pass.
        """
        computed, points = "status/computed/status", "status/points/status"
        before, now = whole[computed][:, FAILED], found[computed][:, FAILED]
        kept, lost = dict(whole), now > before
        kept[computed] = np.where(lost[:, None], found[computed], whole[computed])
        for plane, own in self.brackets.items():
            narrow = own.narrowed(_counts(found, plane), self._finer(own))
            unlike = ((own.ranks > 0) & (narrow.ranks == 0)).any(axis=1)
            if (unlike & (before + now == 0)).any():
                raise OtherValuesError(plane)
            lost |= unlike
            kept |= {f"{plane}/brackets/{part}": a for part, a in narrow.to_arrays().items()}
        none_is_ok = np.zeros_like(whole[points])
        none_is_ok[:, FAILED] = whole[points].sum(axis=1)
        kept[points] = np.where(lost[:, None], none_is_ok, whole[points])
        return kept

    def _finer(self, own: Brackets) -> int:
        return own.finer(self.most // len(self.brackets))


def next_pass(kept: Kept, partial: Partial, most: int | None = None) -> Again | None:
    """The pass that exact quantiles still need, from what is kept of all points; None if none.

    `most` replaces MAX_VALUES.
    """
    if not kept.reduction.exact_quantiles:
        return None
    wanted = [(plane.name, each.levels) for each, plane in kept.planes() if each.levels]
    brackets = {name: kept.brackets(partial, name, levels) for name, levels in wanted}
    still_open = {name: own for name, own in brackets.items() if own.is_open}
    return Again(kept, still_open, most or MAX_VALUES) if still_open else None


def finished(
    kept: Kept,
    partial: Partial,
    arrays: Mapping[str, Array],
    cells: int,
    xp: Any = np,
    to_host: Callable[[Array], NDArray[Any]] = np.asarray,
) -> Partial:
    """With exact quantiles: what is kept of all points, which are at hand."""
    n_points = kept.reduction.size * cells
    while again := next_pass(kept, partial, n_points):
        partial = again.narrowed(partial, again.of(arrays, cells, xp, to_host))
    return partial


def _counts(found: Partial, plane: str) -> State:
    """The counts of a plane; none of points that failed."""
    return state_in(found, f"{plane}/finer") or NOTHING
