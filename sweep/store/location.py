"""Names of places: paths and URLs of stores, and the keys of their files.

A key is the path of a file relative to the root of its store, with slashes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISLNK

from sweep.errors import MachineError, StoreError
from sweep.text.wording import UNREADABLE

GROUP = "zarr.json"  # metadata of the store
STATUS = "status/zarr.json"
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:{1,2}/?/")
LOCAL_URL = re.compile("(file|local):(//|(?=/))")  # as fsspec defines it
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


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order in which files are put in place: metadata of status and group last.

    The shape of the status tells whether an extension still has to remove cut chunks; the group
    tells whether there is a store.
    """
    last = (STATUS, GROUP)
    return sorted(keys, key=lambda key: (last.index(key) if key in last else -1, key))


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
