"""Backbones: energies against theory, and curves of the right axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.errors import SweepError
from sweep.model.shipped import configs_folder
from sweep.pictures.backbone import energy_at, plot_backbone
from sweep.theory import impact_oscillator as theory
from tests.pictures.test_plots import heading_of


@pytest.fixture(scope="module")
def backbones() -> xr.Dataset:
    return sweep.run(
        "backbone",
        [
            "axes.energy = { geomspace = [1e-5, 1.0, 400] }",
            "axes.wall_stiffness = { geomspace = [0.1, 1e4, 12] }",
            "axes.gap = { values = [0.0, 0.01, 0.02] }",
            "outputs = ['frequency', 'stable']",
        ],
        store=None,
    )


def test_the_energy_at_a_frequency(backbones: xr.Dataset) -> None:
    """NaN where theory has none. By a quarter of the square of the distance of ln E, 0.029, but
    for the first steps beyond grazing, where the curve starts with a power 3/2 of the energy.
    """
    for frequency in (0.51, 0.646, 0.8):
        energy = energy_at(backbones, frequency)
        assert energy.dims == ("wall_stiffness", "gap")
        walls = backbones["wall_stiffness"].to_numpy()[:, None]
        expected = theory.energy_at(1.0, 10.0, walls, backbones["gap"].to_numpy(), frequency)
        inside = expected < 1.0
        np.testing.assert_array_equal(np.isfinite(energy), inside)
        assert inside.any()
        error = np.abs(energy.values / expected - 1)
        assert error[inside].max() < 0.01
        grazing = theory.grazing_energy(10.0, backbones["gap"].to_numpy())
        assert error[inside & (expected > 1.1 * grazing)].max() < 0.029**2 / 4


def test_no_energy_if_the_curve_is_flat_or_not_monotonic(backbones: xr.Dataset) -> None:
    flat = float(backbones["frequency"].isel(energy=0, gap=2)[0])
    assert np.isnan(energy_at(backbones, flat)).all()
    turning = backbones.isel(gap=1, wall_stiffness=6).copy(deep=True)
    turning["frequency"][300:] = 0.5
    assert np.isnan(energy_at(turning, 0.6))
    assert np.isfinite(energy_at(backbones.isel(gap=1, wall_stiffness=6), 0.6))


@pytest.mark.parametrize("direction", [1, -1], ids=["rising", "falling"])
def test_energies_of_the_sweep_are_exact(backbones: xr.Dataset, direction: int) -> None:
    """Both ends are included; the part below grazing is flat."""
    one = backbones.isel(gap=2, wall_stiffness=8)
    one = one.assign(frequency=direction * one["frequency"])
    grazing = theory.grazing_energy(10.0, 0.02)
    below = one["energy"].values < grazing
    assert 100 < below.sum() < 300
    energies = [float(energy_at(one, frequency)) for frequency in one["frequency"].values]
    np.testing.assert_array_equal(energies, np.where(below, np.nan, one["energy"].values))
    beyond = one.isel(energy=slice(int(below.sum()), None))
    ends = [float(energy_at(beyond, beyond["frequency"].values[i])) for i in (0, -1)]
    assert ends == [beyond["energy"].values[0], beyond["energy"].values[-1]]


def test_ambiguous_energies_are_nan() -> None:
    """The level occurs at two samples, or at a sample and between two others."""
    energy = np.array([1.0, 2.0, 3.0, 4.0])
    for curve, level, expected in (
        ([1.0, 2.0, 3.0, 4.0], 2.0, 2.0),
        ([1.0, 2.0, 1.5, 1.0], 2.0, 2.0),  # only touched
        ([1.0, 2.0, 3.0, 2.0], 2.0, np.nan),
        ([1.0, 2.0, 3.0, 1.0], 2.0, np.nan),
        ([2.0, 2.0, 3.0, 4.0], 2.0, np.nan),
        ([1.0, 2.0, np.nan, 4.0], 2.0, 2.0),
        ([1.0, np.nan, 3.0, 4.0], 2.0, np.nan),
    ):
        status = np.zeros(4, np.uint8)
        dataset = xr.Dataset(
            {"frequency": ("energy", curve), "status": ("energy", status)}, {"energy": energy}
        )
        np.testing.assert_array_equal(energy_at(dataset, level), expected)


def test_no_interpolation_across_a_failed_point(backbones: xr.Dataset) -> None:
    one = backbones.isel(gap=1, wall_stiffness=6).copy(deep=True)
    place = int(np.abs(one["energy"].values - float(energy_at(one, 0.6))).argmin())
    one["status"][place - 1 : place + 2] = 1
    assert np.isnan(energy_at(one, 0.6))


def test_curves_are_drawn_per_parameter(backbones: xr.Dataset, tmp_path: Path) -> None:
    figure = plot_backbone(backbones, per="wall_stiffness", at={"gap": 0.01})
    axes = figure.axes[0]
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels[0] == "wall stiffness K = 0.1 N/m"
    assert labels[-1] == "wall stiffness K = 10000 N/m"
    assert len(labels) == 8
    energy, frequency = axes.get_lines()[-1].get_data()
    np.testing.assert_array_equal(energy, backbones["energy"])
    np.testing.assert_array_equal(frequency, backbones["frequency"].isel(wall_stiffness=-1, gap=1))
    head, _ = heading_of(figure)
    assert head == "Backbone of a mass that meets an elastic stop at gap e = 0.01 m"
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "energy E [J]",
        "frequency of the periodic motion [Hz]",
    )
    assert len(plot_backbone(backbones, per="gap").axes[0].get_lines()) == 3
    sweep.run(configs_folder() / "smoke" / "backbone.toml", store=tmp_path / "a.zarr")
    for source in (backbones, tmp_path / "a.zarr"):
        plot_backbone(source, path := tmp_path / "backbone.svg")
        assert path.stat().st_size > 10_000


def test_a_single_curve_and_unstable_motions(backbones: xr.Dataset) -> None:
    one = backbones.isel(gap=1, wall_stiffness=6).copy(deep=True)
    assert len(plot_backbone(one).axes[0].get_lines()) == 1
    one["stable"][350:] = 0
    solid, dotted = plot_backbone(one).axes[0].get_lines()
    assert dotted.get_linestyle() == ":"
    assert np.flatnonzero(np.isfinite(dotted.get_ydata()))[0] == 349  # where the solid one ends
    assert np.isnan(solid.get_ydata()[350:]).all()


def test_a_single_unstable_motion_is_visible(backbones: xr.Dataset) -> None:
    one = backbones.isel({name: 0 for name in backbones.frequency.dims if name != "energy"})
    stable = np.ones(one.sizes["energy"], dtype=np.uint8)
    stable[7] = 0
    one = one.assign(stable=one.stable.copy(data=stable))
    _, dotted = plot_backbone(one).axes[0].get_lines()
    assert np.flatnonzero(np.isfinite(dotted.get_ydata())).tolist() == [6, 7, 8]


def test_axes_that_are_cut_have_no_curves(backbones: xr.Dataset) -> None:
    axes = plot_backbone(backbones, at={"wall_stiffness": 100.0}).axes[0]
    assert axes.get_lines()[0].get_label().startswith("gap e = ")
    both = plot_backbone(backbones, at={"wall_stiffness": 100.0, "gap": 0.01}).axes[0]
    (line,) = both.get_lines()
    place = int(np.argmin(np.abs(backbones.wall_stiffness.values - 100)))
    one = backbones.frequency.isel(wall_stiffness=place, gap=1)
    np.testing.assert_array_equal(line.get_ydata(), one)
    for at, per in (({"energy": 1.0}, None), ({"gap": 0.01}, "gap")):
        with pytest.raises(SweepError, match="no uncut axis"):
            plot_backbone(backbones, at=at, per=per)


@pytest.mark.parametrize("frequency", ["0.6", None, [0.6, 0.7]])
def test_a_frequency_is_one_number(backbones: xr.Dataset, frequency: Any) -> None:
    with pytest.raises(SweepError, match=r"frequency=.* is not one number in Hz"):
        energy_at(backbones, frequency)


def test_datasets_without_a_backbone_are_refused(backbones: xr.Dataset) -> None:
    with pytest.raises(SweepError, match="no output 'frequency'"):
        plot_backbone(backbones.drop_vars("frequency"))
    with pytest.raises(SweepError, match="along an axis 'energy'"):
        energy_at(backbones.isel(energy=3), 0.6)
    with pytest.raises(SweepError, match="at least two energies"):
        energy_at(backbones.isel(energy=[3]), 0.6)
    with pytest.raises(SweepError, match="no uncut axis 'mass': choose one of energy"):
        plot_backbone(backbones, per="mass")
    number: Any = 3
    with pytest.raises(SweepError, match="got int without"):
        plot_backbone(number, "a.png")
