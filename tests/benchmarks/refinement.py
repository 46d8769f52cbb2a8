"""Points that refinement saves for the same regimes.

configs/wear_power_refined.toml is compared with the whole grid of its finest level.
"""

from __future__ import annotations

import time

import numpy as np

import sweep
from sweep.file import load
from sweep.results.refined import cells_of, on_grid
from tests.benchmarks.record import Figure

FEWER = 20  # times, at least
LEVELS = 5


def measure(quick: bool) -> list[Figure]:
    levels = 3 if quick else LEVELS
    name, changed = "wear_power_refined", [f"refine.levels={levels}"]
    sweep.run(name, ["refine.levels=1"], store=None)  # compiles, and imports what is imported late
    began = time.process_time()
    refined = sweep.run(name, changed, store=None, workers=1)
    seconds = time.process_time() - began
    gridded, plan = on_grid(refined), load(name).sweep
    whole = {
        "model": plan.model.name,
        "outputs": [output.name for output in plan.outputs],
        "parameters": dict(plan.constants),
        "axes": {axis.name: {"values": gridded[axis.name].values.tolist()} for axis in plan.axes},
    }
    began = time.process_time()
    full = sweep.run(whole, store=None, workers=1)
    ratio = (time.process_time() - began) / seconds
    regime = full["regime"].values.astype(np.int64)
    corners = np.stack([regime[:-1, :-1], regime[1:, :-1], regime[:-1, 1:], regime[1:, 1:]])
    border = np.flatnonzero(np.ptp(corners, axis=0))
    is_refined = np.isin(border, cells_of(refined).mesh.cells[-1])
    wrong = np.count_nonzero(gridded["regime"].values != regime)
    off = np.abs(gridded["wear_power"].values - full["wear_power"].values).max()
    return [
        Figure("points refined", refined.sizes["point"], "points"),
        Figure("points of the whole grid", regime.size, "points"),
        Figure(
            "points saved", regime.size / refined.sizes["point"], "times fewer",
            at_least=None if levels < LEVELS else FEWER,
        ),
        Figure("regimes that differ", wrong, "points", at_most=0),
        Figure("border cells of the whole grid", border.size, "cells"),
        Figure("border cells missed", np.count_nonzero(~is_refined), "cells", at_most=0),
        Figure("wear power between points: worst", off / full["wear_power"].values.max(), "of max"),
        Figure("processor time of the whole grid to refined", ratio, "", note="one thread"),
    ]  # fmt: skip
