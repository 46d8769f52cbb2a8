"""A store in a folder of this machine: atomic renames, a lock, fsync if that is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from zarr.storage import LocalStore

from sweep.spec import Chunk, Sweep
from sweep.store import damage, extension, faults, receipts, scratch
from sweep.store.creation import make
from sweep.store.durable import DurableStore, write
from sweep.store.encoding import Piece
from sweep.store.listing import listed
from sweep.store.lock import exclusive, shared


class LocalPlace:
    """A folder, and beside it the folder of its receipts, its lock and what is being made."""

    def __init__(self, path: Path, *, durable: bool = False) -> None:
        self.path = path
        self.durable = durable
        self._group = f"{path}/zarr.json"
        self._log = path.with_name(f"{path.name}.log")

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        return self.path.exists()

    def refuse_what_is_no_store(self) -> None:
        faults.refuse_what_is_no_store(self.path)

    def begin_extension(
        self, sweep: Sweep, chunks: tuple[int, ...], provenance: Mapping[str, object]
    ) -> None:
        extension.begin(self.path, sweep, chunks, provenance)

    def finish_extension(self) -> None:
        extension.finish(self.path)

    def extension_is_under_way(self) -> bool:
        return extension.is_under_way(self.path)

    def has_grown(self, shape: tuple[int, ...]) -> bool:
        return extension.is_under_way(self.path) or extension.shape(self.path) != shape

    def make(self, sweep: Sweep, chunks: tuple[int, ...], provenance: Mapping[str, object]) -> None:
        with faults.creating(self.path):
            extension.forget(self.path)
            make(self.path, sweep, chunks, provenance, durable=self.durable)

    def files(self) -> LocalStore:
        return DurableStore(self.path) if self.durable else LocalStore(self.path)

    def file(self, key: str) -> str:
        return f"{self.path}/{key}"

    def has(self, key: str) -> bool:
        file = self.path / key
        return file.is_file() and file.stat().st_size > 0

    def put(self, key: str, pieces: Sequence[Piece]) -> None:
        file = self.file(key)
        try:
            write(file, pieces, durable=self.durable, below=self._group)
        except FileNotFoundError as error:
            raise faults.gone(self.path) from error
        except OSError:
            faults.refuse_folder(file)
            raise

    def remove(self, key: str) -> None:
        file = self.file(key)
        try:
            os.unlink(file)  # noqa: PTH108 (to make a path of it takes longer)
        except FileNotFoundError:
            pass
        except OSError:  # which one, depends on the system
            faults.refuse_folder(file)
            raise

    def destroy(self) -> None:
        if self.path.exists():
            leftover = scratch.beside(self.path)
            with faults.writing(self.path):
                self.path.rename(leftover)
            scratch.discard(leftover)

    def listed(self, name: str, counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
        return listed(self.path / name, counts, separator)

    def clean(self) -> None:
        for file in scratch.files(self.path):
            file.unlink(missing_ok=True)
        for folder in scratch.stores(self.path):
            scratch.discard(folder)

    def writing(self) -> AbstractContextManager[None]:
        return faults.writing(self.path)

    def lock(self) -> AbstractContextManager[None]:
        return exclusive(self.path, self._log / "holder.json")

    def lock_shard(self, name: str, clean: Callable[[], None]) -> AbstractContextManager[None]:
        return shared(self.path, self._log / "holder.json", self._log / f"{name}.lock", clean)

    def append_receipt(self, receipt: Mapping[str, object]) -> None:
        with faults.writing(self._log):
            receipts.append(self._log, receipt)

    def flush(self) -> None:
        """Nothing: none is kept back."""

    def receipts(self) -> list[dict[str, Any]]:
        return receipts.read(self._log)

    def note_damage(self, chunks: Iterable[Chunk]) -> None:
        with faults.writing(self._log):
            damage.note(self._log, chunks)

    def noted_damage(self) -> set[tuple[int, ...]]:
        return damage.noted(self._log)
