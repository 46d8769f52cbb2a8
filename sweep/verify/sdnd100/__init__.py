"""SDND100: free oscillation of a mass on a rough plane (Code_Aster)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sweep.verify.document import Document, constants
from sweep.verify.document import figures as published
from sweep.verify.record import Record, Row
from sweep.verify.runs import computed

FOLDER = Path(__file__).parent
EXTREMES = published(FOLDER / "extremes.csv", int)  # by number of the turn
SYSTEM = constants(FOLDER / "system.csv")
ALONG_AXIS = np.sqrt(0.5)  # the motion is along 45°, the figures are one component


@dataclass(frozen=True, eq=False)
class Figures:
    """Of each turn: displacement along an axis [m] and time [s]."""

    extremes: NDArray[np.float64]
    times: NDArray[np.float64]


def compare() -> Record:
    """Every figure of the test beside ours; takes some seconds, compilation included."""
    return record_of(compute())


def compute() -> Figures:
    """The turns, by the model in this folder."""
    model, outputs = str(FOLDER / "sliding_mass.toml"), ("extremes", "turn_times")
    turns = computed(model, "dop853", outputs, SYSTEM, {})
    extremes, times = (turns[name].to_numpy().ravel() for name in outputs)
    return Figures(extremes * ALONG_AXIS, times)


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    return Document(FOLDER).plain_record({"turns": turns}, figures)


def turns(figures: Figures) -> Iterator[Row]:
    """The turns, with the closed form (u₀ − 2iμN/k) cos 45° at t = iπ√(m/k)."""
    step = 2 * SYSTEM["friction_force"] / SYSTEM["stiffness"]
    half_period = np.pi * np.sqrt(SYSTEM["mass"] / SYSTEM["stiffness"])
    for number, row in EXTREMES.items():
        left = SYSTEM["initial_displacement"] - number * step
        yield {
            "turn": f"{number}",
            "document": row["document"],
            "code_aster": row["code_aster"],
            "exact": float((-1) ** number * left * ALONG_AXIS),
            "ours": float(figures.extremes[number - 1]),
            "time": float(figures.times[number - 1]),
            "exact_time": float(number * half_period),
        }
