"""Speed of the model `tube` with 16 modes, 8 in each plane, on 4 supports, beside numba."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.file.model_file import read_model
from sweep.theory import beams
from tests.benchmarks.peers import tube_numba
from tests.benchmarks.speeds import Peer, Speed
from tests.cases import case_at
from tests.cases.large import driven_tube

LENGTH, MODES, ENDS = 1.5, 8, ("clamped", "pinned")
SUPPORTS = {"a": 0.3, "b": 0.6, "c": 0.95, "d": 1.2}  # m
DRIVE = 0.75  # m
SCHEMES = {"rk54": (tube_numba.RK54, 1e-6), "dop853": (tube_numba.DOP853, 1e-9)}
GAP, DAMPING, RATE = 2e-4, 0.01, 150.0


def tables() -> tuple[NDArray[np.float64], ...]:
    """Angular frequencies, masses, shapes at the force and at the supports."""
    section = beams.tube(7.95e-3, 1.15e-3)
    per_length, bending = 7870 * section.area, 2.07e11 * section.second_moment
    places = [DRIVE, *SUPPORTS.values()]
    shapes = beams.beam_shapes(places, MODES, ENDS, LENGTH)
    frequencies = beams.beam_frequencies(MODES, ENDS, LENGTH, bending, per_length)
    return frequencies, beams.modal_masses(MODES, LENGTH, per_length), shapes[0], shapes[1:]


def model() -> dict[str, Any]:
    """The shipped file with more modes and supports, under a harmonic force."""
    content = driven_tube()
    content["parameters"]["gap"]["default"] = GAP
    content["parameters"]["damping"]["default"] = DAMPING
    content["tables"]["drive"] = {"over": "mode"}
    content["indices"] = {"mode": MODES, "support": [*SUPPORTS]}
    for name, numbers in zip(("omega", "mass", "drive", "shape"), tables(), strict=True):
        entry = content["tables"][name]
        content["tables"][name] = {"over": entry["over"], "values": numbers.tolist()}
        if "unit" in entry:
            content["tables"][name]["unit"] = entry["unit"]
    return content


def speeds(quick: bool) -> Iterator[Speed]:
    count, cycles = (8, 2) if quick else (64, 8)
    forces, end = np.linspace(5.0, 20.0, count), cycles * 2 * math.pi / RATE
    read = read_model(model(), Path())
    omega, *_ = tables()
    speed = 1e-4 * omega
    size = np.full(MODES, 1e-4)
    scales = np.concatenate([size, speed, size, speed, np.ones(len(SUPPORTS))])
    for method, (scheme, tolerance) in SCHEMES.items():
        chosen = next(each for each in read.methods if each.name == method)
        values = {"force": forces, "angular_frequency": [RATE], "window_end": [end]}
        values |= {"relative_tolerance": [tolerance]}
        columns = {name: np.asarray(each, np.float64) for name, each in values.items()}
        case = case_at(f"tube, {method}", read, chosen, columns, count, outputs=("wear_power",))
        theirs = partial(
            tube_numba.tube, forces, end, tolerance, tables(), np.full(len(SUPPORTS), GAP),
            (1e6, 5e5, 0.3, DAMPING, RATE), scales, scheme,
        )  # fmt: skip
        solve = partial(_first, theirs)
        yield Speed(case, count, peer=Peer("numba", solve, at_most=0.02, floor=0.1, at_least=1.0))


def _first(solve: Any) -> dict[str, NDArray[np.float64]]:
    return {"wear_power 0": solve()[:, 0]}
