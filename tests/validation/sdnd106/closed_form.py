"""The two masses of SDND106 in closed form: stick, slip while the force acts and after, stick.

In slip the mean position of the masses is a polynomial in time, and their distance x₂ − x₁
oscillates with √(2k/m); in stick it oscillates with √(k/m).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from tests.validation.comparison import constants

SYSTEM = constants("sdnd106/system.csv")
SCAN_STEP = 1e-3  # s; the first mass does not stop and slip again within it


class State(NamedTuple):
    """Positions [m] and velocities [m/s] of the masses; `x1` is that of the one that rubs."""

    x1: float
    v1: float
    x2: float
    v2: float


@dataclass(frozen=True)
class Motion:
    """The phases of the motion, each a function of the time since it begins [s]."""

    begins: tuple[float, ...]  # s
    phases: tuple[Callable[[float], State], ...]

    def at(self, time: float) -> State:
        """The state at a time [s]."""
        phase = bisect_right(self.begins, time) - 1
        return self.phases[phase](time - self.begins[phase])

    @property
    def arrest(self) -> float:
        """When the first mass sticks for good [s]."""
        return self.begins[-1]


def motion(load_time: float, unload_time: float = 0.0) -> Motion:
    """The motion under a force that is whole for `load_time` [s], then falls evenly to 0."""
    force = SYSTEM["load"]
    own_frequency = math.sqrt(SYSTEM["stiffness"] / SYSTEM["mass"])
    release = math.acos(1 - SYSTEM["static_force"] / force) / own_frequency
    rate = force / unload_time if unload_time else 0.0  # N/s
    unloaded = load_time + unload_time
    first = partial(_stick, State(0, 0, 0, 0), force)
    loaded = partial(_slip, first(release), force, 0.0)
    unloading = partial(_slip, loaded(load_time - release), force, rate)
    free = partial(_slip, unloading(unload_time), 0.0, 0.0)
    slip_left = _first_stop(free)
    last = partial(_stick, free(slip_left), 0.0)
    return Motion(
        begins=(0.0, release, load_time, unloaded, unloaded + slip_left),
        phases=(first, loaded, unloading, free, last),
    )


def _stick(start: State, force: float, t: float) -> State:
    """The state a time t after the start: the spring holds the second mass alone."""
    frequency = math.sqrt(SYSTEM["stiffness"] / SYSTEM["mass"])
    rest = start.x1 + force / SYSTEM["stiffness"]
    x2, v2 = _oscillation(start.x2 - rest, start.v2, frequency, t)
    return State(start.x1, 0.0, rest + x2, v2)


def _slip(start: State, force: float, rate: float, t: float) -> State:
    """The same in slip, under a force that decreases at a rate [N/s]."""
    m, k, friction = SYSTEM["mass"], SYSTEM["stiffness"], SYSTEM["kinetic_force"]
    a, jerk = (force - friction) / (2 * m), -rate / (2 * m)  # of the mean
    mean_speed = (start.v1 + start.v2) / 2
    mean = (start.x1 + start.x2) / 2 + mean_speed * t + a * t**2 / 2 + jerk * t**3 / 6
    mean_speed += a * t + jerk * t**2 / 2
    rest, drift = (force + friction) / (2 * k), -rate / (2 * k)  # of the distance
    beyond, speed = start.x2 - start.x1 - rest, start.v2 - start.v1 - drift
    distance, speed = _oscillation(beyond, speed, math.sqrt(2 * k / m), t)
    half, half_speed = (rest + drift * t + distance) / 2, (drift + speed) / 2
    return State(mean - half, mean_speed - half_speed, mean + half, mean_speed + half_speed)


def _oscillation(x: float, v: float, frequency: float, t: float) -> tuple[float, float]:
    """Displacement and velocity of a free oscillator a time t after it has these."""
    c, s = math.cos(frequency * t), math.sin(frequency * t)
    return x * c + v / frequency * s, v * c - x * frequency * s


def _first_stop(slip: Callable[[float], State]) -> float:
    """When the first mass stops, to rounding [s]."""
    end = SCAN_STEP
    while slip(end).v1 > 0:
        end += SCAN_STEP
    begin = end - SCAN_STEP
    while begin < (middle := (begin + end) / 2) < end:
        begin, end = (middle, end) if slip(middle).v1 > 0 else (begin, middle)
    return end
