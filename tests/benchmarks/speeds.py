"""The loop that measures speeds on one core: each case beside a peer that computes its points.

Times are medians of the processor time of one thread, measured in turn so that both have the same
noise. A peer must give the same outputs.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.kernel.cpu import CpuBackend, CpuTarget
from sweep.model.tables import models
from tests.benchmarks.record import Figure
from tests.cases import Case, case_at

REPEATS, QUICK_REPEATS = 7, 3
SIMD_NUMBA, SCALAR_BUILD = "SIMD-blocked numba", "scalar build"

Outputs = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Peer:
    """Another program that computes the points of a case."""

    name: str
    solve: Callable[[], Outputs]
    at_most: float | None = None  # the difference from ours, relative to floor + |theirs|
    floor: NDArray[np.float64] | float = 0.0
    at_least: float | None = None  # our speed in proportion to its


@dataclass(frozen=True)
class Speed:
    """A case whose speed is measured: `work` is what one call does, in `unit` without the "/s"."""

    case: Case
    work: float
    unit: str = "points"
    at_least: float | None = None
    peer: Peer | None = None
    note: str = ""


def figures(speeds: Iterable[Speed], quick: bool) -> list[Figure]:
    """The speed of each case, in proportion to its peer's, and the difference of the outputs."""
    repeats = QUICK_REPEATS if quick else REPEATS
    return [figure for speed in speeds for figure in _figures(speed, repeats)]


def _figures(speed: Speed, repeats: int) -> Iterator[Figure]:
    name, peer = speed.case.name, speed.peer
    work: dict[str, Callable[[], Outputs]] = {"ours": computing(speed.case)}
    if peer:
        work["theirs"] = peer.solve
    outputs = {each: solve() for each, solve in work.items()}  # compiled before they are timed
    seconds = cpu_seconds(work, repeats)
    pace = speed.work / seconds["ours"]
    yield Figure(name, pace, f"{speed.unit}/s", at_least=speed.at_least, note=speed.note)
    if peer:
        ratio = seconds["theirs"] / seconds["ours"]
        yield Figure(f"{name}: ours to {peer.name}", ratio, "times", at_least=peer.at_least)
    if peer and peer.at_most is not None:
        worst = _difference(outputs["ours"], outputs["theirs"], peer.floor)
        yield Figure(f"{name}: difference", worst, "", at_most=peer.at_most)


def _difference(ours: Outputs, theirs: Outputs, floor: NDArray[np.float64] | float) -> float:
    worst = 0.0
    for name, values in theirs.items():
        off, size = np.abs(ours[name].astype(np.float64) - values), floor + np.abs(values)
        relative = np.divide(off, size, out=np.zeros_like(off), where=off != 0)
        worst = max(worst, float(relative.max()))
    return worst


def computing(case: Case, target: CpuTarget | None = None) -> Callable[[], Outputs]:
    """A function that computes the outputs of a case, its kernel being compiled."""
    backend = CpuBackend(target)
    backend.prepare(case.sweep, case.points.variants)
    return lambda: backend.compute(case.sweep, case.points).arrays


def scalar_build(case: Case) -> Peer:
    """Our own kernel, compiled without vectors."""
    return Peer(SCALAR_BUILD, computing(case, CpuTarget(width=1, pack=1)))


def numba(output: str, solve: Callable[[], NDArray[Any]], at_most: float) -> Peer:
    """A program in numba that computes one output, and how much that may differ from ours."""
    return Peer(SIMD_NUMBA, lambda: {output: solve()}, at_most)


def case_of(
    name: str,
    model: str,
    method: str,
    values: Mapping[str, Any],
    count: int,
    outputs: Sequence[str],
) -> Case:
    """Points with these values, each a number or an array."""
    known = models()[model]
    chosen = next(each for each in known.methods if each.name == method)
    columns = {key: np.atleast_1d(np.float64(value)) for key, value in values.items()}
    return case_at(name, known, chosen, columns, count, outputs=outputs)


def values_at_points(case: Case, *names: str) -> list[NDArray[np.float64]]:
    """The value of each parameter at each point."""
    index = np.arange(case.points.n_points)
    columns = (case.points.columns[name] for name in names)
    return [each.values[(index // each.repeat) % len(each.values)] for each in columns]


def cpu_seconds(work: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median processor time of each in this thread, in s.

    Each repetition begins with a different one, since earlier work affects clock and caches.
    """
    times: dict[str, list[float]] = {name: [] for name in work}
    names = deque(work)
    for _ in range(repeats):
        for name in names:
            began = time.thread_time()
            work[name]()
            times[name].append(time.thread_time() - began)
        names.rotate(-1)
    return {name: median(taken) for name, taken in times.items()}
