"""The order of points that a device makes: which one, where none is made, and no bit changed."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.kernel.batches import Pace, Work
from sweep.kernel.device import Sizes, request_type
from sweep.kernel.gpu import GpuBackend
from sweep.kernel.sorting import LEAST_SORT_BYTES, WARP, sorting
from sweep.model.tables import models
from sweep.request.chunk import Column, Points
from tests.cases import Case, bits_of, cases, differing, part
from tests.gpu.twin import TwinDevice
from tests.kernel.device_arrays import Library

CASES = {case.name: case for case in cases()}
SORTED = ("friction_oscillator-exact", "friction_oscillator-euler", "mdr_contact-exact")
exact = CASES["friction_oscillator-exact"]


class Watched(TwinDevice):
    """A device that keeps the order of each batch, or None, with the index of its first point."""

    def __init__(self, memory: int = 1 << 24, bound: int | None = None) -> None:
        super().__init__(memory, bound)
        self.orders: list[tuple[int, int, NDArray[np.int64] | None]] = []

    def launch(self, program: Any, entry: str, argument: Any, threads: int) -> float:
        layout = request_type(len(program.kernel.parameters), len(program.kernel.outputs))
        request = layout.from_buffer(argument.bytes)
        if not request.resuming:
            order = None
            if request.order:
                place = ctypes.cast(request.order, ctypes.POINTER(ctypes.c_int64))
                order = np.ctypeslib.as_array(place, (request.points,)).copy()
            self.orders.append((request.first, request.points, order))
        return super().launch(program, entry, argument, threads)


def order_of(points: Points, case: Case) -> NDArray[np.int64]:
    """The order of all these points, made by NumPy from the values of every point."""
    chosen = sorting(case.sweep.method, case.points)
    assert chosen is not None
    whole = part(points, np.arange(points.n_points))
    return chosen.order({name: whole.columns[name].values for name in chosen.names}, whole.n_points)


def spread_out(points: Points) -> Points:
    """The points with the values of each one, whatever they share."""
    index = np.arange(points.n_points)
    columns = {
        name: Column(column.values[index // column.repeat % len(column.values)])
        for name, column in points.columns.items()
    }
    return replace(points, columns=columns)


@pytest.mark.parametrize("budget", [None, 7])
@pytest.mark.parametrize("name", SORTED)
def test_each_batch_is_computed_in_order_and_no_bit_changes(name: str, budget: int | None) -> None:
    """Also where launches end before their points are finished."""
    case, device = CASES[name], Watched(memory=20_000)
    computed = GpuBackend(device, budget).compute(case.sweep, case.points).arrays
    assert differing(bits_of(case.sweep, case.points), dict(computed)) == []
    assert len(device.orders) > 1
    for first, count, order in device.orders:
        if count <= WARP:
            assert order is None
            continue
        expected = order_of(part(case.points, np.arange(first, first + count)), case)
        np.testing.assert_array_equal(order, expected)
        assert sorted(expected) == list(range(count)) != list(expected)
    assert device.used == 0


def test_columns_that_several_points_share_are_sorted_by_too() -> None:
    """In batches that begin anywhere: values that repeat, begin again, or are one for all."""
    columns = dict(exact.points.columns)
    columns["friction"] = Column(columns["friction"].values[:60], 3)
    columns["gravity"] = Column(columns["gravity"].values[:70])
    columns["stiffness"] = Column(columns["stiffness"].values[:1])
    case = replace(exact, points=replace(exact.points, columns=columns))
    device = Watched(memory=20_000)
    computed = GpuBackend(device).compute(case.sweep, case.points).arrays
    assert differing(bits_of(case.sweep, case.points), dict(computed)) == []
    whole = spread_out(case.points)
    assert len(device.orders) > 2
    for first, count, order in device.orders:
        expected = order_of(part(whole, np.arange(first, first + count)), case)
        np.testing.assert_array_equal(np.arange(count) if order is None else order, expected)


class Unused(Library):
    """A library that nobody may call."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def test_nothing_is_sorted_along_the_axes_of_a_grid() -> None:
    columns = {name: Column(column.values[:1]) for name, column in exact.points.columns.items()}
    columns["friction"] = Column(np.linspace(0.01, 1.0, 13), 11)
    columns["base_acceleration"] = Column(np.linspace(0.5, 15.0, 11))
    device = Watched()
    device.library = Unused()
    GpuBackend(device).compute(exact.sweep, Points(n_points=143, columns=columns))
    assert [order for *_, order in device.orders] == [None]


