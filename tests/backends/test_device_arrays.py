"""Array methods on arrays that are not NumPy's give the bits of NumPy.

This finds points that go back to the host. A GPU shows what CuPy computes (test_on_gpu.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sweep.arrays import array_method
from sweep.backends.array_blocks import compute_arrays
from sweep.backends.cpu import CpuBackend
from sweep.backends.gpu import GpuBackend
from sweep.config import load
from sweep.plan.chunking import chunk_at
from sweep.plan.point_columns import points as points_of
from sweep.spec import Status
from tests.backends.device_arrays import DeviceArray, Library
from tests.gpu.twin import TwinDevice
from tests.points import Case, array_cases, differing

xp = Library()
CASES = list(array_cases(75))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_array_method_has_the_bits_of_numpy(case: Case) -> None:
    on_host = compute_arrays(np, case.sweep, case.points).arrays
    on_device = compute_arrays(
        xp, case.sweep, case.points, to_host=lambda array: array.get()
    ).arrays
    assert differing(dict(on_host), dict(on_device)) == []
    assert set(on_host["status"]) >= {Status.ok, Status.outside_validity}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_everything_it_returns_is_on_the_device(case: Case) -> None:
    columns = {name: xp.asarray(column.values[:5]) for name, column in case.points.columns.items()}
    with np.errstate(all="ignore"):  # as compute_arrays calls it
        outputs = array_method(case.sweep.model, case.sweep.method)(xp, columns)
    assert {type(values) for values in outputs.values()} == {DeviceArray}


def test_points_of_an_array_method_are_reduced_on_the_device() -> None:
    """What leaves the device does not depend on the number of points."""

    def sent(points: int) -> int:
        twin = TwinDevice()
        assert reduced_on(twin, points) == []
        assert twin.open == 0
        return twin.sent

    assert sent(16) == sent(32) < 2**10


def test_quantiles_of_an_array_method_are_those_of_the_cpu() -> None:
    quantiles = {"exact_quantiles": True, "frequency": ["quantile 0.1", "quantile 0.5"]}
    assert reduced_on(TwinDevice(), 16, **quantiles) == []


def test_points_are_reduced_on_the_host_if_the_device_is_full() -> None:
    class Full(Library):
        def __getattr__(self, name: str) -> Any:
            if name == "bincount":
                raise MemoryError
            return super().__getattr__(name)

    twin = TwinDevice()
    twin.library = Full()
    assert reduced_on(twin, 16, frequency=["quantile 0.5"]) == []
    assert twin.sent > 2 * 16 * 8


def reduced_on(device: TwinDevice, points: int, **statistics: object) -> list[str]:
    """What a device keeps of two cells of random points otherwise than the CPU.

    Some of the points are not ok.
    """
    document = {
        "model": "impact_oscillator",
        "method": "harmonic_balance",
        "outputs": ["frequency", "stable"],
        "parameters": {"mass": 1.0, "stiffness": 100.0, "gap": 1e-3, "harmonics": 5},
        "axes": {"energy": {"values": [1e-4, 1e-2]}},
        "sample": {
            "method": "sobol",
            "points": points,
            "wall_stiffness": {"loguniform": [1, 1e18]},
        },
        "reduce": {"frequency": ["mean", "maximum", "share above 2"], "stable": ["share"]}
        | statistics,
    }
    swept = load(document).sweep
    grid_points = points_of(swept, chunk_at((0, 0), swept.grid, swept.grid))
    on_host = CpuBackend().compute(swept, grid_points)
    assert len(on_host.counts) > 1
    on_device = GpuBackend(device).compute(swept, grid_points)
    return differing(dict(on_host.arrays), dict(on_device.arrays))


class Small(Library):
    """A device whose memory holds at most `most` points."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.sizes: list[int] = []

    def asarray(self, values: Any) -> DeviceArray:
        self.sizes.append(len(values))
        if len(values) > self.most:
            raise MemoryError
        return DeviceArray(values)


@pytest.mark.parametrize("case", [*array_cases(19)], ids=lambda case: case.name)
def test_blocks_are_halved_if_memory_is_short(case: Case) -> None:
    on_host, small = compute_arrays(np, case.sweep, case.points).arrays, Small(7)
    on_device = compute_arrays(
        small, case.sweep, case.points, block=16, to_host=lambda array: array.get()
    ).arrays
    assert differing(dict(on_host), dict(on_device)) == []
    sizes = [size for i, size in enumerate(small.sizes) if size != small.sizes[i - 1] or i == 0]
    assert sizes == [16, 8, 4, 19 % 4]
    with pytest.raises(MemoryError):
        compute_arrays(Small(0), case.sweep, case.points, block=16)


@pytest.fixture
def a() -> Any:
    return xp.asarray(np.array([1.0, 4.0, 9.0]))


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a Status in where": lambda a: xp.where(a > 0, Status.ok, 1),
    "a Status compared": lambda a: a == Status.ok,
    "a Status put in": lambda a: a.__setitem__(0, Status.diverged),
    "an array of NumPy": lambda a: a + np.ones(3),
    "an array of NumPy, first": lambda a: np.ones(3) + a,
    "an array of NumPy in a function": lambda a: xp.maximum(a, np.ones(3)),
    "an array of NumPy in a list": lambda a: xp.concatenate([a, np.ones(3)]),
    "an array of NumPy without dimension": lambda a: a * np.array(2.0),
    "an array of NumPy as index": lambda a: a[np.array([0, 1])],
    "NumPy's array of it": np.asarray,
    "NumPy's function of it": np.sqrt,
    "NumPy's function of several": lambda a: np.where([True, False, True], a, 1.0),
    "a float of it": lambda a: float(a[0]),
    "math's function of it": lambda a: math.sqrt(a[0]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_device_rejects_is_rejected(what: str, a: Any) -> None:
    with pytest.raises(TypeError):
        REFUSED[what](a)


def test_two_values_for_one_element_are_rejected(a: Any) -> None:
    a[xp.asarray(np.array([0, 2]))] = a[:2]
    assert a.tolist() == [1.0, 4.0, 4.0]
    with pytest.raises(ValueError, match="two values"):
        a[xp.asarray(np.array([0, 0]))] = a[:2]


def test_a_singular_matrix_gives_nan_without_an_error() -> None:
    """cuSOLVER reports nothing unless cupyx.errstate is set."""
    matrix = xp.asarray(np.array([np.eye(2), np.zeros((2, 2))]))
    solved = xp.linalg.solve(matrix, xp.ones((2, 2, 1)))[:, :, 0].get()
    np.testing.assert_array_equal(solved, [[1, 1], [np.nan, np.nan]])
    with pytest.raises(ValueError, match="shape"):
        xp.linalg.solve(matrix, xp.ones((2, 1)))  # NumPy uses the right side for every matrix
