"""The sweep files and kernels that come with the package."""

from __future__ import annotations

import math

import pytest

from sweep.file import load
from sweep.model.shipped import configs_folder, kernels_folder, shipped_configs
from sweep.model.tables import models


def test_shipped_names() -> None:
    assert {"wear_power", "sdnd104"} <= set(shipped_configs())
    assert (kernels_folder() / "portable.h").is_file()


@pytest.mark.parametrize("name", shipped_configs())
def test_shipped_file_loads_and_has_a_smoke_twin(name: str) -> None:
    request, twin = load(name), load(configs_folder() / "smoke" / f"{name}.toml")
    assert request.name == twin.name == name
    assert twin.sweep.n_points <= 100
    for attribute in ("model", "method", "parameter_set", "outputs", "dtype"):
        assert getattr(request.sweep.points, attribute) == getattr(twin.sweep.points, attribute)
    for attribute in ("outputs", "dimensions"):
        assert getattr(request.sweep.grid, attribute) == getattr(twin.sweep.grid, attribute)
    assert dict(request.sweep.points.constants) == dict(twin.sweep.points.constants)


def test_no_smoke_twin_without_its_original() -> None:
    assert {path.stem for path in (configs_folder() / "smoke").iterdir()} == set(shipped_configs())


def test_wear_power_is_the_surface_of_524288_points() -> None:
    planned = load("wear_power").sweep
    assert planned.grid.shape == (512, 1024)
    assert planned.n_points == 524_288
    assert planned.constants["angular_frequency"] == 2 * math.pi


def test_sdnd104_has_the_documents_numbers() -> None:
    planned = load("sdnd104").sweep
    assert planned.axes[0].columns["base_acceleration"].tolist() == [15.0, 1.5, 1.01, 0.99]
    assert planned.outputs == models()["friction_oscillator"].outputs
    expected = {"mass": 1.0, "gravity": 10.0, "friction": 0.1, "stiffness": 3e-5}
    assert expected.items() <= planned.constants.items()
