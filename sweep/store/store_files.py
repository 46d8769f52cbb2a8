"""The files of a store, in a folder of this machine or at a URL.

Everything about a store is written once, on the operations of its `Files`, the only ones that
differ. `LocalFiles` says what each of them does.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeAlias, cast

import fsspec

from sweep.errors import MachineError, StoreError
from sweep.store import disk_faults, durable, lock
from sweep.store.location import GROUP, in_order, is_url, local, refuse_no_path

Files: TypeAlias = "LocalFiles | RemoteFiles"
MIN_MEMORY = 1_000_000_000  # bytes of addresses: 0.7e9 was too little for zarr, 0.9e9 enough
WITH_BUCKETS = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss")  # fsspec's protocols


def files_of(path: str | Path, *, durable: bool = False) -> Files:
    """The files at a path or URL, whatever is there. Raises StoreError if it is neither."""
    refuse_no_path(path)
    refuse_little_memory()
    if is_url(path):
        return RemoteFiles(str(path))
    return LocalFiles(local(path), durable=durable)


def beside(files: Files, suffix: str, *, hidden: bool = False) -> Files:
    """The files next to others, below NAME.suffix; in a folder what is hidden is durable, too."""
    root = str(files)
    if is_url(root):  # objects have no hidden names
        return files_of(f"{root}.{suffix}")
    name = f"{'.' if hidden else ''}{Path(root).name}.{suffix}"
    return LocalFiles(Path(root).with_name(name), durable=hidden, is_store=False)


def attributes_of(files: Files) -> Mapping[str, Any]:
    """The attributes of a store; none without metadata. Raises ValueError if that is damaged."""
    return json.loads(files.read(GROUP) or b"{}").get("attributes", {})


def anything_at(path: str | Path) -> bool:
    """Whether there is a store or anything else."""
    return files_of(path).exists() if is_url(path) else os.path.lexists(local(path))


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
            f"{MIN_MEMORY / 1e6:,.0f} MB; raise its limit, for example by `ulimit -v unlimited`"
        )


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
        with suppress(FileNotFoundError, NotADirectoryError), disk_faults.reading(file):
            (disk_faults.refuse_device if self._required else disk_faults.refuse_no_file)(file)
            return file.read_bytes()
        return None

    def put(self, key: str, *content: bytes) -> None:
        """Write a file, given in parts, whole or not at all; an existing one is replaced."""
        file = f"{self.path}/{key}"
        with disk_faults.writing(self.path):
            try:
                durable.write(file, *content, durable=self._durable, required=self._required)
            except FileNotFoundError as error:
                raise disk_faults.gone(self.path) from error
            except OSError:
                disk_faults.refuse_no_file(file)
                raise

    def remove(self, key: str) -> None:
        """Remove a file if it exists."""
        file = f"{self.path}/{key}"
        with disk_faults.writing(self.path):
            try:
                os.unlink(file)  # noqa: PTH108 (making a Path takes longer)
            except FileNotFoundError:
                return
            except OSError:  # which one depends on the system
                disk_faults.refuse_no_file(file)
                raise
            if self._durable:
                durable.sync_folder(Path(file).parent)

    def list(self, folder: str = "") -> list[str]:
        """The keys of all files in a folder and those below it, relative to the folder."""
        place = self.path / folder
        with disk_faults.reading(place):
            return list(_files(str(place), ""))

    def exists(self, key: str = "") -> bool:
        """Whether there is a file with content; without a key, whether the root is taken."""
        file = self.path / key
        with suppress(FileNotFoundError, NotADirectoryError), disk_faults.reading(file):
            file_status = file.stat()
            return not key or (S_ISREG(file_status.st_mode) and file_status.st_size > 0)
        return False

    @contextmanager
    def publish(self) -> Generator[Path]:
        """Within, an empty local folder to build in; on leaving, its files appear below the root.

        They appear all at once, or at a URL with the group's metadata last. If somebody else has
        published in the meantime, theirs are kept.
        """
        making = disk_faults.writing(self.path, creating=True) if self._required else nullcontext()
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
            with disk_faults.writing(self.path):
                self.path.rename(leftover)
                if self._durable:
                    durable.sync_folder(self.path.parent)
            durable.discard(leftover)

    def lock(
        self, shard: str | None = None, clean: Callable[[], None] = lambda: None
    ) -> AbstractContextManager[None]:
        """Within, hold the store, or one shard of it; a URL cannot be held.

        `clean` is called first if no other shard is held. StoreError if the store is held.
        """
        return lock.held(self.path, shard, clean)


def _files(folder: str, prefix: str) -> Iterator[str]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path, f"{prefix}{entry.name}/")
            else:
                yield prefix + entry.name


class RemoteFiles:
    """The objects whose keys begin with that of the URL."""

    def __init__(self, url: str) -> None:
        protocol, _, name = url.partition(":")
        if not name.strip(":/"):  # fsspec would take that for a local path
            raise StoreError(f"{url!r} names no store: write {protocol}://BUCKET/NAME.zarr")
        self._url = url.rstrip("/")
        with disk_faults.reaching(self._url):
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
        with disk_faults.reaching(self._url), suppress(FileNotFoundError):
            return self._system.cat_file(f"{self._root}/{key}")
        return None

    def put(self, key: str, *content: bytes) -> None:
        with disk_faults.reaching(self._url):
            self._system.pipe_file(f"{self._root}/{key}", b"".join(content))

    def remove(self, key: str) -> None:
        with disk_faults.reaching(self._url), suppress(FileNotFoundError):
            self._system.rm_file(f"{self._root}/{key}")

    def list(self, folder: str = "") -> list[str]:
        root = f"{self._root}/{folder}".rstrip("/")
        with disk_faults.reaching(self._url), suppress(FileNotFoundError):
            self._system.invalidate_cache()  # others may have changed what fsspec remembers
            return [key.removeprefix(f"{root}/") for key in self._system.find(root)]
        return []

    def exists(self, key: str = "") -> bool:
        with disk_faults.reaching(self._url), suppress(FileNotFoundError):
            self._system.invalidate_cache()
            return self._system.size(f"{self._root}/{key or GROUP}") != 0
        return False

    @contextmanager
    def publish(self) -> Generator[Path]:
        with disk_faults.reaching(self._url), tempfile.TemporaryDirectory() as folder:
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
