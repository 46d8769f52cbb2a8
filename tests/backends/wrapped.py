"""A real backend for tests to get in the way of."""

from __future__ import annotations

from sweep.backends import Backend
from sweep.spec import Points, Sweep


class WrappedBackend:
    """All of a backend but compute(), which is the test's."""

    name = "wrapped"

    def __init__(self, real: Backend) -> None:
        self.real = real

    @property
    def description(self) -> str:
        return self.real.description

    def prepare(self, sweep: Sweep, points: Points) -> None:
        self.real.prepare(sweep, points)
