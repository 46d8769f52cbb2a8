"""A store at an fsspec URL (s3://, gs://, memory://): objects, each written whole or not at all.

There is no lock, and none is needed for the results: whoever writes a chunk writes the same bytes,
and an object is replaced at once. Two runs in one store compute chunks twice, and that is all; a
run in a store that is extended meanwhile ends. A store is made by writing its group last; two
sweeps that race for one URL are not told apart.
"""

from __future__ import annotations

import itertools
import tempfile
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, cast

import fsspec
import numpy as np
from numpy.typing import NDArray
from zarr.storage import FsspecStore

from sweep.errors import StoreError
from sweep.spec import Chunk, Sweep
from sweep.store import damage, faults, objects, receipts, remote_extension
from sweep.store.creation import build
from sweep.store.encoding import Piece
from sweep.store.listing import named

WITH_BUCKETS = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss")  # fsspec's protocols
FLUSH_SECONDS = 10.0  # receipts are kept back so long: an object cannot be appended to


class RemotePlace:
    """A folder of objects, and beside it that of its receipts."""

    def __init__(self, url: str) -> None:
        _refuse_nameless(url)
        self.url = url.rstrip("/")
        with faults.reaching(self.url):  # of its own loop; zarr's makes another
            found = cast("tuple[Any, str]", fsspec.url_to_fs(self.url))
        self._system, self._root = found
        _refuse_bucket(self.url, self._root)
        self._kept_back: list[str] = []
        self._flushed = time.monotonic()
        self._guard = Lock()

    def __str__(self) -> str:
        return self.url

    def exists(self) -> bool:
        with faults.reaching(self.url):
            self._system.invalidate_cache()
            return bool(self._system.exists(f"{self._root}/zarr.json"))

    def refuse_what_is_no_store(self) -> None:
        if not self.exists():
            passes = itertools.takewhile(
                lambda each: each.exists(),
                (RemotePlace(f"{self.url}.passes/{i}.zarr") for i in itertools.count()),
            )
            if begun := list(passes):
                raise faults.being_refined(self.url, begun[-1].url)
            raise StoreError(f"no store {self.url!r}; `sweep run CONFIG -o STORE` makes one")

    def begin_extension(
        self, sweep: Sweep, chunks: tuple[int, ...], provenance: Mapping[str, object]
    ) -> None:
        remote_extension.begin(self._system, self._root, sweep, chunks, provenance)

    def finish_extension(self) -> None:
        remote_extension.finish(self._system, self._root)

    def extension_is_under_way(self) -> bool:
        with faults.reaching(self.url):
            return remote_extension.is_under_way(self._system, self._root)

    def has_grown(self, shape: tuple[int, ...]) -> bool:
        # In this order: its shape is the new one before it is under way no more.
        under_way = self.extension_is_under_way()
        return under_way or remote_extension.shape(self._system, self._root) != shape

    def make(self, sweep: Sweep, chunks: tuple[int, ...], provenance: Mapping[str, object]) -> None:
        with tempfile.TemporaryDirectory() as folder, faults.reaching(self.url):
            if any(name.startswith("status/c") for name in self._names("status")):
                raise StoreError(
                    f"{self.url!r} has chunks and is no store (no zarr.json); name another place"
                )
            remote_extension.forget(self._system, self._root)
            built = Path(folder, "store.zarr")
            build(built, sweep, chunks, provenance)
            files = [file for file in built.rglob("*") if file.is_file()]
            group = built / "zarr.json"
            for file in (*(file for file in files if file != group), group):
                self._put(file.relative_to(built).as_posix(), file.read_bytes())

    def files(self) -> FsspecStore:
        return FsspecStore.from_url(self.url)

    def file(self, key: str) -> str:
        return f"{self.url}/{key}"

    def has(self, key: str) -> bool:
        self._system.invalidate_cache()
        try:
            return self._system.size(f"{self._root}/{key}") != 0
        except FileNotFoundError:
            return False

    def put(self, key: str, pieces: Sequence[Piece]) -> None:
        self._put(key, b"".join(pieces))

    def remove(self, key: str) -> None:
        objects.remove(self._system, f"{self._root}/{key}")

    def destroy(self) -> None:
        with faults.reaching(self.url):  # its group, or that of pass 0, last: it tells what is left
            names = objects.found(self._system, self._root)[::-1]
            for name in sorted(names, key=lambda name: (name.endswith("zarr.json"), -len(name))):
                self._system.rm_file(name)

    def listed(self, name: str, counts: tuple[int, ...], separator: str) -> NDArray[np.bool_]:
        with faults.reaching(self.url):
            keys = self._names(name)
        return named([key.removeprefix(f"{name}/") for key in keys], counts, separator)

    def clean(self) -> None:
        """Nothing: an object that is not whole does not exist."""

    def writing(self) -> AbstractContextManager[None]:
        return faults.reaching(self.url)

    @contextmanager
    def lock(self) -> Generator[None]:
        try:
            yield
        finally:
            self.flush()

    def lock_shard(self, name: str, clean: Callable[[], None]) -> AbstractContextManager[None]:
        del name, clean  # nothing is held, and another shard may be writing
        return self.lock()

    def append_receipt(self, receipt: Mapping[str, object]) -> None:
        with self._guard:
            self._kept_back.append(receipts.line(receipt))
            due = time.monotonic() - self._flushed > FLUSH_SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """The receipts kept back as one more object."""
        with self._guard:
            lines, self._kept_back = self._kept_back, []
            self._flushed = time.monotonic()
        if lines:
            with faults.reaching(self.url):
                name = f"{receipts.writer()}-{uuid.uuid4().hex}.jsonl"
                objects.put(self._system, f"{self._root}.log/{name}", "".join(lines).encode())

    def receipts(self) -> list[dict[str, Any]]:
        self.flush()
        with faults.reaching(self.url):
            names = objects.found(self._system, f"{self._root}.log")
            texts = [self._system.cat_file(name) for name in names if name.endswith(".jsonl")]
        return receipts.parsed(text.decode("utf-8", "replace") for text in texts)

    def note_damage(self, chunks: Iterable[Chunk]) -> None:
        with faults.reaching(self.url):
            text = damage.line(chunks)
            objects.put(self._system, f"{self._root}.log/{damage.FILE}", text.encode())

    def noted_damage(self) -> set[tuple[int, ...]]:
        with faults.reaching(self.url):
            try:
                text = self._system.cat_file(f"{self._root}.log/{damage.FILE}")
            except FileNotFoundError:
                return set()
        return damage.parsed(text.decode("utf-8", "replace"))

    def _put(self, key: str, content: bytes) -> None:
        objects.put(self._system, f"{self._root}/{key}", content)

    def _names(self, folder: str) -> set[str]:
        """The keys of all objects in a folder of the store, by one listing."""
        root = f"{self._root}/"
        keys = objects.found(self._system, f"{self._root}/{folder}")
        return {key.removeprefix(root) for key in keys}


def _refuse_nameless(url: str) -> None:
    """StoreError if nothing is named behind the protocol: fsspec takes that for a local path."""
    protocol, _, name = url.partition(":")
    if not name.strip(":/"):
        raise StoreError(f"{url!r} names no store: write {protocol}://BUCKET/NAME.zarr")


def _refuse_bucket(url: str, root: str) -> None:
    """StoreError if that is all of a bucket: what lies beside the store would be in others."""
    if url.partition(":")[0] in WITH_BUCKETS and "/" not in root:
        raise StoreError(f"{url!r} is a whole bucket: name a place in it, {url}/NAME.zarr")
