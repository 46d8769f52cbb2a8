"""Distributions against scipy's quantile functions; scramblings and Saltelli's points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

import sweep
from sweep.file import load
from sweep.request.sweeps import VALUES_IN_MEMORY
from sweep.sampling.distributions import Margin
from sweep.sampling.drawing import columns_of, sequence
from sweep.store import Store
from tests.file.test_sample import columns, document, faults

UNIT = np.concatenate([np.linspace(0, 1, 2001)[1:-1], 2.0 ** -np.arange(12.0, 40)])
DRAWN: Mapping[str, object] = {"method": "sobol", "points": 256, "seed": 3}
ACCELERATION = {"base_acceleration": {"uniform": [1, 2]}}

# Arguments, and scipy's distribution with the same.
CASES = [
    ("loguniform", (0.01, 3.0), stats.loguniform(0.01, 3.0)),
    ("normal", (0.3, 0.05), stats.norm(0.3, 0.05)),
    ("lognormal", (0.1, 0.3), stats.lognorm(0.3, scale=0.1)),
    ("truncated_normal", (0.3, 0.2, 0.1, 0.9), stats.truncnorm(-1, 3, 0.3, 0.2)),
    ("truncated_normal", (0.0, 1.0, 5.0, 9.0), stats.truncnorm(5, 9)),
    ("truncated_normal", (0.0, 1.0, -30.0, -20.0), stats.truncnorm(-30, -20)),
    ("truncated_normal", (1.0, 2.0, -50.0, 90.0), stats.norm(1, 2)),
    ("triangular", (0.1, 0.2, 0.7), stats.triang(1 / 6, 0.1, 0.6)),
    ("triangular", (0.0, 0.0, 2.0), stats.triang(0, 0, 2)),
    ("triangular", (0.0, 2.0, 2.0), stats.triang(1, 0, 2)),
    ("weibull", (2.0, 1.7), stats.weibull_min(1.7, scale=2)),
    ("weibull", (0.5, 0.4), stats.weibull_min(0.4, scale=0.5)),
]


@pytest.mark.parametrize(("form", "arguments", "distribution"), CASES)
def test_values_are_quantiles(
    form: str, arguments: tuple[float, ...], distribution: object
) -> None:
    values = Margin(form, arguments).values(UNIT, 2.0**-53)
    scale = np.abs(np.diff(distribution.ppf([0.25, 0.75]))).max()
    np.testing.assert_allclose(values, distribution.ppf(UNIT), rtol=1e-11, atol=1e-13 * scale)


@pytest.mark.parametrize(("form", "arguments"), [case[:2] for case in CASES])
def test_values_at_the_ends_are_finite(form: str, arguments: tuple[float, ...]) -> None:
    for resolution in (2.0**-30, 2.0**-53, 2.0**-64):
        values = Margin(form, arguments).values(np.array([0.0, 1 - resolution, 1.0]), resolution)
        assert np.isfinite(values).all()
        assert (np.diff(values) >= 0).all()


def test_a_sample_takes_its_values_at_the_points_of_its_sequence() -> None:
    ranges = {"friction": {"lognormal": [0.1, 0.3]}, "phase": {"normal": [0, "60 deg"]}}
    values = columns({**DRAWN, **ranges, **ACCELERATION})
    unit = qmc.Sobol(3, rng=np.random.default_rng(3)).random_base2(8)
    np.testing.assert_allclose(values["base_acceleration"], 1 + unit[:, 0], rtol=1e-15)
    np.testing.assert_allclose(values["friction"], stats.lognorm(0.3, scale=0.1).ppf(unit[:, 1]))
    np.testing.assert_allclose(values["phase"], stats.norm(0, math.pi / 3).ppf(unit[:, 2]))


def test_whole_numbers_are_rounded() -> None:
    request = {
        "model": "impact_oscillator", "method": "harmonic_balance",
        "parameters": {"mass": 1, "stiffness": 1, "wall_stiffness": 1, "gap": 1, "energy": 1},
        "sample": {**DRAWN, "harmonics": {"truncated_normal": [5, 2, 1, 9]}},
    }  # fmt: skip
    (axis,) = load(request).sweep.axes
    assert set(axis.columns["harmonics"][:]) == set(range(1, 10))


# Scramblings.


def test_point_i_is_point_i_over_r_of_scrambling_i_mod_r() -> None:
    whole = sequence("sobol", 800, 2, 7, scramblings=8)
    rows = whole.rows(0, 800)
    for i in range(8):
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(7, spawn_key=(i,))))
        expected = qmc.Sobol(2, rng=generator).random_base2(7)[:100]
        np.testing.assert_array_equal(rows[i::8], expected)
    for start, stop in ((3, 17), (795, 800), (5, 5), (8, 9)):
        np.testing.assert_array_equal(whole.rows(start, stop), rows[start:stop])


def test_scramblings_of_a_sweep(tmp_path: Path) -> None:
    recipe = {**DRAWN, "scramblings": 16, "friction": {"uniform": [0, 1]}, **ACCELERATION}
    values = columns(recipe)
    expected = sequence("sobol", 256, 2, 3, 16).rows(0, 256)
    np.testing.assert_array_equal(values["friction"], expected[:, 1])
    path = tmp_path / "a.zarr"
    sweep.run(document(recipe), store=path)
    more = {**recipe, "points": 512}
    (grown,) = Store.extend(path, load(document(more)).sweep).sweep.axes
    np.testing.assert_array_equal(grown.columns["friction"], columns(more)["friction"])
    (again,) = load(path, ["sample.points=512"]).sweep.axes
    assert again.recipe == grown.recipe


# The points for Sobol' indices.


@pytest.mark.parametrize("scramblings", [1, 8])
def test_saltellis_points(scramblings: int) -> None:
    names = ("a", "b", "c")
    margins = {name: {"uniform": [0, 1]} for name in names}
    recipe = {"method": "sobol", "points": 64, "seed": 3, "scramblings": scramblings, **margins}
    sample_columns = columns_of({**recipe, "sobol_indices": True})
    points = np.stack([sample_columns[name][:] for name in names], axis=1).reshape(64, 5, 3)
    base = sequence("sobol", 64, 6, 3, scramblings).rows(0, 64)
    np.testing.assert_array_equal(points[:, 0], base[:, :3])
    np.testing.assert_array_equal(points[:, 1], base[:, 3:])
    for i in range(3):
        mixed = base[:, :3].copy()
        mixed[:, i] = base[:, 3 + i]
        np.testing.assert_array_equal(points[:, 2 + i], mixed)


def test_any_stretch_of_saltellis_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sweep.sampling.drawing.VALUES_IN_MEMORY", 100)
    recipe = {"method": "random", "points": 64.0, "seed": 3.0, "sobol_indices": True}
    margins = {"a": {"normal": [0.0, 1.0]}, "b": {"uniform": [0.0, 1.0]}}
    drawn = columns_of(recipe | margins)["a"]
    assert len(drawn) == 256
    whole = drawn[:]
    for start, stop in ((0, 3), (2, 9), (7, 7), (250, 300), (4, 8)):
        np.testing.assert_array_equal(drawn[start:stop], whole[start:stop])
    assert VALUES_IN_MEMORY > 100


# Faults.

BROKEN = [
    ({"normal": [0.3]}, "normal takes [mean, standard deviation], not 1 entries"),
    ({"normal": [0.3, 0]}, "standard deviation: 0 is out of range; it has to be above 0"),
    ({"normal": [0.3, -1, 2]}, "normal takes [mean, standard deviation], not 3 entries"),
    ({"normal": [0.3, "1 m"]}, "standard deviation: '1 m' has the wrong dimension"),
    ({"normal": [-0.3, 0.1]}, "mean: -0.3 is out of range; it has to be at least 0"),
    ({"normal": [0.3, 0.2]}, "it has to be at least 0; give a narrower distribution, or one with"),
    ({"normal": [0.3, math.inf]}, "standard deviation: inf is not a finite number"),
    ({"normal": 0.3}, "normal: 0.3 is not [mean, standard deviation]"),
    ({"normal": [0.3, 0.01], "uniform": [0, 1]}, "uniform, normal exclude each other"),
    ({"gaussian": [0.3, 0.01]}, "gaussian: there is no such key"),
    ({"lognormal": [0, 0.3]}, "the median of lognormal is 0.0; it has to be above 0"),
    ({"lognormal": [0.1, 0]}, "standard deviation of the logarithm: 0 is out of range"),
    ({"lognormal": [0.1, "3 m"]}, "standard deviation of the logarithm: '3 m'"),
    ({"truncated_normal": [0.3, 0.1, 0.5, 0.5]}, "from 0.5 to 0.5 is empty"),
    ({"truncated_normal": [0.3, 0.1, 9, 10]}, "is 87 standard deviations away; bring mean"),
    ({"truncated_normal": [0.3, 0.1, -1, 1]}, "least: -1 is out of range"),
    ({"truncated_normal": [0.3, 0.1]}, "[mean, standard deviation, least, greatest], not 2"),
    ({"triangular": [0.1, 0.8, 0.5]}, "the mode 0.8 is not from 0.1 to 0.5"),
    ({"triangular": [0.5, 0.5, 0.5]}, "triangular from 0.5 to 0.5 is empty"),
    ({"weibull": [0, 2]}, "the scale of weibull is 0.0; it has to be above 0"),
    ({"weibull": [1, 0]}, "shape: 0 is out of range; it has to be above 0"),
    ({"weibull": [1, True]}, "shape: true is not a number"),
]


@pytest.mark.parametrize(("distribution", "gist"), BROKEN)
def test_a_faulty_distribution_is_refused_with_a_cure(
    distribution: Mapping[str, object], gist: str
) -> None:
    (fault,) = faults({**DRAWN, "friction": distribution, **ACCELERATION})
    assert fault.startswith("[sample] friction: ")
    assert gist in fault


BROKEN_SCRAMBLINGS = [
    ({"scramblings": 4}, "[sample] scramblings: 4 are too few to estimate an error from"),
    ({"scramblings": 0}, "[sample] scramblings: 0 is not a whole number: 1, or from 8 to 4,096"),
    ({"scramblings": 10}, "[sample] points: 256 is not a multiple of the 10 scramblings; give 250"),
    ({"scramblings": 512}, "not a multiple of the 512 scramblings; give 512"),
    ({"scramblings": 8, "method": "random"}, "[sample] scramblings: only Sobol's sequence is"),
    ({"scramblings": 8, "seed": None}, "[sample] seed: missing; scramblings follow from a seed"),
]


@pytest.mark.parametrize(("change", "gist"), BROKEN_SCRAMBLINGS)
def test_faulty_scramblings_are_refused_with_a_cure(
    change: Mapping[str, object], gist: str
) -> None:
    recipe = {**DRAWN, "friction": {"uniform": [0, 1]}, **ACCELERATION, **change}
    (fault,) = faults({key: value for key, value in recipe.items() if value is not None})
    assert gist in fault


def test_the_range_of_a_long_sample_is_checked_at_its_ends() -> None:
    recipe = {**DRAWN, "points": 2**24, **ACCELERATION}
    least = -0.1 * stats.norm.ppf(2.0**-31)
    columns({**recipe, "friction": {"normal": [1.001 * least, 0.1]}})
    (fault,) = faults({**recipe, "friction": {"normal": [0.999 * least, 0.1]}})
    assert "a point may be -0.00" in fault
