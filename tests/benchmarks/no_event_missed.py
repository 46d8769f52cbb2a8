"""Slip phases of random points against a brute-force scan: no event missed, none invented.

Points are compared if two resolutions of the scan agree and no decision was closer than 1e-9; the
others are counted. Sprung, damped and shaken points are included.
"""

from __future__ import annotations

import numpy as np

from tests.benchmarks.record import Figure
from tests.cases import compute
from tests.cases.friction_oscillator import NAMES, ours
from tests.oracles.friction_scan import random_points, scan

SEED = 20240
STEPS = (2048, 4096)  # to a cycle, of the two scans
LEAST_MARGIN = 1e-9
MOST_LEFT_OUT = 1e-3  # of the points


def measure(quick: bool) -> list[Figure]:
    n = 2000 if quick else 100_000
    parameters = random_points(n, SEED)
    coarse, fine = (scan(parameters, steps) for steps in STEPS)
    outputs = compute(ours(parameters), outputs=["slip_phases"])
    agree = coarse["slip_phases"] == fine["slip_phases"]
    kept = agree & (fine["margin"] > LEAST_MARGIN)
    wrong = kept & (outputs["slip_phases"] != fine["slip_phases"])
    for i in np.flatnonzero(wrong):
        point = {NAMES[name]: float(values[i]) for name, values in parameters.items()}
        print(f"{outputs['slip_phases'][i]} slips, the scan {fine['slip_phases'][i]}: {point}")
    slips = fine["slip_phases"][kept].sum()
    return [
        Figure("points compared", np.count_nonzero(kept), "points", note=f"{slips:,} slips"),
        Figure("points whose slips differ", np.count_nonzero(wrong), "points", at_most=0),
        Figure("points not ok", np.count_nonzero(outputs["status"]), "points", at_most=0),
        Figure("left out: scans disagree", np.count_nonzero(~agree), "points"),
        Figure("left out: margin too small", np.count_nonzero(agree & ~kept), "points"),
        Figure("left out", np.count_nonzero(~kept) / n, "", at_most=MOST_LEFT_OUT),
    ]
