"""The files of a store in a folder of this machine: atomic renames, locks, and fsync if durable."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from stat import S_ISREG

from sweep.store import durable, faults, lock
from sweep.store.place import GROUP


class LocalFiles:
    """A folder; next to it lie the folder of its receipts, its lock and scratch folders."""

    def __init__(self, path: Path, *, durable: bool = False, is_store: bool = True) -> None:
        self.path = path
        self._durable = durable
        self._required = f"{path}/{GROUP}" if is_store else None  # else the folder is made

    def __str__(self) -> str:
        return str(self.path)

    def read(self, key: str) -> bytes | None:
        """The content of a file; None if there is no such file."""
        file = self.path / key
        with suppress(FileNotFoundError, NotADirectoryError), faults.reading(file):
            (faults.refuse_device if self._required else faults.refuse_no_file)(file)
            return file.read_bytes()
        return None

    def put(self, key: str, *content: bytes) -> None:
        """Write a file, given in parts, whole or not at all; an existing one is replaced."""
        file = f"{self.path}/{key}"
        with faults.writing(self.path):
            try:
                durable.write(file, *content, durable=self._durable, required=self._required)
            except FileNotFoundError as error:
                raise faults.gone(self.path) from error
            except OSError:
                faults.refuse_no_file(file)
                raise

    def remove(self, key: str) -> None:
        """Remove a file if it exists."""
        file = f"{self.path}/{key}"
        with faults.writing(self.path):
            try:
                os.unlink(file)  # noqa: PTH108 (making a Path takes longer)
            except FileNotFoundError:
                return
            except OSError:  # which one depends on the system
                faults.refuse_no_file(file)
                raise
            if self._durable:
                durable.sync_folder(Path(file).parent)

    def list(self, folder: str = "") -> list[str]:
        """The keys of all files in a folder and those below it, relative to the folder."""
        place = self.path / folder
        with faults.reading(place):
            return list(_files(str(place), ""))

    def exists(self, key: str = "") -> bool:
        """Whether there is a file with content; without a key, whether the root is taken."""
        file = self.path / key
        with suppress(FileNotFoundError, NotADirectoryError), faults.reading(file):
            file_status = file.stat()
            return not key or (S_ISREG(file_status.st_mode) and file_status.st_size > 0)
        return False

    @contextmanager
    def publish(self) -> Generator[Path]:
        """Within, an empty local folder to build in; on leaving, its files appear below the root.

        They appear all at once, or at a URL with the group's metadata last. If somebody else has
        published in the meantime, theirs are kept.
        """
        making = faults.writing(self.path, creating=True) if self._required else nullcontext()
        with making:  # what is made beside a store has its errors in the words of that store
            self.path.parent.mkdir(parents=True, exist_ok=True)
            begun = durable.scratch_beside(self.path)
            try:
                yield begun
                if self._durable:
                    durable.sync_tree(begun)
                begun.rename(self.path)
                if self._durable:
                    durable.sync_folder(self.path.parent)
            except OSError:
                if not self.path.exists():
                    raise
            finally:
                durable.discard(begun)

    def discard(self) -> None:
        """Remove everything below the root, at once or at a URL with the group's metadata last."""
        if self.path.exists():
            leftover = durable.scratch_beside(self.path)
            with faults.writing(self.path):
                self.path.rename(leftover)
                if self._durable:
                    durable.sync_folder(self.path.parent)
            durable.discard(leftover)

    def lock(
        self, shard: str | None = None, clean: Callable[[], None] = lambda: None
    ) -> AbstractContextManager[None]:
        """Within, hold the store, or one shard of it; a URL cannot be held.

        `clean` is called if no other shard is held. Raises StoreError if the store is held.
        """
        if shard is None:
            return lock.exclusive(self.path)
        return lock.shared(self.path, shard, clean)


def _files(folder: str, prefix: str) -> Iterator[str]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path, f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name
