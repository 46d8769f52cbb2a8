"""Wear powers per second of method exact on one core, compared with numba and our scalar build.

Times are medians of the processor time of one thread, measured in turn. The grids have SDND104's
mass, frequency and window over friction and base acceleration; two of them also have a spring and a
damper, or vertical shaking. The random points are of every kind, so that neighbours have little in
common. That is the worst case for SIMD over points, and unlike any grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from sweep.backends import cpu
from sweep.backends.cpu import CpuBackend, Target
from sweep.config import load
from sweep.plan.point_columns import points
from sweep.request import Sweep
from sweep.work import Chunk, Column, Points
from tests.benchmarks.machine_limit import Limit, limit, share_of_limit
from tests.benchmarks.peers import exact_numba
from tests.benchmarks.record import Figure
from tests.benchmarks.timed import cpu_seconds
from tests.points import sweep_of
from tests.points.friction_oscillator import random_parameters

WEAR = ("wear_power", "regime")
PACKS = (1, 2, 3, 4)
SIDES = (512, 1024)
QUICK_SIDES = (64, 256)
LEAST_SPEED = 1e6  # wear powers a second on one core, over SDND104's window
AGREEMENT = 1e-12  # with numba, of the wear power or of 1e-6 m g a0/ω
PEER_COLUMNS = (
    "mass",
    "gravity",
    "friction",
    "base_acceleration",
    "angular_frequency",
    "window_start",
    "window_end",
)


@dataclass(frozen=True)
class Case:
    """Points to be timed, and whether they are of SDND104, which numba computes too."""

    name: str
    sweep: Sweep
    points: Points
    sdnd104: bool


def measure(quick: bool) -> list[Figure]:
    sides, repeats = (QUICK_SIDES, 3) if quick else (SIDES, 7)
    fewer = (sides[0] // 2, sides[1] // 2)
    sdnd104 = _grid("SDND104 grid", 1.0, sides)
    figures = list(_limit_figures(sdnd104, limit(sdnd104.sweep, sdnd104.points)))
    cases = (
        sdnd104,
        _grid("all slip", 0.045, sides),  # friction × gravity stays below every acceleration
        _grid("sprung grid", 1.0, fewer, "stiffness = 2.0", "damping = 0.1"),
        _grid("shaken grid", 1.0, fewer, "vertical_acceleration = 3.0", "phase = 1.0"),
        _random("random", math.prod(fewer)),
        _sample("sample", math.prod(fewer)),
    )
    for case in cases:
        seconds = _seconds(case, repeats, PACKS if case is sdnd104 else ())
        figures += _speed_figures(case, seconds)
        figures.append(share_of_limit(case.name, case.sweep, case.points, seconds["ours"]))
        if case.sdnd104:
            figures += _agreement_figures(case)
        if case.name in ("random", "sample"):
            figures.append(order_figure(case.name, case.sweep, case.points, repeats))
    return figures


def _grid(name: str, most_friction: float, sides: tuple[int, int], *changes: str) -> Case:
    axes = (
        f"friction = {{ geomspace = [0.01, {most_friction}, {sides[0]}] }}",
        f"base_acceleration = {{ linspace = [0.5, 15.0, {sides[1]}] }}",
    )
    sweep = load("wear_power", (*axes, *changes)).sweep
    whole = Chunk((0, 0), (0, 0), sweep.shape)
    return Case(name, sweep, points(sweep, whole), sdnd104=not changes)


def _random(name: str, count: int) -> Case:
    parameters = random_parameters(count, seed=7)
    columns = {parameter: Column(values) for parameter, values in parameters.items()}
    sweep = sweep_of(parameters, outputs=WEAR)
    return Case(name, sweep, Points(n_points=count, columns=columns), sdnd104=False)


def _sample(name: str, count: int) -> Case:
    """SDND104 with an uncertain friction and a random base acceleration."""
    sample = {
        "method": "random",
        "points": count,
        "seed": 1,
        "friction": {"lognormal": [0.1, 0.3]},
        "base_acceleration": {"uniform": [0.5, 15.0]},
    }
    fixed = load("wear_power", ("friction=0.1", "base_acceleration=1")).sweep.constants
    parameters = {key: value for key, value in fixed.items() if key not in sample}
    described = {"model": "friction_oscillator", "outputs": list(WEAR)}
    sweep = load({**described, "parameters": parameters, "sample": sample}).sweep
    return Case(name, sweep, points(sweep, Chunk((0,), (0,), sweep.shape)), sdnd104=False)


def order_figure(name: str, sweep: Sweep, case_points: Points, repeats: int) -> Figure:
    """What it gains that alike points are computed side by side."""
    backend = CpuBackend()
    backend.prepare(sweep, case_points)
    as_they_come = mock.patch.object(
        cpu, "parts", lambda _, each: [(slice(0, each.n_points), each, None)]
    )

    def unsorted() -> None:
        with as_they_come:
            backend.compute(sweep, case_points)

    work = {"sorted": lambda: backend.compute(sweep, case_points), "as they come": unsorted}
    seconds = cpu_seconds(work, repeats)
    ratio = seconds["as they come"] / seconds["sorted"]
    return Figure(f"{name}: sorted to as they come", ratio, "times")


def _limit_figures(case: Case, peak: Limit) -> Iterator[Figure]:
    """An estimate of the highest speed on this processor, and the counted work."""
    whole_time = _with_outputs(_from_rest(case), ("slip_phases",))
    slips = CpuBackend().compute(whole_time.sweep, whole_time.points).arrays["slip_phases"].mean()
    operations = sum(peak.operations.values()) / peak.vectors
    parts = ", ".join(f"{n / peak.vectors / slips:.0f} {k}" for k, n in peak.operations.items())
    rates = ", ".join(f"{rate / 1e9:.2f}e9 {kind}" for kind, rate in peak.rates.items())
    yield Figure("vector operations per slip", operations / slips, "", note=parts)
    yield Figure("slips per point", slips, "", note="in [0, 12] s")
    speed = case.points.n_points / peak.seconds
    yield Figure(
        "limit of one core, estimated", speed, "points/s", note=f"{rates} a second measured"
    )


def _from_rest(case: Case) -> Case:
    columns = {**case.points.columns, "window_start": Column(np.zeros(1))}
    return replace(case, points=replace(case.points, columns=columns))


def _seconds(case: Case, repeats: int, packs: tuple[int, ...]) -> dict[str, float]:
    work = {
        "ours": _ours(case),
        "all outputs": _ours(_with_outputs(case)),
        **{f"pack {pack}": _ours(case, Target(pack=pack)) for pack in packs},
        "scalar build": _ours(case, Target(width=1, pack=1)),
    }
    if case.sdnd104:
        work["scalar numba"] = _numba(case)
    return cpu_seconds(work, repeats)


def _speed_figures(case: Case, seconds: Mapping[str, float]) -> Iterator[Figure]:
    for name, taken in seconds.items():
        bound = LEAST_SPEED if case.sdnd104 and name == "ours" else None
        speed = case.points.n_points / taken
        yield Figure(f"{case.name}: {name}", speed, "points/s", at_least=bound)
    for name in ("scalar build", "scalar numba"):
        if name in seconds:
            ratio = seconds[name] / seconds["ours"]
            yield Figure(f"{case.name}: ours to {name}", ratio, "times")


def _ours(case: Case, target: Target | None = None) -> Callable[[], object]:
    backend = CpuBackend(target)
    backend.prepare(case.sweep, case.points)
    return lambda: backend.compute(case.sweep, case.points)


def _numba(case: Case) -> Callable[[], tuple[NDArray[np.float64], NDArray[np.uint8]]]:
    values = [_values(case.points, name) for name in PEER_COLUMNS]
    exact_numba.wear_powers(*(v[:1] for v in values))  # compiled before it is timed
    return lambda: exact_numba.wear_powers(*values)


def _agreement_figures(case: Case) -> Iterator[Figure]:
    outputs = CpuBackend().compute(case.sweep, case.points).arrays
    wear, regime = _numba(case)()
    size = np.maximum(np.abs(wear), 1e-6 * _scale(case))
    error = (np.abs(outputs["wear_power"] - wear) / size).max()
    others = np.count_nonzero(outputs["regime"] != regime)
    slip = np.count_nonzero(regime) / len(regime)
    yield Figure(f"{case.name}: points that slip", slip, "")
    yield Figure(f"{case.name}: difference from numba", error, "", at_most=AGREEMENT)
    yield Figure(f"{case.name}: regimes other than numba's", others, "points", at_most=0)


def _scale(case: Case) -> NDArray[np.float64]:
    names = ("mass", "gravity", "base_acceleration", "angular_frequency")
    m, g, a0, omega = (_values(case.points, name) for name in names)
    return m * g * a0 / omega


def _values(points: Points, name: str) -> NDArray[np.float64]:
    """A parameter's value at each point."""
    column = points.columns[name]
    return column.values[(np.arange(points.n_points) // column.repeat) % len(column.values)]


def _with_outputs(case: Case, names: tuple[str, ...] | None = None) -> Case:
    """The same points with these outputs, or all."""
    outputs = case.sweep.model.outputs
    chosen = tuple(output for output in outputs if names is None or output.name in names)
    return replace(case, sweep=replace(case.sweep, outputs=chosen))
