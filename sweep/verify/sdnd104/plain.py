"""Code_Aster's EULER and DEVOGE with its penalized friction law, in plain Python.

Steps are constant, the excitation is arbitrary, and wear power is the mean over blocks of samples
as Code_Aster prints it. The mass is 1 kg, so that forces are accelerations. It shares no code with
the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import accumulate, repeat

import numpy as np

from sweep.verify.sdnd104.published import BLOCKS, GRIP, LOAD, LONGEST_STEP, SPRING, USED_STIFFNESS

Sine = Callable[[float], float]  # sin ωt as a function of time [s]
Samples = Iterator[tuple[float, bool]]  # velocity [m/s], whether stuck

DAMPING = 2 * math.sqrt(SPRING + USED_STIFFNESS)  # critical


class _Force:
    """The acceleration of the mass, with the friction law's state from its last evaluation."""

    def __init__(self, amplitude: float, sine: Sine) -> None:
        self.amplitude, self.sine = amplitude, sine
        self.stuck, self.friction, self.position, self.velocity = True, 0.0, 0.0, 0.0

    def __call__(self, y: float, v: float, time: float) -> float:
        holding = self.friction - USED_STIFFNESS * (y - self.position) - DAMPING * v
        keeps_slipping = v * self.velocity >= 0 and not self.stuck and abs(v) > 1e-6
        self.stuck = not keeps_slipping and abs(holding) <= GRIP
        self.velocity = v
        friction = holding
        if not self.stuck:
            friction = -math.copysign(GRIP, v) if abs(v) > 2.2e-16 else 0.0
            self.friction, self.position = friction, y
        return friction - SPRING * y - self.amplitude * self.sine(time)


def euler(force: _Force, h: float, steps: int, *, drifts: bool = False) -> Samples:
    """Symplectic Euler with t = q·h, or t += h if time `drifts` by the rounding errors of sums."""
    times = accumulate(repeat(h, steps)) if drifts else (q * h for q in range(1, steps + 1))
    y, v, a = 0.0, 0.0, force(0.0, 0.0, 0.0)
    for time in times:
        v += h * a
        y += h * v
        a = force(y, v, time)
        yield v, force.stuck


def devogelaere(force: _Force, h: float, steps: int) -> Samples:
    """De Vogelaere's scheme with t = q·h."""
    y, v, f = 0.0, 0.0, force(0.0, 0.0, 0.0)
    before = f
    for q in range(steps):
        half = y + h / 2 * v + h * h / 24 * (4 * f - before)
        middle = force(half, (half - y) / (h / 2), (q + 0.5) * h)
        y += h * v + h * h / 6 * (f + 2 * middle)
        end = force(y, (y - half) / (h / 2), (q + 1) * h)
        v += h / 6 * (f + 4 * middle + end)
        f, before = end, middle
        yield v, force.stuck


def wear_power(
    scheme: Callable[[_Force, float, int], Samples],
    amplitude: float,
    sine: Sine,
    window: tuple[float, float],
) -> float:
    """Mean over blocks [W] of N|v| in the window [s], whose ends are whole multiples of a step."""
    first, last = (round(moment / LONGEST_STEP) for moment in window)
    samples = list(scheme(_Force(amplitude, sine), LONGEST_STEP, last))[first - 1 :]
    speed = np.abs([v for v, _ in samples])
    slips = ~np.array([stuck for _, stuck in samples])
    slip_speed = np.where(slips[:-1], (speed[:-1] + speed[1:]) / 2, 0.0)  # in each interval
    size = len(samples) // BLOCKS
    means = [np.mean(slip_speed[i * size : (i + 1) * size - 1]) for i in range(BLOCKS)]
    return LOAD * float(np.mean(means))
