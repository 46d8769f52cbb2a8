"""SDND124: a mass between an elastic and a hardening spring, whose supports shake (Code_Aster).

The hardening spring is elastic up to ±R(s), where s is the path during yield. SI units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from tests.validation.comparison import Ours, Row, computed, constants, csv_rows

SYSTEM = constants("sdnd124/system.csv")
M, K = SYSTEM["mass"], SYSTEM["stiffness"]
OMEGA = 2 * math.pi * SYSTEM["frequency"]
OUTPUTS = {"force": "N", "elongation": "m", "work": "J"}
STEP = 0.025  # s, of Code_Aster

Figures = dict[str, float]  # by the names of OUTPUTS


def compute() -> Ours:
    published = csv_rows("sdnd124/published.csv")
    times = sorted({float(row["time"]) for row in published})
    parameters = {**SYSTEM, "relative_tolerance": 1e-12}
    model, axes = "sdnd124/hardening_spring.toml", {"window_end": times}
    results = computed(model, "dop853", [*OUTPUTS], parameters, axes)
    exact, stepped = dict(motion(times)), _by_newmark(times)
    rows: list[Row] = [
        {
            "figure": f"{(name := row['figure'])} [{OUTPUTS[name]}]",
            "time": (time := float(row["time"])),
            "version_2017": float(row["version_2017"]),
            "newer": float(row["newer"]),
            "exact": exact[time][name],
            "ours": float(results[name].sel(window_end=time)),
            "stepped": stepped[time][name],
        }
        for row in published
    ]
    return Ours({"figures": rows, "stepped": rows})


def limit(path: float) -> float:
    """R(s)."""
    ratio = K * path / SYSTEM["hardening"]
    n = SYSTEM["exponent"]
    return SYSTEM["yield_force"] + K * path / (1 + ratio**n) ** (1 / n)


def limit_slope(path: float) -> float:
    """R'(s)."""
    n = SYSTEM["exponent"]
    return K * (1 + (K * path / SYSTEM["hardening"]) ** n) ** (-1 / n - 1)


# --- From yield to yield, by SciPy: the state is (elongation, velocity, path, work) ---


def motion(times: Sequence[float]) -> Iterator[tuple[float, Figures]]:
    """The figures at ascending times; the spring yields with `sign`, or is elastic with 0."""
    time, state, sign, set_back = 0.0, np.zeros(4), 0, 0.0
    wanted = list(times)
    while wanted:
        piece: Any = solve_ivp(
            _slope, (time, times[-1]), state, "DOP853", events=_change, args=(sign, set_back),
            dense_output=True, rtol=1e-13, atol=1e-14,
        )  # fmt: skip
        time, state = piece.t[-1], piece.y[:, -1]
        while wanted and wanted[0] <= time:
            at = piece.sol(wanted[0])
            force = _force(at, sign, set_back)
            yield wanted.pop(0), {"force": force, "elongation": at[0], "work": at[3]}
        force = _force(state, sign, set_back)
        sign, set_back = 0 if sign else round(math.copysign(1, force)), state[0] - force / K


def _force(state: Any, sign: int, set_back: float) -> float:
    return sign * limit(state[2]) if sign else K * (state[0] - set_back)


def _slope(time: float, state: Any, sign: int, set_back: float) -> list[float]:
    u, v, path, _ = state
    shaking = SYSTEM["acceleration"] * math.sin(OMEGA * time)
    work = sign * v * limit(path) * (1 - limit_slope(path) / K)
    return [v, shaking - (_force(state, sign, set_back) + K * u) / M, sign * v, work]


def _change(_: float, state: Any, sign: int, set_back: float) -> float:
    """It falls through zero where the spring begins to yield or ends."""
    return sign * state[1] if sign else limit(state[2]) - abs(_force(state, sign, set_back))


_change.terminal, _change.direction = True, -1  # SciPy reads its attributes


# --- As Code_Aster: the average acceleration, without its table of R ---

Spring = tuple[float, float, float]  # elongation, path and force


def _by_newmark(times: Sequence[float]) -> dict[float, Figures]:
    """The figures at multiples of the step; in each step the law of the spring is exact."""
    found: dict[float, Figures] = {}
    spring: Spring = (0.0, 0.0, 0.0)
    position = acceleration = work = 0.0  # of the mass, absolute
    velocity = SYSTEM["acceleration"] / OMEGA
    for n in range(1, round(times[-1] / STEP) + 1):
        support = SYSTEM["acceleration"] * math.sin(OMEGA * n * STEP) / OMEGA**2
        ahead = 4 * (support - position - STEP * velocity) / STEP**2 - acceleration
        bracket = (spring[0] - 1, spring[0] + 1)
        elongation = brentq(_residual, *bracket, args=(ahead, spring), xtol=1e-15, rtol=1e-15)
        before, spring = spring, _law(elongation, spring)
        work += quad(limit, before[1], spring[1], epsabs=1e-12)[0]
        work -= (limit(spring[1]) ** 2 - limit(before[1]) ** 2) / (2 * K)
        position = elongation + support
        velocity += STEP * acceleration / 2
        acceleration = 4 * elongation / STEP**2 + ahead
        velocity += STEP * acceleration / 2
        for time in times:
            if abs(n * STEP - time) < STEP / 2:
                found[time] = {"force": spring[2], "elongation": elongation, "work": work}
    return found


def _law(elongation: float, before: Spring) -> Spring:
    """The spring after a step to an elongation."""
    trial = before[2] + K * (elongation - before[0])
    beyond = max(abs(trial) - limit(before[1]), 0.0) / K
    path = before[1] + beyond
    return elongation, path, math.copysign(limit(path), trial) if beyond else trial


def _residual(elongation: float, ahead: float, before: Spring) -> float:
    """The sum of the forces on the mass at the end of a step."""
    acceleration = 4 * elongation / STEP**2 + ahead
    return M * acceleration + _law(elongation, before)[2] + K * elongation
