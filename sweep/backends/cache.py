"""Compiled kernels by content: the same text, compiler, flags and processor compile once.

Safe under any number of processes starting at once: one compiles, into a scratch folder of its own,
and renames the result into place, whole; the others wait for it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from sweep.errors import MachineError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


def cache_folder() -> Path:
    """The folder of compiled kernels, made private to the user; TRIBOSWEEP_CACHE_DIR names another.

    MachineError if it cannot be made, or belongs to somebody else: a library from it is run.
    """
    chosen = os.environ.get("TRIBOSWEEP_CACHE_DIR")
    folder = Path(chosen) if chosen else _user_cache() / "tribosweep"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_private(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def digest(*parts: str) -> str:
    """A short name for content: the same for the same parts, in order."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(f"{len(part)}:".encode() + part.encode())
    return whole.hexdigest()[:32]


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """The file `name` of the cache, made by make(scratch path) if it is not there yet.

    MachineError as of `cache_folder`, or if it cannot be written there.
    """
    final = cache_folder() / name
    if final.exists():
        return final
    try:
        with (
            _lock(final.with_suffix(".lock")),
            tempfile.TemporaryDirectory(prefix="scratch-", dir=final.parent) as scratch,
        ):
            if not final.exists():
                made = Path(scratch) / name
                make(made)
                _put(made, final)
    except OSError as error:
        raise _unwritable(final.parent, error) from error
    return final


@contextmanager
def _lock(path: Path) -> Generator[None]:
    """Hold a lock that saves other processes the same work.

    Where the system has no such lock they all do the work, and the result is the same.
    """
    if fcntl is None:
        yield
        return
    with path.open("w") as file:
        with suppress(OSError):  # a network disk without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _put(made: Path, final: Path) -> None:
    with made.open("rb+") as library:  # else a power failure may leave its name and not its bytes,
        os.fsync(library.fileno())  # and loading half a library kills the process
    try:
        made.replace(final)
    except OSError:  # Windows: another process made it first and has it loaded
        if not final.exists():
            raise


def _unwritable(folder: Path, error: OSError) -> MachineError:
    return MachineError(
        f"cannot keep compiled kernels in {str(folder)!r} ({error.strerror}); "
        "set TRIBOSWEEP_CACHE_DIR to a folder that can be written"
    )


def _user_cache() -> Path:
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"])
    if os.name == "nt" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    home = Path.home()
    return home / "Library" / "Caches" if os.uname().sysname == "Darwin" else home / ".cache"


def _check_private(folder: Path) -> None:
    if os.name == "nt":
        return
    state = folder.stat()
    if state.st_uid != os.getuid() or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise MachineError(
            f"the kernel cache {str(folder)!r} can be written by others, who could change what is "
            "run; `chmod 700` it if it is yours, or set TRIBOSWEEP_CACHE_DIR to a private folder"
        )
