"""The interface of every backend: points in, arrays out; no grids, files or processes.

With a reduction, points are reduced where they are computed: what is kept takes their place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.request import Sweep
from sweep.spec import Status, status_counts
from sweep.statistics.again import next_pass
from sweep.statistics.counts import reduced_counts
from sweep.statistics.partial import Kept
from sweep.work import Points

Arrays = Mapping[str, NDArray[Any]]  # output name, or "status" -> (n_points,)


class Stopped(Exception):
    """The computation was stopped before it was done; its results are discarded."""


@dataclass(frozen=True)
class Computed:
    """The outputs of a batch of points, missing values filled in, and the time spent in kernels."""

    arrays: Arrays
    kernel_seconds: float

    @property
    def counts(self) -> Mapping[Status, int]:
        """The number of points by status."""
        status = self.arrays["status"]
        if not status.any():  # the usual case, and counting is slow
            return {Status.ok: status.size}
        return status_counts(status)

    @property
    def extremes(self) -> Mapping[str, list[Any]]:
        """Minimum and maximum of each output over the points that are ok."""
        ok = self.arrays["status"] == Status.ok
        chosen = slice(None) if ok.all() else ok  # usually all are ok, and a mask copies
        return {
            name: [values[chosen].min().item(), values[chosen].max().item()]
            for name, values in self.arrays.items()
            if name != "status" and ok.any()
        }


class Backend(Protocol):
    """Computes points with the kernel of a sweep; safe to use from several threads at once."""

    name: str  # the value of `[run] backend` that selects it

    @property
    def description(self) -> str:
        """The device and what compiles for it, as receipts and messages name them."""
        ...

    def prepare(self, sweep: Sweep, points: Points) -> None:
        """Compile the kernel for `points`, so that compute() does not wait for a compiler."""
        ...

    def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
        """The sweep's outputs and "status" at every point; raises Stopped once `stop` is set."""
        ...


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
        while again := next_pass(kept, partial, points.n_points):  # all points are at hand
            partial = again.narrowed(partial, again.of(arrays, cells, 0, xp, to_host))
    return Reduced(partial, computed.kernel_seconds, again=points.again is not None)
