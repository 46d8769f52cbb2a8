"""What every backend offers: the outputs of a batch of points, and nothing about where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

from numpy.typing import NDArray

from sweep.spec import Points, Sweep

Arrays = Mapping[str, NDArray[Any]]  # output name, or "status" -> (n_points,)


class Stopped(Exception):
    """The computation was asked to stop before it was done; nothing of it is kept."""


@dataclass(frozen=True)
class Computed:
    """The outputs of a batch of points, missing values filled in, and the time its kernel took."""

    arrays: Arrays
    kernel_seconds: float


class Backend(Protocol):
    """Computes points with the kernel of a sweep; safe to use from several threads at once."""

    @property
    def name(self) -> str:
        """The name that `[run] backend` takes."""
        ...

    @property
    def description(self) -> str:
        """The device and what compiles for it, for people and receipts."""
        ...

    def prepare(self, sweep: Sweep, points: Points) -> None:
        """Compile what `points` need, so that computing them does not wait for a compiler."""
        ...

    def compute(self, sweep: Sweep, points: Points, stop: Event | None = None) -> Computed:
        """The asked outputs and "status" of every point; Stopped once `stop` is set."""
        ...
