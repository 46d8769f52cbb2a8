"""Errors of a request or a machine, each with the exit status of the command."""

from __future__ import annotations

import errno
import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

MAX_FAULTS_SHOWN = 100


class SweepError(Exception):
    """An error the user can act on: the message says what is wrong, where, and what to do.

    Messages name the arguments of Python's functions, which are the options of the command line.
    """

    exit_status = 2


class SweepWarning(UserWarning):
    """Something that is allowed, but probably not meant."""


def warn(message: str) -> None:
    """Issue a SweepWarning that points at the line which called this package."""
    package = __name__.partition(".")[0]
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, SweepWarning, stacklevel=level)


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a request: where it is, what it is, and what to do about it."""

    where: str  # "[parameters] mass", "override friction", "line 7, column 3"
    what: str
    cure: str = ""

    def __str__(self) -> str:
        sentence = "; ".join(filter(None, (self.what, self.cure)))
        return f"{self.where}: {sentence}" if self.where else sentence


class FaultError(ValueError):
    """A value that cannot be used; code that knows its location turns it into a Fault."""

    def __init__(self, what: str, cure: str = "") -> None:
        super().__init__(what, cure)
        self.what, self.cure = what, cure

    def __str__(self) -> str:
        return str(Fault("", self.what, self.cure))


class ConfigError(SweepError):
    """A sweep that cannot be run as written; has every fault, of which the message shows some."""

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        count = "1 fault" if len(self.faults) == 1 else f"{len(self.faults):,} faults"
        lines = [f"  {fault}" for fault in self.faults[:MAX_FAULTS_SHOWN]]
        if len(self.faults) > MAX_FAULTS_SHOWN:
            lines.append(f"  and {len(self.faults) - MAX_FAULTS_SHOWN:,} more")
        super().__init__("\n".join([f"{source}: {count}, nothing was computed", *lines]))

    def __reduce__(self) -> tuple[type, tuple[str, tuple[Fault, ...]]]:
        return type(self), (self.source, self.faults)


class StoreError(SweepError):
    """A store that cannot be created, opened or resumed as requested."""


class CompileError(SweepError):
    """No compiler, or one that rejected the kernel; has the command and its output."""

    exit_status = 3


class MachineError(SweepError):
    """The machine stopped the run (disk full, read-only, no memory); finished chunks are kept."""

    exit_status = 3


def machine_error(error: BaseException | None) -> MachineError | None:
    """The error to report instead, if this one or a cause of it is one of the machine.

    That is if memory or threads ran out (under `ulimit -v` a thread cannot be started, or a library
    cannot be loaded, long before Python itself runs out).
    """
    while error is not None:
        text = str(error)
        if (
            isinstance(error, MemoryError)
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or (isinstance(error, RuntimeError) and "start new thread" in text)
            or (isinstance(error, ImportError) and "map segment" in text)
        ):
            return MachineError(
                "out of memory; free some, raise the limits of this process (`ulimit -v`, "
                "`ulimit -u`), or use fewer workers (in a trace, fewer samples)"
            )
        error = error.__cause__ or error.__context__
    return None


class PlaceError(MachineError):
    """The place of the results is full, whichever process of the run writes there."""


class DeviceError(MachineError):
    """A GPU that cannot be used, or no GPU; if there are several, the others may be usable."""


class LostDeviceError(DeviceError):
    """A GPU that this process can no longer use after a kernel's fault; another process may."""
