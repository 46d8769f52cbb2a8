"""The impact oscillator in scalar numba: the closed form, and Newmark with its multipliers.

The same formulas as kernels/models/impact_oscillator, but one point at a time, with libm's
functions, branches in place of selects, and no work that a point alone does not need.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

Values = NDArray[np.float64]
SETTLED, MOST_PASSES = 1e-11, 60


@njit(cache=False, nogil=True, error_model="numpy")
def exact(mass: Values, k: Values, wall: Values, gap: Values, energy: Values) -> Values:
    """Frequency, least, greatest, contact fraction, modulus and trace: (n, 6)."""
    outputs = np.empty((len(energy), 6))
    for i in range(len(energy)):
        rate, ratio, least, depth, free, pressed = _orbit(
            k[i] / mass[i], wall[i] / k[i], k[i], gap[i], energy[i]
        )
        period = 2.0 * (pi - free + pressed / ratio) / rate
        a = -cos(free) * cos(pressed) - sin(free) * sin(pressed) / ratio
        b = sin(free) * cos(pressed) - cos(free) * sin(pressed) / ratio
        c = ratio * cos(free) * sin(pressed) - sin(free) * cos(pressed)
        d = -ratio * sin(free) * sin(pressed) - cos(free) * cos(pressed)
        half = a * d + b * c
        outputs[i, 0] = 1.0 / period
        outputs[i, 1] = least
        outputs[i, 2] = gap[i] + depth if depth > 0.0 else -least
        outputs[i, 3] = 2.0 * pressed / ratio / rate / period
        outputs[i, 4] = max(abs(half), 1.0) + sqrt(max(half * half - 1.0, 0.0))
        outputs[i, 5] = 2.0 * half
    return outputs


@njit(cache=False, nogil=True, error_model="numpy")
def _orbit(square, stop, k, gap, energy):
    rate, ratio = sqrt(square), sqrt(1.0 + stop)
    amplitude = sqrt(2.0 * energy / k)
    excess = 2.0 * energy / k - gap * gap
    if excess <= 0.0:
        return rate, ratio, -amplitude, 0.0, 0.0, 0.0
    across = sqrt(excess)
    reach = sqrt(gap * gap + ratio * ratio * excess)
    depth = excess / (reach + gap)
    return rate, ratio, -amplitude, depth, atan2(across, gap), atan2(ratio * across, gap)


@njit(cache=False, nogil=True, error_model="numpy")
def newmark(
    mass: Values, k: Values, wall: Values, gap: Values, energy: Values, steps: int
) -> tuple[Values, int]:
    """Frequency and trace, (n, 2), for an even number of steps; and how many steps were taken."""
    outputs = np.empty((len(energy), 2))
    taken = 0
    for i in range(len(energy)):
        outputs[i, 0], outputs[i, 1], passes = _newmark(
            k[i] / mass[i], wall[i] / mass[i], wall[i] / k[i], k[i], gap[i], energy[i], steps
        )
        taken += passes * (steps // 2) + steps
    return outputs, taken


@njit(cache=False, nogil=True, error_model="numpy")
def _newmark(soft, stop, relative, k, gap, energy, steps):
    rate, ratio, least, depth, free, pressed = _orbit(soft, relative, k, gap, energy)
    greatest = gap + depth if depth > 0.0 else -least
    period = 2.0 * (pi - free + pressed / ratio) / rate
    contact = 2.0 * pressed / ratio / rate
    hard, passes = soft + stop, 0
    while passes < MOST_PASSES:
        speed, push = _half(soft, hard, stop * gap, gap, greatest, depth, period / steps, steps)
        change = 2.0 * speed / push
        period -= change
        passes += 1
        if abs(change) <= SETTLED * period:
            break
    return 1.0 / period, _trace(soft, stop, period, contact, steps), passes


@njit(cache=False, nogil=True, error_model="numpy")
def _half(soft, hard, held, gap, greatest, depth, h, steps):
    quarter = h * h / 4.0
    free_factor, wall_factor = 1.0 / (1.0 + quarter * soft), 1.0 / (1.0 + quarter * hard)
    bound = gap * (1.0 + quarter * soft)
    place, speed = greatest, 0.0
    push = held - hard * greatest if depth > 0.0 else -soft * greatest
    for _ in range(steps // 2):
        predicted = place + h * speed + quarter * push
        if predicted > bound:
            then = wall_factor * (held - hard * predicted)
        else:
            then = -free_factor * soft * predicted
        place = predicted + quarter * then
        speed += 0.5 * h * (push + then)
        push = then
    return speed, push


@njit(cache=False, nogil=True, error_model="numpy")
def _trace(soft, stop, period, contact, steps):
    h = period / steps
    quarter, length = h * h / 4.0, contact / h
    reach, most = 0.5 * length + 0.5, min(length, 1.0)
    x1, v1, a1 = 1.0, 0.0, -(soft + most * stop)
    x2, v2, a2 = 0.0, 1.0, 0.0
    for i in range(1, steps + 1):
        share = min(max(reach - min(i, steps - i), 0.0), most)
        stiffness = soft + share * stop
        factor = -stiffness / (1.0 + quarter * stiffness)
        predicted1, predicted2 = x1 + h * v1 + quarter * a1, x2 + h * v2 + quarter * a2
        then1, then2 = factor * predicted1, factor * predicted2
        x1, x2 = predicted1 + quarter * then1, predicted2 + quarter * then2
        v1, v2 = v1 + 0.5 * h * (a1 + then1), v2 + 0.5 * h * (a2 + then2)
        a1, a2 = then1, then2
    return x1 + v2
