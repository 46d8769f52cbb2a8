"""A store: the results of one sweep as a zarr of format 3, on disk or at a URL, chunk by chunk.

Every array is made up front, with lz4, byte shuffle and crc32c. A chunk is done when the file of
its status exists: that is written last, whole, by an atomic rename. So a run that was killed goes
on where it stopped, what is still to do is one listing of files, and a done chunk that lacks a file
is damaged. The bytes of a store depend on the sweep alone.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray

from sweep.errors import StoreError
from sweep.plan import chunk_counts, chunk_shape, chunks_at
from sweep.source import is_token_digest, kernel_digest
from sweep.spec import STRETCH, Chunk, Status, Sweep
from sweep.store import encoding, extension, faults, layout
from sweep.store.differences import differences
from sweep.store.faults import opening
from sweep.store.group import array_of, file_shape, integer, open_group, sweep_of
from sweep.store.listing import key, marked
from sweep.store.place import Index, Place, local, place_of, refuse_what_is_not_to_be_read
from sweep.store.reading import intact, open_results


class Store:
    """The results of one sweep, kept. Made by `create` or `open`, and safe in many threads."""

    def __init__(self, place: Place, sweep: Sweep, group: zarr.Group) -> None:
        self._place = place
        self.sweep = sweep
        self.revision = integer(group.attrs["revision"])  # of the method that made it
        self.kernel_digest = group.attrs.get("kernel_digest")  # of the code that made it, if known
        self._attributes = dict(group.attrs)
        self._accepted: Mapping[str, object] = {}  # what made the values written from now on
        self._variables = layout.results(sweep)
        self._arrays = {v.name: array_of(group, v.name) for v in self._variables}
        self._ours = {name for name, array in self._arrays.items() if encoding.is_ours(array)}
        self.chunk_shape = file_shape(self._arrays["status"])
        for name, array in self._arrays.items():
            if array.shape != sweep.shape or file_shape(array) != self.chunk_shape:
                raise ValueError(f"shape or chunks of {name} are not those of the sweep")
        metadata = cast("dict[str, Any]", self._arrays["status"].metadata.to_dict())
        self._separator = extension.separator_of(metadata)
        self._counts = chunk_counts(sweep.shape, self.chunk_shape)
        self.n_chunks = math.prod(self._counts)

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
        """A new store, whole from the moment it can be seen; or the one that is there already.

        Provenance becomes attributes, and has to be the same for every run of the sweep. Raises
        StoreError if something else lies there, or the store of another sweep, or one that is not
        finished and was begun by another kernel; that one `accept_revision` accepts.
        """
        place = place_of(path, durable=durable)
        if not place.exists():
            place.make(sweep, chunk_shape(sweep, chunk_points), provenance)
        store = cls._open(place)
        if found := store.differences(sweep, accept_revision=accept_revision):
            raise StoreError(
                f"{str(place)!r} holds another sweep:\n  " + "\n  ".join(found) + "\n"
                f"{store._hint(sweep)}name another store with -o, or remove this one"
            )
        if accept_revision:
            store.accept_kernel(sweep)
        elif store.pending():
            store.refuse_other_kernel()
        return store

    @classmethod
    def open(cls, path: str | Path, *, durable: bool = False) -> Store:
        """The store at a path, its sweep made again from what it holds.

        With `durable`, what is written is on the disk, outputs before their status, and survives a
        power cut; a kill it survives without.
        Raises StoreError if there is none, if it is damaged, or if this version cannot compute it.
        """
        return cls._open(place_of(path, durable=durable))

    @classmethod
    def _open(cls, place: Place) -> Store:
        refuse_what_is_not_to_be_read(place)
        with opening(place):
            group = open_group(place.files())
            return cls(place, sweep_of(group), group)

    @classmethod
    def extend(cls, path: str | Path, sweep: Sweep, *, accept_revision: bool = False) -> Store:
        """The store at a path with axes as long as those of the sweep; done chunks are kept.

        Pending again are those that were cut off at an old end. Stopped at any moment, it is done
        when it is done again. Raises StoreError if there is no store, if it is held, or if the
        sweep differs in anything but that its axes go on where those of the store end, or if the
        store was made by another revision or kernel, unless that is accepted; the store keeps
        saying which. At a URL nothing is held: a run that goes on there meanwhile ends with an
        error.
        """
        place = place_of(path)
        place.refuse_what_is_no_store()
        with place.lock(), place.writing():
            place.finish_extension()
            store = cls._open(place)
            longer = extension.grown(store.sweep, sweep)
            if not accept_revision:
                store.refuse_other_kernel(sweep)
            if longer.shape != store.sweep.shape:
                place.begin_extension(longer, store.chunk_shape, store._attributes)
                place.finish_extension()
        return cls._open(place)

    def differences(self, sweep: Sweep, *, accept_revision: bool = False) -> list[str]:
        """A sentence for each thing in which another sweep is not this store's; none if it is."""
        found = differences(self.sweep, sweep)
        if not found and not accept_revision and (revised := self._revised(sweep)):
            return [f"{revised} (--accept-revision goes on regardless)"]
        return found

    def refuse_other_kernel(self, sweep: Sweep | None = None) -> None:
        """StoreError if this program's method, or the code that computes it, is another.

        Stores of earlier versions have a digest of the raw text, or none: of those only the
        revision of the method is compared.
        """
        sweep = self.sweep if sweep is None else sweep
        if found := self._revised(sweep) or self._other_kernel():
            raise StoreError(
                f"{self.location!r} was made by other code: {found}. Use --accept-revision (in "
                "Python accept_revision = true under [run]) to continue anyway: the receipts then "
                "say which chunks the new code computed. Or name another store with -o, or "
                "continue with the version that made this one"
            )

    def accept_kernel(self, sweep: Sweep | None = None) -> None:
        """From now on receipts say what computed a chunk, if that is not what made the store."""
        sweep = self.sweep if sweep is None else sweep
        if self._revised(sweep) or self._other_kernel():
            self._accepted = {
                "revision": sweep.method.revision,
                "kernel_digest": kernel_digest(self.sweep),
            }

    def note_accepted_kernel(self) -> None:
        """Note in the receipts that the values of another kernel were accepted, if they were."""
        if self._accepted:
            self.append_receipt({})

    def pending(self) -> list[Chunk]:
        """The chunks not yet done, in C order: one listing of names, and no file is opened.

        MachineError if the store is gone.
        """
        return self._chunks(done=False)

    def done(self) -> list[Chunk]:
        """The chunks that are done, in C order, by the same listing; MachineError as of pending."""
        return self._chunks(done=True)

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None:
        """A chunk done: one 1-d array of its points for each output and status, the status last.

        A chunk written again is pending until that is done. Raises MachineError if the disk is
        full, read-only or broken.
        """
        parts = layout.parts(self._variables, arrays, chunk)
        with self._place.writing():
            self._place.remove(self._key("status", chunk.index))
            for variable in self._variables:
                self._write(variable, chunk, parts[variable.name])
            if chunk.shape != self.chunk_shape and self._place.has_grown(self.sweep.shape):
                self._place.remove(self._key("status", chunk.index))
                self._refuse_extended()

    def refuse_what_has_grown(self) -> None:
        """StoreError if the store was extended since it was opened: its ends are others now.

        Whoever waits for a lock may have opened it before.
        """
        with self._place.writing():
            if self._place.has_grown(self.sweep.shape):
                self._refuse_extended()

    def verify(self) -> list[Chunk]:
        """The chunks that count as done and are damaged. Reads the whole store.

        To damage belong a missing file, one that fails its checksum, and a status still pending;
        and, of any chunk, a folder where a file belongs.
        Raises StoreError where it is the coordinates that are damaged.
        """
        for axis in self.sweep.axes:
            for values in axis.columns.values():
                for start in range(0, axis.size, STRETCH):
                    values[start : start + STRETCH]
        dataset = self.dataset()
        for name in dataset.coords:
            if not dataset[name].ndim:
                dataset[name].load()
        blocked = [chunk for chunk in self.pending() if self._folders(chunk)]
        damaged = [chunk for chunk in self.done() if not self._is_whole(chunk)]
        if damaged:
            done = {chunk.index for chunk in self.done()}  # a run may have begun some of them anew
            damaged = [c for c in damaged if c.index in done and not self._is_whole(c)]
        return sorted((*damaged, *blocked), key=lambda chunk: chunk.index)

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of some chunks that are done, and not damaged. Reads all of them."""
        with self._place.writing():
            return [chunk for chunk in chunks if self._is_whole(chunk)]

    def damaged_files(self, chunk: Chunk) -> list[str]:
        """Where the files of a chunk lie that are damaged, as `verify` has it; or the folders."""
        names = [v.name for v in self._variables if not self._is_whole_file(v.name, chunk)]
        files = [self._place.file(self._key(name, chunk.index)) for name in names]
        return self._folders(chunk) or files

    def torn(self) -> list[Chunk]:
        """The done chunks known to be damaged: those that lack a file, and those noted.

        From listings of names alone, and of the noted ones from their checksums.
        """
        suspect = marked(self._place.noted_damage(), self._counts)
        done = self._listed("status")  # first: of one that is done meanwhile all else is there
        for name in self._arrays.keys() - {"status"}:
            suspect |= ~self._listed(name)
        return [chunk for chunk in self._chunks_at(done & suspect) if not self._is_whole(chunk)]

    def note_damage(self, chunks: Iterable[Chunk]) -> None:
        """Keeps beside the store what `verify` found, so that the next run computes it again."""
        self._place.note_damage(chunks)

    def failed(self) -> list[Chunk]:
        """The done chunks with a point that has the status `failed`. Reads every status."""
        return [chunk for chunk in self.done() if Status.failed in self.counts([chunk])]

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The points of some chunks by status. Reads their status: a second takes some 2000.

        StoreError where that is damaged.
        """
        total = np.zeros(256, np.int64)
        with opening(self._place):
            for chunk in chunks:
                with intact("status"):
                    status = np.asarray(self._arrays["status"][chunk.slices])
                total += np.bincount(status.ravel(), minlength=256)
        return {Status(int(code)): int(total[code]) for code in np.flatnonzero(total)}

    def reopen(self, chunks: Iterable[Chunk]) -> None:
        """The chunks pending again; what they hold stays until they are written anew.

        StoreError if there are any and this program has another kernel, unless it is accepted.
        """
        chunks = list(chunks)
        if chunks and not self._accepted:
            self.refuse_other_kernel()
        with self._place.writing():
            for chunk in chunks:
                self._place.remove(self._key("status", chunk.index))

    def clean(self) -> None:
        """Removes what killed writers and makers of this store had not yet renamed.

        Only who holds the lock may call it: a living writer's file goes too.
        """
        with self._place.writing():
            self._place.clean()

    def dataset(self) -> xr.Dataset:
        """All results as they stand, lazily read; what is pending reads as missing.

        MachineError if the store is gone.
        """
        self._refuse_gone()
        return open_results(self.location)

    def lock(self) -> AbstractContextManager[None]:
        """Holds the store alone while within; StoreError at once, naming the holder, if held.

        At a URL nothing is held: two runs then compute the same chunks, to the same bytes.
        """
        return self._place.lock()

    def lock_shard(self, i: int, n: int, clean: Callable[[], None]) -> AbstractContextManager[None]:
        """Holds shard i of n while within, beside other shards; StoreError where it is held.

        So it is where a whole run holds the store. `clean` is called if no other shard is there.
        """
        return self._place.lock_shard(f"shard-{i}-of-{n}", clean)

    def append_receipt(self, receipt: Mapping[str, object]) -> None:
        """One more line in this process's receipts beside the store, with time, host and pid."""
        self._place.append_receipt({**receipt, **self._accepted})

    def flush(self) -> None:
        """Writes the receipts kept back, as they are at a URL; within its lock that comes last."""
        self._place.flush()

    def receipts(self) -> list[dict[str, Any]]:
        """All receipts of all writers, by time; advisory, a torn line is passed over."""
        return self._place.receipts()

    def done_receipts(self, receipts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of the receipts whose chunk is done now.

        Others belong to chunks that are pending again, or to an earlier store in this place.
        """
        rows: list[list[int]] = self._indices(self._listed("status")).tolist()
        done = {tuple(row) for row in rows}
        return [r for r in receipts if "chunk" in r and tuple(r["chunk"]) in done]

    def refreshed(self) -> Store:
        """The store as it is now: it may have been extended, or be gone."""
        return self._open(self._place)

    @property
    def location(self) -> str:
        """The path or URL that opens it again."""
        return str(self._place)

    @property
    def log(self) -> str:
        """Where its receipts lie."""
        return f"{self.location}.log"

    @property
    def path(self) -> Path:
        """The folder of a store on a local disk."""
        return local(self.location)

    def _refuse_gone(self) -> None:
        if not self._place.exists():
            raise faults.gone(self._place)

    def _refuse_extended(self) -> NoReturn:
        raise StoreError(
            f"{self.location!r} was extended while this run began or went on; what is computed is "
            "kept, but for chunks that were cut off at its old end: run the longer sweep to go on"
        )

    def _write(self, variable: layout.Variable, chunk: Chunk, part: NDArray[Any]) -> None:
        name, array = variable.name, self._arrays[variable.name]
        if name in self._ours:
            pieces = encoding.encoded(part, self.chunk_shape, variable.missing)
            self._place.put(self._key(name, chunk.index), pieces)
            return
        if array.shards:  # zarr would read a shard, which may be damaged
            self._place.remove(self._key(name, chunk.index))
        array[chunk.slices] = part

    def _revised(self, sweep: Sweep) -> str:
        """A sentence if the sweep's method is of another revision than the store's; else ""."""
        if sweep.method.revision == self.revision:
            return ""
        return (
            f"revision of method {sweep.method.name}: {self.revision} in the store, "
            f"{sweep.method.revision} in this program, whose results may have other last bits"
        )

    def _other_kernel(self) -> str:
        """A sentence if this program's kernel is not the one that made the store; else ""."""
        if not is_token_digest(self.kernel_digest):
            return ""
        digest = kernel_digest(self.sweep)
        if digest == self.kernel_digest:
            return ""
        return (
            f"kernel of method {self.sweep.method.name}: {self.kernel_digest} in the store, "
            f"{digest} in this program, whose results may differ"
        )

    def _hint(self, sweep: Sweep) -> str:
        """How another sweep comes into this store, if its axes only go on; else ""."""
        try:
            longer = extension.grown(self.sweep, sweep)
        except StoreError:
            return ""
        if longer.shape == self.sweep.shape or self._revised(sweep):
            return ""
        extend = f"`sweep extend {shlex.quote(self.location)} CONFIG`"
        return f"only axes go on behind their end: {extend} keeps what is computed; or "

    def _chunks(self, *, done: bool) -> list[Chunk]:
        there = self._listed("status")
        self._refuse_gone()  # of which nothing is listed
        return self._chunks_at(there == done)

    def _chunks_at(self, places: NDArray[np.bool_]) -> list[Chunk]:
        return chunks_at(self._indices(places), self.sweep.shape, self.chunk_shape)

    def _indices(self, places: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Of the chunks that are marked in C order: a row each."""
        return np.argwhere(places.reshape(self._counts))

    def _listed(self, name: str) -> NDArray[np.bool_]:
        return self._place.listed(name, self._counts, self._separator)

    def _key(self, name: str, index: Index) -> str:
        return f"{name}/{key(index, self._separator)}"

    def _folders(self, chunk: Chunk) -> list[str]:
        """Those that lie where files of a chunk belong."""
        files = (self._place.file(self._key(v.name, chunk.index)) for v in self._variables)
        return [file for file in files if Path(file).is_dir()]

    def _is_whole(self, chunk: Chunk) -> bool:
        """The status is looked for first: of most that are not, it is missing."""
        return all(self._is_whole_file(v.name, chunk) for v in reversed(self._variables))

    def _is_whole_file(self, name: str, chunk: Chunk) -> bool:
        if not self._place.has(self._key(name, chunk.index)):
            return False  # zarr reads a missing file as the fill value
        try:
            part = np.asarray(self._arrays[name][chunk.slices])
        except (ValueError, RuntimeError, OSError):  # checksum, decompression, disk
            return False
        return name != "status" or not np.any(part == Status.pending)
