"""Ctrl-C and SIGTERM: the first asks a run to stop soon, a second Ctrl-C ends it at once.

Before a run has begun to compute, the first one ends it.
"""

from __future__ import annotations

import os
import signal
import sys
from threading import Event
from types import FrameType, TracebackType

from sweep.cli.streams import write_error
from sweep.errors import SweepError

NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
NOTE = b"\nstopping soon; Ctrl-C ends at once, which loses no finished chunk either\n"
SHOW_CURSOR = b"\x1b[?25h"


class _Ended(BaseException):
    """A signal that came before there was anything to keep."""


class StopRequest:
    """Within, once `computing` is set, a signal sets the event instead of raising or killing.

    The first one is answered with a note on stderr.
    A SweepError after that counts as its consequence and is dropped: in a terminal, Ctrl-C ends
    the compiler that a run waits for, too.
    """

    def __init__(self, note: bytes = NOTE) -> None:
        self._note = note
        self.event = Event()
        self.signal: signal.Signals | None = None
        self.computing = False

    @property
    def exit_status(self) -> int:
        """128 + number of the signal, as shells have it; without one, that of SIGTERM."""
        return 128 + (self.signal or signal.SIGTERM)

    @property
    def cause(self) -> str:
        return NAMES[self.signal] if self.signal else "the time limit"

    def __enter__(self) -> StopRequest:
        self._before = {number: signal.signal(number, self._hear) for number in NAMES}
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool:
        if self.signal is not None:  # what is left to do can be ended at once, to the last moment
            return isinstance(error, (SweepError, _Ended))
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return False

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self.signal:
            if number == signal.SIGINT:
                _end_at_once(128 + number)
            return  # SIGTERM often comes twice: timeout(1) sends it to the process and its group
        self.signal = signal.Signals(number)
        self.event.set()
        if not self.computing:
            raise _Ended  # out of whatever it waits for: a slow disk, a pipe, a compiler
        write_error(self._note)  # not print(): the signal may have come in the midst of one


def _end_at_once(status: int) -> None:
    if sys.stderr.isatty():
        write_error(SHOW_CURSOR)  # hidden while a bar is shown
    os._exit(status)
