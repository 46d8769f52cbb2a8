"""Points through a device: in batches that fit its memory, in launches that none runs long.

A batch's points, or the groups of its items, advance in launches of a budget of work each until
none is under way. Neither batches nor budgets change a bit of the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.backends.base import Stopped
from sweep.backends.cpu import Column
from sweep.backends.device import GROUP, Memory, OutOfMemory, Program, Queue, request_type
from sweep.errors import DeviceError
from sweep.spec import Output, Points, array_types

LAUNCH_SECONDS = 0.25  # at most wanted: a display, Ctrl-C and a time limit wait for it
GROWTH = 4  # of the work in a launch, after one that took less than 1/GROWTH of that
ROOM = 16  # warps that a scheduler has room for: one may keep it busy, or it takes all
MOST_THREADS = 1 << 22  # of a launch: some times what a GPU runs at once, and one unit stays short


@dataclass(frozen=True)
class Shares:
    """How much of the points is on the device at once."""

    points: int  # of a batch
    groups: int  # of items under way; 0 where the kernel has none


class Pace:
    """How much work a launch of a kernel may be given, learnt from those before.

    The first launch of all has one unit of work a thread. A later batch begins with what others
    came to, or less: a unit is taken to cost as much as it ever has. Few threads take as long as
    those that keep the device busy: nobody says how many these are, so that little is made of what
    few have taken, and much of what few are to take.
    """

    def __init__(self, threads: int, fixed: int | None = None) -> None:
        """Of a device that runs so many `threads` at once; `fixed` units each time, for tests."""
        self._at_once, self._fixed = threads, fixed
        self._most = 1  # units of a launch so far
        self._cost = 0.0  # s of a unit of a thread, at most so far

    def first(self, threads: int) -> int:
        """Units of work for the first launch of a batch of so many threads."""
        if self._fixed:
            return self._fixed
        if not self._cost:
            return 1
        fits = LAUNCH_SECONDS / 2 / (self._cost * max(threads, self._at_once))
        return max(min(self._most, int(fits)), 1)

    def next(self, units: int, threads: int, seconds: float) -> int:
        """Units of work for the next launch, after one of so many that took so long."""
        if self._fixed:
            return self._fixed
        busy_with = max(threads, self._at_once // ROOM)
        self._cost = max(self._cost, seconds / (units * busy_with))
        self._most = max(self._most, units)
        if seconds < LAUNCH_SECONDS / GROWTH:
            return min(units * GROWTH, 1 << 60)
        return max(int(units * LAUNCH_SECONDS / seconds), 1) if seconds > LAUNCH_SECONDS else units


class Work:
    """One call of the backend: the points of `arrays`, filled batch by batch."""

    def __init__(
        self,
        queue: Queue,
        program: Program,
        points: Points,
        outputs: tuple[Output, ...],
        arrays: Mapping[str, NDArray[Any]],
        pace: Pace,
        stop: Event | None = None,
    ) -> None:
        self._queue, self._program = queue, program
        self._points, self._outputs, self._arrays = points, outputs, arrays
        self._pace, self._stop = pace, stop
        self._groups = self._groups_of_a_point()
        self.seconds = 0.0  # spent in launches

    def run(self, memory: int) -> int:
        """Fill the arrays with no more than `memory` bytes at once, as far as a batch can be cut.

        Where the device has less, batches are halved until they fit; returns the bytes that did.
        DeviceError where a single point does not.
        """
        first = 0
        while first < self._points.n_points:
            shares = self._shares(memory)
            count = min(shares.points, self._points.n_points - first)
            try:
                self._batch(first, count, shares.groups)
                first += count
            except OutOfMemory as error:
                if shares.points == 1 and shares.groups <= 1:
                    raise DeviceError(self._too_little(error)) from error
                memory //= 2
        return memory

    def _too_little(self, error: OutOfMemory) -> str:
        return (
            f"the GPU has not the memory for a single point ({error}). Finished chunks are kept: "
            "end what else uses the GPU and run the same sweep again, or use --backend cpu"
        )

    def _groups_of_a_point(self) -> int:
        """As many as the point with the most items has; 0 where the kernel has no items."""
        name = self._program.kernel.method.items
        if not name:
            return 0
        return max(math.ceil(self._points.columns[name].values.max() / GROUP), 1)

    def _shares(self, memory: int) -> Shares:
        """Points and groups that fit `memory` and a launch, at least one of each."""
        sizes = self._program.sizes
        stored = sum(self._item_sizes().values())
        stored += 8 * len(self._program.kernel.parameters)  # of a column, where each has its value
        kept = sizes.state_bytes + 1
        if not sizes.fields:
            return Shares(_within(memory // (stored + kept), MOST_THREADS), 0)
        half = memory // 2  # for the points, and for the groups under way
        points = half // (stored + 8 * sizes.fields * self._groups)
        threads = GROUP // sizes.lanes
        groups = half // (threads * kept + GROUP * 8 * sizes.fields)
        return Shares(_within(points, MOST_THREADS), _within(groups, MOST_THREADS // threads))

    def _batch(self, first: int, count: int, groups_at_once: int) -> None:
        """`count` points from `first` on, computed and copied into their places."""
        queue = self._queue
        try:
            stored = self._stored(count)
            request, kept = self._request(first, count, stored)
            if self._program.sizes.fields:
                kept += self._items(request, groups_at_once)
            else:
                kept += self._launch_until_done(request, count)
            for name, memory in stored.items():
                queue.download(memory, self._arrays[name][first : first + count])
        finally:
            queue.wait()  # whatever ends it: what copies and launches use has to live until here

    def _stored(self, count: int) -> dict[str, Memory]:
        return {name: self._queue.empty(count * size) for name, size in self._item_sizes().items()}

    def _item_sizes(self) -> dict[str, int]:
        """Bytes of a point in each of the arrays."""
        types = array_types(self._outputs)
        return {name: np.dtype(dtype).itemsize for name, dtype in types.items()}

    def _request(
        self, first: int, count: int, stored: Mapping[str, Memory]
    ) -> tuple[Any, list[Memory]]:
        """What the kernel is called with, and the memory that it then refers to."""
        names = [parameter.name for parameter in self._program.kernel.parameters]
        request = request_type(len(names), len(self._outputs))()
        request.first, request.points = first, count
        request.status = stored["status"].address
        kept: list[Memory] = []
        for i, name in enumerate(names):
            column = self._points.columns[name]
            start, values = _needed(column.values, column.repeat, first, count)
            kept.append(self._queue.upload(np.ascontiguousarray(values, np.float64)))
            address = kept[-1].address - values.itemsize * start  # where the first of all would be
            request.columns[i] = Column(address, column.repeat, len(column.values))
        for i, output in enumerate(self._outputs):
            request.outputs[i] = stored[output.name].address
        return request, kept

    def _items(self, request: Any, groups_at_once: int) -> list[Memory]:
        """Every group of the batch in its turn, their sums, then the points."""
        sizes = self._program.sizes
        request.groups_of_a_point = self._groups
        total = request.points * self._groups
        at_once = min(groups_at_once, total)
        sums = self._queue.empty(8 * sizes.fields * total)
        parts = self._queue.empty(8 * sizes.fields * GROUP * at_once)
        request.sums, request.parts = sums.address, parts.address
        for first, groups in _pieces(total, at_once):
            request.first_group, request.groups = first, groups
            self._launch_until_done(request, groups * (GROUP // sizes.lanes))
            self._launch("tribosweep_sum", request, groups)
        self._launch("tribosweep_finish", request, request.points)
        return [sums, parts]

    def _launch_until_done(self, request: Any, threads: int) -> list[Memory]:
        """Advance every thread's work to its end; Stopped between two launches."""
        queue, pace, units = self._queue, self._pace, self._pace.first(threads)
        unfinished, under_way = queue.empty(1), queue.empty(threads)
        states = queue.empty(self._program.sizes.state_bytes * threads)
        request.unfinished, request.under_way = unfinished.address, under_way.address
        request.states, request.resuming = states.address, 0
        some = np.ones(1, np.uint8)
        while some[0]:
            if self._stop is not None and self._stop.is_set():
                raise Stopped
            request.budget = units
            queue.clear(unfinished)
            seconds = self._launch("tribosweep_run", request, threads)
            queue.download(unfinished, some)
            queue.wait()
            request.resuming = 1
            units = pace.next(units, threads, seconds)
        return [unfinished, under_way, states]

    def _launch(self, entry: str, request: Any, threads: int) -> float:
        argument = self._queue.upload(np.frombuffer(bytes(request), np.uint8))
        seconds = self._queue.launch(self._program, entry, argument, threads)
        self.seconds += seconds
        return seconds


def _within(value: int, most: int) -> int:
    return max(min(value, most), 1)


def _needed(values: NDArray[Any], repeat: int, first: int, count: int) -> tuple[int, NDArray[Any]]:
    """Those values of a column that `count` points from `first` on have, and where they begin.

    All of them where the points go on from the last value to the first.
    """
    start = first // repeat % len(values)
    end = start + (first + count - 1) // repeat - first // repeat + 1
    return (start, values[start:end]) if end <= len(values) else (0, values)


def _pieces(total: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, total, size):
        yield first, min(size, total - first)
