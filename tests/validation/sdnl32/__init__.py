"""SDNL32: a pinned beam falls on a spring under its tip (Code_Aster). SI units."""

from __future__ import annotations

from typing import Any

import numpy as np

from sweep.theory import beams
from tests.oracles.linear_contacts import Contact, follow, row, start, structure
from tests.validation.comparison import Ours, computed, constants, csv_rows
from tests.validation.modal import Modes, Values, modal_model

SYSTEM = constants("sdnl32/system.csv")
LENGTH = SYSTEM["length"]
TIP_VELOCITY = SYSTEM["turning"] * LENGTH
ENDS = ("pinned", "free")
OURS, MORE, MANY = 16, 21, 61  # numbers of modes, of which the first turns the beam
CLOSEST_LOOK = 5e-5  # s; the contacts take some ms


def compute() -> Ours:
    published = csv_rows("sdnl32/published.csv")
    times = sorted({float(each["time"]) for each in published})
    stiffnesses = sorted({float(each["stiffness"]) for each in published})
    ours = _by_model(times, stiffnesses)["displacement"]
    exact = {
        (n, stiffness): motion(n, stiffness, times)
        for n in (OURS, MORE, MANY)
        for stiffness in stiffnesses
    }
    rows: list[dict[str, float]] = [
        {
            "stiffness": (stiffness := float(each["stiffness"])),
            "time": (time := float(each["time"])),
            "document": float(each["document"]),
            "code_aster": float(each["code_aster"]),
            "ours": float(ours.sel(window_end=time, spring_stiffness=stiffness)),
            **{f"exact_{n}": exact[n, stiffness][time] for n in (OURS, MORE, MANY)},
        }
        for each in published
    ]
    others = {
        "n_modes": float(OURS),
        "tip_velocity": TIP_VELOCITY,
        "node_velocity": 0.6 * TIP_VELOCITY,  # of the seventh of eleven
        "largest_change": max(abs(row[f"exact_{MANY}"] - row[f"exact_{OURS}"]) for row in rows),
    }
    return Ours({"modes": rows, "figures": rows}, others)


def beam(n: int) -> tuple[Modes, Values]:
    """The first n modes, and their shapes at the tip."""
    section = beams.rectangle(SYSTEM["height"], SYSTEM["height"])
    stiffness = SYSTEM["modulus"] * section.second_moment
    mass = beams.modal_masses(n, LENGTH, SYSTEM["density"] * section.area)
    frequency = beams.beam_frequencies(n, ENDS, LENGTH, stiffness, mass[0] / LENGTH)
    damping = 2 * SYSTEM["damping_ratio"] * mass * frequency
    return Modes(mass, frequency, damping), beams.beam_shapes([LENGTH], n, ENDS, LENGTH)[0]


def _by_model(times: list[float], stiffnesses: list[float]) -> Any:
    modes, tip = beam(OURS)
    model = modal_model(
        "beam_on_a_spring", modes,
        {"shape": tip},
        force="shape*push",
        definitions={"tip": "sum(mode, shape*q)", "push": "spring_stiffness*max(-tip, 0)"},
        outputs={"displacement": {"final": "tip"}},
        parameters=["spring_stiffness"],
        velocities=_velocities(tip),
    )  # fmt: skip
    axes = {"window_end": times, "spring_stiffness": stiffnesses}
    return computed(model, "dop853", ["displacement"], {"relative_tolerance": 1e-12}, axes)


def motion(n: int, stiffness: float, times: list[float]) -> dict[float, float]:
    """The displacement of the tip at the times, exact for n modes."""
    modes, tip = beam(n)
    push = row(np.zeros(n), tip / modes.mass)
    spring = Contact([row(-tip)], stiffness * row(-tip), push)
    begin = start(np.zeros(n), _velocities(tip))
    found = follow(structure(*modes.matrices()), [spring], begin, times[-1], CLOSEST_LOOK)
    return {time: float(tip @ found.at(time)[:n]) for time in times}


def _velocities(tip: Values) -> Values:
    """A motion without bending is the first mode alone."""
    velocities = np.zeros_like(tip)
    velocities[0] = TIP_VELOCITY / tip[0]
    return velocities
