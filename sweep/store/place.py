"""Where a store is: in a folder of this machine, or at a URL."""

from __future__ import annotations

import os
import re
from pathlib import Path
from stat import S_ISLNK

from sweep.errors import MachineError, StoreError
from sweep.store.files import Files

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:{1,2}/?/")
LOCAL_URL = re.compile("(file|local):(//|(?=/))")  # as fsspec defines it
MIN_MEMORY = 1_000_000_000  # bytes of addresses: 0.7e9 was too little for zarr, 0.9e9 enough
MAX_LINKS = 40  # that lead to one another, as on Linux


def is_url(path: str | Path) -> bool:
    """Whether this is the URL of something other than a local file."""
    return URL.match(str(path)) is not None and not LOCAL_URL.match(str(path))


def is_in_memory(path: str | Path) -> bool:
    """Whether this is a URL in the memory of this process, which no other process sees."""
    return is_url(path) and str(path).startswith("memory:")


def files_of(path: str | Path, *, durable: bool = False) -> Files:
    """The files at a path or URL, whatever is there. Raises StoreError if it is neither."""
    refuse_no_path(path)
    refuse_little_memory()
    if is_url(path):
        from sweep.store.remote import RemoteFiles

        return RemoteFiles(str(path))
    from sweep.store.local import LocalFiles

    return LocalFiles(local(path), durable=durable)


def refuse_little_memory() -> None:
    """Raise MachineError under a limit of memory with which zarr cannot start its threads.

    It would wait for them for ever.
    """
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Windows has no such limits
        return
    limit = getrlimit(RLIMIT_AS)[0]
    if limit != RLIM_INFINITY and limit < MIN_MEMORY:
        raise MachineError(
            f"this process may use {limit / 1e6:,.0f} MB of memory, and a store needs "
            f"{MIN_MEMORY / 1e6:,.0f} MB; raise its limit, as by `ulimit -v unlimited`"
        )


def refuse_no_path(path: object) -> None:
    """Raise StoreError unless this is a path, or text that may be a path or URL."""
    if not isinstance(path, (str, os.PathLike)):
        raise StoreError(f"{path!r} is not the path of a store: give text or a pathlib.Path")


def local(path: str | Path) -> Path:
    """The absolute path of this machine that a path or file URL means.

    A link is followed, so that the files next to a store are the same whatever it is called.
    Raises MachineError if the working directory has been deleted.
    """
    text = LOCAL_URL.sub("", str(path), count=1)
    try:
        expanded = Path(text).expanduser() if text.startswith("~") else Path(text)
        found = _followed(expanded.absolute())
    except RuntimeError as error:  # pathlib's error for an unknown user
        raise StoreError(
            f"{str(path)!r}: there is no home folder of that name ({error}); write ./~... for a "
            "folder with that name"
        ) from error
    except FileNotFoundError as error:
        raise MachineError(
            f"{str(path)!r} cannot be found: the working directory has been deleted; change to "
            "another one, or give an absolute path"
        ) from error
    if not found.name:  # nothing can be next to it
        raise StoreError(f"{str(path)!r} is a whole disk, not a store; name another path")
    return found


def _followed(path: Path) -> Path:
    """The target of a link, or of `..`.

    Links among the parent folders stay, since their targets may differ on other machines.
    """
    for _ in range(MAX_LINKS):
        if path.name == "..":
            path = Path(os.path.realpath(path))
        if not _is_link(path):
            return path
        path = path.parent / path.readlink()
    raise StoreError(f"{str(path)!r} cannot be a store: it is a link to itself; name another path")


def _is_link(path: Path) -> bool:
    """Whether the path is a link. Raises StoreError if that cannot be found out."""
    try:
        return S_ISLNK(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise StoreError(f"{str(path)!r} cannot be a store: {error}; name another path") from error


def anything_at(path: str | Path) -> bool:
    """Whether there is a store or anything else."""
    return files_of(path).exists() if is_url(path) else os.path.lexists(local(path))
