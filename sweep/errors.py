"""What can go wrong with a request or a machine, each with the exit status of its command."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass


class SweepError(Exception):
    """Something the user can act on: the message says what, where, and what would do."""

    exit_status = 2


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a request: where it stands, and a sentence on what would do."""

    place: str  # "[parameters] mass", "--set friction", "line 7, column 3"
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class ConfigError(SweepError):
    """A sweep that cannot be run as written; carries every fault found, not the first."""

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults)} faults"
        lines = "\n".join(f"  {fault}" for fault in self.faults)
        super().__init__(f"{source}: {count}, nothing was computed\n{lines}")

    def __reduce__(self) -> tuple[type, tuple[str, tuple[Fault, ...]]]:
        return type(self), (self.source, self.faults)


class StoreError(SweepError):
    """A store that cannot be made, opened or continued as asked."""


class CompileError(SweepError):
    """No compiler, or one that refused the kernel; carries the command and its output."""

    exit_status = 3


class MachineError(SweepError):
    """The machine stopped the run (disk full, read-only, no memory); finished chunks are kept."""

    exit_status = 3


class DeviceError(MachineError):
    """A GPU that cannot be used, or none to be found; where there are several, the others can."""


class LostDeviceError(DeviceError):
    """A GPU that this process cannot use any more, after a kernel's fault; another one may."""


def of_cupys_cache(error: Exception) -> MachineError | None:
    """What to say where CuPy cannot keep its kernels in the home folder, whoever imported it first.

    It makes a folder for them when it is imported, and zarr imports it wherever it is installed.
    """
    frames = traceback.walk_tb(error.__traceback__)
    names = (str(frame.f_globals.get("__name__")) for frame, _ in frames)
    if isinstance(error, OSError) and any(name.partition(".")[0] == "cupy" for name in names):
        return MachineError(
            f"CuPy cannot keep its kernels: {error}; name another folder for them in the variable "
            "CUPY_CACHE_DIR, or make room"
        )
    return None
