"""SDND100, SDND101 and SDND106 in closed form, to 30 digits and more."""

from __future__ import annotations

from typing import Any

import mpmath
from mpmath import mpf


def sliding_mass() -> list[Any]:
    """SDND100: the component along an axis at the first four turns [m]."""
    first, loss = mpf("0.85e-3"), 2 * mpf(1) / mpf(10_000)
    return [(-1) ** i * (first - i * loss) / mpmath.sqrt(2) for i in range(1, 5)]


def elastic_stop() -> dict[str, Any]:
    """SDND101: half a period against both springs, half a period against one."""
    m, k, K = mpf(100), mpf(10_000), mpf(1_000_000)
    pressed, free = mpmath.pi * mpmath.sqrt(m / (k + K)), mpmath.pi * mpmath.sqrt(m / k)
    return {
        "peak_force": K * mpmath.sqrt(m / (k + K)),
        "duration": pressed,
        "second_peak": pressed + free + pressed / 2,
        "impulse": 2 * m * K / (k + K),
    }


def two_masses() -> dict[str, Any]:
    """SDND106, with a force that ends at once: x2(0.02), x1(0.15), x2(0.15), x2(0.339965), arrest.

    While the first mass slips, the mean of both moves uniformly accelerated and their distance
    oscillates with √(2k/m); while it sticks, the second one oscillates with √(k/m).
    """
    m, k, force, limit, friction = map(mpf, (5, 10_000, 3000, 3000, 2000))
    own, both = mpmath.sqrt(k / m), mpmath.sqrt(2 * k / m)
    release = mpmath.acos(1 - limit / force) / own  # where k x2 = limit
    mean, distance = limit / k / 2, limit / k
    mean_speed = distance_speed = force / k * own * mpmath.sin(own * release)
    mean_speed /= 2

    def slip(t: Any, pull: Any, start: tuple[Any, ...]) -> tuple[Any, ...]:
        """Mean, its speed, distance and its speed, a time t after the start."""
        s, v, d, w = start
        a, rest = (pull - friction) / (2 * m), (pull + friction) / (2 * k)
        c, sn = mpmath.cos(both * t), mpmath.sin(both * t)
        return (
            s + v * t + a * t * t / 2,
            v + a * t,
            rest + (d - rest) * c + w / both * sn,
            -(d - rest) * both * sn + w * c,
        )

    def positions(state: tuple[Any, ...]) -> tuple[Any, Any]:
        return state[0] - state[2] / 2, state[0] + state[2] / 2

    begin = (mean, mean_speed, distance, distance_speed)
    at_150 = positions(slip(mpf("0.15") - release, force, begin))
    unloaded = slip(mpf("0.2") - release, force, begin)

    def speed(t: Any) -> Any:
        state = slip(t, mpf(0), unloaded)
        return state[1] - state[3] / 2

    lasts = mpmath.findroot(speed, (mpf("0.11"), mpf("0.12")), solver="anderson")
    state = slip(lasts, mpf(0), unloaded)
    resting = positions(state)[0]
    left = mpf("0.339965") - mpf("0.2") - lasts
    swing = state[2] * mpmath.cos(own * left) + 2 * state[1] / own * mpmath.sin(own * left)
    return {
        "x2(0.02)": force / k * (1 - mpmath.cos(own * mpf("0.02"))),
        "x1(0.15)": at_150[0],
        "x2(0.15)": at_150[1],
        "x2(0.339965)": resting + swing,
        "arrest": mpf("0.2") + lasts,
    }
