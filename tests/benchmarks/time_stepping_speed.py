"""Spring steps per second of the time-stepping methods on one core, compared with numba.

A point has 4096 springs over two cycles of 1000 steps, with a friction at which all of them slip,
so that none is skipped. In two rows sticking springs are skipped; one counts them and one does not.
Times are medians of the processor time of one thread, measured in turn. The limit is an estimate
from the counted vector operations of a spring: at the rate of alternating additions and
multiplications, or the multiplications at their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.backends.cpu import CpuBackend, Target
from sweep.request import Sweep
from sweep.source import kernel_of
from sweep.work import Column, Points
from tests.benchmarks.machine_limit import limit, share_of_limit
from tests.benchmarks.peers import mdr_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.timed import cpu_seconds
from tests.points import sweep_of

PEERS = {"time_stepping": mdr_numba.time_stepping, "time_stepping_2": mdr_numba.time_stepping_2}
LAID_OUT = {"time_stepping": "SIMD-blocked", "time_stepping_2": "scalar"}
PACKS = (1, 2, 3, 4)
STEPS, SPRINGS = 1000, 4096
CYCLES = 2
LEAST_SPEED = 1e9  # spring steps a second on one core
AGREEMENT = 1e-11  # with numba, relative: the order of sums differs


@dataclass(frozen=True)
class Case:
    """Points of one method; `computed` is how many of their springs are stepped."""

    name: str
    method: str
    sweep: Sweep
    points: Points
    computed: int

    @property
    def spring_steps(self) -> float:
        return float(self.computed * STEPS * CYCLES)

    def column(self, name: str) -> NDArray[np.float64]:
        values = self.points.columns[name].values
        return np.broadcast_to(values, self.points.n_points).copy()


def measure(quick: bool) -> list[Figure]:
    n, repeats = (4, 3) if quick else (60, 7)
    figures: list[Figure] = []
    for method in PEERS:
        slipping = _case("all slip", method, n, (0.3, 0.6), 1.5)
        figures += _limit_figures(slipping)
        for case in (slipping, _case("most stick", method, n, (2.0, 6.0), 0.1)):
            figures += _speed_figures(case, repeats)
            figures.append(_agreement(case))
    return figures


def _case(name: str, method: str, n: int, betas: tuple[float, float], delta: float) -> Case:
    beta = np.linspace(*betas, n)
    parameters = {
        "beta": beta,
        "delta": np.array([delta]),
        "phase": np.array([1.0]),
        "steps_per_cycle": np.array([float(STEPS)]),
        "springs": np.array([float(SPRINGS)]),
    }
    sweep = sweep_of(
        parameters, "mdr_contact", method, ("normalized_energy", "stick_radius", "regime")
    )
    defaults = {p.name: np.array([p.default], np.float64) for p in sweep.parameters}
    columns = {name: Column(parameters.get(name, value)) for name, value in defaults.items()}
    points = Points(n_points=n, columns=columns)
    computed = int(sum(_slipping(b, delta, 1.0) for b in beta))
    return Case(f"{method}, {name}", method, sweep, points, computed)


def _slipping(beta: float, delta: float, phase: float) -> int:
    """The number of springs that slip at some time."""
    middle = (np.arange(SPRINGS) + 0.5) * (np.sqrt(1 + delta) / SPRINGS)
    least = abs(np.exp(1j * phase) - beta) + abs(np.exp(1j * phase) + beta)
    return int(np.count_nonzero(2 * beta / delta * (1 - middle**2) < least))


def _limit_figures(case: Case) -> Iterator[Figure]:
    """The highest speed of this processor, and the operations it is estimated from."""
    columns = {name: Column(c.values[:1]) for name, c in case.points.columns.items()}
    peak = limit(case.sweep, Points(n_points=1, columns=columns))
    lanes = CpuBackend().library(kernel_of(case.sweep)).lanes // case.sweep.method.pack
    steps = SPRINGS * STEPS * CYCLES
    parts = {kind: n * lanes / steps for kind, n in peak.operations.items()}
    operations = ", ".join(f"{n:.2f} {kind}" for kind, n in parts.items() if n >= 0.005)
    rates = ", ".join(f"{rate / 1e9:.2f}e9 {kind}" for kind, rate in peak.rates.items())
    name = f"{case.method}: vector operations per spring step"
    yield Figure(name, sum(parts.values()), "", note=f"{operations}; on average over both cycles")
    yield Figure(
        f"{case.method}: limit of one core, estimated", steps / peak.seconds, "spring steps/s",
        note=f"{rates} vectors a second measured",
    )  # fmt: skip


def _speed_figures(case: Case, repeats: int) -> Iterator[Figure]:
    work = {"ours": _ours(case), "numba": _numba(case)}
    slips = case.computed == SPRINGS * case.points.n_points
    if slips:
        work |= {f"pack {pack}": _ours(case, Target(pack=pack)) for pack in PACKS}
        work["scalar build"] = _ours(case, Target(width=1, pack=1))
    seconds = cpu_seconds(work, repeats)
    for name, taken in seconds.items():
        bound = LEAST_SPEED if slips and name == "ours" else None
        speed = case.spring_steps / taken
        yield Figure(f"{case.name}: {name}", speed, "spring steps/s", at_least=bound)
    if not slips:
        every = SPRINGS * case.points.n_points * STEPS * CYCLES / seconds["ours"]
        note = f"{case.computed / (SPRINGS * case.points.n_points):.3f} of the springs are stepped"
        yield Figure(f"{case.name}: ours, all counted", every, "spring steps/s", note=note)
    ratio = seconds["numba"] / seconds["ours"]
    yield Figure(f"{case.name}: ours to {LAID_OUT[case.method]} numba", ratio, "times")
    yield share_of_limit(case.name, case.sweep, case.points, seconds["ours"])


def _ours(case: Case, target: Target | None = None) -> Callable[[], object]:
    backend = CpuBackend(target)
    backend.prepare(case.sweep, case.points)
    return lambda: backend.compute(case.sweep, case.points)


def _numba(case: Case) -> Callable[[], NDArray[np.float64]]:
    peer = PEERS[case.method]
    values = [case.column(name) for name in ("beta", "delta", "phase")]
    peer(*(v[:1] for v in values), 8, 64)  # compiled before it is timed
    return lambda: peer(*values, STEPS, SPRINGS)


def _agreement(case: Case) -> Figure:
    energies = CpuBackend().compute(case.sweep, case.points).arrays["normalized_energy"]
    error = float(np.abs(energies / _numba(case)() - 1).max())
    return Figure(f"{case.name}: difference from numba", error, "", at_most=AGREEMENT)