def test_points_with_items_are_not_sorted() -> None:
    """Each has warps of its own."""
    case, device = CASES["mdr_contact-time_stepping_2"], Watched()
    method = replace(case.sweep.method, cost=("springs",))
    device.library = Unused()
    computed = GpuBackend(device).compute(replace(case.sweep, method=method), case.points).arrays
    assert differing(bits_of(case.sweep, case.points), dict(computed)) == []


class Short(Library):
    """A library that has memory to sort 60 points at most."""

    def __getattr__(self, name: str) -> Any:
        if name != "argsort":
            return super().__getattr__(name)

        def argsort(a: Any, kind: str) -> Any:
            if len(a) > 60:
                raise MemoryError("Out of memory allocating")
            return super(Short, self).__getattr__(name)(a, kind=kind)

        return argsort


def test_batches_are_halved_if_there_is_no_memory_to_sort_them() -> None:
    expected = bits_of(exact.sweep, exact.points)
    device = Watched()
    device.library = Short()
    computed = GpuBackend(device).compute(exact.sweep, exact.points).arrays
    assert differing(expected, dict(computed)) == []
    assert WARP < max(count for _, count, order in device.orders if order is not None) <= 60
    assert device.used == 0


def test_memory_to_sort_is_allocated_before_the_library_takes_it() -> None:
    """CuPy before 14.2 sorts wrongly where it gets none."""
    chosen = sorting(exact.sweep.method, exact.points)
    assert chosen is not None
    device = TwinDevice(bound=LEAST_SORT_BYTES)
    # A library that fails at any use stands where CuPy's functions are expected.
    device.library = Unused()
    with pytest.raises(Exception, match="bytes were asked for"):
        # The device stands in for a queue, of which only the memory is asked.
        chosen.order_on_device(device, {}, 0, 50)  # type: ignore[arg-type]
    assert (device.refused, device.used) == (1, 0)


def test_memory_to_sort_is_part_of_the_share_of_a_batch() -> None:
    """A point of a kernel with a small state takes more while it is sorted."""
    chosen = sorting(exact.sweep.method, exact.points)
    assert chosen is not None
    device = Watched()
    kernel = SimpleNamespace(parameters=(), outputs=(), method=exact.sweep.method)
    program: Any = SimpleNamespace(kernel=kernel, sizes=Sizes(8, 0, 1, 0))
    counts: list[int] = []
    for each in (None, chosen):
        work = Work(device, program, exact.points, (), {}, Pace(64), sorting=each)
        counts.append(work.shares(1 << 12)[0])
    # Status, flag and state; else status, place in the order, and keys and places, twice each.
    assert counts[0] == (1 << 12) // (1 + 1 + 8)
    assert counts[1] <= (1 << 12) // (1 + 8 + 2 * (2 + 8))


def test_every_cost_can_be_computed_on_a_device() -> None:
    xp = Library()
    for model in models().values():
        for case in (case for case in CASES.values() if case.sweep.model == model):
            if (chosen := sorting(case.sweep.method, case.points)) is not None:
                columns = spread_out(case.points).columns
                values = {name: columns[name].values for name in chosen.names}
                device_columns = {name: xp.asarray(v) for name, v in values.items()}
                n = case.points.n_points
                order = chosen.order(device_columns, n, xp).get()
                np.testing.assert_array_equal(order, chosen.order(values, n))
