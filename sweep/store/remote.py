"""The files of a store at an fsspec URL (s3://, gs://, memory://): each object is written at once.

There is no lock, and results do not need one: everybody who writes a chunk writes the same bytes.
Two runs in one store compute some chunks twice, and that is all. A run in a store that is extended
meanwhile ends with an error. If two different sweeps are started at one URL at the same moment,
nobody notices.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, cast

import fsspec

from sweep.errors import StoreError
from sweep.store import faults
from sweep.store.place import GROUP, in_order

WITH_BUCKETS = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss")  # fsspec's protocols


class RemoteFiles:
    """The objects whose keys begin with that of the URL."""

    def __init__(self, url: str) -> None:
        protocol, _, name = url.partition(":")
        if not name.strip(":/"):  # fsspec would take that for a local path
            raise StoreError(f"{url!r} names no store: write {protocol}://BUCKET/NAME.zarr")
        self._url = url.rstrip("/")
        with faults.reaching(self._url):
            system_and_root = cast("tuple[Any, str]", fsspec.url_to_fs(self._url))
        self._system, self._root = system_and_root
        if protocol in WITH_BUCKETS and "/" not in self._root:
            # The receipts would be in another bucket.
            raise StoreError(
                f"{self._url!r} is a whole bucket: name a place in it, {self._url}/NAME.zarr"
            )

    def __str__(self) -> str:
        return self._url

    def read(self, key: str) -> bytes | None:
        with faults.reaching(self._url), suppress(FileNotFoundError):
            return self._system.cat_file(f"{self._root}/{key}")
        return None

    def put(self, key: str, *content: bytes) -> None:
        with faults.reaching(self._url):
            self._system.pipe_file(f"{self._root}/{key}", b"".join(content))

    def remove(self, key: str) -> None:
        with faults.reaching(self._url), suppress(FileNotFoundError):
            self._system.rm_file(f"{self._root}/{key}")

    def list(self, folder: str = "") -> list[str]:
        root = f"{self._root}/{folder}".rstrip("/")
        with faults.reaching(self._url), suppress(FileNotFoundError):
            self._system.invalidate_cache()  # others may have changed what fsspec remembers
            return [key.removeprefix(f"{root}/") for key in self._system.find(root)]
        return []

    def exists(self, key: str = "") -> bool:
        with faults.reaching(self._url), suppress(FileNotFoundError):
            self._system.invalidate_cache()
            return self._system.size(f"{self._root}/{key or GROUP}") != 0
        return False

    @contextmanager
    def publish(self) -> Generator[Path]:
        with faults.reaching(self._url), tempfile.TemporaryDirectory() as folder:
            built = Path(folder, "store.zarr")
            yield built
            files = [file for file in built.rglob("*") if file.is_file()]
            keys = [file.relative_to(built).as_posix() for file in files]
            for key in in_order(keys):
                self.put(key, (built / key).read_bytes())

    def discard(self) -> None:
        # The group's metadata goes last: until then it tells that something is left.
        for key in sorted(self.list(), key=lambda key: key == GROUP):
            self.remove(key)

    def lock(
        self, shard: str | None = None, clean: Callable[[], None] = lambda: None
    ) -> AbstractContextManager[None]:
        del shard, clean  # nothing is held, and another shard may be writing
        return nullcontext()
