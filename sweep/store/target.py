"""What a run computes into: the results of a sweep, as far as the engine knows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from sweep.request import AnySweep
from sweep.spec import Status
from sweep.statistics.partial import Kept
from sweep.work import Chunk


class Target(Protocol):
    """Results that are written chunk by chunk: a `Store`, `Arrays`, or `Blocks` of either."""

    @property
    def sweep(self) -> AnySweep: ...

    @property
    def location(self) -> str | None:
        """Where other processes can open the store; None: in this process alone."""
        ...

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The shape of its chunks, which may be shorter at the ends of axes."""
        ...

    @property
    def kept(self) -> Kept | None:
        """What is made of points, if it is that which is written, and not the points."""
        ...

    def pending(self) -> list[Chunk]:
        """The chunks that are not done, in C order."""
        ...

    def parts(self, chunk: Chunk) -> Sequence[Chunk]:
        """What of a chunk is computed at once."""
        ...

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write what was computed of a chunk, which is done then."""
        ...

    def finish(self, last: Chunk | None = None) -> list[Chunk]:
        """Do what is left once chunks are done; those that are found damaged, and are pending.

        With the chunk that was written `last`, what can be left because of it.
        """
        ...

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are done and not damaged."""
        ...

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status."""
        ...

    def append_receipt(self, receipt: Mapping[str, object]) -> None:
        """Add a line to the receipts, if these results have any."""
        ...

    def flush(self) -> None:
        """Write the receipts that are held back."""
        ...
