"""The interface of every backend: points in, arrays out; no grids, files or processes."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Protocol

from sweep.request.chunk import Points
from sweep.request.sweeps import Sweep
from sweep.statistics.launches import Arrays as Arrays
from sweep.statistics.launches import Then as Then


class Stopped(Exception):
    """The computation was stopped before it was done; its results are discarded."""


@dataclass(frozen=True)
class Computed:
    """The outputs of a batch of points, missing values filled in, and the time spent in kernels.

    If something was then made of the points, the arrays are that.
    """

    arrays: Arrays
    kernel_seconds: float

    def followed(self, then: Then | None) -> Computed:
        """What is then made of these arrays of the host."""
        if then is None:
            return self
        return Computed(then(self.arrays), self.kernel_seconds)


class Backend(Protocol):
    """Computes points with the kernel of a sweep; safe to use from several threads at once."""

    name: str  # the value of `[run] backend` that selects it

    @property
    def description(self) -> str:
        """The device and what compiles for it, as receipts and messages name them."""
        ...

    def prepare(self, sweep: Sweep, variants: tuple[str, ...] = ()) -> None:
        """Compile the kernel of these variants, so that compute() does not wait for a compiler."""
        ...

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        """The sweep's outputs and "status" at every point, or what is `then` made of them.

        Raises Stopped once `stop` is set.
        """
        ...
