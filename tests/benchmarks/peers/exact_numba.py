"""Method `exact` in scalar numba, for a mass without spring, damper or vertical shaking.

The same algorithm as kernels/models/friction_oscillator: the same crossings, the same first guess,
the same Halley iteration; but one point at a time, with the sine and cosine of libm, branches in
place of selects, and no work that a point alone does not need.
"""

from __future__ import annotations

from math import atan2, cos, floor, pi, sin, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

TWO_PI = 2 * pi
TWO_PI_REST = 2.4492935982947064e-16  # 2π − TWO_PI
ROUNDING = 1e-15
NEVER = 1e300

Values = NDArray[np.float64]


@njit(cache=False, nogil=True, error_model="numpy")
def wear_powers(
    mass: Values,
    gravity: Values,
    friction: Values,
    base_acceleration: Values,
    angular_frequency: Values,
    window_start: Values,
    window_end: Values,
) -> tuple[Values, NDArray[np.uint8]]:
    """Mean wear power in W and regime (0 stick, 1 stick-slip, 2 slip-slip); all of shape (n,)."""
    wear, regime = np.empty(len(mass)), np.empty(len(mass), np.uint8)
    for i in range(len(mass)):
        wear[i], regime[i] = _point(
            mass[i],
            gravity[i],
            friction[i],
            base_acceleration[i],
            angular_frequency[i],
            window_start[i],
            window_end[i],
        )
    return wear, regime


@njit(cache=False, nogil=True, error_model="numpy")
def _point(mass, gravity, friction, base, omega, window_start, window_end):
    limit, limit_rest = _product(friction, gravity)
    eta, excess = limit / base, ((base - limit) - limit_rest) / base
    start_cycle, start_phase = _moment(omega, window_start)
    end_cycle, end_phase = _moment(omega, window_end)
    window = _between(start_cycle, start_phase, end_cycle, end_phase)
    if excess <= 0.0:
        return 0.0, 0
    crossing_swing = sqrt(excess * (1.0 + eta))
    crossing = atan2(eta, crossing_swing)
    cycle, phase, sign, swing, rate = 0.0, 0.0, 1.0, 0.0, 0.0
    slipping = ever_stuck = ever_slipped = False
    wear = 0.0
    while True:
        if not slipping:
            forward, backward = _wait(phase, crossing), _wait(phase + pi, crossing)
            length = min(forward, backward)
            to_start = _between(cycle, phase, start_cycle, start_phase)
            to_end = _between(cycle, phase, end_cycle, end_phase)
            share = min(max(to_end, 0.0), length) - min(max(to_start, 0.0), length)
            ever_stuck |= share > 10.0 * ROUNDING
            if to_end <= length:
                break
            cycle, phase = _later(cycle, phase, length)
            sign = 1.0 if forward <= backward else -1.0
            swing, rate, slipping = crossing_swing, 0.0, True
        length, versine, defect = _end(rate, swing, eta)
        to_start = _between(cycle, phase, start_cycle, start_phase)
        to_end = _between(cycle, phase, end_cycle, end_phase)
        inside_from, inside_to = min(max(to_start, 0.0), length), min(max(to_end, 0.0), length)
        if inside_to > inside_from:
            ever_slipped = True
            if inside_to < length:
                _, versine, defect = _circular(inside_to)
            wear += _distance(rate, swing, eta, inside_to, versine, defect)
            if inside_from > 0.0:
                _, versine, defect = _circular(inside_from)
                wear -= _distance(rate, swing, eta, inside_from, versine, defect)
        cycle, phase = _later(cycle, phase, length)
        if _between(cycle, phase, end_cycle, end_phase) <= 0.0:
            break
        sign = -sign
        swing, rate = sign * cos(phase), sign * sin(phase) - eta
        slipping = rate > ROUNDING
    regime = (1 if ever_stuck else 2) if ever_slipped else 0
    return mass * gravity * (base / omega) * (wear / window), regime


@njit(cache=False, nogil=True, error_model="numpy")
def _product(a, b):
    """The product of a and b, and its rounding error (Dekker)."""
    product = a * b
    a_high, b_high = a * 134217729.0, b * 134217729.0
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


@njit(cache=False, nogil=True, error_model="numpy")
def _moment(omega, time):
    """The moment of a time: whole cycles, and the phase within the cycle."""
    angle, rest = _product(omega, time)
    whole = floor(angle / TWO_PI)
    phase, phase_rest = _product(whole, TWO_PI)
    return whole, (angle - phase) - phase_rest + (rest - whole * TWO_PI_REST)


