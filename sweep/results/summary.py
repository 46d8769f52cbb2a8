"""Statistics of results and the progress of a store, in bounded memory."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import StoreError, SweepError
from sweep.model.table import MISSING_FLAG, Status, every_parameter, status_counts
from sweep.points.recipes import model_in
from sweep.request.chunk import Values
from sweep.results.causes import causes
from sweep.results.refined import cells_of, holds_refined_points
from sweep.statistics.counts import reduced_counts
from sweep.statistics.outputs import POINTS_BY_STATUS
from sweep.store import Store, remaining
from sweep.store.layout import as_stored
from sweep.store.lock import holders
from sweep.store.receipts import (
    Flow,
    Receipt,
    by_kernel,
    errors,
    flow,
    is_writing,
    latest_rate,
    of_done_chunks,
)

if TYPE_CHECKING:
    import xarray as xr

BLOCK_POINTS = 2**20  # read at once; the size of the largest default chunk


@dataclass
class Range:
    """The range of an output over the points with a finite value; NaN if none has one."""

    least: float = math.nan
    greatest: float = math.nan
    infinite: int = 0  # number of infinite values, which the figures leave out
    weight: float = 0.0  # of all finite values
    total: float = 0.0  # of all finite values, each times its weight

    @property
    def mean(self) -> float:
        return self.total / self.weight if self.weight else math.nan

    def add(self, values: NDArray[Any], weights: Values | None) -> None:
        """Add the values of some points, (n_points, ...), with the weight of each point."""
        is_finite = np.isfinite(values)
        self.infinite += int(np.count_nonzero(np.isinf(values)))
        finite = values[is_finite]
        if not finite.size:
            return
        if weights is None:
            self.weight += finite.size
            self.total += float(finite.sum(dtype=np.float64))
        else:
            each = np.broadcast_to(weights.reshape(-1, *[1] * (values.ndim - 1)), values.shape)
            self.weight += float(each[is_finite].sum())
            self.total += float((each[is_finite] * finite).sum())
        self.least = float(np.fmin(self.least, finite.min()))  # not NaN where one of them is not
        self.greatest = float(np.fmax(self.greatest, finite.max()))


@dataclass(frozen=True)
class Contents:
    """Statistics over all points of a Dataset; shares are NaN if no point has a value.

    Points of a refined sweep lie close together where something changes, so means and shares weigh
    each by the area of its cells (`weighted_by` is "cell area"). If points are missing, their cells
    are unknown and all count the same ("points").
    """

    counts: Mapping[Status, int]  # points by status; zeros are left out
    ranges: Mapping[str, Range]  # of each real and each count output
    shares: Mapping[str, Mapping[str, float]]  # of each flag: meaning -> share of the ok points
    causes: Mapping[str, int] = field(default_factory=dict[str, int])
    # of the points outside validity: by cause, if it is known
    weighted_by: str | None = None  # None: the points are a grid or a sample


@dataclass(frozen=True)
class StoreState:
    """The progress of a store; the rate is that of all processes when it was last written to."""

    points_done: int
    points_total: int
    chunks_done: int
    chunks_total: int
    counts: Mapping[Status, int]
    points_per_second: float | None  # None: unknown
    seconds_left: float | None
    last_written: str | None  # time of the last receipt, ISO 8601
    running: Sequence[str]  # the processes that hold the store or have recently written to it
    errors: Mapping[str, int]  # failed points by error message
    causes: Mapping[str, int] = field(default_factory=dict[str, int])
    kernels: Mapping[str, int] = field(default_factory=dict[str, int])
    # points by the digest of the kernel, if another than the store's was accepted
    may_grow: bool = False  # whether points may follow that depend on the results so far


def contents(dataset: xr.Dataset) -> Contents:
    """The statistics of every output over all points that are ok, read block by block.

    Raises SweepError if the Dataset is not the results of a sweep.
    """
    refuse_no_results(dataset)
    dataset = coded(dataset)
    counts: Counter[Status] = Counter()
    names = [str(name) for name in dataset.data_vars if name != "status"]
    flags = {name: Counter[int]() for name in names if "flag_meanings" in dataset[name].attrs}
    ranges = {name: Range() for name in names if name not in flags}
    weighted_by, areas = weighting(dataset)
    causes_of = _causes_in(dataset)
    causes: Counter[str] = Counter()
    first = 0
    for block in blocks(dataset):
        status = block["status"].values
        counts.update(_by_status(block))
        causes.update(causes_of(block))
        ok = status == Status.ok
        weights = None if areas is None else areas[first : first + status.size][ok]
        first += status.size
        for name, span in ranges.items():
            span.add(block[name].values[ok], weights)
        for name, occurrences in flags.items():
            occurrences.update(_occurrences(block[name].values[ok], weights))
    return Contents(
        counts=dict(sorted(counts.items())),
        ranges=ranges,
        shares={name: _shares(dataset[name], occurrences) for name, occurrences in flags.items()},
        causes=causes,
        weighted_by=weighted_by,
    )


def trace_contents(trace: xr.Dataset) -> Contents:
    """The statistics of every observable of a trace, whose means and shares are those over time.

    They follow from the trapezoidal rule over the intervals with a value at both ends, of which a
    point that is not ok has those before its end.
    """
    status, times = Status(int(trace["status"])), trace["time"].values
    ranges, shares = dict[str, Range](), dict[str, Mapping[str, float]]()
    for name in (str(each) for each in trace.data_vars if each != "status"):
        values = trace[name].transpose("time", ...).values[: times.size]
        if "flag_meanings" not in trace[name].attrs:
            ranges[name] = _range_over_time(times, values)
            continue
        known = np.where(values == MISSING_FLAG, np.nan, values)
        shares[name] = {
            meaning: _range_over_time(times, np.where(np.isnan(known), known, known == code)).mean
            for code, meaning in flag_names(trace[name]).items()
        }
    return Contents(
        counts={status: 1}, ranges=ranges, shares=shares, causes=_causes_in(trace)(trace)
    )


def _range_over_time(times: Values, values: Values) -> Range:
    """The range of an observable, (n_times, ...); all values weigh the same without an interval."""
    span = Range()
    span.add(values, None)
    steps = np.diff(times).reshape(-1, *[1] * (values.ndim - 1))
    finite = np.where(np.isfinite(values), values, np.nan)
    areas = (finite[1:] + finite[:-1]) / 2 * steps
    is_finite = np.isfinite(areas)
    if is_finite.any():
        span.weight = float(np.broadcast_to(steps, areas.shape)[is_finite].sum())
        span.total = float(areas[is_finite].sum())
    return span


def _causes_in(dataset: xr.Dataset) -> Callable[[xr.Dataset], Mapping[str, int]]:
    """A function that counts the points of a block outside validity by cause."""
    model = model_in(dataset.attrs)
    methods = {each.name: each for each in model.methods} if model else {}
    method = methods.get(str(dataset.attrs.get("method")))

    def counted(block: xr.Dataset) -> Mapping[str, int]:
        outside = block["status"] == Status.outside_validity
        reduced = POINTS_BY_STATUS in block  # whose parameters are not known
        if model is None or method is None or reduced or not outside.any():
            return {}
        names = {parameter.name for parameter in every_parameter(model, [method])}
        arrays = {name: block[name].broadcast_like(outside) for name in names & block.coords.keys()}
        place = outside.values
        at = {n: each.transpose(*outside.dims).values[place] for n, each in arrays.items()}
        return causes(model, method, at)

    return counted


def _by_status(block: xr.Dataset) -> dict[Status, int]:
    """The number of points by status; of a cell, those that were reduced to it."""
    status = block["status"].values
    counts = status_counts(status)
    if POINTS_BY_STATUS not in block:
        return counts
    pending = {each: n for each, n in counts.items() if each is Status.pending}
    numbers = as_stored(block[POINTS_BY_STATUS])[status != Status.pending]
    return reduced_counts(numbers) | pending


def weighting(dataset: xr.Dataset) -> tuple[str | None, Values | None]:
    """What the points are weighted by, and the weight of each; None if all count the same."""
    if not holds_refined_points(dataset):
        return None, None
    try:
        return "cell area", cells_of(dataset).areas()
    except SweepError:
        return "points", None


def refuse_no_results(dataset: object) -> None:
    """Raise SweepError unless this is a Dataset with a variable `status`."""
    if "status" not in getattr(dataset, "data_vars", ()):
        raise SweepError(
            "not the results of a sweep: expected an xarray.Dataset with the variable 'status', "
            f"got {type(dataset).__name__} without it; pass the Dataset that sweep.run returns"
        )


def coded(dataset: xr.Dataset) -> xr.Dataset:
    """The same results, with codes in place of the floats that `Dataset.where` makes of them.

    Points without one of their own have the missing code of a flag, or the status `pending`.
    """
    numbers = {
        name: variable
        for name, variable in dataset.data_vars.items()
        if variable.dtype.kind == "f" and (name == "status" or "flag_meanings" in variable.attrs)
    }
    codes = {n: v.where(v % 1 == 0, MISSING_FLAG).astype(np.uint8) for n, v in numbers.items()}
    return dataset.assign(codes) if codes else dataset


def state(store: Store, *, damaged: bool = False) -> StoreState:
    """The progress of a store, from a listing of its files, its status and its receipts.

    Raises StoreError if the status cannot be read. With `damaged`, points are then not counted by
    status instead.
    """
    remainder = remaining(store)
    left, total = remainder.points_left, remainder.points_total
    receipts = store.receipts.read()
    alive = is_writing(held := holders(store.location))
    rate = latest_rate(receipts, time.time(), alive, finished=not left)
    counts, causes = _counts(store, damaged=damaged)
    notes = [receipt for receipt in receipts if "kernel_digest" in receipt]
    done = of_done_chunks(receipts, store.done()) if notes or counts.get(Status.failed) else []
    notes = [receipt for receipt in notes if "chunk" not in receipt]
    return StoreState(
        points_done=total - left,
        points_total=total,
        chunks_done=remainder.chunks_total - remainder.chunks_left,
        chunks_total=remainder.chunks_total,
        counts=counts,
        points_per_second=rate,
        seconds_left=left / rate if rate else None,
        last_written=str(receipts[-1]["time"]) if receipts else None,
        running=running(held, flow(receipts, time.time(), alive=alive))
        if left or store.may_grow
        else (),
        errors=errors(done) if counts.get(Status.failed) else {},
        causes=causes,
        kernels=by_kernel([*notes, *done], str(store.made_by.kernel_digest or "an unknown kernel")),
        may_grow=store.may_grow,
    )


def running(holders: Sequence[Receipt] | None, current: Flow) -> list[str]:
    """The processes that hold the store, as far as is known, or have written within a minute."""
    held = ((str(each["host"]), int(each["pid"])) for each in holders or ())
    names = {*held, *((writer.host, writer.pid) for writer in current.writers)}
    return [f"process {pid} on {host}" for host, pid in sorted(names)]


def _counts(store: Store, *, damaged: bool) -> tuple[Mapping[Status, int], Mapping[str, int]]:
    try:
        dataset = store.dataset()
        summary = contents(dataset[[n for n in dataset if n in ("status", POINTS_BY_STATUS)]])
    except StoreError:
        if not damaged:
            raise
        return {}, {}
    return summary.counts, summary.causes


def coordinates(dataset: xr.Dataset) -> tuple[dict[str, xr.DataArray], dict[str, xr.DataArray]]:
    """The parameters along an axis and the constant ones, by name."""
    of_statistics = labels(dataset)
    parameters = {str(name): dataset[name] for name in dataset.coords if name not in of_statistics}
    along = {name: values for name, values in parameters.items() if values.ndim}
    return along, {name: value for name, value in parameters.items() if not value.ndim}


def row_dimensions(dataset: xr.Dataset) -> set[Hashable]:
    """The dimensions along which a table has rows: those of the points, and the time of wear."""
    if "status" not in dataset:
        return set(dataset.dims)
    return {*dataset["status"].dims, *({"time"} & set(dataset.dims))}


def labels(dataset: xr.Dataset) -> dict[str, xr.DataArray]:
    """The coordinates of dimensions that only some outputs have: those of statistics."""
    rows = row_dimensions(dataset)
    return {
        str(name): dataset[name]
        for name in dataset.coords
        if dataset[name].ndim and not rows & set(dataset[name].dims)
    }


def blocks(dataset: xr.Dataset) -> Iterator[xr.Dataset]:
    """The Dataset in lazy blocks of whole chunks, in C order.

    A block has at most BLOCK_POINTS points, or is a single chunk. Where an output has several
    values at each point, these count instead of the points.
    """
    sizes = {str(name): size for name, size in dataset["status"].sizes.items()}
    # Only the chunks of the status count: the files of long coordinates are longer.
    chunks = dataset["status"].variable.chunksizes
    # Each block takes time in proportion to the number of all chunks, so blocks must be large.
    max_size = max((variable.size for variable in dataset.data_vars.values()), default=1)
    points = max(BLOCK_POINTS * dataset["status"].size // max(max_size, 1), 1)
    chunk = [chunks[name][0] if chunks else 1 for name in sizes]
    steps = _steps(list(sizes.values()), chunk, points)
    starts = (range(0, size, step) for size, step in zip(sizes.values(), steps, strict=True))
    for place in itertools.product(*starts):
        ends = zip(sizes, place, steps, strict=True)
        yield dataset.isel({name: slice(start, start + step) for name, start, step in ends})


def _occurrences(codes: NDArray[Any], weights: Values | None = None) -> dict[int, Any]:
    """How often each code occurs; with weights, the sum of those of its points, (n_points,)."""
    if weights is not None and codes.ndim > 1:  # several values at each point
        weights = np.repeat(weights, codes[0].size)
    counts = np.bincount(codes.ravel(), weights)
    return {int(code): counts[code].item() for code in np.flatnonzero(counts)}


def is_flag(variable: xr.DataArray) -> bool:
    """Whether a variable holds named classes; the status is not a flag."""
    return "flag_meanings" in variable.attrs and variable.name != "status"


def flag_names(variable: xr.DataArray) -> dict[int, str]:
    """The meaning of each code (CF attributes flag_values and flag_meanings); {} if no flag."""
    codes = np.atleast_1d(variable.attrs.get("flag_values", ())).astype(int).tolist()
    return dict(zip(codes, str(variable.attrs.get("flag_meanings", "")).split(), strict=True))


def _shares(flag: xr.DataArray, occurrences: Mapping[int, float]) -> dict[str, float]:
    total = sum(occurrences.values())
    meanings = flag_names(flag).items()
    return {
        meaning: occurrences.get(code, 0) / total if total else math.nan
        for code, meaning in meanings
    }


def _steps(shape: Sequence[int], chunk: Sequence[int], points: int) -> list[int]:
    """The shape of a block: as many whole trailing dimensions as fit, then whole chunks."""
    steps: list[int] = []
    for size, least in zip(reversed(shape), reversed(chunk), strict=True):
        room = max(points // math.prod(steps), 1)
        steps.append(min(size, max(room // least, 1) * least))
    return steps[::-1]
