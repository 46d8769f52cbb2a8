"""Spring steps per second of the time-stepping methods on one core, compared with numba.

A point has 4096 springs over two cycles of 1000 steps, with a friction at which all of them slip,
so that none is skipped. Where most stick, only springs that slip at some time are stepped and
counted.
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
from tests.points import Case, case_at

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
    for method in PEERS:
        for name, betas, delta, least in (
            ("all slip", (0.3, 0.6), 1.5, LEAST_SPEED),
            ("most stick", (2.0, 6.0), 0.1, None),
        ):
            beta = np.linspace(*betas, count)
            case = _case(f"{method}, {name}", method, beta, delta)
            stepped = sum(_slipping(each, delta, 1.0) for each in beta)
            work = float(stepped * STEPS * CYCLES)
            yield Speed(case, work, "spring steps", least, _numba(case))


def _case(name: str, method: str, beta: np.ndarray, delta: float) -> Case:
    model = models()["mdr_contact"]
    values = {
        "beta": beta,
        "delta": np.array([delta]),
        "phase": np.array([1.0]),
        "steps_per_cycle": np.array([float(STEPS)]),
        "springs": np.array([float(SPRINGS)]),
    }
    chosen = next(each for each in model.methods if each.name == method)
    return case_at(name, model, chosen, values, len(beta), outputs=OUTPUTS)


def _slipping(beta: float, delta: float, phase: float) -> int:
    """The number of springs that slip at some time."""
    middle = (np.arange(SPRINGS) + 0.5) * (np.sqrt(1 + delta) / SPRINGS)
    least = abs(np.exp(1j * phase) - beta) + abs(np.exp(1j * phase) + beta)
    return int(np.count_nonzero(2 * beta / delta * (1 - middle**2) < least))


def _numba(case: Case) -> Peer:
    name, peer = PEERS[case.sweep.method.name]
    values = values_at_points(case, "beta", "delta", "phase")

    def solve() -> Outputs:
        return {"normalized_energy": peer(*values, STEPS, SPRINGS)}

    return Peer(name, solve, AGREEMENT)
