"""Impact oscillators per second on one core: exact, Newmark, harmonic balance, and numba.

Times are medians of the processor time of one thread, measured in turn. Exact: the grid of the
backbone sweep with all outputs. Newmark: 1000 steps per period at SDND122's energies. Its steps are
half a period for each correction of the period, and a whole period with the disturbances; the numba
version makes the same corrections and counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sweep.backends.cpu import CpuBackend, Target
from sweep.config import load
from sweep.plan.point_columns import points
from sweep.request import Sweep
from sweep.work import Chunk, Points
from tests.benchmarks.machine_limit import share_of_limit
from tests.benchmarks.peers import impact_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.timed import cpu_seconds

LEAST_EXACT = 2e7  # points a second on one core
LEAST_NEWMARK = 3e8  # steps a second on one core
STEPS = 1000
PACKS = (1, 2, 3, 4)
AGREEMENT = 1e-12  # of frequencies, with numba


def measure(quick: bool) -> list[Figure]:
    repeats = 3 if quick else 7
    return [*_exact(quick, repeats), *_newmark(quick, repeats), *_harmonic_balance(quick)]


def _exact(quick: bool, repeats: int) -> Iterator[Figure]:
    sides = (40, 20, 20) if quick else (200, 100, 50)
    axes = (
        f"axes.energy = {{ geomspace = [1e-5, 1.0, {sides[0]}] }}",
        f"axes.wall_stiffness = {{ geomspace = [0.1, 1e4, {sides[1]}] }}",
        f"axes.gap = {{ linspace = [0.0, 0.049, {sides[2]}] }}",
    )
    sweep, grid_points = _case("backbone", *axes)
    whole = replace(sweep, outputs=sweep.model.outputs)
    values = _values(grid_points)
    impact_numba.exact(*(v[:1] for v in values))
    work: dict[str, Callable[[], object]] = {
        "ours": _ours(whole, grid_points),
        "three outputs": _ours(sweep, grid_points),
        **{f"pack {pack}": _ours(whole, grid_points, Target(pack=pack)) for pack in PACKS},
        "scalar build": _ours(whole, grid_points, Target(width=1, pack=1)),
        "scalar numba": lambda: impact_numba.exact(*values),
    }
    seconds = cpu_seconds(work, repeats)
    for name, taken in seconds.items():
        bound = LEAST_EXACT if name == "ours" else None
        yield Figure(f"exact: {name}", grid_points.n_points / taken, "points/s", at_least=bound)
    ratio = seconds["scalar numba"] / seconds["ours"]
    yield Figure("exact: ours to scalar numba", ratio, "times")
    yield share_of_limit("exact", whole, grid_points, seconds["ours"])
    ours = CpuBackend().compute(whole, grid_points).arrays["frequency"]
    error = np.abs(ours / impact_numba.exact(*values)[:, 0] - 1).max()
    yield Figure("exact: difference from numba", error, "", at_most=AGREEMENT)


def _newmark(quick: bool, repeats: int) -> Iterator[Figure]:
    count = 512 if quick else 4096
    energy = f"axes.energy = {{ linspace = [6.2e-3, 6.9e-3, {count}] }}"
    sweep, grid_points = _case(
        "sdnd122", "method = 'newmark'", f"steps_per_period = {STEPS}", energy
    )
    values = _values(grid_points)
    impact_numba.newmark(*(v[:1] for v in values), STEPS)
    numba_values, steps = impact_numba.newmark(*values, STEPS)
    work: dict[str, Callable[[], object]] = {
        "ours": _ours(sweep, grid_points),
        **{f"pack {pack}": _ours(sweep, grid_points, Target(pack=pack)) for pack in PACKS},
        "scalar build": _ours(sweep, grid_points, Target(width=1, pack=1)),
        "scalar numba": lambda: impact_numba.newmark(*values, STEPS),
    }
    seconds = cpu_seconds(work, repeats)
    yield Figure("newmark: steps per point", steps / count, "")
    for name, taken in seconds.items():
        bound = LEAST_NEWMARK if name == "ours" else None
        yield Figure(f"newmark: {name}", steps / taken, "steps/s", at_least=bound)
    ratio = seconds["scalar numba"] / seconds["ours"]
    yield Figure("newmark: ours to scalar numba", ratio, "times")
    yield share_of_limit("newmark", sweep, grid_points, seconds["ours"])
    ours = CpuBackend().compute(sweep, grid_points).arrays
    error = np.abs(ours["frequency"] / numba_values[:, 0] - 1).max()
    yield Figure("newmark: difference from numba", error, "", at_most=AGREEMENT)
    trace = np.abs(ours["floquet_trace"] - numba_values[:, 1]).max()
    yield Figure("newmark: difference of traces from numba", trace, "", at_most=1e-11)


def _harmonic_balance(quick: bool) -> Iterator[Figure]:
    count = 64 if quick else 512
    energy = f"axes.energy = {{ geomspace = [4e-4, 0.1, {count}] }}"
    for harmonics in (5, 20, 40):
        chosen = ("method = 'harmonic_balance'", f"harmonics = {harmonics}", energy)
        sweep, grid_points = _case("sdnd122", *chosen)
        taken = cpu_seconds({"ours": _ours(sweep, grid_points)}, 3)["ours"]
        yield Figure(f"harmonic balance: {harmonics} harmonics", count / taken, "points/s")


def _case(name: str, *changes: str) -> tuple[Sweep, Points]:
    sweep = load(name, changes).sweep
    start = (0,) * len(sweep.shape)
    return sweep, points(sweep, Chunk(start, start, sweep.shape))


def _ours(sweep: Sweep, grid_points: Points, target: Target | None = None) -> Callable[[], object]:
    backend = CpuBackend(target)
    backend.prepare(sweep, grid_points)
    return lambda: backend.compute(sweep, grid_points)


def _values(grid_points: Points) -> list[np.ndarray]:
    """Mass, stiffness, wall stiffness, gap and energy at each point."""
    index = np.arange(grid_points.n_points)
    names = ("mass", "stiffness", "wall_stiffness", "gap", "energy")
    columns = (grid_points.columns[name] for name in names)
    return [c.values[(index // c.repeat) % len(c.values)] for c in columns]
