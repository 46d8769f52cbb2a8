"""The shipped sweeps of models from files."""

from __future__ import annotations

import numpy as np
import pytest

import sweep
from sweep.config import load
from sweep.shipped import configs_folder, shipped_configs, shipped_models
from sweep.spec import Status

MODELS = tuple(shipped_models())


@pytest.mark.parametrize("name", MODELS)
def test_every_shipped_model_has_a_sweep_of_another_name(name: str) -> None:
    configs = shipped_configs()
    assert [each for each, path in configs.items() if load(path).sweep.model.name == name]
    assert name not in configs


@pytest.mark.broad
@pytest.mark.parametrize("name", MODELS)
def test_every_smoke_sweep_of_a_model_from_a_file_runs(name: str) -> None:
    """Smoke: most points are ok. Other tests check the values."""
    for path in (configs_folder() / "smoke").glob("*.toml"):
        if load(path).sweep.model.name == name:
            status = sweep.run(path, store=None)["status"].to_numpy()
            assert np.mean(status == Status.ok) > 0.8
