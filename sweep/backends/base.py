"""The interface of every backend: points in, arrays out; no grids, files or processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

from numpy.typing import NDArray

from sweep.request import Sweep
from sweep.spec import Status, status_counts
from sweep.work import Points

Arrays = Mapping[str, NDArray[Any]]  # output name, or "status" -> (n_points,)


class Stopped(Exception):
    """The computation was stopped before it was done; its results are discarded."""


@dataclass(frozen=True)
class Computed:
    """The outputs of a batch of points, missing values filled in, and the time spent in kernels.

    Of a sweep with a reduction, what is kept of the points.
    """

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
