"""Spring steps per second of the time-stepping methods on one core, compared with numba.

A point has 4096 springs over two cycles of 1000 steps, with a friction at which all of them slip,
so that none is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sweep.models import models
from tests.benchmarks.peers import mdr_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.speeds import (
    SCALAR_NUMBA,
    SIMD_NUMBA,
    Outputs,
    Peer,
    Speed,
    figures,
    values_at_points,
)
from tests.points import Case, Values, case_at

PEERS = {
    "time_stepping": (SIMD_NUMBA, mdr_numba.time_stepping),
    "time_stepping_2": (SCALAR_NUMBA, mdr_numba.time_stepping_2),
}
STEPS, SPRINGS = 1000, 4096
CYCLES = 2
LEAST_SPEED = 1e9  # spring steps a second on one core
AGREEMENT = 1e-11  # with numba, relative: the order of sums differs
OUTPUTS = ("normalized_energy", "stick_radius", "regime")


def measure(quick: bool) -> list[Figure]:
    return figures(_speeds(4 if quick else 60), quick)


def _speeds(count: int) -> Iterator[Speed]:
    model = models()["mdr_contact"]
    work = float(count * SPRINGS * STEPS * CYCLES)
    for method in model.methods:
        if method.name in PEERS:
            name = f"{method.name}, all slip"
            case = case_at(name, model, method, _values(count), count, outputs=OUTPUTS)
            yield Speed(case, work, "spring steps", LEAST_SPEED, _numba(case))


def _values(count: int) -> Values:
    return {
        "beta": np.linspace(0.3, 0.6, count),
        "delta": np.array([1.5]),
        "phase": np.array([1.0]),
        "steps_per_cycle": np.array([float(STEPS)]),
        "springs": np.array([float(SPRINGS)]),
    }


def _numba(case: Case) -> Peer:
    name, peer = PEERS[case.sweep.method.name]
    values = values_at_points(case, "beta", "delta", "phase")

    def solve() -> Outputs:
        return {"normalized_energy": peer(*values, STEPS, SPRINGS)}

    return Peer(name, solve, AGREEMENT)
