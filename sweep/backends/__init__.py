"""Where kernels run. Each backend is found by its name here, and met through base.Backend."""

from __future__ import annotations

from sweep.backends.base import Arrays, Backend, Computed, Stopped
from sweep.errors import SweepError

__all__ = ["Arrays", "Backend", "Computed", "Stopped", "open_backend"]


def open_backend(name: str = "auto") -> Backend:
    """The backend called `name`; "auto" is the best one this machine has."""
    if name in ("auto", "cpu"):
        from sweep.backends.cpu import CpuBackend

        return CpuBackend()
    raise SweepError(f"backend {name!r} is not one of 'auto', 'cpu'; use --backend cpu")
