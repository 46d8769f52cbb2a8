"""The standard streams, made safe for text that cannot be written to them."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Dropping(io.RawIOBase):
    """A file that drops what cannot be written, without an error."""

    def __init__(self, file: io.FileIO, stream: object) -> None:
        self._file = file
        self._stream = stream  # kept, because it closes the file when it is deleted

    def write(self, data: Buffer, /) -> int:
        try:
            return self._file.write(data) or 0
        except OSError:  # a full disk, a closed pipe or terminal
            return memoryview(data).nbytes

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def isatty(self) -> bool:
        return self._file.isatty()


def prepare_streams() -> None:
    """Let stdout and stderr accept any text; a character the terminal lacks becomes `?`.

    A stream that the shell has closed (`>&-`) discards everything. Messages that cannot be written
    to stderr are dropped, so that they end no run.
    """
    _open_missing()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    stream: Any = sys.stderr
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # with PYTHONUNBUFFERED there is no buffer
    if isinstance(raw, io.FileIO):
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(Dropping(raw, stream)),
            stream.encoding,
            "replace",
            line_buffering=True,
        )


def _open_missing() -> None:
    """Open closed streams in the order of their descriptors, so that each gets its own.

    Otherwise a file opened later could get the descriptor of stderr.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open until the process ends)


def discard_output() -> None:
    """Discard the buffer of stdout, which Python would otherwise try to write again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_error(text: bytes) -> None:
    """Write to stderr in a way that a signal handler may; what cannot be written is dropped."""
    with suppress(OSError):
        os.write(2, text)
