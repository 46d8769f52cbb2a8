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
    mass, distance = _Mass(), 0.0
    for (begin, first), (end, last) in pairwise(zip(times.tolist(), pushes.tolist(), strict=True)):
        slipped = mass.cross(end - begin, first, (last - first) / (end - begin))
        if begin >= START:
            distance += slipped
    return LOAD * distance / (END - START)


class _Mass:
    """The mass on the plane, initially at rest: relative speed, and slip direction (0: stuck)."""

    def __init__(self) -> None:
        self.speed = self.direction = 0.0

    def cross(self, length: float, first: float, rate: float) -> float:
        """Advance by `length` [s] while the plane accelerates at first + rate·t; return the slip.

        The slip distance is in m.
        """
        time = distance = 0.0
        while time < length:
            push = first + rate * time
            if self.direction == 0:
                time = self._wait(time, length, push, rate)
                continue
            a, b = -push - self.direction * GRIP, -rate
            stop, rest = _stop(self.speed, self.direction, a, b), length - time
            t = min(stop, rest)
            distance += self.direction * t * (self.speed + t * (a / 2 + t * b / 6))
            self.speed += t * (a + t * b / 2)
            time += t
            if stop >= rest:
                return distance
            self.speed, self.direction = 0.0, _onset_direction(first + rate * time)
        return distance

    def _wait(self, time: float, length: float, push: float, rate: float) -> float:
        """The time at which friction no longer holds the mass, or `length`."""
        self.direction = _onset_direction(push)
        if self.direction != 0 or rate == 0:
            return time if self.direction != 0 else length
        onset = time + (math.copysign(GRIP, rate) - push) / rate
        if onset < length:
            self.direction = -math.copysign(1.0, rate)
        return min(onset, length)


def _onset_direction(push: float) -> float:
    """The direction in which the stuck mass starts to slip; 0 if friction holds it."""
    return -math.copysign(1.0, push) if abs(push) > GRIP else 0.0


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