@njit(cache=False, nogil=True, error_model="numpy")
def _between(from_cycle, from_phase, to_cycle, to_phase):
    return (to_cycle - from_cycle) * TWO_PI + (to_phase - from_phase)


@njit(cache=False, nogil=True, error_model="numpy")
def _later(cycle, phase, wait):
    phase += wait
    whole = floor(phase / TWO_PI)
    return cycle + whole, (phase - whole * TWO_PI) - whole * TWO_PI_REST


@njit(cache=False, nogil=True, error_model="numpy")
def _wait(angle, crossing):
    """How long from this angle of a side's sinusoid to the crossing; 0 if just passed."""
    angle -= TWO_PI * floor((angle + 0.5 * pi) / TWO_PI + 0.5)
    return max(crossing - angle, 0.0)


@njit(cache=False, nogil=True, error_model="numpy")
def _circular(u):
    """The sine, the versine 1 − cos u and the defect u − sin u, to full relative accuracy."""
    half_sine, half_cosine = sin(0.5 * u), cos(0.5 * u)
    sine, versine = 2.0 * half_sine * half_cosine, 2.0 * half_sine * half_sine
    if u > 1.0:
        return sine, versine, u - sine
    x = u * u
    term = 1.0 / 6.0 - x * (1.0 / 120.0 - x * _defect_tail(x))
    return sine, versine, u * x * term


@njit(cache=False, nogil=True, error_model="numpy")
def _defect_tail(x):
    total = 1.0 / 355687428096000.0
    total = 1.0 / 1307674368000.0 - x * total
    total = 1.0 / 6227020800.0 - x * total
    total = 1.0 / 39916800.0 - x * total
    total = 1.0 / 362880.0 - x * total
    return 1.0 / 5040.0 - x * total


@njit(cache=False, nogil=True, error_model="numpy")
def _distance(rate, swing, eta, u, versine, defect):
    quartic = _short_quartic(u) if u < 1.0 else 0.5 * u * u - versine
    return rate * versine + (swing * defect - eta * quartic)


@njit(cache=False, nogil=True, error_model="numpy")
def _short_quartic(u):
    x = u * u
    total = 1.0 / 20922789888000.0
    total = 1.0 / 87178291200.0 - x * total
    total = 1.0 / 479001600.0 - x * total
    total = 1.0 / 3628800.0 - x * total
    total = 1.0 / 40320.0 - x * total
    total = 1.0 / 720.0 - x * total
    return x * x * (1.0 / 24.0 - x * total)


@njit(cache=False, nogil=True, error_model="numpy")
def _guess(rate, swing, eta):
    a = (2.0 * eta + rate) / 6.0
    if (1.7 * a - swing) * 1.7 > 2.0 * rate:
        root = sqrt(swing * swing + 8.0 * rate * a)
        return (swing + root) / (2.0 * a) if swing > 0.0 else 4.0 * rate / (root - swing)
    rest = swing - pi / 3.0 * eta
    if (2.2 * rest - 2.0 * rate) * 2.2 > 4.0 * pi * eta:
        return TWO_PI - (rate + sqrt(rate * rate + 4.0 * pi * eta * rest)) / rest
    value, first, second = swing - 0.5 * pi * eta, -(0.5 * rate + eta), -0.25 * pi * eta
    guess = pi - 2.0 * value * first / (2.0 * first * first - value * second)
    return min(max(guess, 1.0), 5.5)


@njit(cache=False, nogil=True, error_model="numpy")
def _end(rate, swing, eta):
    """The end of a slip, with its versine and defect."""
    low, high, u = 0.0, TWO_PI, _guess(rate, swing, eta)
    for _ in range(100):
        sine, versine, defect = _circular(u)
        inverse = 1.0 / versine
        cotangent, ratio = sine * inverse, defect * inverse
        slope = 1.0 - ratio * cotangent
        bend = ratio * inverse - slope * cotangent
        value = swing + rate * cotangent - eta * ratio
        first = -(rate * inverse + eta * slope)
        second = rate * cotangent * inverse - eta * bend
        step = 2.0 * value * first / (2.0 * first * first - value * second)
        if value > 0.0:
            low = u
        else:
            high = u
        next_u = u - step
        near = abs(step) <= 1e-6 * min(u, TWO_PI - u)
        if not near and not low < next_u < high:
            next_u = 0.5 * (low + high)
        step, u = next_u - u, next_u
        if near or high - low <= 2.3e-16 * high:
            break
    # A step so short needs no new sine.
    turned = sine + 0.5 * step * (1.0 - versine)
    return u, versine + step * turned, defect + step * (versine + 0.5 * step * sine)
