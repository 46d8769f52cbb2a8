"""A store: the results of one sweep as a zarr of format 3, on disk or at a URL, chunk by chunk.

All arrays are made at the start, with lz4, byte shuffle and crc32c. A chunk is done when the file
of its status exists, which is written last, whole, by an atomic rename. So a killed run can be
resumed, the pending chunks follow from one listing of files, and a done chunk that lacks a file is
damaged. The bytes of a store depend on the sweep alone.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray

from sweep.errors import StoreError
from sweep.kernel.source import kernel_digest
from sweep.model.table import Status, status_counts
from sweep.points.chunking import chunk_shape, work_shape
from sweep.request.chunk import Chunk
from sweep.request.sweeps import AnySweep, Reduced
from sweep.statistics.counts import reduced_counts
from sweep.statistics.outputs import POINTS_BY_STATUS
from sweep.store import disk_faults, extension, layout, lock
from sweep.store.creation import build, encoded_for
from sweep.store.datasets import (
    open_results,
    opening,
    refuse_unreadable,
    wait_for_extension,
)
from sweep.store.differences import MadeBy
from sweep.store.group import ChunkFiles, array_of, file_shape, open_group, sweep_of
from sweep.store.location import GROUP, local
from sweep.store.receipts import Receipts
from sweep.store.store_files import Files, files_of
from sweep.store.target import BLOCKS, EARLIER, NODES, InFiles, Target


class Store(Target):
    """The results of one sweep. Made by `create` or `open`; threads may share it."""

    def __init__(self, files: Files, sweep: AnySweep, group: zarr.Group) -> None:
        self.files = files
        self.receipts = Receipts(files)
        self.location = str(files)  # the path or URL that opens it again
        self.sweep = sweep
        self.attributes: dict[str, Any] = dict(group.attrs)
        revision, digest = index(self.attributes["revision"]), self.attributes.get("kernel_digest")
        self.made_by = MadeBy(self.location, sweep, revision, digest)
        self._variables = layout.results(sweep)
        self._arrays = {v.name: array_of(group, v.name) for v in self._variables}
        self.chunk_shape = file_shape(self._arrays["status"])
        for variable in self._variables:
            name, inner = variable.name, variable.inner_shape
            shapes = (self._arrays[name].shape, file_shape(self._arrays[name]))
            if shapes != (sweep.grid.shape + inner, self.chunk_shape + inner):
                raise ValueError(f"the shape or the chunks of {name} do not match the sweep")
        self.chunk_files = ChunkFiles(files, self._arrays)
        self.n_chunks = math.prod(self.chunk_files.counts)
        self.step = index(self.attributes.get(layout.STEP, 1))
        self.blocks, self.nodes, self.earlier = (
            InFiles(files, folder) for folder in (BLOCKS, NODES, EARLIER)
        )

    @classmethod
    def create(
        cls,
        path: str | Path,
        sweep: AnySweep,
        *,
        chunk_points: int | None = None,
        provenance: Mapping[str, object] | None = None,
        accept_revision: bool = False,
        durable: bool = False,
    ) -> Store:
        """A new store, which appears whole, or the existing one of the same sweep.

        Its attributes name the kernel and have the provenance, which must be the same for every
        run of the sweep. Raises StoreError if there is something else, the store of another sweep,
        or an unfinished store that another kernel has begun; `accept_revision` accepts the last of
        these.
        """
        files, attributes = files_of(path, durable=durable), dict[str, object]()
        if not files.exists():
            attributes = {"kernel_digest": kernel_digest(sweep.points), **(provenance or {})}
            if isinstance(sweep, Reduced):
                attributes[layout.STEP] = work_shape(sweep, chunk_points)[-1]
            if any(name.startswith("c") for name in files.list("status")):
                raise StoreError(
                    f"{str(files)!r} has chunks but no zarr.json, so it is not a store; name "
                    "another path"
                )
            with files.publish() as folder:
                build(folder, sweep, chunk_shape(sweep, chunk_points), attributes)
                if not files.exists():  # else somebody has published, and may be extending it
                    extension.forget(files)
        store = cls._open(files)
        if sentences := store.made_by.differences(sweep, accept_revision=accept_revision):
            revised = store.made_by.other_revision(sweep)
            hint = "" if revised else extension.hint(store.sweep, sweep, store.location)
            raise StoreError(
                f"{str(files)!r} holds another sweep:\n  " + "\n  ".join(sentences) + "\n"
                f"{hint}give another store, or remove this one"
            )
        if accept_revision:
            store.receipts.accepted = store.made_by.accepted(sweep)
        elif store.made_by.kernel_digest != attributes.get("kernel_digest") and store.pending():
            store.made_by.refuse_other_code()  # somebody has begun it, maybe with another kernel
        return store

    @classmethod
    def open(cls, path: str | Path, *, durable: bool = False) -> Store:
        """The store at a path or URL, with the sweep that it holds.

        With `durable`, chunks are on the disk once they are written, outputs before their status,
        and survive a power cut; they survive a kill in any case. Raises StoreError if there is no
        store, if it is damaged, or if this version cannot compute its sweep.
        """
        return cls._open(files_of(path, durable=durable))

    @classmethod
    def _open(cls, files: Files) -> Store:
        def read() -> Store:
            group = open_group(files)
            return cls(files, sweep_of(group), group)

        return opening(files, read)

    @classmethod
    def extend(cls, path: str | Path, sweep: AnySweep, *, accept_revision: bool = False) -> Store:
        """The store at a path, with axes as long as those of the sweep; done chunks are kept.

        Chunks cut short by an old end become pending. Stopped at any moment, it is completed by
        running it again. Raises StoreError if there is no store, if it is held, if the sweep
        differs in more than axes that continue, or if the store was made by another revision or
        kernel and that is not accepted; the store keeps saying which. A URL cannot be held: a run
        that continues there meanwhile ends with an error.
        """
        files = files_of(path, durable=True)
        if not files.exists():
            refuse_unreadable(files)
        with files.lock(), disk_faults.writing(files):
            extension.finish(files)
            store = cls._open(files)
            longer = extension.grown(store.sweep, sweep)
            if not accept_revision:
                store.made_by.refuse_other_code(sweep)
            if longer.computed_shape != store.sweep.computed_shape:
                extension.begin(files, longer, store.chunk_shape, store.attributes)
                extension.finish(files)
        return cls.open(path)

    @classmethod
    def finish_extension(cls, path: str | Path) -> None:
        """Apply an extension that was stopped, if there is one. StoreError if the store is held.

        Shards that start at the same time wait for the one that applies it.
        """
        files = files_of(path, durable=True)
        wait_for_extension(files)
        end = time.monotonic() + lock.MAX_START_SECONDS
        while extension.is_under_way(files):
            try:
                with files.lock(), disk_faults.writing(files):
                    extension.finish(files)
            except StoreError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def grown(self, sweep: AnySweep) -> Store:
        """This store with the longer axes of a sweep, whose first values it has.

        Call it only while holding the lock, on leaving which the receipts of both are written.
        Raises StoreError if this program has another kernel, unless accepted.
        """
        if not self.receipts.accepted:
            self.made_by.refuse_other_code()
        with disk_faults.writing(self.files):
            extension.begin(self.files, sweep, self.chunk_shape, self.attributes)
            extension.finish(self.files)
        longer = self._open(self.files)
        longer.receipts = self.receipts
        return longer

    @property
    def may_grow(self) -> bool:
        """Whether points may follow that depend on the results so far."""
        return self.sweep.grid.may_grow and layout.ENDS not in self.attributes

    def end_growth(self) -> None:
        """Note that no points follow. Raises MachineError if the store cannot be written."""
        with disk_faults.writing(self.files):
            extension.forget(self.files)  # of which a kill may have left a part
        self.note(layout.ENDS, 1)

    def note(self, name: str, value: object) -> None:
        """Keep an attribute, on which no result depends; None removes it.

        MachineError if the store cannot be written.
        """
        if self.attributes.get(name) == value:
            return
        if (content := self.files.read(GROUP)) is None:
            raise disk_faults.gone(self.files)
        group = json.loads(content)
        for each in (self.attributes, group["attributes"]):
            if value is None:
                each.pop(name, None)
            else:
                each[name] = value
        self.files.put(GROUP, json.dumps(group, indent=2).encode())

    def refuse_grown(self) -> None:
        """Raise StoreError if it was extended since it was opened, MachineError if it is gone."""
        extension.refuse_grown(self.files, self.sweep.grid.shape, self.attributes)

    def dataset(self) -> xr.Dataset:
        """All results so far, read lazily; pending points read as missing.

        Raises MachineError if the store is gone.
        """
        if not self.files.exists():
            raise disk_faults.gone(self.files)
        return open_results(self.location)

    @property
    def path(self) -> Path:
        """The folder of a store on a local disk."""
        return local(self.location)

    def pending(self) -> list[Chunk]:
        """The chunks that are not done, in C order, from one listing of names.

        Raises MachineError if the store is gone.
        """
        return self.chunk_files.chunks(~self.chunk_files.done())

    def done(self) -> list[Chunk]:
        """The chunks that are done, in C order, from one listing of names.

        Raises MachineError if the store is gone.
        """
        return self.chunk_files.chunks(self.chunk_files.done())

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write a chunk: one 1-d array of its points for each output and, last, the status.

        A chunk that is written again is pending in the meantime, unless it is one of statistics:
        two processes may merge a cell at once, to the same bytes, and the blocks may be gone by
        now. Raises MachineError if the disk is full, read-only or broken.
        """
        parts = layout.parts(self._variables, arrays, chunk)
        status = self.chunk_files.key("status", chunk)
        if not isinstance(self.sweep, Reduced):
            self.files.remove(status)
        for name, part in parts.items():
            content = encoded_for(self._arrays[name], part)
            self.files.put(self.chunk_files.key(name, chunk), *content)
        if chunk.shape != self.chunk_shape or isinstance(self.sweep, Reduced):
            try:
                self.refuse_grown()
            except StoreError:
                self.files.remove(status)
                raise

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status; reads some 2000 chunks a second.

        In cells, the points that were reduced count. Raises StoreError if a status is damaged.
        """
        is_reduced = isinstance(self.sweep, Reduced)
        name = POINTS_BY_STATUS if is_reduced else "status"
        count = reduced_counts if is_reduced else status_counts
        total = Counter[Status]()
        with disk_faults.opening(self.files):
            for chunk in chunks:
                with disk_faults.intact(name):
                    part = np.asarray(self._arrays[name][chunk.slices])
                total.update(count(part))
        return dict(sorted(total.items()))

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are done and not damaged. Reads all of them."""
        with disk_faults.writing(self.files):
            return [chunk for chunk in chunks if self.chunk_files.is_whole(chunk)]

    @contextmanager
    def lock(
        self, shard: tuple[int, int] | None = None, clean: Callable[[], None] = lambda: None
    ) -> Generator[None]:
        """Within, hold the store, or shard i of n; `clean` is called first if nothing else is held.

        Raises StoreError at once, naming the holder, if it is held, or if a shard is wanted and the
        whole store is held. A URL cannot be held: two runs may then compute the same chunks, to the
        same bytes.
        """
        name = None if shard is None else "shard-{}-of-{}".format(*shard)
        with self.files.lock(name, clean):
            try:
                yield
            finally:
                self.flush()

    def failed(self) -> list[Chunk]:
        """The done chunks with a point that has the status `failed`. Reads every status."""
        return [chunk for chunk in self.done() if Status.failed in self.counts([chunk])]

    def reopen(self, chunks: Iterable[Chunk]) -> None:
        """Make chunks pending again; their outputs stay until they are written anew.

        Points may follow from what will be computed. Raises StoreError if there are any chunks and
        this program has another kernel, unless accepted.
        """
        chunks = list(chunks)
        if not chunks:
            return
        if not self.receipts.accepted:
            self.made_by.refuse_other_code()
        self.note(layout.ENDS, None)
        for chunk in chunks:
            self.files.remove(self.chunk_files.key("status", chunk))

    def append_receipt(self, receipt: Mapping[str, object]) -> None:
        """Add one line to this process's receipts, with time, host and process."""
        self.receipts.append(receipt)

    def flush(self) -> None:
        """Write the receipts that have been collected."""
        self.receipts.flush()
