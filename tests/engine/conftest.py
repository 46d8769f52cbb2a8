"""The time of runs: limits that are soon over, and a clock to set."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task may take 0.2 s, or as long as the slowest so far; after 0.5 s without one, a notice.

    Before any task is done, it may take as long as ever.
    """
    monkeypatch.setattr("sweep.engine.ledger.MIN_LIMIT", 0.2)
    monkeypatch.setattr("sweep.engine.ledger.LIMIT_FACTOR", 1.0)
    monkeypatch.setattr("sweep.engine.loop.SILENT_SECONDS", 0.5)


@pytest.fixture
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is killed half a second after the time limit of a task that ignores it."""
    monkeypatch.setattr("sweep.engine.loop.GRACE_SECONDS", 0.5)


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A function that sets the clock of a run, in s; it stands still at 100 s."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def set_(seconds: float) -> None:
        now[0] = seconds

    return set_
