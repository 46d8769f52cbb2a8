"""Points per second of every shipped sweep on one core, as `sweep bench` measures them."""

from __future__ import annotations

from sweep.api import with_options
from sweep.file import load
from sweep.model.shipped import shipped_configs
from sweep.results.forecast import speed_of
from tests.benchmarks.record import Figure


def measure(quick: bool) -> list[Figure]:
    names = list(shipped_configs())
    return [_figure(name) for name in (names[-3:] if quick else names)]


def _figure(name: str) -> Figure:
    speed = speed_of(with_options(load(name), backend="cpu")).points_per_second
    assert speed is not None
    return Figure(name, speed, "points/s")
