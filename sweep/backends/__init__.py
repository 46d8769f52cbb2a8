"""Where kernels run. Each backend is found by its name here, and met through base.Backend."""

from __future__ import annotations

from sweep.backends.base import Arrays, Backend, Computed, Stopped
from sweep.errors import MachineError, SweepError

__all__ = ["Arrays", "Backend", "Computed", "Stopped", "open_backend"]

NAMES = ("auto", "cpu", "gpu")


def open_backend(name: str = "auto") -> Backend:
    """The backend called `name`; "auto" is a GPU where one answers, else the CPU.

    SweepError if there is no such backend, or if this machine lacks what it needs.
    """
    if name not in NAMES:
        known = ", ".join(map(repr, NAMES))
        raise SweepError(f"backend {name!r} is not one of {known}")
    if name != "cpu":
        try:
            return _gpu()
        except MachineError:
            if name == "gpu":
                raise
    from sweep.backends.cpu import CpuBackend

    return CpuBackend()


def _gpu() -> Backend:
    from sweep.backends.cupy_device import find_gpu
    from sweep.backends.gpu import GpuBackend

    return GpuBackend(find_gpu())
