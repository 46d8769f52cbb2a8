"""Points reduced where they are computed: what is kept of them takes their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.backends.base import Computed
from sweep.request import Sweep
from sweep.spec import Status
from sweep.statistics.again import finished
from sweep.statistics.counts import reduced_counts
from sweep.statistics.partial import Kept
from sweep.work import Points


@dataclass(frozen=True)
class Reduced(Computed):
    """What is kept of a batch of points, and the time spent in kernels."""

    again: bool = False  # by a later pass over the points

    @property
    def counts(self) -> Mapping[Status, int]:
        """The number of points by status; none in a later pass, since the first has them."""
        if self.again:
            return {}
        return reduced_counts(Kept.counts(self.arrays))

    @property
    def extremes(self) -> Mapping[str, list[Any]]:
        """None: what is kept need not have them."""
        return {}


def reduced(
    sweep: Sweep,
    points: Points,
    computed: Computed,
    xp: Any = np,
    to_host: Callable[[Any], NDArray[Any]] = np.asarray,
) -> Computed:
    """What the sweep keeps of computed points, whose arrays may be those of a library `xp`.

    Without a reduction, that is the points themselves.
    """
    if sweep.reduction is None:
        return computed
    arrays, cells = computed.arrays, points.cells
    kept = points.again or Kept(sweep.reduction)
    partial = kept.of(arrays, cells, points.first, xp, to_host)
    if points.again is None and points.n_points == cells * sweep.reduction.size:
        partial = finished(kept, partial, arrays, cells, xp, to_host)
    return Reduced(partial, computed.kernel_seconds, again=points.again is not None)
