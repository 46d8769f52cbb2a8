"""Whether a process can compute for a run: what it computes with, and why it cannot."""

from __future__ import annotations

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from sweep import __version__
from sweep.errors import MachineError, SweepError
from sweep.request import Sweep
from sweep.source import kernel_digest

SAME = "install the same version there, and restart the worker"


@dataclass(frozen=True)
class Code:
    """What computes: a version of this program, and the digest of its kernel of a sweep."""

    version: str
    kernel: str

    @classmethod
    def of(cls, sweep: Sweep) -> Code:
        """What this process computes the sweep with."""
        return cls(__version__, kernel_digest(sweep))


def refuse_other_version(leading: Code) -> None:
    """Raise MachineError if this process has another version than the one that leads the run."""
    if leading.version != __version__:
        raise MachineError(
            f"it has tribosweep {__version__}, and the leading process {leading.version}: {SAME}"
        )


def refuse_other_kernel(leading: Code, sweep: Sweep) -> None:
    """Raise MachineError if this process has another kernel than the one that leads the run.

    No option accepts that: the values of both would be in one store.
    """
    if (own := Code.of(sweep)) != leading:
        raise MachineError(
            f"its kernel of method {sweep.method.name} is {own.kernel}, and that of the leading "
            f"process {leading.kernel}, though both have version {__version__}: {SAME}"
        )


class UnfitError(Exception):
    """A process cannot compute for a run, though others may; `error` says why, and how to cure it.

    It is raised where a process cannot open what it needs, or its machine fails. A PlaceError in it
    is the fault of no worker, and a StoreError may be that of the request.
    """

    def __init__(self, address: str, process: str, error: SweepError) -> None:
        super().__init__(address, process, error)
        self.address = address  # among the workers of Dask
        self.process = process
        self.error = error


@contextmanager
def unfit(*kinds: type[Exception]) -> Generator[None]:
    """Within, errors of these kinds become an UnfitError that says which process this is."""
    try:
        yield
    except kinds as error:
        unknown = MachineError(f"{type(error).__name__}: {error}")
        process = f"process {os.getpid()} on {socket.gethostname()}"
        why = error if isinstance(error, SweepError) else unknown
        raise UnfitError(own_address(), process, why) from error


def own_address() -> str:
    """The address of this process among Dask's workers; "" if it is none."""
    from distributed import get_worker  # threads go without

    with suppress(ValueError):
        return get_worker().address
    return ""
