"""Where a store is, in a folder of this machine or at a URL.

Everything about a store is written once, on the operations of its `Files`, the only ones that
differ. `LocalFiles` says what each of them does. A key is the path of a file relative to the root,
with slashes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from stat import S_ISLNK
from typing import TYPE_CHECKING, Any, TypeAlias

from sweep.errors import MachineError, StoreError
from sweep.wording import UNREADABLE

if TYPE_CHECKING:
    from sweep.store.local import LocalFiles
    from sweep.store.remote import RemoteFiles

Files: TypeAlias = "LocalFiles | RemoteFiles"

GROUP = "zarr.json"  # metadata of the store
STATUS = "status/zarr.json"
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


def local_name(source: str) -> Path:
    """The path itself, with a name (not "."); of a URL the last part, in the working directory."""
    path = Path(Path(source).name if "://" in source else source)
    return path if path.name not in ("", "..") else path.resolve()


def files_of(path: str | Path, *, durable: bool = False) -> Files:
    """The files at a path or URL, whatever is there. Raises StoreError if it is neither."""
    refuse_no_path(path)
    refuse_little_memory()
    if is_url(path):
        from sweep.store.remote import RemoteFiles

        return RemoteFiles(str(path))
    return _in_folder(local(path), durable=durable)


def beside(files: Files, suffix: str, *, hidden: bool = False) -> Files:
    """The files next to others, below NAME.suffix; in a folder what is hidden is durable, too."""
    root = str(files)
    if is_url(root):  # objects have no hidden names
        return files_of(f"{root}.{suffix}")
    name = f"{'.' if hidden else ''}{Path(root).name}.{suffix}"
    return _in_folder(Path(root).with_name(name), durable=hidden, is_store=False)


def _in_folder(path: Path, *, durable: bool, is_store: bool = True) -> Files:
    from sweep.store.local import LocalFiles

    return LocalFiles(path, durable=durable, is_store=is_store)


def attributes_of(files: Files) -> Mapping[str, Any]:
    """The attributes of a store; none without metadata. Raises ValueError if that is damaged."""
    return json.loads(files.read(GROUP) or b"{}").get("attributes", {})


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order in which files are put in place: metadata of status and group last.

    The shape of the status tells whether an extension still has to remove cut chunks; the group
    tells whether there is a store.
    """
    last = (STATUS, GROUP)
    return sorted(keys, key=lambda key: (last.index(key) if key in last else -1, key))


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
        resolved = _followed(expanded.absolute())
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
    if not resolved.name:  # nothing can be next to it
        raise StoreError(f"{str(path)!r} is a whole disk, not a store; name another path")
    return resolved


def _followed(path: Path) -> Path:
    """The target of a link, or of `..`.

    Links among the parent folders stay, since their targets may differ on other machines.
    """
    try:
        for _ in range(MAX_LINKS):
            if path.name == "..":
                path = Path(os.path.realpath(path))
            if not S_ISLNK(path.lstat().st_mode):
                return path
            path = path.parent / path.readlink()
    except (FileNotFoundError, NotADirectoryError):
        return path
    except PermissionError as error:
        raise StoreError(f"cannot read {str(path)!r}: {UNREADABLE}") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{str(path)!r} cannot be a store: {error}; name another path") from error
    raise StoreError(f"{str(path)!r} cannot be a store: it is a link to itself; name another path")


def anything_at(path: str | Path) -> bool:
    """Whether there is a store or anything else."""
    return files_of(path).exists() if is_url(path) else os.path.lexists(local(path))
