"""Models nobody wrote: their bits on every target, and their motions beside SciPy's."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from sweep.file.model_file import read_model
from sweep.kernel.compiler import zig
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.gpu import GpuBackend
from tests.cases import Case, Values, bits_of, case_at, differing
from tests.equations.random_models import JUMPING, KINKED, SMOOTH, RandomModel, models
from tests.gpu.twin import TwinDevice
from tests.kernel.same_bits import chunk_faults
from tests.oracles.expressions import python_value

N = 24
END = 2.5
METHODS = st.sampled_from(("rk54", "dop853", "rodas4", "rk4"))


def examples(count: int) -> settings:
    """Each takes seconds of a compiler, so one that fails is told as it is."""
    return settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )


def case_of(model: RandomModel, method: str, **controls: float) -> Case:
    table = read_model(tomllib.loads(model.text), Path())
    chosen = next(each for each in table.methods if each.name == method)
    rng = np.random.default_rng(8)
    values: Values = {name: rng.uniform(-1, 1, N) for name in ("p", "q")}
    values["window_end"] = np.full(N, END)
    values |= {name: np.full(N, value) for name, value in controls.items()}
    return case_at(f"random-{method}", table, chosen, values, N)


# The same bits.


def differences(model: RandomModel, method: str) -> list[str]:
    """Outputs whose bits differ by compiler, width, GPU, chunks or workers."""
    controls = {"step": 0.01} if method == "rk4" else {"maximum_steps": 3000.0}
    case = case_of(model, method, **controls)
    expected = bits_of(case.sweep, case.points)
    narrow = bits_of(case.sweep, case.points, CpuTarget(zig(), 2, 1))
    twin = TwinDevice(memory=1 << 26)
    on_gpu = dict(GpuBackend(twin, 500).compute(case.sweep, case.points).arrays)
    split = [*chunk_faults(case, expected, 5, 1), *chunk_faults(case, expected, 7, 2)]
    return differing(expected, narrow) + differing(expected, on_gpu) + split


@pytest.mark.broad
@examples(10)
@given(models(SMOOTH + KINKED + JUMPING), METHODS)
def test_the_bits_of_random_models_depend_on_the_point_alone(
    model: RandomModel, method: str
) -> None:
    assert differences(model, method) == [], model.text


# The motion, by SciPy: solve_ivp between the events.


def solved(model: RandomModel, point: dict[str, float], tolerance: float) -> np.ndarray | None:
    """The state at the end, the integral of the integrand behind it; None if that has no end."""
    code = {
        text: compile(text, "model", "eval")
        for text in (model.definition, *sum(model.rates, ()), model.integrand, *model.jumps)
    }
    names = dict(point, pi=np.pi)

    def value(text: str, t: float, y: Any) -> float:
        at = names | {"t": t} | {f"s{i}": float(s) for i, s in enumerate(y)}
        definition: Any = python_value(code[model.definition], at)
        number: Any = python_value(code[text], at | {"d": float(definition)})
        return float(number)

    n, mode, t = len(model.starts), 0, 0.0
    y = np.array([*(python_value(start, names) for start in model.starts), 0.0], float)
    for _ in range(200):

        def rates(t: float, y: Any, mode: int = mode) -> list[float]:
            return [value(text, t, y[:n]) for text in (*model.rates[mode], model.integrand)]

        piece: Any = solve_ivp(rates, (t, END), y, "DOP853", rtol=tolerance, atol=tolerance,
                               events=surfaces(model, mode))  # fmt: skip
        assert piece.success, piece.message
        t, y = piece.t[-1], piece.y[:, -1].copy()
        if piece.status == 0:
            return y
        which = next(i for i, times in enumerate(piece.t_events) if len(times))
        y[0] = value(model.jumps[which], t, y[:n])
        mode = (len(model.rates) - 1) * (which == 0)
    return None


def surfaces(model: RandomModel, mode: int) -> list[Any]:
    """SciPy's events for those of the model that can happen in a mode."""

    def hit(t: float, y: Any) -> float:
        return y[0] - 0.6

    def back(t: float, y: Any) -> float:
        return y[0] + 0.7

    events: list[Any] = [hit, back]
    for event, direction in zip(events, (1, -1), strict=True):
        event.terminal, event.direction = True, direction
    return events[: len(model.jumps) if mode == 1 else min(len(model.jumps), 1)]


def compare(model: RandomModel, method: str) -> int:
    """How many points agree with SciPy to 1e-5; those that SciPy resolves do, or this fails."""
    case = case_of(model, method, relative_tolerance=1e-10, maximum_step=0.05)
    computed = bits_of(case.sweep, case.points)
    checked = 0
    for i in np.flatnonzero(computed["status"] == 0)[:4]:
        point = {name: float(case.points.columns[name].values[i]) for name in ("p", "q")}
        rough, fine = (solved(model, point, tolerance) for tolerance in (1e-8, 1e-11))
        if rough is None or fine is None or np.abs(rough - fine).max() > 1e-5:
            continue  # ill-conditioned: it grazes an event, or the motion is chaotic
        ours = [float(computed[f"s{k}_end"][i]) for k in range(len(model.starts))]
        np.testing.assert_allclose(ours, fine[:-1], rtol=1e-4, atol=1e-5, err_msg=model.text)
        average = float(computed["average"][i])
        np.testing.assert_allclose(average, fine[-1] / END, rtol=1e-4, atol=1e-5)
        checked += 1
    return checked


controlled = st.sampled_from(("rk54", "dop853", "rodas4"))


@pytest.mark.parametrize(
    "count", [1, pytest.param(15, marks=pytest.mark.broad)], ids=["one", "many"]
)
def test_random_models_move_as_scipy_says(count: int) -> None:
    checked: list[int] = []

    @examples(count)
    @given(models(SMOOTH + KINKED), controlled)
    def each(model: RandomModel, method: str) -> None:
        checked.append(compare(model, method))

    each()
    assert sum(checked) >= 2 * count, checked
