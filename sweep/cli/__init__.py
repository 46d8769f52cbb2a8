"""The command line. Commands import heavy libraries only when they run, so that --help is fast."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sweep.cli.app import Invocation, app
from sweep.cli.streams import discard_output, prepare_streams
from sweep.dask_settings import unreadable_settings
from sweep.errors import MachineError, SweepError, memory_error
from sweep.wording import escaped

if TYPE_CHECKING:
    from sweep.engine import OpenBackend

COMMANDS = (
    *("run", "example", "extend", "status", "show", "plot", "explore", "export", "trace", "wear"),
    *("fit", "verify", "compile", "bench", "models", "source", "doctor"),
)  # in the order of the help
UNEXPECTED = 70  # exit status, EX_SOFTWARE of sysexits.h
BROKEN_PIPE = 128 + 13  # the exit status that a shell reports for SIGPIPE
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE}
DEBUG = "TRIBOSWEEP_DEBUG"
# These override the user's settings: threads read stores, and pictures go to files.
ENVIRONMENT = {"DASK_SCHEDULER": "threads", "MPLBACKEND": "agg"}

for _name in COMMANDS:
    importlib.import_module(f"sweep.cli.{_name}_command")


def main(arguments: Sequence[str] | None = None, open_backend: OpenBackend | None = None) -> int:
    """Run one command and return its exit status. An error is one message on stderr.

    `open_backend` replaces the function that opens the backend of `sweep run`.
    """
    prepare_streams()
    os.environ.update(ENVIRONMENT)
    try:
        passed = tuple(sys.argv[1:] if arguments is None else arguments)
        status = _run(Invocation(passed, open_backend))
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough
        discard_output()
        return BROKEN_PIPE
    except OSError as error:
        discard_output()
        print(f"cannot write to standard output: {error.strerror}", file=sys.stderr)
        return MachineError.exit_status
    return status


def _run(invocation: Invocation) -> int:
    try:
        app(args=list(invocation.arguments), prog_name="sweep", obj=invocation)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # typer would return status 1
            raise ended.__context__ from None
        return ended.code if isinstance(ended.code, int) else 0
    except SweepError as error:
        print(escaped(str(error)), file=sys.stderr)
        return error.exit_status
    except Exception as error:  # a bug
        if found := memory_error(error):
            print(found, file=sys.stderr)
            return found.exit_status
        from sweep.backends.visible import kernel_cache_error  # brings NumPy

        if isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE:
            raise  # of a standard stream, not of a file
        if found := unreadable_settings(error) or kernel_cache_error(error):
            print(found, file=sys.stderr)
            return found.exit_status
        return _unexpected(error)
    return 0


def _unexpected(error: Exception) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    else:
        print(
            f"unexpected {type(error).__name__}: {error}\n"
            f"this is a bug in the program; set {DEBUG}=1 to see the traceback",
            file=sys.stderr,
        )
    return UNEXPECTED
