"""The shaking read from a table, between whose entries it is interpolated: what that changes.

No spring. Between two entries the plane's acceleration is a straight line, the mass's speed a
parabola and its way a cubic, so every slip is followed from event to event without a step of time.
It shares nothing with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from sweep.verify.sdnd104.published import SYSTEM, TABLE_INTERVALS, TABLE_LENGTH

OMEGA = SYSTEM["angular_frequency"]
GRIP = SYSTEM["friction"] * SYSTEM["gravity"]  # m/s², the greatest that friction gives the mass
LOAD = SYSTEM["mass"] * SYSTEM["gravity"]  # N


def sine_table(intervals: int = TABLE_INTERVALS) -> Callable[[float], float]:
    """sin ωt of the time in s, interpolated linearly over TABLE_LENGTH."""
    step = TABLE_LENGTH / intervals
    entries = [math.sin(OMEGA * i * step) for i in range(intervals + 1)]

    def sine(time: float) -> float:
        place = time / step
        i = min(int(place), intervals - 1)
        return entries[i] + (entries[i + 1] - entries[i]) * (place - i)

    return sine


def true_sine(time: float) -> float:
    """sin ωt itself."""
    return math.sin(OMEGA * time)


def wear_power(
    amplitude: float, window: tuple[float, float], intervals: int = TABLE_INTERVALS
) -> float:
    """Mean of N|v| [W] over the window (s) at a base acceleration of that amplitude (m/s²)."""
    start, end = window
    sine, step = sine_table(intervals), TABLE_LENGTH / intervals
    times = sorted({*(i * step for i in range(intervals + 1)), start, end})
    mass, distance = _Mass(), 0.0
    for begin, then in pairwise(times):
        first, last = amplitude * sine(begin), amplitude * sine(then)
        slipped = mass.cross(then - begin, first, (last - first) / (then - begin))
        if start <= begin < end:
            distance += slipped
    return LOAD * distance / (end - start)


class _Mass:
    """The mass on the plane, from rest: relative speed, and sense of slip (0: stuck)."""

    def __init__(self) -> None:
        self.speed = self.sense = 0.0

    def cross(self, length: float, first: float, rate: float) -> float:
        """Go through a stretch of that length (s), the plane at first + rate·t; the way slipped."""
        at = distance = 0.0
        while at < length:
            push = first + rate * at
            if self.sense == 0:
                at = self._wait(at, length, push, rate)
                continue
            a, b = -push - self.sense * GRIP, -rate
            stop, rest = _stop(self.speed, self.sense, a, b), length - at
            t = min(stop, rest)
            distance += self.sense * t * (self.speed + t * (a / 2 + t * b / 6))
            self.speed += t * (a + t * b / 2)
            at += t
            if stop < rest:
                self.speed, self.sense = 0.0, _sense(first + rate * at)
            else:
                return distance
        return distance

    def _wait(self, at: float, length: float, push: float, rate: float) -> float:
        """Until friction no longer holds the mass, or the stretch ends."""
        self.sense = _sense(push)
        if self.sense != 0 or rate == 0:
            return at if self.sense != 0 else length
        onset = at + (math.copysign(GRIP, rate) - push) / rate
        if onset < length:
            self.sense = -math.copysign(1.0, rate)
        return min(onset, length)


def _sense(push: float) -> float:
    """Which way the plane's acceleration makes the resting mass slip; 0 if friction holds it."""
    return -math.copysign(1.0, push) if abs(push) > GRIP else 0.0


def _stop(speed: float, sense: float, a: float, b: float) -> float:
    """The first t > 0 at which speed + a·t + b·t²/2 is 0 again, inf if none is."""
    if speed == 0:
        turns = sense * a > 0 and sense * b < 0
        return -2 * a / b if turns else math.inf
    under_root = a * a - 2 * b * speed
    if under_root < 0:
        return math.inf
    q = -(a + math.copysign(math.sqrt(under_root), a))
    roots = (q / b if b else math.inf, 2 * speed / q if q else math.inf)
    return min((root for root in roots if root > 0), default=math.inf)
