"""The command line: one command a process, its errors and warnings printed on stderr."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sweep.cli.app import app, usage_message
from sweep.cli.printing import print_object, print_warning
from sweep.errors import ConfigError, MachineError, SweepError, SweepWarning, machine_error
from sweep.text.wording import escaped

if TYPE_CHECKING:
    from typing_extensions import Buffer

UNEXPECTED = 70  # exit status, EX_SOFTWARE of sysexits.h
BROKEN_PIPE = 128 + 13  # the exit status that a shell reports for SIGPIPE
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE}
DEBUG = "TRIBOSWEEP_DEBUG"
# These override the user's settings: threads read stores, and pictures go to files.
ENVIRONMENT = {"DASK_SCHEDULER": "threads", "MPLBACKEND": "agg"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. An error is one message on stderr."""
    _prepare_streams()
    os.environ.update(ENVIRONMENT)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", SweepWarning)
        return _main(sys.argv[1:] if arguments is None else arguments)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    kind = "" if issubclass(category, SweepWarning) else f"{category.__name__}: "
    print_warning(f"{kind}{message}")


def _main(arguments: Sequence[str]) -> int:
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough
        _discard_output()
        return BROKEN_PIPE
    except OSError as error:
        _discard_output()
        print(f"error: cannot write to standard output: {error.strerror}", file=sys.stderr)
        return MachineError.exit_status
    return status


def _run(arguments: Sequence[str]) -> int:
    try:
        status = app(args=list(arguments), prog_name="sweep", obj=arguments, standalone_mode=False)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer would return status 1
            raise ended.__context__ from None
        return ended.code if isinstance(ended.code, int) else 0
    except SweepError as error:
        return _print_error(arguments, error)
    except Exception as error:  # a wrong command line, or a bug
        if hasattr(error, "format_message"):
            return _print_usage_error(arguments, error)
        sweep_error = machine_error(error)
        if sweep_error is None:
            from sweep.kernel.gpu_discovery import kernel_cache_error  # brings NumPy

            if isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE:
                raise  # of a standard stream, not of a file
            sweep_error = kernel_cache_error(error)
        if sweep_error is None:
            from sweep.store.disk_faults import dask_error  # brings zarr, which may be what failed

            sweep_error = dask_error(error)
        return _unexpected(error) if sweep_error is None else _print_error(arguments, sweep_error)
    return status if isinstance(status, int) else 0


def _print_usage_error(arguments: Sequence[str], error: Any) -> int:
    """Print what is wrong with a command line, then its usage; return the exit status."""
    message, context = usage_message(error), getattr(error, "ctx", None)
    if message.startswith("Usage:"):  # the help, which `sweep` alone prints
        print(message, file=sys.stderr)
    else:
        print(f"error: {escaped(message)}", file=sys.stderr)
        if context is not None:
            usage = context.get_usage().replace("Usage:", "usage:", 1)
            print(f"{usage}; see `{context.command_path} --help`", file=sys.stderr)
    _print_error_json(arguments, error.exit_code, message)
    return error.exit_code


def _print_error(arguments: Sequence[str], error: SweepError) -> int:
    """Print an error, and return its exit status."""
    print(f"error: {escaped(str(error))}", file=sys.stderr)
    faults = error.faults if isinstance(error, ConfigError) else ()
    _print_error_json(arguments, error.exit_status, str(error), map(vars, faults))
    return error.exit_status


def _print_error_json(
    arguments: Sequence[str], status: int, message: str, faults: Iterable[object] = ()
) -> None:
    """With --json, print the error on stdout as well, as one line."""
    if "--json" in arguments:
        print_object("error", exit_status=status, message=message, faults=list(faults))


def _unexpected(error: Exception) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    else:
        print(f"error: unexpected {type(error).__name__}: {error}", file=sys.stderr)
        print(f"this is a bug in the program; set {DEBUG}=1 to see the traceback", file=sys.stderr)
    return UNEXPECTED


def _prepare_streams() -> None:
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
    if type(raw) is io.FileIO:
        file = Dropping(raw.fileno(), "wb", closefd=False)
        file.replaced = stream
        buffer = io.BufferedWriter(file)
        sys.stderr = io.TextIOWrapper(buffer, stream.encoding, "replace", line_buffering=True)


def _open_missing() -> None:
    """Open closed streams in the order of their descriptors, so that each gets its own.

    Otherwise a file opened later could get the descriptor of stderr.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open until the process ends)


def _discard_output() -> None:
    """Discard the buffer of stdout, which Python would otherwise try to write again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Dropping(io.FileIO):
    """A file that drops what cannot be written, without an error."""

    replaced: object = None  # kept, because this stream closes the file when it is deleted

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data) or 0
        except OSError:  # a full disk, a closed pipe or terminal
            return memoryview(data).nbytes
