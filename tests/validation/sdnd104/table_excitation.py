"""The exact wear power when the excitation is read from a table with linear interpolation.

Without spring. Between two entries the acceleration of the plane is linear in time, the velocity of
the mass a parabola and its position a cubic, so every slip is followed from event to event without
a time step. It shares no code with the kernels.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

OMEGA = 2 * math.pi  # 1/s
GRIP, LOAD = 1.0, 10.0  # μg in m/s², mg in N
START, END = 4.0, 12.0  # s, the window; the table begins at 0 and ends with the window


def wear_power(amplitude: float, intervals: int = 10_000) -> float:
    """Mean of N|v| [W] over the window at this amplitude of the base acceleration [m/s²]."""
    entries = [END * i / intervals for i in range(intervals + 1)]
    table = [amplitude * math.sin(OMEGA * time) for time in entries]
    times = np.union1d(entries, START)  # no entry need be at the start of the window
    pushes = np.interp(times, entries, table)
    speed = direction = distance = 0.0
    for (begin, first), (end, last) in pairwise(zip(times.tolist(), pushes.tolist(), strict=True)):
        rate = (last - first) / (end - begin)
        speed, direction, slip = _advance(speed, direction, end - begin, first, rate)
        distance += slip if begin >= START else 0.0
    return LOAD * distance / (END - START)


def _advance(
    speed: float, direction: float, length: float, push: float, rate: float
) -> tuple[float, float, float]:
    """Relative speed, direction of slip (0: stuck) and slip distance after `length` [s].

    The plane accelerates at push + rate·t.
    """
    distance = 0.0
    while length > 0:
        if direction == 0:
            wait = 0.0
            if abs(push) <= GRIP:
                wait = (math.copysign(GRIP, rate) - push) / rate if rate else math.inf
            if wait >= length:
                break
            direction = -math.copysign(1.0, rate if wait else push)
            push, length = push + rate * wait, length - wait
        a, b = -push - direction * GRIP, -rate
        stop = _stop(speed, direction, a, b)
        t = min(stop, length)
        distance += direction * t * (speed + t * (a / 2 + t * b / 6))
        speed, push, length = speed + t * (a + t * b / 2), push + rate * t, length - t
        if t == stop:
            speed = direction = 0.0
    return speed, direction, distance


def _stop(speed: float, direction: float, a: float, b: float) -> float:
    """The first t > 0 at which speed + a·t + b·t²/2 is 0 again, inf if there is none."""
    if speed == 0:
        turns = direction * a > 0 and direction * b < 0
        return -2 * a / b if turns else math.inf
    discriminant = a * a - 2 * b * speed
    if discriminant < 0:
        return math.inf
    q = -(a + math.copysign(math.sqrt(discriminant), a))
    roots = (q / b if b else math.inf, 2 * speed / q if q else math.inf)
    return min((root for root in roots if root > 0), default=math.inf)
