"""Points computed on a device: in batches that fit its memory, in short launches.

The points of a batch, or the groups of its items, advance in launches until all are finished; a
budget limits the work of a launch. Neither batches nor budgets change a bit of the result. Results
are copied into arrays of the host, or stay on the device.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import DeviceError
from sweep.kernel.backend import Stopped
from sweep.kernel.device import GROUP, Entries, Memory, Program, Queue, request_type
from sweep.kernel.forcing_on_device import SHARE, DeviceTables
from sweep.kernel.library import ColumnStruct
from sweep.kernel.random_points import draw, random_columns
from sweep.kernel.sorting import ORDER_BYTES, SORT_BYTES, WARP, Sorting, Uploaded
from sweep.model.table import Output, array_types
from sweep.request.chunk import Column, Points

LAUNCH_SECONDS = 0.25  # wanted at most: a display, Ctrl-C and a time limit wait for a launch
LEAST_SHARE = 1 / 256  # of work in the time of a launch, since times differ from launch to launch
GROWTH = 256  # greatest factor from the work of a launch to that of the next
WARPS_PER_SCHEDULER = 16  # at most; between one and all of them keep a scheduler busy
SORT_SECONDS = 4e-10  # that a point's sort takes: 3.4 ms for 2^23 on an H100, host included
LITTLE = 5 * SORT_SECONDS
MANY_POINTS = 1 << 20  # of a call that fills a GPU
ROUNDED_BYTES = 4  # of an output that is rounded to float32
MAX_THREADS = 1 << 24  # of a launch: more than a GPU runs at once, while one unit stays short


@dataclass
class Pace:
    """How much work a launch of a kernel is given, learnt from earlier launches.

    The first launch is an empty one: starting points and saving states may take as long as a
    thousand units, which is no cost of a unit. The second gives each thread one unit of work, the
    next as many as should take half of LAUNCH_SECONDS: launches are few, because each one saves and
    restores the states. A later batch begins with the most units that earlier ones reached, or
    fewer: a unit is assumed to cost as much as the dearest so far.

    Too few threads to keep the device busy take as long as just enough. How many are enough is
    unknown: from 1/WARPS_PER_SCHEDULER of the threads that run at once up to all of them. A cost is
    learnt as if it were the fewest and a time is predicted as if it were all, so that neither is
    underestimated.
    """

    at_once: int  # threads that run at once on the device
    fixed: int | None = None  # units of every launch, for tests
    most: int = 1  # units in a launch so far
    empty: float | None = None  # least s per thread of a launch without work; None: unknown
    cost: float = 0.0  # greatest so far, in s per unit and thread
    sorted_point: float = 0.0  # least s that one of many points took, sorted; 0: unknown
    unsorted_point: float = 0.0  # and as it came

    @property
    def sorts(self) -> bool:
        """Whether it is worth while to sort points that differ.

        If they take little time sorted, they are tried as they come.
        """
        if not self.unsorted_point:
            return not 0 < self.sorted_point < LITTLE
        return self.unsorted_point > self.sorted_point + SORT_SECONDS

    def learn(self, n_points: int, seconds: float, *, are_sorted: bool) -> None:
        """Learn from a call that spent so many seconds in launches."""
        if n_points < MANY_POINTS:
            return
        point = seconds / n_points
        if are_sorted:
            self.sorted_point = min(point, self.sorted_point or point)
        else:
            self.unsorted_point = min(point, self.unsorted_point or point)

    def first(self, threads: int) -> int:
        """Units of work for the first launch of a batch with `threads`."""
        if self.fixed:
            return self.fixed
        if self.empty is None:
            return 0
        if not self.cost:
            return 1
        fits = LAUNCH_SECONDS / 2 / (self.cost * max(threads, self.at_once))
        return max(min(self.most, int(fits)), 1)

    def next(self, units: int, threads: int, seconds: float) -> int:
        """Units of work for the launch after one of `units` and `threads` that took `seconds`."""
        if self.fixed:
            return self.fixed
        if units <= 1:
            least = seconds / max(threads, self.at_once)
            self.empty = least if self.empty is None else min(self.empty, least)
        if not units:
            return 1
        longest = seconds / max(threads, self.at_once // WARPS_PER_SCHEDULER)  # of a thread
        work = max(longest - (self.empty or 0.0), longest * LEAST_SHARE)
        self.cost = max(self.cost, work / units)
        self.most = max(self.most, units)
        if seconds > LAUNCH_SECONDS:
            return max(int(units * LAUNCH_SECONDS / seconds), 1)
        growth = LAUNCH_SECONDS / 2 / max(seconds, LAUNCH_SECONDS / 2 / GROWTH)
        return min(units * int(growth), 1 << 60) if growth >= 2 else units


@dataclass
class Work:
    """One call of the backend: fills `arrays`, or else memory of the device, batch by batch."""

    queue: Queue
    program: Program
    points: Points
    outputs: tuple[Output, ...]
    arrays: Mapping[str, NDArray[Any]]
    pace: Pace
    stop: Event | None = None
    resident: Mapping[str, Memory] | None = None  # of the device, in place of `arrays`
    sorting: Sorting | None = None  # None: points are computed as they come
    rounding: Entries | None = None  # for arrays of float32
    drawing: Entries | None = None  # for columns of random points
    tables: DeviceTables | None = None  # of signals by draw
    seconds: float = 0.0  # spent in launches

    def run(self, memory: int) -> int:
        """Compute all points, with at most `memory` bytes per batch where that holds a point.

        Where the device has less memory, batches are halved until they fit. Returns the bytes that
        fitted; DeviceError if a single point does not fit.
        """
        first = 0
        while first < self.points.n_points:
            points, groups = self.shares(memory)
            count = min(points, self.points.n_points - first)
            if self.tables is not None:
                count = self.tables.count(first, count, memory)
            try:
                self._batch(first, count, groups)
                first += count
            except MemoryError as error:  # CuPy's too
                if points == 1 and groups <= 1:
                    raise DeviceError(
                        f"the GPU has too little memory for a single point ({error}). Finished "
                        "chunks are kept: end other programs that use the GPU and run the same "
                        "sweep again, or use backend cpu"
                    ) from error
                memory //= 2
        return memory

    @functools.cached_property
    def _groups(self) -> int:
        """Groups of the point with the most items; 0 if the kernel has no items."""
        name = self.program.kernel.method.items
        if not name:
            return 0
        return max(math.ceil(self.points.columns[name].values.max() / GROUP), 1)

    def shares(self, memory: int) -> tuple[int, int]:
        """Points and groups that fit `memory` and one launch, at least one of each.

        The groups of items are those in progress; 0 if the kernel has no items.
        """
        if self.tables is not None:
            memory -= memory // SHARE
        sizes = self.program.sizes
        stored = sum(item_sizes(self.outputs).values())
        stored += 8 * len(self.program.kernel.parameters)  # if each point has its own value
        stored += sum(ROUNDED_BYTES for each in self.arrays.values() if each.dtype == np.float32)
        kept = sizes.state_bytes + 1
        if self.sorting is not None:
            stored += ORDER_BYTES
            kept = max(kept, SORT_BYTES)  # which are free again before there are states
        if not sizes.fields:
            return _within(memory // (stored + kept), MAX_THREADS), 0
        half = memory // 2  # half for the points, half for the groups in progress
        points = half // (stored + 8 * sizes.fields * self._groups)
        threads = GROUP // sizes.lanes
        groups = half // (threads * kept + GROUP * 8 * sizes.fields)
        return _within(points, MAX_THREADS), _within(groups, MAX_THREADS // threads)

    def _batch(self, first: int, count: int, groups_at_once: int) -> None:
        """Compute `count` points from `first` on and store them."""
        queue, sizes = self.queue, item_sizes(self.outputs)
        stored: dict[str, Memory] = {}
        try:
            if self.resident is None:
                stored = {name: queue.empty(count * size) for name, size in sizes.items()}
                places = {name: memory.address for name, memory in stored.items()}
            else:
                places = {n: m.address + first * sizes[n] for n, m in self.resident.items()}
            request, kept = self._request(first, count, places)
            if self.program.sizes.fields:
                kept += self._items(request, groups_at_once)
            else:
                kept += self._launch_until_done(request, count)
            for name, memory in stored.items():
                into = self.arrays[name][first : first + count]
                if self.rounding is not None and into.dtype == np.float32:
                    rounded = self._rounded(self.rounding, memory, count)
                    kept += rounded
                    memory = rounded[0]
                queue.download(memory, into)
        finally:
            queue.wait()  # memory that copies and launches use must live until here

    def _request(
        self, first: int, count: int, places: Mapping[str, int]
    ) -> tuple[Any, list[Memory]]:
        """The kernel's argument for results at these addresses, and the memory it refers to."""
        names = [parameter.name for parameter in self.program.kernel.parameters]
        request = request_type(len(names), len(self.outputs))()
        request.first, request.points = first, count
        request.status = places["status"]
        columns = {n: self.points.columns[n] for n in names if n in self.points.columns}
        uploaded, kept = self._uploaded(columns, first, count)
        if self.tables is not None:
            addresses, memory = self.tables.uploaded(self.queue, self.program, first, count)
            uploaded |= addresses
            kept += memory
        for i, name in enumerate(names):
            column = uploaded[name].column
            place = uploaded[name].place - uploaded[name].start  # where value 0 would be
            address = uploaded[name].memory.address + 8 * place
            request.columns[i] = ColumnStruct(address, column.repeat, len(column))
        for i, output in enumerate(self.outputs):
            request.outputs[i] = places[output.name]
        if self.sorting is not None and count > WARP:  # in one warp no order is of use
            kept.append(self.sorting.order_on_device(self.queue, uploaded, first, count))
            request.order = kept[-1].address
        return request, kept

    def _uploaded(
        self, columns: Mapping[str, Column], first: int, count: int
    ) -> tuple[dict[str, Uploaded], list[Memory]]:
        """The values that these points need, in one memory or drawn there, and all memory."""
        needed = {name: _needed(column, first, count) for name, column in columns.items()}
        uploaded: dict[str, Uploaded] = {}
        kept: list[Memory] = []
        if (entries := self.drawing) is not None:
            for name, drawn in random_columns(columns).items():
                start, end = needed.pop(name)
                memory, argument = draw(self.queue, entries, drawn, start, end - start)
                kept += [memory, argument]
                uploaded[name] = Uploaded(columns[name], memory, 0, start, end - start)
        parts = [columns[name].values[start:end] for name, (start, end) in needed.items()]
        if parts:
            memory, place = self.queue.upload(*parts), 0
            kept.append(memory)
            for name, (start, end) in needed.items():
                uploaded[name] = Uploaded(columns[name], memory, place, start, end - start)
                place += end - start
        return uploaded, kept

    def _rounded(self, rounding: Entries, memory: Memory, count: int) -> tuple[Memory, Memory]:
        """Memory for doubles as float32, with the bits of a CPU, and other that this needs."""
        rounded = self.queue.empty(4 * count)
        addresses = np.array([memory.address, rounded.address, count], np.int64)
        argument = self.queue.upload(addresses)
        self.queue.start(rounding, "tribosweep_round", argument, count)
        return rounded, argument

    def _items(self, request: Any, groups_at_once: int) -> list[Memory]:
        """Compute all groups of the batch piece by piece, their sums, then the points."""
        sizes = self.program.sizes
        request.groups_of_a_point = self._groups
        total = request.points * self._groups
        at_once = min(groups_at_once, total)
        sums = self.queue.empty(8 * sizes.fields * total)
        parts = self.queue.empty(8 * sizes.fields * GROUP * at_once)
        request.sums, request.parts = sums.address, parts.address
        for first in range(0, total, at_once):
            groups = min(at_once, total - first)
            request.first_group, request.groups = first, groups
            self._launch_until_done(request, groups * (GROUP // sizes.lanes))
            self._launch("tribosweep_sum", request, groups)
        self._launch("tribosweep_finish", request, request.points)
        return [sums, parts]

    def _launch_until_done(self, request: Any, threads: int) -> list[Memory]:
        """Advance every thread's work to its end; a stop takes effect between launches."""
        queue, pace, units = self.queue, self.pace, self.pace.first(threads)
        unfinished, under_way = queue.empty(1), queue.empty(threads)
        states = queue.empty(self.program.sizes.state_bytes * threads)
        request.unfinished, request.under_way = unfinished.address, under_way.address
        request.states, request.resuming = states.address, 0
        remaining = np.ones(1, np.uint8)
        while remaining[0]:
            if self.stop is not None and self.stop.is_set():
                raise Stopped
            request.budget = units
            queue.clear(unfinished)
            seconds = self._launch("tribosweep_run", request, threads)
            queue.download(unfinished, remaining)
            queue.wait()
            request.resuming = int(request.resuming or units > 0)
            units = pace.next(units, threads, seconds)
        return [unfinished, under_way, states]

    def _launch(self, entry: str, request: Any, threads: int) -> float:
        argument = self.queue.upload(np.frombuffer(bytes(request), np.uint8))
        seconds = self.queue.launch(self.program, entry, argument, threads)
        self.seconds += seconds
        return seconds


def item_sizes(outputs: Iterable[Output]) -> dict[str, int]:
    """Bytes per point of each output and of the status."""
    types = array_types(outputs)
    return {name: np.dtype(dtype).itemsize for name, dtype in types.items()}


def _within(value: int, maximum: int) -> int:
    return max(min(value, maximum), 1)


def _needed(column: Column, first: int, count: int) -> tuple[int, int]:
    """Which values of a column `count` points from `first` on have: from an index to another.

    All where the points continue from the last value to the first.
    """
    start = first // column.repeat % len(column)
    end = start + (first + count - 1) // column.repeat - first // column.repeat + 1
    return (start, end) if end <= len(column) else (0, len(column))
