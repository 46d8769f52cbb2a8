"""Stores that several files start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sweep.store import Store

# Fixtures import what they need themselves: `-m gpu` reads this file, and goes without hypothesis.


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A finished store of SWEEP."""
    from tests.store.test_store import create, finish

    new_store = create(tmp_path / "map.zarr")
    finish(new_store)
    return new_store


@pytest.fixture(scope="session")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sweep file of CONFIG and its finished store, for tests to copy."""
    from sweep import api
    from tests.store.test_storage_faults import CONFIG

    folder = tmp_path_factory.mktemp("computed")
    (folder / "map.toml").write_text(CONFIG)
    api.run(folder / "map.toml", store=folder / "map.zarr")
    return folder
