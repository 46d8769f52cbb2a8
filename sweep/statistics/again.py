"""Exact quantiles: passes over the points of cells after the first one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.errors import MachineError
from sweep.spec import Output, Status
from sweep.statistics.brackets import MAX_COUNTED_VALUES, Brackets
from sweep.statistics.counts import STATUSES
from sweep.statistics.moments import Array, State
from sweep.statistics.outputs import Wanted
from sweep.statistics.partial import Kept, Kind, Partial, state_in
from sweep.statistics.quantiles import LeadingBits

FAILED = STATUSES.index(Status.failed)
NO_COUNTS: State = dict.fromkeys(("cells", "bins", "counts"), np.empty(0, np.int64))  # of no points


class OtherValuesError(MachineError):
    """A later pass has found other values than the first one."""


@dataclass(frozen=True)
class Finer(LeadingBits):
    """How many values are in brackets, by finer bins."""

    brackets: Brackets
    shift: int  # of the bins

    def of(self, xp: Any, values: Array, ok: Array, _first: int) -> State:
        """The state of some points of each cell; `values` and `ok` have shape (cells, points)."""
        return self.brackets.count(xp, values, ok, self.shift)

    def merged(self, one: State, other: State) -> State:
        """The state of two stretches together; one whose points failed has none."""
        return super().merged(one or NO_COUNTS, other or NO_COUNTS)


@dataclass(frozen=True, eq=False)
class Again(Kept):
    """What a later pass keeps of points: how many values are in open brackets."""

    open_brackets: Mapping[str, Brackets]  # by plane
    most: int  # bins in all

    def narrowed(self, whole: Partial, counted: Partial) -> Partial:
        """What was known before, with narrower brackets, from what was counted at all points.

        A cell without exact quantiles, because points have failed in one pass and not in the other,
        gets the status failed. OtherValuesError if points of no cell have failed and yet have
        other values than in the first pass.
        """
        computed, points = "status/computed/status", "status/points/status"
        failed_before, failed_now = whole[computed][:, FAILED], counted[computed][:, FAILED]
        kept, lost = dict(whole), failed_now > failed_before
        kept[computed] = np.where(lost[:, None], counted[computed], whole[computed])
        for plane, own in self.open_brackets.items():
            state = state_in(counted, f"{plane}/finer") or NO_COUNTS
            narrow = own.narrowed(state, self._finer(own))
            unlike = ((own.ranks > 0) & (narrow.ranks == 0)).any(axis=1)
            if (unlike & (failed_before + failed_now == 0)).any():
                raise OtherValuesError(plane)
            lost |= unlike
            kept |= {f"{plane}/brackets/{part}": a for part, a in narrow.to_arrays().items()}
        none_is_ok = np.zeros_like(whole[points])
        none_is_ok[:, FAILED] = whole[points].sum(axis=1)
        kept[points] = np.where(lost[:, None], none_is_ok, whole[points])
        return kept

    def planes(self) -> Iterator[tuple[Wanted, Output, dict[str, Kind]]]:
        """Planes with open brackets, and what is kept of them."""
        for each, plane, _ in super().planes():
            if own := self.open_brackets.get(plane.name):
                yield each, plane, {"finer": Finer(own, self._finer(own))}

    def _finer(self, own: Brackets) -> int:
        return own.finer(self.most // len(self.open_brackets))


def next_pass(kept: Kept, partial: Partial, most: int | None = None) -> Again | None:
    """The pass that exact quantiles still need, from what is kept of all points; None if none.

    `most` replaces MAX_COUNTED_VALUES.
    """
    if not kept.reduction.exact_quantiles:
        return None
    plane_levels = [(plane.name, each.levels) for each, plane, _ in kept.planes() if each.levels]
    brackets = {name: kept.brackets(partial, name, levels) for name, levels in plane_levels}
    still_open = {name: own for name, own in brackets.items() if own.is_open}
    return Again(kept.reduction, still_open, most or MAX_COUNTED_VALUES) if still_open else None
