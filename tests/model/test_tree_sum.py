"""The sum over a point's items: in the one order that its header states, to the bit."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.kernel.compiler import compile_library, find_compiler
from sweep.kernel.source import flat_text

GROUP = 64
FIELDS = 2
COUNTS = (0, 1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 448, 455, 4095, 4096, 4097, 100_003)
ENTRY = f"""
extern "C" void add_up(double const (*items)[{FIELDS}], int64 count, double (*totals)[{FIELDS}]) {{
    TreeSum<{FIELDS}> sum;
    for (int64 i = 0; i < count; ++i) {{
        total_of(sum, totals[i]);
        add_item(sum, items[i]);
    }}
    total_of(sum, totals[count]);
}}
"""


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    return ctypes.CDLL(str(compile_library(flat_text("tree_sum.h") + ENTRY, find_compiler())))


def _totals(library: ctypes.CDLL, items: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of the first 0, 1, 2, ... of `items`, shape (n, FIELDS)."""
    totals = np.full((len(items) + 1, FIELDS), np.nan)
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (items, totals)]
    library.add_up(addresses[0], ctypes.c_int64(len(items)), addresses[1])
    return totals


def _in_order(values: list[float]) -> float:
    """The order as the header states it, written down from the whole to its parts."""
    if not values:
        return 0.0
    size = GROUP
    while size * 2 <= len(values):
        size *= 2
    if len(values) < GROUP:
        size = len(values)
    first = _whole(values[:size])
    return first + _in_order(values[size:]) if size < len(values) else first


def _whole(values: list[float]) -> float:
    """A group or less from left to right, more as the sum of its halves."""
    if len(values) > GROUP:
        half = len(values) // 2
        return _whole(values[:half]) + _whole(values[half:])
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


@pytest.mark.parametrize("count", COUNTS)
def test_the_order_is_the_stated_one(library: ctypes.CDLL, count: int) -> None:
    random = np.random.default_rng(count)
    items = random.normal(size=(count, FIELDS)) * 10.0 ** random.uniform(-8, 8, (count, FIELDS))
    expected = [_in_order(column) for column in items.T.tolist()]
    assert _totals(library, items)[-1].tolist() == expected


def test_every_sum_on_the_way_is_that_of_the_items_so_far(library: ctypes.CDLL) -> None:
    """So a point may be left at any item, and looking at a sum changes nothing of it."""
    items = np.random.default_rng(1).uniform(-1, 1, (700, FIELDS))
    expected = [[_in_order(c) for c in items[:n].T.tolist()] for n in range(701)]
    assert _totals(library, items).tolist() == expected


def test_rounding_grows_with_the_levels_and_not_with_the_items(library: ctypes.CDLL) -> None:
    """Of n values near 1 a sum from left to right loses about 1e-16 n at worst; a tree
    1e-16 (64 + log2(n/64)) of the sum.
    """
    n = 1 << 20
    items = np.full((n, FIELDS), 0.1)
    exact = math.fsum(items[:, 0])
    bound = 2.0**-53 * (GROUP - 1 + 14) * exact
    assert abs(_totals(library, items)[-1, 0] - exact) <= bound
    assert abs(sum(items[:, 0].tolist()) - exact) > bound
