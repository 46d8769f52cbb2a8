"""A store: the results of one sweep as a zarr of format 3, on disk or at a URL, chunk by chunk.

All arrays are made at the start, with lz4, byte shuffle and crc32c. A chunk is done when the file
of its status exists, which is written last, whole, by an atomic rename. So a killed run can be
resumed, the pending chunks follow from one listing of files, and a done chunk that lacks a file is
damaged. The bytes of a store depend on the sweep alone.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from itertools import product
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray

from sweep.errors import StoreError
from sweep.plan.chunking import chunk_shape, work_shape
from sweep.request import STRETCH, Sweep
from sweep.source import is_token_digest, kernel_digest
from sweep.spec import Status, status_counts
from sweep.statistics.counts import reduced_counts
from sweep.statistics.outputs import POINTS_BY_STATUS
from sweep.store import durable, encoding, extension, faults, layout, lock
from sweep.store.chunk_files import ChunkFiles, key
from sweep.store.creation import build
from sweep.store.differences import differences
from sweep.store.files import Files, files_of
from sweep.store.group import (
    array_of,
    damaged_metadata,
    damaged_values,
    file_shape,
    open_group,
    sweep_of,
)
from sweep.store.pieces import NODES, PIECES, InFiles
from sweep.store.place import GROUP, is_url, local
from sweep.store.reading import open_results, refuse_unreadable
from sweep.store.receipts import Receipts
from sweep.work import Chunk


class Store:
    """The results of one sweep. Made by `create` or `open`; threads may share it."""

    def __init__(self, files: Files, sweep: Sweep, group: zarr.Group) -> None:
        self._files = files
        self._receipts = Receipts(files)
        self.location = str(files)  # the path or URL that opens it again
        self.log = f"{files}.log"  # the path or URL of its receipts
        self.sweep = sweep
        self.grid = sweep.shape  # of what is stored
        self._attributes: dict[str, Any] = dict(group.attrs)
        self.revision = index(self._attributes["revision"])  # of the method that made it
        self.kernel_digest = group.attrs.get("kernel_digest")  # of the code that made it, if known
        self._fingerprint = str(group.attrs["fingerprint"])
        self.wear: dict[str, object] = json.loads(self._attributes.get(layout.WEAR, "{}"))
        self._accepted: Mapping[str, object] = {}  # another revision and kernel, for receipts
        self._variables = layout.results(sweep)
        self._arrays = {v.name: array_of(group, v.name) for v in self._variables}
        self.chunk_shape = file_shape(self._arrays["status"])
        for variable in self._variables:
            name, inner = variable.name, variable.inner_shape
            shapes = (self._arrays[name].shape, file_shape(self._arrays[name]))
            if shapes != (sweep.shape + inner, self.chunk_shape + inner):
                raise ValueError(f"the shape or the chunks of {name} do not match the sweep")
        self._chunks = ChunkFiles(files, self._arrays)
        self.n_chunks = math.prod(self._chunks.counts)
        # The docstrings of these are in the classes of the parts.
        self.torn = self._chunks.torn
        self.damaged_files = self._chunks.damaged
        self.note_damage = self._chunks.note_damage
        self.flush = self._receipts.flush
        self.receipts = self._receipts.read
        self.stretch = index(self._attributes.get(layout.STRETCH, 1))
        self.pieces, self.nodes = InFiles(files, PIECES), InFiles(files, NODES)

    @classmethod
    def create(
        cls,
        path: str | Path,
        sweep: Sweep,
        *,
        chunk_points: int | None = None,
        provenance: Mapping[str, object],
        accept_revision: bool = False,
        durable: bool = False,
    ) -> Store:
        """A new store, which appears whole, or the existing one of the same sweep.

        Provenance becomes attributes, and must be the same for every run of the sweep. Raises
        StoreError if there is something else, the store of another sweep, or an unfinished store
        that another kernel has begun; `accept_revision` accepts the last of these.
        """
        files = files_of(path, durable=durable)
        if not files.exists():
            if sweep.reduction is not None:
                stretch = work_shape(sweep, chunk_points)[-1]  # points computed at once
                provenance = {**provenance, layout.STRETCH: stretch}
            if any(name.startswith("c") for name in files.list("status")):
                raise StoreError(
                    f"{str(files)!r} has chunks but no zarr.json, so it is not a store; name "
                    "another path"
                )
            with files.publish() as folder:
                build(folder, sweep, chunk_shape(sweep, chunk_points), provenance)
                if not files.exists():  # else somebody has published, and may be extending it
                    extension.forget(files)
        store = cls._open(files)
        if sentences := store.differences(sweep, accept_revision=accept_revision):
            revised = store._other_revision(sweep)
            hint = "" if revised else extension.hint(store.sweep, sweep, store.location)
            raise StoreError(
                f"{str(files)!r} holds another sweep:\n  " + "\n  ".join(sentences) + "\n"
                f"{hint}give another store, or remove this one"
            )
        if accept_revision:
            store.accept_kernel(sweep)
        elif store.pending():
            store.refuse_other_kernel()
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
        refuse_unreadable(files)
        with faults.opening(files):
            group = open_group(files)
            return cls(files, sweep_of(group), group)

    @classmethod
    def extend(cls, path: str | Path, sweep: Sweep, *, accept_revision: bool = False) -> Store:
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
        with files.lock(), faults.writing(files):
            extension.finish(files)
            store = cls._open(files)
            longer = extension.grown(store.sweep, sweep)
            if not accept_revision:
                store.refuse_other_kernel(sweep)
            if longer.grid != store.sweep.grid:
                extension.begin(files, longer, store.chunk_shape, store._attributes)
                extension.finish(files)
        return cls.open(path)

    def refreshed(self) -> Store:
        """The store as it is now: it may have been extended or deleted."""
        return self._open(self._files)

    def differences(self, sweep: Sweep, *, accept_revision: bool = False) -> list[str]:
        """One sentence for each difference between a sweep and the store's; none if it is that."""
        sentences = differences(self.sweep, sweep)
        if not sentences and not accept_revision and (revised := self._other_revision(sweep)):
            return [f"{revised} (use `accept_revision` to continue anyway)"]
        return sentences

    def refuse_other_kernel(self, sweep: Sweep | None = None) -> None:
        """Raise StoreError if this program has another revision or kernel of the store's method."""
        if revised := self.other_code(sweep):
            raise StoreError(
                f"{self.location!r} was made by other code: {revised}. Use `accept_revision`, "
                "or accept_revision = true under [run], to continue anyway: the receipts then say "
                "which chunks the new code computed. Or give another store, or continue with the "
                "version that made this one"
            )

    def accept_kernel(self, sweep: Sweep | None = None) -> None:
        """Let receipts say from now on which code computes, if it did not make the store."""
        if self.other_code(sweep):
            self._accepted = {
                "revision": (sweep or self.sweep).method.revision,
                "kernel_digest": kernel_digest(self.sweep),
            }

    def _other_revision(self, sweep: Sweep) -> str:
        """A sentence if the sweep's method has another revision than the store's; else ""."""
        if sweep.method.revision == self.revision:
            return ""
        return (
            f"revision of method {sweep.method.name}: {self.revision} in the store, "
            f"{sweep.method.revision} in this program, whose results may have other last bits"
        )

    def other_code(self, sweep: Sweep | None = None) -> str:
        """Which other revision or kernel than this program's made the store; "" if none did.

        Stores of earlier versions have a digest of the raw text, or none: of those only the
        revision is compared.
        """
        stored = self.kernel_digest
        if revised := self._other_revision(sweep or self.sweep):
            return revised
        if not is_token_digest(stored) or (digest := kernel_digest(self.sweep)) == stored:
            return ""
        return (
            f"kernel of method {self.sweep.method.name}: {stored} in the store, "
            f"{digest} in this program, whose results may differ"
        )

    def note_accepted_kernel(self) -> None:
        """Note in the receipts that the values of another kernel were accepted, if they were."""
        if self._accepted:
            self.append_receipt({})

    def keep_wear(self, table: Mapping[str, object]) -> None:
        """Keep [wear] of a sweep file, in place of another, so that the store suffices to resume.

        Raises MachineError if the store cannot be written.
        """
        if self.wear != table:
            self.wear = dict(table)
            self._attributes[layout.WEAR] = json.dumps(table)
            with faults.writing(self._files):
                if (content := self._files.read(GROUP)) is None:
                    raise faults.gone(self._files)
                group = json.loads(content)
                group["attributes"][layout.WEAR] = self._attributes[layout.WEAR]
                self._files.put(GROUP, json.dumps(group, indent=2).encode())

    def refuse_what_has_grown(self) -> None:
        """Raise StoreError if the store was extended since it was opened.

        That may have happened while a run was waiting for the lock.
        """
        with faults.writing(self._files):
            if extension.has_grown(self._files, self.sweep.shape, self._fingerprint):
                raise StoreError(
                    f"{self.location!r} was extended during this run; what is computed is kept, "
                    "except for chunks cut short by its old end: run the longer sweep to continue"
                )

    def dataset(self) -> xr.Dataset:
        """All results so far, read lazily; pending points read as missing.

        Raises MachineError if the store is gone.
        """
        if not self._files.exists():
            raise faults.gone(self._files)
        return open_results(self.location)

    @property
    def path(self) -> Path:
        """The folder of a store on a local disk."""
        return local(self.location)

    def pending(self) -> list[Chunk]:
        """The chunks that are not done, in C order, from one listing of names.

        Raises MachineError if the store is gone.
        """
        return self._chunks.chunks(~self._chunks.done())

    def done(self) -> list[Chunk]:
        """The chunks that are done, in C order, from one listing of names.

        Raises MachineError if the store is gone.
        """
        return self._chunks.chunks(self._chunks.done())

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write a chunk: one 1-d array of its points for each output and, last, the status.

        A chunk that is written again is pending in the meantime. Raises MachineError if the disk
        is full, read-only or broken.
        """
        parts = layout.parts(self._variables, arrays, chunk)
        status = self._chunks.key("status", chunk)
        self._files.remove(status)
        for name, part in parts.items():
            content = encoding.encoded_for(self._arrays[name], part)
            self._files.put(self._chunks.key(name, chunk), *content)
        if chunk.shape != self.chunk_shape or self.sweep.reduction is not None:
            try:
                self.refuse_what_has_grown()
            except StoreError:
                self._files.remove(status)
                raise

    def reopen(self, chunks: Iterable[Chunk]) -> None:
        """Make chunks pending again; their outputs stay until they are written anew.

        Raises StoreError if there are any and this program has another kernel, unless accepted.
        """
        chunks = list(chunks)
        if chunks and not self._accepted:
            self.refuse_other_kernel()
        for chunk in chunks:
            self._files.remove(self._chunks.key("status", chunk))

    def failed(self) -> list[Chunk]:
        """The done chunks with a point that has the status `failed`. Reads every status."""
        return [chunk for chunk in self.done() if Status.failed in self.counts([chunk])]

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status; reads some 2000 chunks a second.

        In cells, the points that were reduced count. Raises StoreError if a status is damaged.
        """
        name = "status" if self.sweep.reduction is None else POINTS_BY_STATUS
        count = status_counts if self.sweep.reduction is None else reduced_counts
        total = Counter[Status]()
        with faults.opening(self._files):
            for chunk in chunks:
                with faults.intact(name):
                    part = np.asarray(self._arrays[name][chunk.slices])
                total.update(count(part))
        return dict(sorted(total.items()))

    def verify(self) -> list[Chunk]:
        """The chunks that count as done and are damaged. Reads the whole store.

        A chunk is damaged if a file is missing or fails its checksum, or if a status is pending;
        a chunk that is not done is damaged if a folder is in the place of a file. Raises StoreError
        if a coordinate is damaged.
        """
        for axis in self.sweep.axes:
            for values, start in product(axis.columns.values(), range(0, axis.size, STRETCH)):
                values[start : start + STRETCH]  # raises StoreError if damaged
        dataset = self.dataset()
        dataset[[name for name in dataset.coords if not dataset[name].ndim]].load()
        blocked = [chunk for chunk in self.pending() if self._chunks.folders(chunk)]
        damaged = [chunk for chunk in self.done() if not self._chunks.is_whole(chunk)]
        if damaged:
            done = {chunk.index for chunk in self.done()}  # a run may have reopened some of them
            damaged = [c for c in damaged if c.index in done and not self._chunks.is_whole(c)]
        return sorted((*damaged, *blocked), key=lambda chunk: chunk.index)

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are done and not damaged. Reads all of them."""
        with faults.writing(self._files):
            return [chunk for chunk in chunks if self._chunks.is_whole(chunk)]

    def rebuild_parameters(self) -> list[str]:
        """Write the files of parameters with one value that are missing or damaged; their names."""
        single = layout.single_values(self.sweep)
        with faults.writing(self._files):
            metadata = damaged_metadata(self._files, single)
            for key, content in metadata.items():
                self._files.put(key, content)
            values = damaged_values(self._files, single)
            for key, content in values.items():
                self._files.put(key, content)
        return [f"{self.location}/{key}" for key in (*metadata, *values)]

    def is_complete(self) -> bool:
        """Whether every chunk is done and nothing is known to be damaged."""
        single = layout.single_values(self.sweep)
        damaged = self.torn() or damaged_metadata(self._files, single)
        return not (damaged or damaged_values(self._files, single) or self.pending())

    def clean(self) -> None:
        """Remove the scratch files that killed processes have left.

        Call it only while holding the lock: it also removes those of living processes.
        """
        if not is_url(self.location):  # objects at a URL appear whole
            with faults.writing(self._files):
                durable.clean(self.path)
        if self.sweep.reduction is not None:
            # Two processes that completed a cell at once may have left its pieces.
            done = {key(cell.index, ".") for cell in self.done()}
            for name in self.pieces.names():
                if name.partition("/")[0] in done:
                    self.pieces.remove(name)

    def holders(self) -> list[dict[str, Any]] | None:
        """The living processes that hold the store or a shard: host, pid, time; None for a URL."""
        return None if is_url(self.location) else lock.holders(self.path)

    @contextmanager
    def lock(self, shard: tuple[int, int] | None = None) -> Generator[None]:
        """Within, hold the store, or shard i of n, for which `clean` is called if no other is held.

        Raises StoreError at once, naming the holder, if it is held, or if a shard is wanted and the
        whole store is held. A URL cannot be held: two runs may then compute the same chunks, to the
        same bytes.
        """
        name = None if shard is None else "shard-{}-of-{}".format(*shard)
        with self._files.lock(name, self.clean):
            try:
                yield
            finally:
                self.flush()

    def append_receipt(self, receipt: Mapping[str, object]) -> None:
        """Add one line to this process's receipts, with time, host and process."""
        self._receipts.append({**receipt, **self._accepted})

    def done_receipts(self, receipts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of the receipts whose chunk is done now.

        Others belong to chunks that are pending again, or to an earlier store in this place.
        """
        done = {chunk.index for chunk in self.done()}
        ndim = len(self.chunk_shape)  # the chunks of stretches have one index more
        return [r for r in receipts if "chunk" in r and tuple(r["chunk"][:ndim]) in done]
