"""Ctrl-C and SIGTERM: the first one stops a run soon, a second Ctrl-C ends it at once.

Before a run has begun to compute, the first one ends it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Event
from types import FrameType

import typer

from sweep.errors import SweepError

NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
NOTE = b"\nstopping soon; press Ctrl-C again to end at once (finished chunks are kept)\n"
SHOW_CURSOR = b"\x1b[?25h"


class _Ended(BaseException):
    """A signal that came before anything was computed."""


class StopRequest:
    """A context in which a signal sets `event` once `computing` is set, and ends it before.

    The first signal prints a note on stderr. A SweepError after it is taken as its consequence and
    dropped: in a terminal, Ctrl-C also ends the compiler that a run waits for.
    """

    def __init__(self, note: bytes = NOTE) -> None:
        self._note = note
        self.event = Event()
        self.signal: signal.Signals | None = None
        self.computing = False

    @property
    def exit_status(self) -> int:
        """128 + number of the signal, as in a shell; without a signal, that of SIGTERM."""
        return 128 + (self.signal or signal.SIGTERM)

    @property
    def cause(self) -> str:
        return NAMES[self.signal] if self.signal else "the time limit"

    def __enter__(self) -> StopRequest:
        self._before = {number: signal.signal(number, self._hear) for number in NAMES}
        return self

    def __exit__(self, _kind: object, error: object, _traceback: object) -> bool:
        if self.signal is not None:  # a second signal must work until the process has ended
            return isinstance(error, (SweepError, _Ended))
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return False

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self.signal:
            if number == signal.SIGINT:
                _end_at_once(128 + number)
            return  # timeout(1) sends SIGTERM twice: to the process and to its group
        self.signal = signal.Signals(number)
        self.event.set()
        if not self.computing:
            raise _Ended  # it may be waiting for a slow disk, a pipe or a compiler
        _write_error(self._note)  # not print(), which the signal may have interrupted


@contextmanager
def interruptible(message: str = "") -> Generator[None]:
    """A context that a signal ends together with its command, with a message on stderr if any."""
    with StopRequest() as stop:
        yield
        return
    if message:  # only a signal leads here, through the exception that it raised
        print(message.format(cause=stop.cause), file=sys.stderr)
    raise typer.Exit(stop.exit_status)


def _end_at_once(status: int) -> None:
    if sys.stderr.isatty():
        _write_error(SHOW_CURSOR)  # which the progress bar has hidden
    os._exit(status)


def _write_error(text: bytes) -> None:
    """Write to stderr in a way that a signal handler may; what cannot be written is dropped."""
    with suppress(OSError):
        os.write(2, text)
