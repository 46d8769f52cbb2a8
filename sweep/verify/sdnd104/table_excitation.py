"""The exact wear power when the excitation is read from a table with linear interpolation.

Without spring. Between two entries the acceleration of the plane is linear in time, the velocity of
the mass a parabola and its position a cubic, so every slip is followed from event to event without
a time step. It shares no code with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from sweep.verify.sdnd104.published import GRIP, LOAD, OMEGA, TABLE_INTERVALS, TABLE_LENGTH


def sine_table(intervals: int = TABLE_INTERVALS) -> Callable[[float], float]:
    """sin ωt as a function of time [s], interpolated linearly over TABLE_LENGTH."""
    step = TABLE_LENGTH / intervals
    entries = [math.sin(OMEGA * i * step) for i in range(intervals + 1)]

    def sine(time: float) -> float:
        place = time / step
        i = min(int(place), intervals - 1)
        return entries[i] + (entries[i + 1] - entries[i]) * (place - i)

    return sine


def true_sine(time: float) -> float:
    """sin ωt without interpolation."""
    return math.sin(OMEGA * time)


def wear_power(
    amplitude: float, window: tuple[float, float], intervals: int = TABLE_INTERVALS
) -> float:
    """Mean of N|v| [W] over the window [s] at this amplitude of the base acceleration [m/s²]."""
    start, end = window
    sine, step = sine_table(intervals), TABLE_LENGTH / intervals
    times = sorted({*(i * step for i in range(intervals + 1)), start, end})
    mass, distance = _Mass(), 0.0
    for begin, stop in pairwise(times):
        first, last = amplitude * sine(begin), amplitude * sine(stop)
        slipped = mass.cross(stop - begin, first, (last - first) / (stop - begin))
        if start <= begin < end:
            distance += slipped
    return LOAD * distance / (end - start)


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
