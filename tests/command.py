"""The command as a user runs it: in its own process and its own folder."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil

from tests.forked import CHECKOUT, run_python

MODULE = (sys.executable, "-m", "sweep")

# The command `sweep`, except for what opens its backends.
WITH_BACKEND = """
import functools, pickle, sys
from sweep import api
from sweep.cli import main
open_backend = pickle.loads(bytes.fromhex(sys.argv[1]))
api.compute = functools.partial(api.compute, open_backend=open_backend)
sys.exit(main(sys.argv[2:]))
"""

# The command `sweep`, bound by the permissions of files even if root runs it: Linux lets root pass
# them by two capabilities (DAC_OVERRIDE and DAC_READ_SEARCH), which are given up here.
BOUND_BY_PERMISSIONS = """
import ctypes, os, sys
if os.geteuid() == 0:
    system = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the call, this process
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, each in two words
    if system.capget(header, sets) == 0:
        sets[0] &= ~0b110
        if system.capset(header, sets) != 0:
            raise OSError(ctypes.get_errno(), "capset")
from sweep.cli import main
sys.exit(main(sys.argv[1:]))
"""

# The command `sweep`, which may write no file larger than so many bytes.
IN_LITTLE_ROOM = """
import resource, sys
from sweep.cli import main
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
sys.exit(main(sys.argv[2:]))
"""

Run = Callable[..., tuple[int, str, str]]  # arguments -> status, stdout, stderr


class Terminal(io.StringIO):
    """What is printed, as on a terminal."""

    def isatty(self) -> bool:
        return True


def environment(**changes: str) -> dict[str, str]:
    """The environment, with this checkout importable from any folder and buffered streams."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**kept, "PYTHONPATH": str(CHECKOUT), **changes}


def sweep_command(
    *arguments: object, folder: Path, **changes: str
) -> subprocess.CompletedProcess[str]:
    """A command in a process that has imported everything already."""
    command = ("-m", "sweep", *map(str, arguments))
    return run_python(command, cwd=folder, env=environment(**changes))


def fresh_sweep_command(
    *arguments: object, folder: Path, **changes: str
) -> subprocess.CompletedProcess[str]:
    """A command whose imports see the changed environment."""
    return subprocess.run(
        [*MODULE, *map(str, arguments)],
        cwd=folder,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=120,
    )


def bound_by_permissions(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of `sweep` that may not do what the permissions of files forbid."""
    command = ("-c", BOUND_BY_PERMISSIONS, *map(str, arguments))
    return run_python(command, cwd=folder, env=environment(), timeout=60)


def in_little_room(size: int, *arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command of `sweep` that may write no file larger than that, in bytes."""
    command = ("-c", IN_LITTLE_ROOM, str(size), *map(str, arguments))
    return run_python(command, cwd=folder, env=environment())


def with_backend(open_backend: object, *arguments: str) -> list[str]:
    """Arguments of Python for a `sweep` that opens its backends by the given function."""
    return ["-c", WITH_BACKEND, pickle.dumps(open_backend).hex(), *arguments]


def outliving(processes: Iterable[psutil.Process], seconds: float = 10.0) -> list[psutil.Process]:
    """The processes still running after that time; ended ones that are not reaped do not count."""
    left = list(processes)
    end = time.monotonic() + seconds
    while left and time.monotonic() < end:
        left = [process for process in left if _runs(process)]
        time.sleep(0.01)
    return left


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def json_lines(text: str) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
