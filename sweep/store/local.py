"""The files of a store in a folder of this machine: atomic renames, locks, and fsync if durable."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from zarr.storage import LocalStore, WrapperStore

from sweep.store import faults, scratch
from sweep.store.durable import sync_folder, sync_tree, write
from sweep.store.encoding import Piece
from sweep.store.files import GROUP
from sweep.store.flow import is_alive
from sweep.store.lock import exclusive, shared, signed

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype


class LocalFiles:
    """A folder; next to it lie the folder of its receipts, its lock and scratch folders."""

    flush_seconds = 0.0

    def __init__(self, path: Path, *, durable: bool = False, is_store: bool = True) -> None:
        self.path = path
        self._durable = durable
        self._required = f"{path}/{GROUP}" if is_store else None  # else the folder is made

    def __str__(self) -> str:
        return str(self.path)

    def read(self, key: str) -> bytes | None:
        file = self.path / key
        try:
            with faults.reading(file):
                faults.refuse_device(file)
                return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put(self, key: str, pieces: Sequence[Piece]) -> None:
        file = f"{self.path}/{key}"
        try:
            write(file, pieces, durable=self._durable, required=self._required)
        except FileNotFoundError as error:
            raise faults.gone(self.path) from error
        except OSError:
            faults.refuse_folder(file)
            raise

    def remove(self, key: str) -> None:
        file = f"{self.path}/{key}"
        try:
            os.unlink(file)  # noqa: PTH108 (making a Path takes longer)
        except FileNotFoundError:
            return
        except OSError:  # which one depends on the system
            faults.refuse_folder(file)
            raise
        if self._durable:
            sync_folder(Path(file).parent)

    def list(self, folder: str = "") -> list[str]:
        place = self.path / folder
        with faults.reading(place):
            return list(_files(str(place), ""))

    def exists(self, key: str = "") -> bool:
        file = self.path / key
        try:
            with faults.reading(file):
                found = file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return not key or (S_ISREG(found.st_mode) and found.st_size > 0)

    @contextmanager
    def publish(self) -> Generator[Path]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        begun = scratch.beside(self.path)
        try:
            yield begun
            if self._durable:
                sync_tree(begun)
            begun.rename(self.path)
            if self._durable:
                sync_folder(self.path.parent)
        except OSError:
            if not self.path.exists():
                raise
        finally:
            scratch.discard(begun)

    def discard(self) -> None:
        if self.path.exists():
            leftover = scratch.beside(self.path)
            with self.writing():
                self.path.rename(leftover)
                if self._durable:
                    sync_folder(self.path.parent)
            scratch.discard(leftover)

    def lock(
        self, shard: str | None = None, clean: Callable[[], None] | None = None
    ) -> AbstractContextManager[None]:
        log = self.path.with_name(f"{self.path.name}.log")
        if shard is None:
            return exclusive(self.path, log / "holder.json")
        return shared(self.path, log / "holder.json", log / f"{shard}.lock", clean or self.clean)

    def holders(self) -> list[dict[str, Any]] | None:
        log = self.path.with_name(f"{self.path.name}.log")
        found = (signed(file) for file in sorted(log.glob("*.json")))
        return [signature for signature in found if signature and is_alive(signature)]

    def append(self, key: str, text: str) -> None:
        self.path.mkdir(exist_ok=True)
        # Unbuffered, so that the text is written by one call at the end of the file.
        with (self.path / key).open("ab", buffering=0) as file:
            file.write(text.encode("utf-8"))

    def clean(self) -> None:
        for file in scratch.files(self.path):
            file.unlink(missing_ok=True)
        for folder in scratch.stores(self.path):
            scratch.discard(folder)

    def beside(self, suffix: str, *, hidden: bool = False) -> LocalFiles:
        name = f".{self.path.name}.{suffix}" if hidden else f"{self.path.name}.{suffix}"
        return LocalFiles(self.path.with_name(name), durable=hidden, is_store=False)

    def writing(self) -> AbstractContextManager[None]:
        return faults.writing(self.path)

    def creating(self) -> AbstractContextManager[None]:
        return faults.creating(self.path)

    def zarr(self) -> WrapperStore[LocalStore]:
        return _Readable(LocalStore(self.path, read_only=True))


class _Readable(WrapperStore[LocalStore]):
    """The files as zarr reads them, except that those that may not be read are named."""

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        file = self._store.root / key
        try:
            with faults.reading(file):
                faults.refuse_device(file)
                return await self._store.get(key, prototype, byte_range)
        except (FileNotFoundError, NotADirectoryError):
            return None


def _files(folder: str, prefix: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    yield from _files(entry.path, f"{prefix}{entry.name}/")
                else:
                    yield prefix + entry.name
    except (FileNotFoundError, NotADirectoryError):
        pass
