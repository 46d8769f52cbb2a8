"""Steady motion of the sprung mass with dry friction, by shooting: no closed form of it is used.

In scaled units (phase θ = ωt, displacement in a0/ω², κ = k/mω², η = μg/a0), from the upper reversal
at the phase ψ with displacement X, the mass moves down under constant friction:

    x'' = −κ x − sin θ + η,   x(ψ) = X,  x'(ψ) = 0

and half a period later stands at x = −X, x' = 0. These are two equations for X and ψ, solved by
Newton's iteration with differences for slopes; the motion is carried by a Taylor series in steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

STEPS = 96  # to half a period
ORDER = 18  # of the series: with κ up to 100 the rest is far below rounding


class Swing(NamedTuple):
    """A steady motion in scaled units."""

    amplitude: float
    phase: float  # of the greatest displacement, in (−π, π]
    stops: bool  # so that it is none: the speed changes its sign on the way


def carried(
    stiffness: float, loss: float, place: float, speed: float, theta: float, step: float
) -> tuple[float, float]:
    """Place and speed one step later, by a Taylor series."""
    sine, cosine = math.sin(theta), math.cos(theta)
    push, factorial, places = (-sine, -cosine, sine, cosine), 1.0, [place, speed]
    for n in range(ORDER):
        force = push[n % 4] / factorial - stiffness * places[n] + (loss if n == 0 else 0.0)
        places.append(force / ((n + 1) * (n + 2)))
        factorial *= n + 1
    speeds = [n * value for n, value in enumerate(places)][1:]
    return (
        math.fsum(value * step**n for n, value in enumerate(places)),
        math.fsum(value * step**n for n, value in enumerate(speeds)),
    )


def half_period(
    stiffness: float, loss: float, place: float, phase: float
) -> tuple[float, float, float]:
    """Place and speed half a period later, and the greatest speed met; down is negative."""
    step, speed, highest = math.pi / STEPS, 0.0, -math.inf
    for i in range(STEPS):
        place, speed = carried(stiffness, loss, place, speed, phase + i * step, step)
        if i < STEPS - 1:
            highest = max(highest, speed)
    return place, speed, highest


def steady(stiffness: float, loss: float, amplitude: float, phase: float) -> Swing:
    """The motion that Newton's iteration finds from a guess of amplitude and phase."""
    for _ in range(60):
        place, speed, _ = half_period(stiffness, loss, amplitude, phase)
        residual = (place + amplitude, speed)
        slopes = []
        for da, dp in ((1e-6, 0.0), (0.0, 1e-6)):
            more = half_period(stiffness, loss, amplitude + da, phase + dp)
            less = half_period(stiffness, loss, amplitude - da, phase - dp)
            slopes.append(((more[0] - less[0]) / 2e-6 + (da > 0), (more[1] - less[1]) / 2e-6))
        (aa, sa), (ap, sp) = slopes
        determinant = aa * sp - ap * sa
        step_a = (residual[0] * sp - ap * residual[1]) / determinant
        step_p = (aa * residual[1] - residual[0] * sa) / determinant
        amplitude, phase = amplitude - step_a, phase - step_p
        if abs(step_a) < 1e-13 * abs(amplitude) and abs(step_p) < 1e-13:
            break
    else:
        raise ArithmeticError(f"no steady motion near the guess: {stiffness=}, {loss=}")
    turning = math.remainder(phase, 2 * math.pi)
    return Swing(amplitude, turning, stops(stiffness, loss, amplitude, turning))


def stops(stiffness: float, loss: float, amplitude: float, phase: float) -> bool:
    """Whether the mass does not get going downwards, or turns before half a period is over."""
    start = -stiffness * amplitude - math.sin(phase) + loss
    return amplitude < 0 or start > 0 or half_period(stiffness, loss, amplitude, phase)[2] > 0


def frictionless(stiffness: float) -> tuple[float, float]:
    """Amplitude and phase without friction: where to begin from."""
    return 1 / abs(stiffness - 1), -math.pi / 2 if stiffness > 1 else math.pi / 2


def swing(stiffness: float, loss: float, stages: int = 4) -> Swing:
    """The steady motion at η = loss, followed there from none in so many stages."""
    amplitude, phase = frictionless(stiffness)
    for stage in range(1, stages + 1):
        motion = steady(stiffness, loss * stage / stages, amplitude, phase)
        amplitude, phase = motion.amplitude, motion.phase
    return motion
