"""The numba schemes that the benchmarks compare with give the results of ours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.benchmarks.peers import schemes_numba as peers
from tests.points import compute

Columns = dict[str, NDArray[np.float64]]

COUNT = 70  # more than the lanes of a block
TOLERANCES = {"adapt_ordre2": 1.0, "rk32": 1e-5, "rk54": 1e-6}
LONGEST = 2e-4


def sprung_and_damped(method: str, *, shared: bool) -> Columns:
    """Points that stick and slip, with the same frequency, window and step or different ones."""
    rng = np.random.default_rng(4)

    def own(low: float, high: float) -> NDArray[np.float64]:
        return np.full(COUNT, low) if shared else rng.uniform(low, high, COUNT)

    mass = rng.uniform(0.5, 2, COUNT)
    columns = {
        "mass": mass,
        "gravity": rng.uniform(8, 10, COUNT),
        "friction": rng.uniform(0.05, 0.3, COUNT),
        "stiffness": rng.uniform(0, 30, COUNT),
        "damping": rng.uniform(0, 1, COUNT),
        "base_acceleration": rng.uniform(3.5, 12, COUNT),
        "angular_frequency": own(6.0, 8.0),
        "window_start": own(0.3, 0.5),
        "window_end": own(1.30003, 1.5),  # the last step of a stretch is shorter
        "step": own(1e-4, 1.2e-4),
    }
    if method != "moreau":
        columns["tangential_stiffness"] = 3e6 * mass
    return columns


def ours(columns: Columns, method: str, **controls: float) -> NDArray[Any]:
    known = {"tolerance": math.inf} if method != "moreau" else {}
    outputs = compute(columns | known | controls, method=method)
    assert not outputs["status"].any()
    assert len(np.unique(outputs["regime"])) == 2
    return outputs["wear_power"]


@pytest.mark.broad
@pytest.mark.parametrize("name", peers.SHARED)
def test_with_one_clock(name: str) -> None:
    """Up to the effect of fused products; only one of the numba schemes has vertical shaking."""
    method = name.removeprefix("shaken ")
    columns = sprung_and_damped(method, shared=True)
    if method != name:
        rng = np.random.default_rng(5)
        columns["vertical_acceleration"] = rng.uniform(0.5, 4, COUNT)
        columns["phase"] = rng.uniform(-3, 3, COUNT)
    theirs = peers.SHARED[name](*peers.arguments(columns, COUNT, shared=True))
    np.testing.assert_allclose(theirs, ours(columns, method), rtol=1e-11)


@pytest.mark.broad
def test_euler_by_clocks_of_their_own() -> None:
    columns = sprung_and_damped("euler", shared=False)
    theirs = peers.euler(*peers.arguments(columns, COUNT, shared=False))
    np.testing.assert_allclose(theirs, ours(columns, "euler"), rtol=1e-11)


@pytest.mark.broad
@pytest.mark.parametrize("method", peers.CHOOSING)
def test_by_steps_they_choose(method: str) -> None:
    """Rounding affects the length of the next step, and thereby the sums."""
    columns = sprung_and_damped(method, shared=False)
    arguments = peers.arguments(columns, COUNT, shared=False)
    theirs = peers.CHOOSING[method](*arguments, TOLERANCES[method], LONGEST)
    chosen = {"tolerance": TOLERANCES[method], "maximum_step": LONGEST}
    np.testing.assert_allclose(theirs, ours(columns, method, **chosen), rtol=1e-6)
