"""What the results of a sweep hold, and how far they are, in bounded memory."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import StoreError, SweepError
from sweep.spec import Status
from sweep.store.flow import errors

if TYPE_CHECKING:
    import xarray as xr

    from sweep.store import Store

BLOCK_POINTS = 2**20  # read at once; the greatest chunk that is made unless asked for


@dataclass(frozen=True)
class Range:
    """An output over the points that have a value; NaN where none has."""

    least: float
    mean: float
    greatest: float


@dataclass(frozen=True)
class Contents:
    """What the points of a Dataset hold, all together; shares are NaN where no point has one."""

    counts: Mapping[Status, int]  # points by status, those that occur
    ranges: Mapping[str, Range]  # of each real and each count output
    shares: Mapping[str, Mapping[str, float]]  # of each flag: meaning -> share of points with one


@dataclass(frozen=True)
class State:
    """How far a store is. The pace is that of the last process that wrote to it."""

    points_done: int
    points_total: int
    chunks_done: int
    chunks_total: int
    counts: Mapping[Status, int]
    points_per_second: float | None  # None: nothing is known
    seconds_left: float | None
    last_written: str | None  # time of the last receipt, ISO 8601
    errors: Mapping[str, int]  # points that have failed, by what went wrong


def contents(dataset: xr.Dataset) -> Contents:
    """The statistics of every output over all points that are ok, read a block at a time.

    SweepError for what has no results.
    """
    refuse_no_results(dataset)
    counts: Counter[Status] = Counter()
    names = [str(name) for name in dataset.data_vars if name != "status"]
    flags = {name: Counter[int]() for name in names if "flag_meanings" in dataset[name].attrs}
    tallies = {name: _Tally() for name in names if name not in flags}
    for block in blocks(dataset):
        status = block["status"].values
        counts.update({Status(code): n for code, n in _occurrences(status).items()})
        ok = status == Status.ok
        for name, tally in tallies.items():
            tally.add(block[name].values[ok])
        for name, found in flags.items():
            found.update(_occurrences(block[name].values[ok]))
    return Contents(
        counts=dict(sorted(counts.items())),
        ranges={name: tally.range for name, tally in tallies.items()},
        shares={name: _shares(dataset[name], found) for name, found in flags.items()},
    )


def refuse_no_results(dataset: object) -> None:
    """SweepError for what is no Dataset, or has no status."""
    if "status" not in getattr(dataset, "data_vars", ()):
        raise SweepError(
            "the results of a sweep are an xarray.Dataset with its status, which says which points "
            f"are ok: this is of type {type(dataset).__name__} without one"
        )


def state(store: Store, *, damaged: bool = False) -> State:
    """How far a store is, from a listing of its files, its status, and its receipts.

    Of a store known to be damaged, the points are not counted by status if that cannot be read; of
    another, StoreError then.
    """
    pending = store.pending()
    left = sum(chunk.n_points for chunk in pending)
    total = store.sweep.n_points
    receipts = store.receipts()
    pace = points_per_second(receipts)
    counts = _counts(store, damaged=damaged)
    return State(
        points_done=total - left,
        points_total=total,
        chunks_done=store.n_chunks - len(pending),
        chunks_total=store.n_chunks,
        counts=counts,
        points_per_second=pace,
        seconds_left=left / pace if pace else None,
        last_written=str(receipts[-1]["time"]) if receipts else None,
        errors=errors(store.of_done(receipts)) if counts.get(Status.failed) else {},
    )


def _counts(store: Store, *, damaged: bool) -> Mapping[Status, int]:
    try:
        return contents(store.dataset()[["status"]]).counts
    except StoreError:
        if not damaged:
            raise
        return {}


def points_per_second(receipts: Sequence[Mapping[str, Any]]) -> float | None:
    """The pace of the process that wrote the last receipt; None without one that tells."""
    telling = [r for r in receipts if {"time", "host", "pid", "points", "seconds"} <= set(r)]
    if not telling:
        return None
    writer = [telling[-1][key] for key in ("host", "pid")]
    own = [receipt for receipt in telling if [receipt["host"], receipt["pid"]] == writer]
    times = [datetime.fromisoformat(str(receipt["time"])).timestamp() for receipt in own]
    span = times[-1] - times[0] + float(own[0]["seconds"])
    return sum(int(receipt["points"]) for receipt in own) / span if span > 0 else None


def coordinates(dataset: xr.Dataset) -> tuple[dict[str, xr.DataArray], dict[str, xr.DataArray]]:
    """The parameters with values along an axis, and those with a single value, by name."""
    found = {str(name): dataset[name] for name in dataset.coords}
    along = {name: values for name, values in found.items() if values.ndim}
    return along, {name: value for name, value in found.items() if not value.ndim}


def blocks(dataset: xr.Dataset) -> Iterator[xr.Dataset]:
    """The Dataset in parts, lazily: whole chunks, BLOCK_POINTS points or one chunk, in C order."""
    sizes = {str(name): size for name, size in dataset["status"].sizes.items()}
    # Of the status alone: coordinates along a sample's points lie in longer files.
    chunks = dataset["status"].variable.chunksizes
    # A step to the next part costs as much as there are chunks, so that one by one is too slow.
    steps = _steps(list(sizes.values()), [chunks[name][0] if chunks else 1 for name in sizes])
    starts = (range(0, size, step) for size, step in zip(sizes.values(), steps, strict=True))
    for place in itertools.product(*starts):
        ends = zip(sizes, place, steps, strict=True)
        yield dataset.isel({name: slice(start, start + step) for name, start, step in ends})


@dataclass
class _Tally:
    """Least, sum and greatest of values that come in parts."""

    number: int = 0
    total: float = 0.0
    least: float = math.inf
    greatest: float = field(default=-math.inf)

    def add(self, values: NDArray[Any]) -> None:
        if values.size:
            self.number += values.size
            self.total += float(values.sum(dtype=np.float64))
            self.least = min(self.least, float(values.min()))
            self.greatest = max(self.greatest, float(values.max()))

    @property
    def range(self) -> Range:
        if not self.number:
            return Range(math.nan, math.nan, math.nan)
        return Range(self.least, self.total / self.number, self.greatest)


def _occurrences(codes: NDArray[Any]) -> dict[int, int]:
    counts = np.bincount(codes.ravel())
    return {int(code): int(counts[code]) for code in np.flatnonzero(counts)}


def _shares(flag: xr.DataArray, found: Mapping[int, int]) -> dict[str, float]:
    total = sum(found.values())
    meanings = str(flag.attrs["flag_meanings"]).split()
    codes = [int(code) for code in np.atleast_1d(flag.attrs["flag_values"])]
    named = zip(codes, meanings, strict=True)
    return {meaning: found.get(code, 0) / total if total else math.nan for code, meaning in named}


def _steps(shape: Sequence[int], chunk: Sequence[int]) -> list[int]:
    """Whole trailing dimensions, then whole chunks of one, then single chunks."""
    steps: list[int] = []
    for size, least in zip(reversed(shape), reversed(chunk), strict=True):
        room = max(BLOCK_POINTS // math.prod(steps), 1)
        steps.append(min(size, max(room // least, 1) * least))
    return steps[::-1]
