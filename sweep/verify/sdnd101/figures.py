"""Our figures for the comparison: by the model in this folder, and as Code_Aster steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sweep.verify.document import constants
from sweep.verify.runs import computed

FOLDER = Path(__file__).parent
SYSTEM = constants(FOLDER / "system.csv")
STEP = 5e-4  # s, Code_Aster's
N_STEPS = 990  # up to the end of its evaluation
OUTPUTS = ("peak_times", "peak_forces", "contact_times", "impulses", "impact_speed")


@dataclass(frozen=True)
class Contact:
    """One contact with the stop."""

    peak_time: float  # s
    peak_force: float  # N
    duration: float  # s
    impulse: float  # N s
    speed: float  # m/s, at its beginning


@dataclass(frozen=True)
class Figures:
    """The first two contacts by each way, as tuples in their order."""

    ours: tuple[Contact, ...]
    exact: tuple[Contact, ...]
    stepped: tuple[Contact, ...]


def compute() -> Figures:
    """All figures; takes some seconds, compilation included."""
    parameters = {**SYSTEM, "window_end": 0.5, "relative_tolerance": 1e-12}
    results = computed(str(FOLDER / "elastic_stop.toml"), "dop853", OUTPUTS, parameters, {})
    values = {name: results[name].to_numpy().ravel() for name in OUTPUTS}
    ours = tuple(
        Contact(
            *(float(values[name][i]) for name in OUTPUTS[:4]),
            speed=float(values["impact_speed"][0]) if i else SYSTEM["initial_speed"],
        )
        for i in range(2)
    )
    return Figures(ours, closed_form(SYSTEM), tuple(_contacts(SYSTEM)))


def closed_form(system: Mapping[str, float]) -> tuple[Contact, ...]:
    """Half a period with both springs, half a period with one, and so on."""
    m, k, K, v = (system[name] for name in ("mass", "stiffness", "wall_stiffness", "initial_speed"))
    pressed, free = math.pi * math.sqrt(m / (k + K)), math.pi * math.sqrt(m / k)
    force, impulse = K * v * math.sqrt(m / (k + K)), 2 * m * v * K / (k + K)
    return tuple(
        Contact(pressed / 2 + i * (pressed + free), force, pressed, impulse, v) for i in range(2)
    )


def _contacts(system: Mapping[str, float]) -> list[Contact]:
    """The contacts by central differences with Code_Aster's step, as sums over its instants.

    The impulse is the sum of force times step, the duration runs from the instant before the
    contact to its last, and the speed is the mean one over the step in which it begins.
    """
    m, k, K, velocity = (
        system[name] for name in ("mass", "stiffness", "wall_stiffness", "initial_speed")
    )
    position, forces, speeds = 0.0, [0.0], [velocity]
    for _ in range(N_STEPS):
        position += STEP * velocity
        forces.append(K * max(position, 0.0))
        speeds.append(velocity)
        velocity -= STEP * (k * position + forces[-1]) / m
    begins = [i + 1 for i, (a, b) in enumerate(pairwise(forces)) if a == 0 < b]
    ends = [i + 1 for i, (a, b) in enumerate(pairwise(forces)) if b == 0 < a]
    found: list[Contact] = []
    for begin, end in zip(begins, ends, strict=True):
        pressed = forces[begin:end]
        peak = begin + pressed.index(max(pressed))
        duration = STEP * (end - begin)
        found.append(
            Contact(peak * STEP, max(pressed), duration, STEP * sum(pressed), speeds[begin])
        )
    return found
