"""A backend by its name, with what this machine has."""

from __future__ import annotations

import logging

from sweep.errors import MachineError, SweepError
from sweep.kernel.backend import Backend
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.gpu import GpuBackend
from sweep.kernel.gpu_discovery import has_cupy
from sweep.request.options import BACKENDS


def open_backend(name: str = "auto") -> Backend:
    """The backend called `name`; "auto" is a GPU if one can be used, otherwise the CPU.

    If CuPy is installed and "auto" still is the CPU, a warning is logged that says why.
    SweepError if there is no such backend, or if this machine lacks what it needs.
    """
    if name not in BACKENDS:
        known = ", ".join(map(repr, BACKENDS))
        raise SweepError(f"backend {name!r} is not one of {known}")
    if name == "gpu" or (name == "auto" and has_cupy()):
        from sweep.kernel.cupy_device import find_gpu

        try:
            return GpuBackend(find_gpu())
        except MachineError as error:
            if name == "gpu":
                raise
            logging.getLogger(__name__).warning("computing on the CPU: %s", error)
    return CpuBackend()
