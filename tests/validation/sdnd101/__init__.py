"""SDND101: a mass on a spring against an elastic stop (Code_Aster).

Figures of a contact by name: peak_time [s], peak_force [N], duration [s], impulse [N s], and
speed [m/s] at its beginning.
"""

from __future__ import annotations

import math
from itertools import pairwise

from tests.validation.comparison import Ours, computed, constants, csv_rows

SYSTEM = constants("sdnd101/system.csv")
STEP = 5e-4  # s, Code_Aster's
N_STEPS = 990  # up to the end of its evaluation
OUTPUTS = ("peak_times", "peak_forces", "contact_times", "impulses", "impact_speed")
UNITS = {"peak_time": "s", "peak_force": "N", "duration": "s", "impulse": "N s", "speed": "m/s"}

Contact = dict[str, float]  # by the names of UNITS


def compute() -> Ours:
    """The first two contacts with the stop."""
    system = [SYSTEM[name] for name in ("mass", "stiffness", "wall_stiffness", "initial_speed")]
    exact, stepped = _closed_form(*system), _by_central_differences(*system)
    by_way = {"ours": _by_model(), "exact": exact, "stepped": stepped}
    contacts = [
        {
            "contact": row["contact"],
            "figure": f"{row['figure'].replace('_', ' ')} [{UNITS[row['figure']]}]",
            "document": float(row["document"]),
            "code_aster": float(row["code_aster"]),
            **{way: both[int(row["contact"]) - 1][row["figure"]] for way, both in by_way.items()},
        }
        for row in csv_rows("sdnd101/published.csv")
    ]
    impulses = [
        {"contact": contact, "stepped": stepped[i]["impulse"], "exact": exact[i]["impulse"]}
        for i, contact in enumerate(("1", "2"))
    ]
    return Ours({"contacts": contacts, "stepped": contacts, "impulses": impulses})


def _by_model() -> list[Contact]:
    """By the model in this folder, which does not have the speed of the first contact."""
    parameters = {**SYSTEM, "window_end": 0.5, "relative_tolerance": 1e-12}
    results = computed("sdnd101/elastic_stop.toml", "dop853", OUTPUTS, parameters, {})
    *series, (speed,) = (results[name].to_numpy().ravel().tolist() for name in OUTPUTS)
    speeds = (SYSTEM["initial_speed"], speed)
    return [_contact(*figures) for figures in zip(*series, speeds, strict=True)]


def _closed_form(m: float, k: float, K: float, v: float) -> list[Contact]:
    """Half a period with both springs, half a period with one, and so on."""
    pressed, free = math.pi * math.sqrt(m / (k + K)), math.pi * math.sqrt(m / k)
    force, impulse = K * v * math.sqrt(m / (k + K)), 2 * m * v * K / (k + K)
    return [
        _contact(pressed / 2 + i * (pressed + free), force, pressed, impulse, v) for i in range(2)
    ]


def _by_central_differences(m: float, k: float, K: float, velocity: float) -> list[Contact]:
    """By central differences with Code_Aster's step, as sums over its instants.

    The impulse is the sum of force times step, the duration runs from the instant before the
    contact to its last, and the speed is the mean one over the step in which it begins.
    """
    position, forces, speeds = 0.0, [0.0], [velocity]
    for _ in range(N_STEPS):
        position += STEP * velocity
        forces.append(K * max(position, 0.0))
        speeds.append(velocity)
        velocity -= STEP * (k * position + forces[-1]) / m
    begins = [i + 1 for i, (a, b) in enumerate(pairwise(forces)) if a == 0 < b]
    ends = [i + 1 for i, (a, b) in enumerate(pairwise(forces)) if b == 0 < a]
    contacts: list[Contact] = []
    for begin, end in zip(begins, ends, strict=True):
        pressed = forces[begin:end]
        peak, duration = begin + pressed.index(max(pressed)), STEP * (end - begin)
        impulse = STEP * sum(pressed)
        contacts.append(_contact(peak * STEP, max(pressed), duration, impulse, speeds[begin]))
    return contacts


def _contact(*figures: float) -> Contact:
    return dict(zip(UNITS, figures, strict=True))
