"""The impact oscillator by brute force: the equation of motion and its variation, integrated.

    m ü + k u = −K max(u − e, 0)

scipy's DOP853 at a relative tolerance of 1e-12 goes from the leftmost point through the stop and
back to it, phase by phase; what ends a phase (touching the stop, leaving it, standing still) is an
event of the integrator. Two disturbances, of position and of velocity, are carried along by the
equation of motion's own linearization, so the monodromy matrix takes no formula for a period.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

TOLERANCE = 1e-12

State = NDArray[np.float64]  # u − e, u̇, and both for each of two disturbances
End = tuple[int, float]  # of a phase: the component of the state, and the value it reaches


def periodic(m: float, k: float, K: float, e: float, E: float) -> dict[str, float]:
    """Frequency, extremes, contact fraction, monodromy matrix (m11 ... m22, from the least u).

    All in SI units; the relative error is some 1e-11, more where the motion barely touches.
    """
    amplitude = sqrt(2 * E / k)
    state = np.array([-amplitude - e, 0.0, 1.0, 0.0, 0.0, 1.0])
    touches = amplitude > e
    approach = pressed = 0.0
    if touches:
        state, approach = phase(m, k, 0.0, e, state, (0, 0.0), 1)
    state, inward = phase(m, k, K if touches else 0.0, e, state, (1, 0.0), -1)
    greatest = e + float(state[0])
    if touches:
        state, outward = phase(m, k, K, e, state, (0, 0.0), -1)
        inward, pressed = 0.0, inward + outward
    state, back = phase(m, k, 0.0, e, state, (1, 0.0), 1)
    period = approach + inward + pressed + back
    return {
        "frequency": 1 / period,
        "minimum": -amplitude,
        "maximum": greatest,
        "contact_fraction": pressed / period,
        **dict(zip(("m11", "m21", "m12", "m22"), map(float, state[2:]), strict=True)),
    }


def motion(
    m: float, k: float, K: float, e: float, greatest: float, times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """u and u̇ (2, n) at times from the greatest displacement on, where the body is at rest.

    The law of the stop is taken as it stands, kink and all: the error is some 1e-9 of the greatest.
    """

    def rate(_time: float, y: State) -> list[float]:
        return [y[1], -(k * y[0] + K * max(y[0] - e, 0.0)) / m]

    solution = solve_ivp(
        rate, (0.0, times[-1]), [greatest, 0.0], "DOP853",
        t_eval=times, rtol=TOLERANCE, atol=TOLERANCE * greatest, max_step=times[-1] / 500,
    )  # fmt: skip
    return solution.y


def phase(
    m: float, k: float, K: float, e: float, state: State,
    end: End, direction: int,
) -> tuple[State, float]:  # fmt: skip
    """State and duration when it next reaches `end`, rising (direction 1) or falling (−1).

    Within a phase the stop either pushes and pulls all the time, with stiffness K, or is absent.
    """

    def rate(_time: float, y: State) -> list[float]:
        push = -(k * (e + y[0]) + K * y[0]) / m
        return [y[1], push, y[3], -(k + K) / m * y[2], y[5], -(k + K) / m * y[4]]

    def stop(_time: float, y: State) -> float:
        return y[end[0]] - end[1]

    stop.terminal, stop.direction = True, direction
    radian = sqrt(m / (k + K))  # of this phase's own oscillation
    size = max(abs(state[0]), abs(state[1]) * radian)
    scales = np.array([1.0, 1 / radian])
    absolute = TOLERANCE * np.concatenate([size * scales, 1e-3 * scales, 1e-3 * scales])
    solution = solve_ivp(
        rate,
        (0.0, 7 * radian),
        state,
        "DOP853",
        events=stop,
        rtol=TOLERANCE,
        atol=absolute,
        max_step=radian / 16,
    )
    if not solution.t_events[0].size:
        raise ArithmeticError("the phase does not end: what should end it was not met")
    return solution.y_events[0][0], float(solution.t_events[0][0])
