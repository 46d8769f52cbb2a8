"""SDNL111: an elastic bar strikes another one, whose far end is fixed (Code_Aster). SI units.

The struck ends are at x = 0; the first bar moves towards negative x.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sweep.theory import beams
from tests.oracles.linear_contacts import Contact, Motion, follow, row, start, structure
from tests.validation.comparison import Ours, computed, constants, figures
from tests.validation.modal import Modes, Values, modal_model

SYSTEM = constants("sdnl111/system.csv")
LENGTH, STIFFNESS, DAMPER = (
    SYSTEM[name] for name in ("length", "contact_stiffness", "contact_damping")
)
WAVE_SPEED = math.sqrt(SYSTEM["modulus"] / SYSTEM["density"])
OURS, CODE_ASTER = 8, 20  # modes of each bar
END, CLOSEST_LOOK = 1.02e-3, 1e-6  # s


def compute() -> Ours:
    published = figures("sdnl111/published.csv", float)
    ours = _by_model([*published])["displacement"].to_numpy()
    exact = {n: motion(n) for n in (OURS, CODE_ASTER)}
    struck = {n: bars(n)[1] for n in exact}
    rows = [
        {
            "time": time * 1e3,
            **published[time],
            "waves": _by_waves(time),
            "ours": float(ours[i]),
            **{
                f"exact_{n}": float(struck[n] @ motion.at(time)[: 2 * n])
                for n, motion in exact.items()
            },
        }
        for i, time in enumerate(published)
    ]
    others = {f"ends_{n}": motion.closures(0)[0][1] * 1e3 for n, motion in exact.items()}
    others["length_over_speed"] = LENGTH / WAVE_SPEED * 1e3
    return Ours({"waves": rows, "modes": rows}, others)


def _by_waves(time: float) -> float:
    """The displacement of the struck end if the ends meet without a spring between them.

    The end has half of the speed until the wave in the first bar is back from its free end, moves
    back with as much until the wave in the second bar is back from its fixed end, and then
    leaves it with the whole speed.
    """
    turn = 2 * LENGTH / WAVE_SPEED
    return SYSTEM["speed"] * (
        -min(time, turn) / 2 + max(min(time - turn, turn), 0) / 2 + max(time - 2 * turn, 0)
    )


def bars(n: int) -> tuple[Modes, Values, Values]:
    """n modes of each bar, and their shapes at the end of the first and of the second."""
    area = SYSTEM["height"] ** 2
    material = (LENGTH, SYSTEM["modulus"] * area, SYSTEM["density"] * area)
    ends = (("free", "free"), ("free", "clamped"))
    frequency = np.concatenate([beams.bar_frequencies(n, each, *material) for each in ends])
    mass = beams.modal_masses(2 * n, LENGTH, SYSTEM["density"] * area)
    first, second = (beams.bar_shapes([0.0], n, each, LENGTH)[0] for each in ends)
    none = np.zeros(n)
    return (
        Modes(mass, frequency, 2 * SYSTEM["damping_ratio"] * mass * frequency),
        np.concatenate([first, none]),
        np.concatenate([none, second]),
    )


def _velocities(n: int) -> Values:
    """The first bar moves as a whole, which is its first mode."""
    velocities = np.zeros(2 * n)
    velocities[0] = -SYSTEM["speed"]
    return velocities


def _by_model(times: list[float]) -> Any:
    modes, first, second = bars(OURS)
    model = modal_model(
        "two_bars", modes,
        {"first": first, "approach": second - first},
        force="-approach*push",
        definitions={
            "overlap": "sum(mode, approach*q)",
            "closing": "sum(mode, approach*v)",
            "push": f"where(overlap > 0, max({STIFFNESS}*overlap + {DAMPER}*closing, 0), 0)",
        },
        outputs={"displacement": {"final": "sum(mode, first*q)"}},
        velocities=_velocities(OURS),
        scale=1e-5,
    )  # fmt: skip
    axes = {"window_end": times}
    return computed(model, "dop853", ["displacement"], {"relative_tolerance": 1e-12}, axes)


def motion(n: int) -> Motion:
    """The exact motion with n modes of each bar."""
    modes, first, second = bars(n)
    approach = second - first
    overlap, closing = row(approach), row(np.zeros(2 * n), approach)
    force = STIFFNESS * overlap + DAMPER * closing
    contact = Contact([overlap, force], force, row(np.zeros(2 * n), -approach / modes.mass))
    begin = start(np.zeros(2 * n), _velocities(n))
    return follow(structure(*modes.matrices()), [contact], begin, END, CLOSEST_LOOK)
