"""Stores and results of the engine's sweeps; limits that are soon over, and a clock to set."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sweep.store import Store
    from tests.engine.faulty import Faulty

# Fixtures import what they need themselves: `-m gpu` reads this file, and goes without hypothesis.


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store of SWEEP with one row per chunk."""
    from tests.engine.test_engine import ROW, SWEEP, create

    return create(tmp_path / "map.zarr", SWEEP, ROW)


@pytest.fixture
def faulty(tmp_path: Path) -> Callable[..., Faulty]:
    """A function that makes what opens backends with a fault at some rows of SWEEP."""
    from tests.engine.faulty import Faulty

    def use(fault: str, *rows: int, **options: Any) -> Faulty:
        folder = tmp_path / fault
        folder.mkdir()
        return Faulty(folder, fault, rows, **options)

    return use


@pytest.fixture(scope="session")
def expected() -> dict[str, bytes]:
    """The bits of the results of SWEEP."""
    from sweep.engine.loop import run
    from sweep.store import Arrays
    from tests.engine.test_engine import SWEEP, bits_of

    results = Arrays(SWEEP)
    run(results)
    return bits_of(results.dataset())


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of such a store of SWEEP after an undisturbed run."""
    from sweep.engine.loop import run
    from tests.engine.test_engine import ROW, SWEEP, create
    from tests.store.test_store import tree

    undisturbed = create(tmp_path_factory.mktemp("whole") / "map.zarr", SWEEP, ROW)
    run(undisturbed)
    return tree(undisturbed.path)


@pytest.fixture(scope="session")
def whole_request(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of the store of an undisturbed run of REQUEST."""
    from tests.engine.test_worker_faults import finish
    from tests.store.test_store import tree

    path = tmp_path_factory.mktemp("whole") / "map.zarr"
    assert finish(path).chunks == 60
    return tree(path)


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
