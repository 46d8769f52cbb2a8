"""Compiled kernels by content: the same text, compiler, flags and processor compile once.

Any number of processes may start at once: one compiles, into a scratch folder of its own, and
renames the complete result into place; the others wait for it. Loading a damaged library kills the
process, so each file has its digest beside it, and one that does not agree is made anew.
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
    """The folder of compiled kernels, private to the user; TRIBOSWEEP_CACHE_DIR names another.

    MachineError if it cannot be made, or if others can write to it: libraries in it are run.
    """
    chosen = os.environ.get("TRIBOSWEEP_CACHE_DIR")
    folder = Path(chosen) if chosen else _user_cache() / "tribosweep"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder.stat()):
            raise MachineError(
                f"the kernel cache {str(folder)!r} can be written by others, who could change what "
                "is run. If it is yours, run `chmod 700` on it; otherwise set TRIBOSWEEP_CACHE_DIR "
                "to a private folder"
            )
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def digest(*parts: str) -> str:
    """A short name for content: the same for the same parts, in order."""
    content_hash = hashlib.sha256()
    for part in parts:
        content_hash.update(f"{len(part)}:".encode() + part.encode())
    return content_hash.hexdigest()[:32]


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """The file `name` of the cache, made by make(scratch path) unless an intact one exists.

    MachineError as of `cache_folder`, or if the cache cannot be written.
    """
    final = cache_folder() / name
    if is_intact(final):
        return final
    try:
        with (
            _lock(final.with_suffix(".lock")),
            tempfile.TemporaryDirectory(prefix="scratch-", dir=final.parent) as scratch,
        ):
            if not is_intact(final):
                file = Path(scratch) / name
                make(file)
                _put(file, final)
    except OSError as error:
        raise _unwritable(final.parent, error) from error
    return final


@contextmanager
def _lock(path: Path) -> Generator[None]:
    """Hold a lock that keeps other processes from compiling the same kernel.

    Without such locks in the system each process compiles, with the same result.
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


def is_intact(file: Path) -> bool:
    """Whether a file of the cache is as it was made, and no other user can have written it.

    Its digest covers its name, too: a copy of another library is not taken for it.
    """
    try:
        return _is_trusted(file) and _digest_beside(file).read_text("ascii") == _digest_of(file)
    except (OSError, UnicodeDecodeError):  # it cannot be read, or has no digest
        return False


def remove(file: Path) -> None:
    """Remove a file from the cache, with its digest."""
    for each in (file, _digest_beside(file)):
        each.unlink(missing_ok=True)


def _is_trusted(file: Path) -> bool:
    """Whether this is a file that no other user can have written.

    Another user may have put it there before the folder was made private.
    """
    state = file.lstat()
    return stat.S_ISREG(state.st_mode) and _is_private(state)


def _digest_beside(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _digest_of(file: Path) -> str:
    return hashlib.sha256(file.name.encode() + file.read_bytes()).hexdigest()


def _put(made: Path, final: Path) -> None:
    made.chmod(0o700)  # whatever the umask
    _digest_beside(made).write_text(_digest_of(made), "ascii")
    try:
        made.replace(final)
        _digest_beside(made).replace(_digest_beside(final))
    except OSError:  # Windows: another process made it first and has it loaded
        if not is_intact(final):
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


def _is_private(state: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, who alone can write it."""
    if os.name == "nt":
        return True
    return state.st_uid == os.getuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
