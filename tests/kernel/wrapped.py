"""A real backend whose compute() a test replaces."""

from __future__ import annotations

from sweep.kernel.backend import Backend
from sweep.request.sweeps import Sweep


class WrappedBackend:
    """A backend without compute(), which the test provides."""

    name = "wrapped"

    def __init__(self, real: Backend) -> None:
        self.real = real

    @property
    def description(self) -> str:
        return self.real.description

    def prepare(self, sweep: Sweep, variants: tuple[str, ...] = ()) -> None:
        self.real.prepare(sweep, variants)
