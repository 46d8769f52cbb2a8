"""The standard streams: what becomes of text that cannot be written to them."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Dropping(io.RawIOBase):
    """A file to which all can be written: what it does not take is dropped, without an error."""

    def __init__(self, file: io.FileIO, stream: object) -> None:
        self._file = file
        self._stream = stream  # which would close the file if it were forgotten

    def write(self, data: Buffer, /) -> int:
        try:
            return self._file.write(data) or 0
        except OSError:  # a full disk, a pipe that nobody reads, a terminal that is gone
            return memoryview(data).nbytes

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()


def prepare_streams() -> None:
    """Both take any text: where a terminal has no μ, they show a question mark.

    A stream that the shell has closed (`>&-`) keeps nothing. Messages that cannot be written to
    stderr are dropped, so that no run ends of them.
    """
    _open_missing()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    stream: Any = sys.stderr
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # PYTHONUNBUFFERED leaves the buffer out
    if isinstance(raw, io.FileIO):
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(Dropping(raw, stream)),
            stream.encoding,
            "replace",
            line_buffering=True,
        )


def _open_missing() -> None:
    """In the order of their numbers, so that each stream gets its own.

    No file that is opened later may get the one that stderr is written to.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (to the end of the process)


def discard_output() -> None:
    """What is in stdout's buffer cannot be written, and must not be tried again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_error(text: bytes) -> None:
    """To stderr, as a signal's handler may; what cannot be written is dropped."""
    with suppress(OSError):
        os.write(2, text)
