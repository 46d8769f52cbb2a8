"""SDND100: free oscillation of a mass on a rough plane (Code_Aster)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sweep.verify.document import Rows, constants, figures, record_of
from sweep.verify.record import Record, Row
from sweep.verify.runs import computed

FOLDER = Path(__file__).parent
EXTREMES = figures(FOLDER / "extremes.csv", int)  # by number of the turn
SYSTEM = constants(FOLDER / "system.csv")
ALONG_AXIS = np.sqrt(0.5)  # the motion is along 45°, the figures are one component


def compare() -> Record:
    """Every figure of the test beside ours; takes some seconds, compilation included."""
    return record_of(FOLDER, compute())


def compute() -> Rows:
    """The rows of the tables."""
    return {"turns": [*_turns()]}


def _turns() -> Iterator[Row]:
    """The turns, with the closed form (u₀ − 2iμN/k) cos 45° at t = iπ√(m/k)."""
    model, outputs = str(FOLDER / "sliding_mass.toml"), ("extremes", "turn_times")
    results = computed(model, "dop853", outputs, SYSTEM, {})
    extremes, times = (results[name].to_numpy().ravel() for name in outputs)
    step = 2 * SYSTEM["friction_force"] / SYSTEM["stiffness"]
    half_period = np.pi * np.sqrt(SYSTEM["mass"] / SYSTEM["stiffness"])
    for number, row in EXTREMES.items():
        left = SYSTEM["initial_displacement"] - number * step
        yield {
            "turn": f"{number}",
            "document": row["document"],
            "code_aster": row["code_aster"],
            "exact": float((-1) ** number * left * ALONG_AXIS),
            "ours": float(extremes[number - 1] * ALONG_AXIS),
            "time": float(times[number - 1]),
            "exact_time": float(number * half_period),
        }
