"""Where a store lies: a folder of this machine, or a URL. All that differs between the two."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from stat import S_ISLNK
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.errors import MachineError, StoreError
from sweep.spec import Chunk, Sweep

if TYPE_CHECKING:
    from zarr.abc.store import Store as Files

    from sweep.store.encoding import Piece

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:{1,2}/?/")
MOST_LINKS = 40  # one behind another, as of Linux
OF_THIS_MACHINE = re.compile("(file|local):(//|(?=/))")  # as fsspec has it, too
Index = tuple[int, ...]


class Place(Protocol):
    """A place of a store, with its receipts beside it."""

    def __str__(self) -> str:
        """As users know it, and as it is found again from elsewhere."""
        ...

    def exists(self) -> bool: ...

    def refuse_what_is_no_store(self) -> None:
        """StoreError with the reason and the cure, unless a zarr v3 group lies here."""
        ...

    def make(self, sweep: Sweep, chunks: tuple[int, ...], provenance: Mapping[str, object]) -> None:
        """A new store, whole from the moment it can be seen, unless another has been quicker."""
        ...

    def begin_extension(
        self, sweep: Sweep, chunks: tuple[int, ...], provenance: Mapping[str, object]
    ) -> None:
        """The store is being extended to that sweep; SweepError if it makes too many chunks."""
        ...

    def finish_extension(self) -> None:
        """It is no longer: what was begun, by whomever, is done."""
        ...

    def extension_is_under_way(self) -> bool:
        """Whether it is being extended, or was when that was stopped."""
        ...

    def has_grown(self, shape: tuple[int, ...]) -> bool:
        """Whether the store is of that shape no more: somebody has extended it, or does so."""
        ...

    def files(self) -> Files:
        """As zarr reads and writes it."""
        ...

    def file(self, key: str) -> str:
        """Where a file of the store lies."""
        ...

    def has(self, key: str) -> bool:
        """Whether there is a file that is not empty: zarr reads such a shard as one missing."""
        ...

    def put(self, key: str, pieces: Sequence[Piece]) -> None:
        """A file whole or not at all."""
        ...

    def remove(self, key: str) -> None:
        """Removes a file, if it is there."""
        ...

    def destroy(self) -> None:
        """Removes all that lies here; stopped in the middle, it is as it was or no store."""
        ...

    def listed(self, name: str, counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
        """Whether each chunk of an array has a file, in C order of the chunks."""
        ...

    def clean(self) -> None:
        """Removes what killed writers and makers have left."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Within, what is wrong with the place becomes a MachineError."""
        ...

    def lock(self) -> AbstractContextManager[None]:
        """Held alone while within, as far as the place can."""
        ...

    def lock_shard(self, name: str, clean: Callable[[], None]) -> AbstractContextManager[None]:
        """A shard held beside others; `clean` is called where no other is there."""
        ...

    def append_receipt(self, receipt: Mapping[str, object]) -> None: ...

    def flush(self) -> None:
        """No receipt is kept back any more."""
        ...

    def receipts(self) -> list[dict[str, Any]]: ...

    def note_damage(self, chunks: Iterable[Chunk]) -> None: ...

    def noted_damage(self) -> set[Index]: ...


def is_url(path: str | Path) -> bool:
    """Whether it is the URL of anything but a local file."""
    return URL.match(str(path)) is not None and not OF_THIS_MACHINE.match(str(path))


def is_in_memory(path: str | Path) -> bool:
    """Whether it is a URL of this process' own memory, which no other process sees."""
    return is_url(path) and str(path).startswith("memory:")


def place_of(path: str | Path, *, durable: bool = False) -> Place:
    """The place at a path or URL; what is there is not looked at. StoreError if it is neither."""
    refuse_no_path(path)
    if is_url(path):
        from sweep.store.remote import RemotePlace

        return RemotePlace(str(path))
    from sweep.store.local import LocalPlace

    return LocalPlace(local(path), durable=durable)


def refuse_what_is_not_to_be_read(place: Place) -> None:
    """StoreError if there is no store, or one whose extension is under way."""
    place.refuse_what_is_no_store()
    if place.extension_is_under_way():
        raise StoreError(
            f"{str(place)!r} is being extended, or was when that was stopped; "
            "if so, run the same `sweep extend` again"
        )


def refuse_no_path(path: object) -> None:
    """StoreError unless it is a path, or text that may be one or a URL."""
    if not isinstance(path, (str, os.PathLike)):
        raise StoreError(f"{path!r} is no path of a store: give text or a pathlib.Path")


def local(path: str | Path) -> Path:
    """A path of this machine, absolute; MachineError where its folder is not there any more.

    A link is followed, so that what lies beside a store is the same whatever it is called.
    """
    text = OF_THIS_MACHINE.sub("", str(path), count=1)
    try:
        given = Path(text).expanduser() if text.startswith("~") else Path(text)
        found = _followed(given.absolute())
    except RuntimeError as error:  # as pathlib tells of it
        raise StoreError(
            f"{str(path)!r}: there is no home folder of that name ({error}); write ./~... for a "
            "folder called so"
        ) from error
    except FileNotFoundError as error:
        raise MachineError(
            f"{str(path)!r} lies nowhere: the working directory has been deleted; change to "
            "another one, or give an absolute path"
        ) from error
    if not found.name:  # beside it there is nothing
        raise StoreError(f"{str(path)!r} is a whole disk, not a store; name another path")
    return found


def _followed(path: Path) -> Path:
    """What a link stands for, or `..`. Folders on the way stay: other machines may have others."""
    for _ in range(MOST_LINKS):
        if path.name == "..":
            path = Path(os.path.realpath(path))
        if not _is_link(path):
            return path
        path = path.parent / path.readlink()
    raise StoreError(f"{str(path)!r} cannot be a store: it is a link to itself; name another path")


def _is_link(path: Path) -> bool:
    """Whether it is; StoreError if it cannot be looked at: a name too long, a folder shut."""
    try:
        return S_ISLNK(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise StoreError(f"{str(path)!r} cannot be a store: {error}; name another path") from error


def anything_at(path: str | Path) -> bool:
    """Whether there is a store, or anything else in its place."""
    return place_of(path).exists() if is_url(path) else os.path.lexists(local(path))
