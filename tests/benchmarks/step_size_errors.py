"""Errors of wear power of every scheme, compared with `exact` over the map of step_size.

The map has fewer points, the parameters of SDND104 and constant steps. The schemes become unstable
at different steps, so different points are left out as diverged; at one step all can be compared. A
fifth of the points stick throughout and count with no error. Relative errors are greatest where
there is little wear, near the borders of the regimes. There are no bounds: orders are fitted on
smooth motions in tests/models/test_schemes.py, and motions with kinks have none.
"""

from __future__ import annotations

import numpy as np

import sweep
from sweep.analysis.relative_errors import error_name, spread
from sweep.spec import Status
from tests.benchmarks.record import Figure

CONSTANT_STEPS = ("euler", "devogelaere", "adapt_ordre2", "rk54", "rk32")
ONE_STEP = 1e-4  # s


def measure(quick: bool) -> list[Figure]:
    steps, accelerations = (3, 8) if quick else (21, 80)
    over = f"step={{ geomspace = [1e-5, 1.5e-3, {steps}] }}"
    along = f"base_acceleration={{ geomspace = [0.5, 15.0, {accelerations}] }}"
    figures: list[Figure] = []
    for method in (*CONSTANT_STEPS, "moreau"):
        figures += _figures(method, "all steps", [over, along])
        figures += _figures(method, f"step {ONE_STEP:g} s", [f"step={ONE_STEP}", along])
    return figures


def _figures(method: str, where: str, axes: list[str]) -> list[Figure]:
    name = "step_size_moreau" if method == "moreau" else "step_size"
    chosen = [] if method == "moreau" else [f"method={method}", "tolerance=inf"]
    made = sweep.compare(sweep.run(name, overrides=[*chosen, *axes], store=None))
    errors = spread(made, error_name("wear_power"))
    diverged = np.count_nonzero(made["status"] == Status.diverged)
    place = ", ".join(f"{axis} = {float(value):.4g}" for axis, value in errors.where.items())
    title = f"{method}, {where}"
    return [
        Figure(f"{title}, median", errors.median, "1", note=_counted(errors.points, diverged)),
        Figure(f"{title}, worst", errors.worst, "1", note=f"at {place}"),
    ]


def _counted(points: int, diverged: int) -> str:
    return f"{points} points" + (f", {diverged} diverged" if diverged else "")
