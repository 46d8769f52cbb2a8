"""A driven linear oscillator between rigid stops, in closed form from impact to impact.

x'' + c x' + k x = f cos(ωt) between the stops, and x' becomes -r x' there. Where impacts
accumulate, the mass rests until the force no longer presses it against the stop.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from dataclasses import dataclass, field
from math import acos, ceil, cos, inf, pi

from scipy.optimize import brentq

STEP = 0.01  # within which no impact and its successor occur, unless they accumulate
SLOW = 1e-5  # speeds, over the acceleration, at which the flights that follow are parabolas


@dataclass
class Impacts:
    """What happens at the stops, and the displacement at the end."""

    speeds: list[tuple[float, float]] = field(default_factory=list)  # the stop, and the speed
    resting: dict[float, float] = field(default_factory=dict)  # the time at each stop
    final: float = 0.0


@dataclass(frozen=True)
class Oscillator:
    """The coefficients of the equation; stops may be infinitely far away."""

    stiffness: float
    damping: float
    force: float
    omega: float
    restitution: float
    stops: tuple[float, float]

    def flight(self, t: float, x: float, v: float) -> Callable[[float], tuple[float, float]]:
        """Displacement and velocity as functions of the time since t."""
        w, c, k = self.omega, self.damping, self.stiffness
        steady = self.force * cmath.exp(1j * w * t) / (k - w * w + 1j * c * w)
        root = cmath.sqrt(c * c / 4 - k)
        first, second = -c / 2 + root, -c / 2 - root
        x, v = x - steady.real, v - (1j * w * steady).real
        a, b = (v - second * x) / (2 * root), (first * x - v) / (2 * root)

        def state(s: float) -> tuple[float, float]:
            forced = steady * cmath.exp(1j * w * s)
            one, two = a * cmath.exp(first * s), b * cmath.exp(second * s)
            return (
                (forced + one + two).real,
                (1j * w * forced + first * one + second * two).real,
            )

        return state

    def pressed(self, t: float, stop: float) -> float:
        """The acceleration of a mass at rest into its stop."""
        side = 1 if stop == self.stops[1] else -1
        return side * (self.force * cos(self.omega * t) - self.stiffness * stop)

    def leaves(self, t: float, stop: float) -> float:
        """When the force next lets go of the mass."""
        level = self.stiffness * stop / self.force
        if abs(level) > 1:
            return inf
        phase = acos(level) if stop == self.stops[1] else -acos(level)
        return (phase + 2 * pi * ceil((self.omega * t - phase) / (2 * pi))) / self.omega

    def outside(self, x: float) -> float:
        return max(x - self.stops[1], self.stops[0] - x)

    def motion(self, end: float) -> Impacts:
        """From rest at x = 0 and t = 0."""
        t, x, v, step, found = 0.0, 0.0, 0.0, STEP, Impacts()
        while True:
            state = self.flight(t, x, v)
            s = step
            while self.outside(state(s)[0]) < 0 and t + s < end:
                s += step
            if t + s >= end:
                found.final = state(end - t)[0]
                return found
            after = max(s - step, step / 2)
            s = brentq(lambda s, of=state: self.outside(of(s)[0]), after, s, xtol=1e-16)
            x, speed = state(s)
            stop = self.stops[abs(self.stops[1] - x) < abs(self.stops[0] - x)]
            speed, t, x, step = abs(speed), t + s, stop, STEP
            found.speeds.append((stop, speed))
            pressed = self.pressed(t, stop)
            speed *= self.restitution
            v = -speed if stop == self.stops[1] else speed
            if speed < SLOW * pressed:
                begin = t + 2 * speed / pressed / (1 - self.restitution)
                t, v = self.leaves(begin, stop), 0.0
                found.resting[stop] = found.resting.get(stop, 0.0) + min(t, end) - begin
                if t >= end:
                    found.final = stop
                    return found
            elif pressed > 0:
                step = min(STEP, speed / pressed / 2)
