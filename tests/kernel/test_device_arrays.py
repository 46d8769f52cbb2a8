"""Points that are reduced on a device, on arrays that are not NumPy's: the bits of the CPU.

This finds points that go back to the host. A GPU shows what CuPy computes (test_on_gpu.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sweep.file import load
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.gpu import GpuBackend
from sweep.model.table import Status
from sweep.points.chunking import chunk_at
from sweep.points.columns import points as points_of
from sweep.request.sweeps import Reduced
from sweep.statistics.partial import Kept
from tests.cases import differing
from tests.gpu.twin import TwinDevice
from tests.kernel.device_arrays import Library

xp = Library()


def test_points_are_reduced_on_the_device() -> None:
    """What leaves the device does not depend on the number of points."""

    def sent(points: int) -> int:
        twin = TwinDevice()
        assert reduced_on(twin, points) == []
        assert twin.open == 0
        return twin.sent

    assert sent(16) == sent(32) < 2**10


def test_quantiles_are_those_of_the_cpu() -> None:
    quantiles = {"exact_quantiles": True, "frequency": ["quantile 0.1", "quantile 0.5"]}
    assert reduced_on(TwinDevice(), 16, **quantiles) == []


def test_points_are_reduced_on_the_host_if_the_device_is_full() -> None:
    refused: list[str] = []

    class Full(Library):
        def __getattr__(self, name: str) -> Any:
            if name == "nonzero":
                refused.append(name)
                raise MemoryError
            return super().__getattr__(name)

    twin = TwinDevice()
    twin.library = Full()
    assert reduced_on(twin, 16, frequency=["quantile 0.5"]) == []
    assert refused
    assert twin.sent > 2 * 16 * 8


def reduced_on(device: TwinDevice, points: int, **statistics: object) -> list[str]:
    """What a device keeps of two cells of random points otherwise than the CPU.

    Some of the points are not ok.
    """
    document = {
        "model": "impact_oscillator",
        "method": "exact",
        "outputs": ["frequency", "stable"],
        "parameters": {"mass": 1.0, "stiffness": 100.0, "gap": 1e-3},
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
    assert isinstance(swept, Reduced)
    shape, kept = swept.computed_shape, Kept(swept)
    cells = points_of(swept, chunk_at((0, 0), shape, shape))
    on_host = CpuBackend().compute(swept.points, cells, then=kept.then(cells))
    assert np.count_nonzero(kept.counts(on_host.arrays)) > 1
    on_device = GpuBackend(device).compute(swept.points, cells, then=kept.then(cells))
    return differing(dict(on_host.arrays), dict(on_device.arrays))


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
