"""Master curves: against closed forms, known rational functions, and as files and a command."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import sweep
from sweep.errors import SweepError
from sweep.fits import (
    Choices,
    ContactEnergies,
    Degrees,
    MasterCurve,
    Quotient,
    Reading,
    as_json,
    fit,
    from_dataset,
    load,
    read_csv,
    write,
)
from sweep.fits.curve import Interval
from sweep.fits.files import determined, summary
from sweep.fits.picture import draw_amplitudes, draw_fits, draw_phases
from sweep.fits.points import left_out
from sweep.fits.solve import Problem, adaptive, quotients
from sweep.model.table import Status
from sweep.pictures.scales import merged
from sweep.theory.mdr_contact import constant_load_energy
from tests.command import Run

Values = NDArray[np.float64]

DELTA = 1e-6  # stands for none: energies differ from the limit by a share of 1/(4ξ)
TENTH_PERCENT = 1e-3


def closed_over_xi(xi: Values) -> Values:
    """W̄δ of a sphere under constant load, δ → 0, for any φ; independent of sweep/."""
    core = np.sqrt(np.maximum(1 - 1 / np.maximum(xi, 1.0), 0.0))
    beyond = 0.4 * (1 - core) * (1 + 3 * core + core**2) / (1 + core) ** 2
    return np.where(xi < 1, 2 * xi - 1.6 * xi**2, beyond)


def closed_over_beta(beta: Values) -> Values:
    """W̄ at φ = 90°, δ → 0."""
    return (1 + 2 * beta**2) ** 2 / (4 * beta * (1 + beta**2) ** 1.5)


def run_in_memory(parameters: dict[str, Any], axes: dict[str, Any], **more: Any) -> ContactEnergies:
    source = {
        "model": "mdr_contact",
        "method": "exact",
        "outputs": more.get("outputs", ["normalized_energy"]),
        "parameters": parameters,
        "axes": {name: {"values": list(values)} for name, values in axes.items()},
    }
    return from_dataset(sweep.run(source, store=None))


@pytest.fixture(scope="module")
def points() -> ContactEnergies:
    """Energies for vanishing δ at φ = 90° over both of the paper's ranges, from the kernel."""
    xi = np.concatenate([np.geomspace(1e-3, 1, 120), np.linspace(1, 4, 150)[1:]])
    beta = np.concatenate([xi * DELTA, np.geomspace(0.1, 1e6, 300)])
    return run_in_memory({"delta": DELTA, "phase": math.pi / 2}, {"beta": beta})


def written_function(curve: MasterCurve, folder: Path) -> Any:
    """The written Python file as an imported module."""
    path = next(path for path in write(curve, folder) if path.suffix == ".py")
    spec = importlib.util.spec_from_file_location("written", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- Against closed forms ---


@pytest.mark.parametrize("method", ["least_squares", "minimax"])
def test_better_than_a_tenth_per_cent_with_fewer_coefficients_than_the_paper(
    points: ContactEnergies, method: str
) -> None:
    """Eq. 25 has 5 + 5 free coefficients and eq. 27 has 4 + 3, without the leading ones."""
    over_xi = fit(points, "xi", Choices(method=method, limits=(0.0, 4.0)))
    over_beta = fit(points, "beta", Choices(method=method, limits=(0.1, 1e6)))
    xi = np.unique(np.concatenate([np.geomspace(1e-9, 4, 20_001), np.linspace(0.9, 1.1, 20_001)]))
    beta = np.clip(np.geomspace(0.1, 1e6, 40_001), 0.1, 1e6)
    assert np.max(np.abs(over_xi(xi) / closed_over_xi(xi) - 1)) < TENTH_PERCENT
    assert np.max(np.abs(over_beta(beta) / closed_over_beta(beta) - 1)) < TENTH_PERCENT
    assert over_xi.n_coefficients + over_beta.n_coefficients == 13 < 10 + 7


def test_the_closed_form_is_recovered_with_its_degrees(points: ContactEnergies) -> None:
    """Above ξ = 1 it is W̄δ = (1/ξ)(2/5)(1 + 3w + w²)/(1 + w)³ with w = √(1 − 1/ξ)."""
    curve = fit(points, "xi", Choices(degrees=(Degrees(1, 0), Degrees(2, 3))))
    below, above = (piece.rational for piece in curve.pieces)
    assert isinstance(below, Quotient)
    assert isinstance(above, Quotient)
    assert below.numerator == pytest.approx((2.0, -1.6), rel=1e-9)
    assert above.numerator == pytest.approx((0.4, 1.2, 0.4), rel=1e-6)
    assert above.denominator == pytest.approx((1.0, 3.0, 3.0, 1.0), rel=1e-6)


def test_distance_from_theory_is_that_of_the_closed_form(points: ContactEnergies) -> None:
    curve = fit(points, "xi")
    assert curve.from_theory is not None
    assert curve.points_from_theory is not None
    worst = curve.from_theory
    at_worst = np.array([worst.where])
    relative_error = abs(curve(at_worst) / closed_over_xi(at_worst) - 1)
    assert worst.greatest == pytest.approx(relative_error[0], rel=1e-9)
    assert curve.points_from_theory.greatest < 1e-9


@pytest.mark.parametrize(
    "phase",
    [0.03, *(pytest.param(each, marks=pytest.mark.broad) for each in (0.01, math.pi - 0.03))],
)
def test_a_note_on_curves_that_miss_points_nearly_in_phase(phase: float) -> None:
    """They lie on the closed form, so neither scatter nor the number of points is the cause.

    In phase nothing slips from β = 1 on; fits on either side of that are as good as out of phase.
    """
    sweep_points = run_in_memory(
        {"delta": 1e-6, "phase": phase}, {"beta": np.geomspace(0.1, 100, 121)}
    )
    for method in ("least_squares", "aaa"):
        curve = fit(sweep_points, "beta", Choices(method=method))
        assert curve.points_from_theory is not None
        assert curve.points_from_theory.greatest < 1e-4
        notes = "; ".join(curve.notes)
        assert "the points scatter" not in notes
        assert "do not determine" not in notes
        if curve.error.rms > 0.02:  # aaa may come nearer
            assert f"misses the points by {100 * curve.error.rms:.2g} % rms" in notes
            assert "slip ends at beta = 1: fit up to 0.9 and from 1.2 on" in notes
    assert fit(sweep_points, "beta").error.rms > 0.02
    for limits in ((0.1, 0.9), (1.2, 100.0)):
        side = fit(sweep_points, "beta", Choices(limits=limits))
        assert (side.notes, side.error.rms < 0.01) == ((), True)


def test_a_note_on_curves_of_too_low_degrees(points: ContactEnergies) -> None:
    curve = fit(points, "beta", Choices(degrees=(Degrees(0, 0),)))
    (note,) = curve.notes
    assert "the curve misses the points by" in note
    assert note.endswith("raise the degrees, or use method aaa")


def test_no_distance_from_a_closed_form_of_zero(tmp_path: Path) -> None:
    """In phase nothing slips from β = 1 on; distances are those of the other points."""
    sweep_points = run_in_memory(
        {"delta": 1e-6, "phase": 0.0}, {"beta": np.geomspace(0.1, 0.99, 40)}
    )
    within, beyond = (
        fit(sweep_points, "beta", Choices(limits=limits, degrees=(Degrees(2, 0),)))
        for limits in ((0.1, 0.9), (0.1, 2.0))
    )
    for curve in (within, beyond):
        assert curve.from_theory is not None
        assert curve.from_theory.greatest < 1e-3
    assert within.from_theory.n_points > beyond.from_theory.n_points > 4000
    assert [path.suffix for path in write(beyond, str(tmp_path))] == [".json", ".py"]
    draw_fits([beyond])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda points: fit(points, "mu"), "unknown variable 'mu'; choose one of xi, beta"),
        (lambda _: Choices(method=3), "unknown method 3; choose one of least_squares"),
        (lambda points: points.at({"delta": "small"}), "at delta: 'small' is not a number"),
        (lambda _: from_dataset("a.zarr"), "'sweep' is a sweep of no model"),
    ],
)
def test_invalid_arguments_are_refused(points: ContactEnergies, call: Any, message: str) -> None:
    with pytest.raises(SweepError, match=message):
        call(points)


def test_aaa_meets_its_tolerance_over_beta(points: ContactEnergies) -> None:
    curve = fit(points, "beta", Choices(method="aaa", tolerance=1e-8))
    beta = np.clip(np.geomspace(0.1, 1e6, 5001), 0.1, 1e6)
    greatest = closed_over_beta(np.array([0.1]))[0]
    points_error = 1 / (4 * 0.1 / DELTA)  # what the points themselves are off, relative
    deviation = np.abs(curve(beta) - closed_over_beta(beta))
    assert np.max(deviation) < (1e-7 + 1.1 * points_error) * greatest
    assert 10 < curve.n_coefficients < 30


def test_one_piece_over_xi_is_far_worse(points: ContactEnergies) -> None:
    """The curvature is infinite at ξ = 1; with eq. 25's degrees the minimum error is 0.94 %."""
    whole = fit(points, "xi", Choices(method="minimax", whole=True))
    assert whole.n_coefficients == 10
    assert 0.8e-2 < whole.error.greatest < 1.1e-2


# --- Against known rational functions ---


def rational(t: Values) -> Values:
    return (1 + 2 * t + 0.3 * t**2) / (1 + 0.5 * t + 3 * t**2)


def interval(t: Values, *degrees: int) -> Interval:
    return Interval(float(t.min()), float(t.max()), 0, Degrees(*degrees), has_core=False)


def fitted(
    method: str, t: Values, g: Values, degrees: tuple[int, int], unit: Values | None = None
) -> Quotient:
    (function,) = quotients(method, [interval(t, *degrees)], t, g, g if unit is None else unit)
    return function


@pytest.mark.parametrize("method", ["least_squares", "minimax"])
@pytest.mark.parametrize("ends", [(0.01, 4.0), (1e-3, 1e4)])
def test_a_rational_function_is_recovered(method: str, ends: tuple[float, float]) -> None:
    t = np.geomspace(*ends, 120)
    function = fitted(method, t, rational(t), (3, 3))
    assert function.numerator == pytest.approx((1, 2, 0.3), rel=1e-10)
    assert function.denominator == pytest.approx((1, 0.5, 3), rel=1e-10)
    assert function.degrees == Degrees(2, 2)


def test_aaa_recovers_it_too() -> None:
    t = np.linspace(0, 4, 200)
    function = adaptive(t, rational(t), 1e-12, (t[0], t[-1]))
    fresh = np.linspace(0, 4, 999)
    assert function(fresh) == pytest.approx(rational(fresh), rel=1e-10)
    assert function.weights.size == 3
    assert function(t) == pytest.approx(rational(t), rel=1e-12)  # support points among them


def test_aaa_averages_points_at_the_same_place() -> None:
    t = np.linspace(0, 4, 100)
    twice = np.concatenate([rational(t) * 1.25, rational(t) * 0.75])
    fitted = adaptive(np.tile(t, 2), twice, 1e-12, (t[0], t[-1]))
    assert fitted(t) == pytest.approx(rational(t), rel=1e-10)


def test_the_minimax_error_of_a_line_is_chebyshevs() -> None:
    """For exp on [0, 1], by calculus: as steep as the chord, midway between it and its tangent."""
    t = np.linspace(0, 1, 1001)
    line = fitted("minimax", t, np.exp(t), (1, 0), np.ones(t.size))
    slope = math.e - 1
    level = 0.5 * (1 + slope * (1 - math.log(slope)))  # the mean of the chord and the tangent
    assert line.numerator == pytest.approx((level, slope), rel=1e-5)
    assert np.max(np.abs(line(t) - np.exp(t))) == pytest.approx(1 - level, rel=1e-5)


def test_the_minimax_error_alternates() -> None:
    """P + Q + 2 extremes of equal size and alternating signs: the error is the minimum."""
    t = np.linspace(0, 1, 2001)
    function = fitted("minimax", t, np.exp(t), (1, 1))
    extremes = extreme_errors(function(t) / np.exp(t) - 1)
    assert len(extremes) == 4
    assert min(extremes) > 0.999 * max(extremes)


def extreme_errors(errors: Values) -> list[float]:
    """The largest size of the errors between changes of sign."""
    parts = np.split(errors, np.flatnonzero(np.diff(np.sign(errors))) + 1)
    return [float(np.max(np.abs(part))) for part in parts]


def test_the_minimax_error_of_joined_pieces_alternates(points: ContactEnergies) -> None:
    """The upper piece alternates once for each of its 3 free coefficients, and once more."""
    curve = fit(points, "xi", Choices("minimax"))
    order = np.argsort(curve.x)
    errors = (curve(curve.x) / curve.energy - 1)[order][curve.x[order] > 1]
    extremes = extreme_errors(errors)
    assert len(extremes) >= 4
    assert min(sorted(extremes)[-4:]) > 0.999 * curve.error.greatest


@pytest.mark.parametrize("method", ["least_squares", "minimax"])
@pytest.mark.parametrize("sigma", [0.0, 0.02])
def test_pieces_meet_where_the_stick_core_appears(method: str, sigma: float) -> None:
    xi = np.linspace(0.1, 3.9, 40)
    noise = 1 + sigma * np.random.default_rng(1).standard_normal(40)
    energy = closed_over_xi(xi) / DELTA * noise
    below, above = fit(
        measured(xi * DELTA, energy, delta=np.full(40, DELTA)), "xi", Choices(method)
    ).pieces
    assert float(below(1.0)) == pytest.approx(float(above(1.0)), rel=1e-13)


def test_no_change_of_a_coefficient_lowers_the_squared_error() -> None:
    """Each coefficient of a fit to scattered points is varied by thousandths of its error."""
    t = np.geomspace(0.05, 20, 60)
    g = rational(t) * (1 + 0.02 * np.random.default_rng(3).standard_normal(60))
    function = fitted("least_squares", t, g, (2, 2))
    least = float(np.sum((function(t) / g - 1) ** 2))
    for side in ("numerator", "denominator"):
        errors = getattr(function, f"{side}_errors")
        for k in range(len(errors)):
            for sign in (-1e-3, 1e-3):
                changed = list(getattr(function, side))
                changed[k] += sign * errors[k]
                other = dataclasses.replace(function, **{side: tuple(changed)})
                assert np.sum((other(t) / g - 1) ** 2) >= least * (1 - 1e-14)


@pytest.mark.parametrize("method", ["least_squares", "minimax", "aaa"])
@pytest.mark.parametrize("variable", ["xi", "beta"])
def test_five_points_of_a_lab_are_enough(method: str, variable: str) -> None:
    """1 % of scatter; the curve is within 10 % of theory, in a range of one decade."""
    noise = 1 + 0.01 * np.array([0.3, -0.8, 0.5, 0.9, -0.4])
    x = np.array([0.3, 0.7, 1.5, 2.5, 4.0])
    closed = closed_over_xi if variable == "xi" else closed_over_beta
    points = (
        measured(x * DELTA, closed(x) / DELTA * noise, delta=np.full(5, DELTA))
        if variable == "xi" else measured(x, closed(x) * noise)
    )  # fmt: skip
    curve = fit(points, variable, Choices(method))
    assert curve.n_coefficients < 5
    fine = np.linspace(0.3, 4, 1001)
    assert np.max(np.abs(curve(fine) / closed(fine) - 1)) < 0.1


def test_degrees_that_five_points_allow_are_tried() -> None:
    """Two degrees too many are lowered; the exact ones have fewer coefficients than points."""
    x = np.array([0.3, 0.7, 1.5, 2.5, 4.0])
    curve = fit(measured(x, (1 + 2 * x) / (x + 0.5 * x**2)), "beta")
    (piece,) = curve.pieces
    assert isinstance(piece.rational, Quotient)
    assert piece.rational.degrees == Degrees(1, 1)
    assert piece.rational.numerator == pytest.approx((1, 2), rel=1e-9)


def test_least_squares_has_the_smaller_rms(points: ContactEnergies) -> None:
    squares, greatest = (
        fit(points, "beta", Choices(method=method)).error for method in ("least_squares", "minimax")
    )
    assert squares.rms < greatest.rms
    assert squares.greatest > greatest.greatest


@pytest.mark.broad
def test_standard_errors_are_those_of_repeated_measurements() -> None:
    """Errors of the coefficients are correlated, so the curve's need the covariance."""
    rng = np.random.default_rng(5)
    t, fine = np.linspace(0.05, 4, 80), np.linspace(0.05, 4, 9)
    fits = list[Quotient]()
    for _ in range(300):
        g = rational(t) * (1 + 0.01 * rng.standard_normal(t.size))
        problem = Problem([interval(t, 2, 2)], [Degrees(2, 2)], t, g, g)
        c = problem.least_squares()
        fits.append(problem.quotient(0, c, problem.judged(c)[1]))
    coefficients = np.array([each.numerator + each.denominator[1:] for each in fits])
    reported = np.array([each.numerator_errors + each.denominator_errors[1:] for each in fits])
    scatter = np.std(coefficients, axis=0, ddof=1)
    assert np.median(reported, axis=0) == pytest.approx(scatter, rel=0.2)
    assert all(each.denominator_errors[0] == 0 for each in fits)
    scatter = np.std([each(fine) for each in fits], axis=0, ddof=1)
    of_curves = np.median([np.asarray(each.standard_error(fine)) for each in fits], axis=0)
    assert of_curves == pytest.approx(scatter, rel=0.2)
    for each, errors in zip(fits[:3], reported, strict=False):
        assert np.delete(np.sqrt(np.diag(each.covariance)), 3) == pytest.approx(errors)


def test_standard_errors_of_joined_pieces_are_those_of_repeated_measurements() -> None:
    """Where they meet, both pieces contribute to the value, and have one error."""
    rng = np.random.default_rng(2)
    xi, degrees = np.linspace(0.1, 3.9, 60), (Degrees(1, 0), Degrees(1, 0))
    places = [np.array([0.2, 0.9, 1.0]), np.array([1.0, 1.3, 3.5])]
    values, errors = list[Values](), list[Values]()
    for _ in range(150):
        noisy = closed_over_xi(xi) / DELTA * (1 + 0.02 * rng.standard_normal(60))
        points = measured(xi * DELTA, noisy, delta=np.full(60, DELTA))
        for x, piece in zip(
            places, fit(points, "xi", Choices(degrees=degrees)).pieces, strict=True
        ):
            values.append(piece(x))
            assert isinstance(piece.rational, Quotient)
            error = piece.rational.standard_error(piece.argument(x))
            assert error is not None
            errors.append(error * x**piece.power)
    scatter = np.std(np.reshape(values, (150, 6)), axis=0, ddof=1)
    reported = np.median(np.reshape(errors, (150, 6)), axis=0)
    assert reported == pytest.approx(scatter, rel=0.2)
    assert reported[2] == pytest.approx(reported[3], rel=1e-6)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.40020134, 1.32e-5, ("0.400201", "1.3e-05")),
        (-1.5999876, 0.0, ("-1.59999", "")),
        (2.00099, 0.0056, ("2.0010", "0.0056")),
        (1234.567, 12.3, ("1235", "12")),
        (0.1, 3e-12, ("0.1", "< 1e-10")),
        (1.0, 5e-10, ("1", "< 1e-9")),
        (3.0, 40.0, ("3", "40")),
    ],
)
def test_digits_are_those_that_the_points_determine(
    value: float, error: float, text: tuple[str, str]
) -> None:
    assert determined(value, error) == text


@pytest.mark.parametrize("method", ["least_squares", "minimax"])
def test_a_denominator_without_a_constant(method: str) -> None:
    """(1 + t)/(t + 3t²): with 1 for its constant all others would be infinite."""
    t = np.geomspace(0.1, 10, 80)
    function = fitted(method, t, (1 + t) / (t + 3 * t**2), (1, 2))
    share = function.denominator[1]
    assert np.array(function.numerator) / share == pytest.approx([1, 1], rel=1e-6)
    assert np.array(function.denominator) / share == pytest.approx([0, 1, 3], rel=1e-6, abs=1e-6)
    assert np.max(np.abs(function.numerator + function.denominator)) < 100
    poles = np.roots(function.denominator[::-1])
    assert sorted(poles.real) == pytest.approx([-1 / 3, 0], abs=1e-6)


def test_coefficients_of_scattered_points_are_not_huge() -> None:
    """With seed 80, a negligible constant in the denominator once made them 1e12."""
    for seed in (0, 1, 80):
        rng = np.random.default_rng(seed)
        xi = np.linspace(0.1, 3.9, 20)
        noisy = closed_over_xi(xi) / DELTA * (1 + 0.2 * rng.standard_normal(20))
        curve = fit(measured(xi * DELTA, noisy, delta=np.full(20, DELTA)), "xi")
        for piece in curve.pieces:
            assert isinstance(piece.rational, Quotient)
            assert np.max(np.abs(piece.rational.numerator + piece.rational.denominator)) < 1e5


@pytest.mark.parametrize("method", ["least_squares", "minimax", "aaa"])
@pytest.mark.parametrize("size", [1e-45, 1e45])
@pytest.mark.parametrize("unit", [1e-13, 1e13])
def test_fits_do_not_depend_on_units(method: str, size: float, unit: float) -> None:
    t = np.linspace(0.2, 4, 60)
    points = measured(unit * t, size * rational(t) / t)
    curve = fit(points, "beta", Choices(method, (Degrees(2, 2),), (0.2 * unit, 4 * unit)))
    assert curve.error.greatest < 1e-9
    json.dumps(as_json(curve), allow_nan=False)


def measured(beta: Values, energy: Values, **columns: Any) -> ContactEnergies:
    unknown = np.full(beta.size, np.nan)
    names: dict[str, Any] = {"delta": unknown, "phase": unknown, "sigma": unknown} | columns
    names |= {"xi": beta / names["delta"], "xi_energy": energy * names["delta"]}
    return ContactEnergies(
        source="measured", beta=beta, energy=energy, profile_exponent=np.full(beta.size, 2.0),
        **names,
    )  # fmt: skip


def test_weights() -> None:
    """An outlier has the weight of its standard error; absolute errors have equal weights."""
    beta = np.linspace(0.2, 4, 60)
    energy = rational(beta)
    energy[30] *= 3
    sigma = np.where(np.arange(60) == 30, 1e6, 1e-3)
    points = measured(beta, energy, sigma=sigma / energy)
    degrees = (Degrees(3, 2),)
    good = fit(points, "beta", Choices(weights="sigma", degrees=degrees))
    rest = np.arange(60) != 30
    assert good(beta)[rest] == pytest.approx(energy[rest], rel=1e-6)
    even = fit(measured(beta, rational(beta)), "beta",
               Choices("minimax", (Degrees(1, 1),), weights="absolute"))  # fmt: skip
    deviation = even(beta) - rational(beta)
    assert deviation.max() == pytest.approx(-deviation.min(), rel=1e-2)


@pytest.mark.parametrize("method", ["least_squares", "minimax"])
def test_no_pole_among_the_points(method: str) -> None:
    """The points follow a double pole, but the curve of the same degrees has none."""
    beta = np.linspace(0.2, 2, 50)
    points = measured(beta, 1 / (beta - 1.003) ** 2)
    curve = fit(points, "beta", Choices(method, degrees=(Degrees(1, 2),), limits=(0.2, 2.0)))
    (piece,) = curve.pieces
    assert isinstance(piece.rational, Quotient)
    poles = np.roots(piece.rational.denominator[::-1])
    assert not np.any((poles.imag == 0) & (poles.real >= 0.2) & (poles.real <= 2))
    fine = curve(np.linspace(0.2, 2, 20_001))
    assert np.max(np.abs(fine)) <= curve.energy.max()


@pytest.mark.parametrize(
    ("method", "sigma"),
    [
        *itertools.product(["least_squares", "minimax"], [0.001, 0.01, 0.05]),
        ("aaa", 0.05),
        *(pytest.param("aaa", sigma, marks=pytest.mark.broad) for sigma in (0.001, 0.01)),
    ],
)
@pytest.mark.parametrize(
    "n_points", [20, *(pytest.param(n, marks=pytest.mark.broad) for n in (50, 100))]
)
@pytest.mark.parametrize("variable", ["xi", "beta"])
def test_scattered_points(variable: str, n_points: int, sigma: float, method: str) -> None:
    """The curve is within 5 standard errors of one point and 0.5 % of theory, over all its range.

    A curve of 8 coefficients through 20 points has standard errors of up to twice a point's at its
    ends, so 2.5 of its own are allowed; lower degrees are off by some per mille.
    """
    for seed in range(4):
        rng = np.random.default_rng(seed)
        noise = 1 + sigma * rng.standard_normal(n_points)
        if variable == "xi":
            xi = [np.linspace(0.1, 3.9, n_points), np.geomspace(0.03, 4, n_points)][seed % 2]
            points = measured(xi * DELTA, closed_over_xi(xi) / DELTA * noise,
                              delta=np.full(n_points, DELTA))  # fmt: skip
        else:
            beta = np.geomspace(0.12, (30, 1000)[seed % 2], n_points)
            points = measured(beta, closed_over_beta(beta) * noise)
        curve = fit(points, variable, Choices(method=method))
        fine = np.clip(np.geomspace(*curve.limits, 5001), *curve.limits)
        expected = closed_over_xi(fine) if variable == "xi" else closed_over_beta(fine)
        relative_error = np.max(np.abs(curve(fine) / expected - 1))
        assert relative_error < 5 * sigma + 0.005, (seed, relative_error / sigma)


def test_a_curve_that_would_have_a_pole_is_fitted_again() -> None:
    """Degrees 3/3 predict these points best, but from the linear start they end with a pole."""
    noise = 1 + 0.01 * np.random.default_rng(7).standard_normal(12)
    beta = np.geomspace(0.12, 1000, 12)
    curve = fit(measured(beta, closed_over_beta(beta) * noise), "beta")
    fine = np.clip(np.geomspace(*curve.limits, 5001), *curve.limits)
    assert np.max(np.abs(curve(fine) / closed_over_beta(fine) - 1)) < 0.015


def test_notes_on_lowered_degrees_and_replaced_methods() -> None:
    rng = np.random.default_rng(0)
    xi = np.linspace(0.1, 3.9, 20)
    energy = closed_over_xi(xi) / DELTA * (1 + 0.05 * rng.standard_normal(20))
    points = measured(xi * DELTA, energy, delta=np.full(20, DELTA))
    (note,) = fit(points, "xi", Choices(degrees=(Degrees(1, 0), Degrees(3, 4)))).notes
    assert re.fullmatch(
        r"xi from 1 to 3\.9: the points do not determine .* 3/4: fitted with degrees ./.", note
    )
    curve = fit(points, "xi", Choices(method="aaa"))
    assert curve.notes[0].endswith("fitted by least_squares")
    assert curve.method == "least_squares"


def test_the_range_is_that_of_the_points(points: ContactEnergies) -> None:
    some = points.where((points.beta > 0.3) & (points.beta < 20))
    curve = fit(some, "beta")
    assert curve.limits == (some.beta.min(), some.beta.max())
    assert curve.notes == ()
    assert np.isnan(curve([0.2, 25.0])).all()
    (note,) = fit(some, "beta", Choices(limits=(0.1, 10.0))).notes
    assert "goes beyond the points" in note
    assert fit(some, "beta", Choices(limits=(0.5, 10.0))).notes == ()


def test_points_outside_the_range_are_counted(points: ContactEnergies) -> None:
    n_inside = int(np.sum((points.beta >= 1) & (points.beta <= 10)))
    assert 0 < n_inside < points.beta.size
    curve = fit(points, "beta", Choices(limits=(1.0, 10.0)))
    assert curve.outside == points.beta.size - n_inside
    assert summary(curve)[0].startswith(f"Fitted to {n_inside:,} of {points.beta.size:,} points")


def test_a_note_on_a_curve_that_is_far_from_the_points() -> None:
    """Scattered by 30 %, so that neighbours do not lie on one side of any curve."""
    scatter = np.exp(0.3 * np.random.default_rng(3).standard_normal(40))
    xi = np.linspace(0.1, 3.9, 40)
    points = measured(xi * DELTA, closed_over_xi(xi) / DELTA * scatter, delta=np.full(40, DELTA))
    curve = fit(points, "xi")
    assert curve.error.rms > 0.1
    assert f"{100 * curve.error.rms:.2g} % rms off the points" in "".join(curve.notes)


def test_notes_on_points_that_do_not_collapse() -> None:
    """W over beta falls with delta if xi is of order 1; at delta = 0.4 the energies differ."""
    beta = np.geomspace(0.1, 10, 40)
    fixed = {"phase": math.pi / 2}
    several = run_in_memory(fixed, {"delta": [1e-4, 0.08], "beta": beta})
    (note,) = fit(several, "beta").notes
    assert "the points do not collapse: at nearly equal beta" in note
    assert note.endswith("because delta or phase varies: choose one value (at)")
    large = run_in_memory({"delta": 0.4, **fixed}, {"beta": beta})
    (note,) = fit(large, "beta").notes
    assert note.startswith("delta is up to 0.4")
    assert fit(several.at({"delta": 1e-4}), "beta").notes == ()


# --- Choosing points ---


def test_a_profile_exponent_can_be_set_for_a_file_without_one(tmp_path: Path) -> None:
    """A cone's points against its own closed form; without an exponent, they are a sphere's."""
    xi = np.linspace(0.05, 4, 80)
    energy = np.where(xi < 1, 0.75 * xi * (1 - 2 * xi / 3), 0.25 / np.maximum(xi, 1)) / DELTA
    rows = "\n".join(f"{x * DELTA!r},{e!r},{DELTA}" for x, e in
                     zip(xi.tolist(), energy.tolist(), strict=True))  # fmt: skip
    path = tmp_path / "cone.csv"
    path.write_text("beta,energy,delta\n" + rows, encoding="utf-8")
    table = read_csv(path, Reading())
    for cuts, n, limit in (({"profile_exponent": 1.0}, 1.0, 1e-12), ({}, 2.0, 0.3)):
        curve = fit(table.at(cuts), "xi")
        assert curve.constants["profile_exponent"] == (n, n)
        assert curve.points_from_theory is not None
        assert (curve.points_from_theory.greatest < limit) == (n == 1.0)
    for wrong in (0.5, -1.0):
        with pytest.raises(SweepError, match=r"profile_exponent has to be above 0\.5, not"):
            fit(table, "xi", at={"profile_exponent": wrong})
    path.write_text("beta,energy,profile_exponent\n1,2,0.4\n2,3,0.4", encoding="utf-8")
    with pytest.raises(SweepError, match=r"profile_exponent has to be above 0\.5, not 0\.4"):
        fit(read_csv(path, Reading()), "beta")


def test_spheres_have_no_other_profile() -> None:
    body = {**SPHERE, "normal_amplitude": 1e-8}
    sphere_points = run_in_memory(body, {"friction": np.geomspace(0.01, 10, 30)})
    (note,) = sphere_points.at({"profile_exponent": 3.0}).notes
    assert "profile_exponent = 3 is not among the points: using 2" in note


@pytest.mark.parametrize(
    ("phase", "nearest"),
    [(3.2, 0.2), (-0.1, 0.2), (1.0 + math.pi, 1.0), (1.1, 1.0), (-1.2, 2.0), ("230 deg", 1.0)],
)
def test_phases_are_taken_modulo_pi(phase: float | str, nearest: float) -> None:
    phases = [0.2, 1.0, 2.0, 0.2 + math.pi, 1.0 - math.pi]
    grid = run_in_memory({"delta": 0.01}, {"phase": phases, "beta": np.geomspace(0.1, 10, 30)})
    assert np.unique(grid.phase).tolist() == [0.2, 1.0, 2.0]
    chosen = grid.at({"phase": phase})
    assert np.unique(chosen.phase).tolist() == [nearest]
    assert chosen.energy.size == (30 if nearest == 2.0 else 60)
    assert chosen.notes == ()
    fit(chosen, "beta", Choices(degrees=(Degrees(2, 2),)))


def test_a_note_on_a_value_that_is_not_among_the_points() -> None:
    axes = {"delta": [1e-4, 1e-3, 1e-2], "beta": np.geomspace(0.1, 10, 4)}
    points = run_in_memory({"phase": 1.0}, axes)
    for delta, nearest, noted in ((1e-3, 0.001, False), (1.2e-3, 0.001, False),
                               (4e-3, 0.001, True), (7.0, 0.01, True)):  # fmt: skip
        chosen = points.at({"delta": delta})
        assert np.unique(chosen.delta).tolist() == [nearest]
        note = f"is not among the points: using {nearest:g}"
        assert any(note in each for each in chosen.notes) == noted


def test_values_that_differ_by_rounding_are_merged() -> None:
    """δ = Δz/d0 of many d0 and Δz, and phases: groups of 1e-9, of every column."""
    scales = np.random.default_rng(3).uniform(0.1, 9, 12)
    depths = (1e-6 * scales).tolist()
    body = {key: value for key, value in SPHERE.items() if key != "indentation"}
    parts = [
        run_in_memory({**body, "indentation": depth, "normal_amplitude": 0.03 * depth},
                      {"friction": [0.1, 0.7]})
        for depth in depths
    ]  # fmt: skip
    delta = np.concatenate([part.delta for part in parts])
    assert np.unique(delta).size > 1
    assert np.unique(merged(delta)).size == 1
    values = np.array([0.0, 1e-300, 1e-4, 1e-4 * (1 + 1e-8), np.nan])
    np.testing.assert_array_equal(merged(values), values)
    turns = 0.3 + math.pi * np.arange(-5, 6)
    assert np.unique(merged(turns, math.pi)).tolist() == [0.3]
    edge = np.array([math.pi / 2, -math.pi / 2, 3 * math.pi / 2, 1.5])
    assert np.unique(np.abs(merged(edge, math.pi))).tolist() == [1.5, math.pi / 2]
    assert merged(np.empty(0)).size == 0


# --- Of any parameter set ---


def test_physical_contacts_equal_dimensionless_ones() -> None:
    """From energies in J as well as from normalized ones."""
    body = {**SPHERE, "normal_amplitude": 1e-8}
    friction = np.geomspace(0.01, 10, 7)
    normalized = run_in_memory(body, {"friction": friction})
    joules = run_in_memory(body, {"friction": friction}, outputs=["dissipated_energy"])
    plain = run_in_memory({"delta": 0.01, "phase": 1.0}, {"beta": friction * KAPPA * 0.5})
    for name in ("beta", "delta", "phase", "energy", "profile_exponent"):
        expected = getattr(plain, name)
        assert getattr(normalized, name) == pytest.approx(expected, rel=1e-12), name
        assert getattr(joules, name) == pytest.approx(expected, rel=1e-11), name


CONTACT = {"youngs_modulus": 2e11, "poisson_ratio": 0.3, "indentation": 1e-6, "phase": 1.0,
           "tangential_amplitude": 2e-8}  # fmt: skip
SPHERE = {**CONTACT, "radius": 0.01}
KAPPA = 1.7 / 1.4
GRIP = KAPPA * 1e-6 / 2e-8  # xi over the friction coefficient


@pytest.mark.parametrize("exponent", [1.0, 2.0, 4.0])
def test_contacts_of_constant_load_are_fitted_over_xi(exponent: float) -> None:
    """Beta and delta are 0 and W is infinite, but xi and W times delta follow the closed form."""
    profile = {**CONTACT, "profile_coefficient": 50.0, "profile_exponent": exponent}
    xi = np.concatenate([np.linspace(0.02, 1, 50), np.linspace(1, 4, 60)[1:]])
    contact_points = run_in_memory(
        {**profile, "normal_amplitude": 0.0}, {"friction": xi / GRIP},
        outputs=["normalized_energy", "dissipated_energy"],
    )  # fmt: skip
    assert (left_out(contact_points.faults), contact_points.delta.max()) == ("", 0)
    assert contact_points.xi == pytest.approx(xi, rel=1e-12)
    closed = 3 * exponent / 16 * constant_load_energy(xi, exponent)
    assert contact_points.xi_energy == pytest.approx(closed, rel=1e-10)
    curve = fit(contact_points, "xi")
    assert curve.points_from_theory is not None
    assert curve.points_from_theory.greatest < 1e-10
    assert (curve.notes, curve.constants["delta"]) == ((), (0.0, 0.0))
    with pytest.raises(SweepError, match=r"109 of 109 left out .109 with beta = 0, without normal"):
        fit(contact_points, "beta")


def test_contacts_of_constant_load_beside_others(run: Run, tmp_path: Path) -> None:
    """Over beta only the others are fitted; over xi all are, and these can be chosen."""
    friction = np.geomspace(1e-3, 100, 120)
    outputs = {"outputs": ["dissipated_energy"]}
    with_it, without = (
        run_in_memory(SPHERE, {"normal_amplitude": amplitudes, "friction": friction}, **outputs)
        for amplitudes in ([0.0, 1e-8], [1e-8])
    )
    with_constant_load, without_constant_load = (fit(each, "beta") for each in (with_it, without))
    assert with_constant_load.pieces == without_constant_load.pieces
    assert (with_constant_load.notes, with_constant_load.constants) == (
        without_constant_load.notes,
        without_constant_load.constants,
    )
    assert (with_constant_load.left_out, without_constant_load.left_out) == (120, 0)
    assert fit(with_it, "xi").x.size == 2 * fit(without, "xi").x.size
    still = with_it.at({"delta": 0})
    assert (still.beta.size, still.delta.max(), left_out(still.faults)) == (120, 0, "")
    axes = {"normal_amplitude": {"values": [0.0, 1e-8]}, "friction": {"values": friction.tolist()}}
    request = {"model": "mdr_contact", "parameters": SPHERE, "axes": axes}
    sweep.run(request, store=tmp_path / "loads.zarr")
    status, out, err = run("fit", "loads.zarr", "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    assert [each["points_left_out"] for each in printed["fits"]] == [0, 120]
    assert "amplitudes.png" in {Path(path).name for path in printed["files"]}
    assert run("export", "loads.zarr", "-o", "points.csv")[0] == 0
    exported = load(tmp_path / "points.csv").at({"delta": 0})
    assert fit(exported, "xi").pieces == fit(load(tmp_path / "loads.zarr").at({"delta": 0}),
                                             "xi").pieces  # fmt: skip


def test_standard_errors_of_constant_load_count_over_xi(tmp_path: Path) -> None:
    """60 contacts with errors in J; one is an outlier with a large error."""
    friction = np.linspace(0.05, 3.99, 60) / GRIP
    energy = closed_over_xi(friction * GRIP)
    energy[20] *= 3
    error = np.where(np.arange(60) == 20, 1e6, 1e-3)
    columns = np.column_stack([friction, energy, error])
    rows = "".join(f"{mu!r},{loss!r},{error_j!r}\n" for mu, loss, error_j in columns.tolist())
    fixed = {**SPHERE, "normal_amplitude": 0.0}
    constants = "".join(f"# {name} = {value!r}\n" for name, value in fixed.items())
    path = tmp_path / "rig.csv"
    path.write_text(f"{constants}friction,dissipated_energy,error\n{rows}")
    unit = 8 / 3 * 4e11 / (1.3 * 1.7) * 1e-4 * 4e-16  # (16/3) G* a0 Δx²/n, a0 = √(R d0)
    scaled = read_csv(path, Reading(sigma="error")).xi_energy * unit
    assert scaled == pytest.approx(energy, rel=1e-12)
    curve = fit(read_csv(path, Reading(sigma="error")), "xi", Choices(weights="sigma"))
    rest = np.arange(60) != 20
    assert np.max(np.abs(curve(curve.x) * unit / energy - 1)[rest]) < TENTH_PERCENT


# --- Of any store ---


def request_of(parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
    document = {"model": "mdr_contact", "outputs": ["normalized_energy"]}
    return {**document, "parameters": parameters, **more}


def test_a_sample_is_fitted_like_a_grid(run: Run, tmp_path: Path) -> None:
    """Over ξ points of any phase and small δ collapse; a sample has no curves to draw."""
    sample = {"method": "sobol", "points": 256, "seed": 3, "beta": {"loguniform": [1e-9, 1e-5]},
              "delta": {"loguniform": [1e-7, 1e-6]}, "phase": {"uniform": [0.2, 3]}}  # fmt: skip
    sweep.run(request_of({}, sample=sample), store=tmp_path / "drawn.zarr")
    status, out, err = run("fit", "drawn.zarr", "--variable", "xi", "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    assert printed["fits"][0]["points_from_theory"]["greatest"] < 1e-5
    assert [Path(path).name for path in printed["files"]] == [
        "fit_xi.json",
        "fit_xi.py",
        "fits.png",
    ]


@pytest.mark.parametrize("method", ["least_squares", "minimax", "aaa"])
def test_stores_of_single_precision(method: str) -> None:
    xi = np.concatenate([np.linspace(0.02, 1, 50), np.linspace(1, 4, 60)[1:]])
    axes = {"beta": {"values": (xi * DELTA).tolist()}}
    request = request_of({"delta": DELTA, "phase": 1.0}, axes=axes, dtype="float32")
    float32_points = from_dataset(sweep.run(request, store=None))
    assert (
        np.max(np.abs(float32_points.xi_energy / closed_over_xi(xi) - 1)) > 1e-9
    )  # rounded they are
    curve = fit(float32_points, "xi", Choices(method=method))
    assert np.max(np.abs(curve(xi) / closed_over_xi(xi) - 1)) < TENTH_PERCENT


def test_pending_and_failed_points_are_left_out() -> None:
    axes = {"beta": {"geomspace": [0.1, 100, 60]}}
    dataset = sweep.run(request_of({"delta": 1e-6, "phase": 1.0}, axes=axes), store=None).load()
    whole = fit(from_dataset(dataset), "beta")
    dataset["status"][3:6] = Status.pending
    dataset["status"][7] = Status.failed
    dataset["normalized_energy"][[3, 4, 5, 7]] = np.nan
    ok_points = from_dataset(dataset)
    assert left_out(ok_points.faults) == ": 4 of 60 left out (4 with no energy)"
    some = fit(ok_points, "beta")
    assert some.left_out == 4
    assert some(whole.x) == pytest.approx(whole(whole.x), rel=TENTH_PERCENT)
    dataset["status"][:] = Status.pending
    with pytest.raises(SweepError, match="has no point that is ok: see why with `sweep status`"):
        from_dataset(dataset)


@pytest.mark.parametrize(
    ("parameters", "axes", "variable", "message"),
    [
        ({"beta": 1.0, "delta": 0.5}, {"phase": [0.3, 1.0, 2.0]}, "xi",
         "3 different values of xi from 0 to 4, and there are 1: use another range"),
        ({"beta": 1.0, "delta": 0.5}, {"phase": [0.3, 1.0, 2.0]}, "beta",
         "has 3 values of phase, from 0.3 to 2, and a curve for each"),
        ({"beta": 0.0, "phase": 1.0}, {"delta": [0.1, 0.2]}, "xi", "2 left out .2 with beta = 0.$"),
        ({"phase": 1.0, "delta": 0.1}, {"beta": [math.inf]}, "xi", "left out .1 with beta infin"),
        ({"beta": 1.0, "phase": 1.0, "delta": 0.1}, {}, "beta", "of beta from .* and there are 1"),
        ({**SPHERE, "normal_amplitude": 1e-8, "tangential_amplitude": 0.0},
         {"friction": [0.1, 0.2]}, "xi", "2 left out .2 with beta infinite"),
        ({**SPHERE, "normal_amplitude": 1e-8}, {"friction": [0.0, math.inf]}, "xi",
         "2 left out .1 with beta = 0, 1 with beta infinite"),
        ({**SPHERE, "normal_amplitude": 0.0}, {"friction": [0.1, 0.2, 0.3]}, "xi",
         "3 of 3 left out .3 with beta = 0, without normal oscillation; .* 'dissipated_e"),
    ],
)  # fmt: skip
def test_stores_without_a_curve_are_refused_with_a_reason(
    parameters: dict[str, Any], axes: dict[str, Any], variable: str, message: str
) -> None:
    with pytest.raises(SweepError, match=message):
        fit(run_in_memory(parameters, axes), variable)


def test_one_axis_of_amplitudes_is_enough_over_xi() -> None:
    """Along δ alone ξ varies too."""
    amplitude_points = run_in_memory(
        {"beta": 1e-7, "phase": 1.0}, {"delta": np.geomspace(2.5e-8, 1e-5, 120)}
    )
    curve = fit(amplitude_points, "xi")
    assert curve.points_from_theory is not None
    assert curve.points_from_theory.greatest < 1e-4
    assert np.max(np.abs(curve(curve.x) / closed_over_xi(curve.x) - 1)) < 2 * TENTH_PERCENT


def test_points_without_a_positive_energy_are_left_out() -> None:
    kept_points = run_in_memory({"delta": 0.01, "phase": 0.0}, {"beta": [0.0, 0.5, 2.0, math.inf]})
    assert kept_points.usable.beta.tolist() == [0.5]
    assert np.sum(kept_points.faults != "") == 3


@pytest.mark.parametrize(
    ("n", "limit"), [(1.0, 1e-9), *((n, 2e-4) for n in (0.6, 1.5, 3.0, 4.0, 6.0, 20.0, 1000.0))]
)
def test_default_degrees_suit_the_profile(n: float, limit: float) -> None:
    """Between the points too: as a function of the core's radius, steep profiles were 37 % off."""
    xi = np.concatenate([np.geomspace(1e-3, 1, 60), np.linspace(1, 4, 150)[1:]])
    fixed = {"delta": 1e-7, "phase": 1.0, "profile_exponent": n}
    curve = fit(run_in_memory(fixed, {"beta": xi * 1e-7}), "xi")
    assert curve.from_theory is not None
    assert curve.from_theory.greatest < limit
    assert curve.method == "least_squares"


def test_poles_of_a_denominator_with_negligible_terms() -> None:
    """(1 + t)(1 + t/2), with negligible terms as a bounded fit leaves them."""
    t = np.linspace(0, 10, 30)
    problem = Problem([interval(t, 0, 4)], [Degrees(0, 4)], t, t, t)
    for factor, is_within in ((1.5, False), (-1.5, True)):
        c = np.array([1.0, factor, 0.5, 1.8e-22, 1.5e-323])
        assert problem.has_pole(c) == is_within


def test_points_too_few_for_aaa_are_fitted_by_least_squares() -> None:
    """A sphere, which degrees 2/3 fit exactly; the method reported is the one used."""
    xi = np.concatenate([np.linspace(0.05, 1, 20), [1.01, 1.1, 1.5, 2, 2.5, 3, 3.5, 4]])
    sparse = measured(xi * DELTA, closed_over_xi(xi) / DELTA, delta=np.full(xi.size, DELTA))
    curve = fit(sparse, "xi", Choices(method="aaa"))
    (note,) = curve.notes
    assert "half of the points do not predict the others" in note
    assert note.endswith("fitted by least_squares")
    assert as_json(curve)["method"] == "least_squares"
    fine = np.linspace(0.05, 4, 2001)
    assert np.max(np.abs(curve(fine) / closed_over_xi(fine) - 1)) < 2 * TENTH_PERCENT


@pytest.mark.parametrize("n", [1.0, 2.0, 4.0])
def test_the_lines_of_figure_3_are_those_of_the_profile(n: float) -> None:
    """Complete slip meets the energies at small ξ, δ sin²φ at large β."""
    fixed = {"phase": 0.8, "profile_exponent": n}
    profile_points = run_in_memory(
        fixed, {"delta": [1e-3, 1e-2], "beta": np.geomspace(1e-8, 1e4, 60)}
    )
    left, right = draw_amplitudes(profile_points).axes
    lines = {str(line.get_label()): line for line in right.lines}
    coulomb = lines["Coulomb, eq. 20" if n == 2 else "Coulomb, of this profile"]
    x, y = (np.asarray(values) for values in coulomb.get_data())
    least = profile_points.where(profile_points.xi == profile_points.xi.min())
    np.testing.assert_allclose(y / x, float(least.xi_energy[0] / least.xi[0]), rtol=1e-4)
    dashed = [line for line in right.lines if line.get_linestyle() == "-."]
    levels = [np.asarray(line.get_ydata())[0] for line in dashed[:2]]
    most = profile_points.xi_energy[profile_points.beta == profile_points.beta.max()]
    np.testing.assert_allclose(levels, most, rtol=1e-3)
    assert lines["I | II: ξ = 1/√8, eq. 24"].get_xdata()[0] == pytest.approx(8**-0.5)
    border = next(line for line in left.lines if line.get_label().startswith("II | III: "))
    assert 1 / (4 * border.get_xdata()[0]) == pytest.approx(math.sin(0.8) ** 2)


@pytest.mark.parametrize(("several", "drawn"), [(4, 3), (13, 6), (14, 7), (26, 7)])
def test_the_phases_of_figure_4_are_evenly_spaced(several: int, drawn: int) -> None:
    """Phases cover half a cycle, whose end equals its beginning."""
    axes = {"phase": np.linspace(0, np.pi, several), "beta": np.geomspace(1e-2, 1e2, 5)}
    left, _ = draw_phases(run_in_memory({"delta": 0.1}, axes)).axes
    phases = [float(str(line.get_label()).strip("φ= °")) for line in left.lines]
    assert len(phases) == drawn
    np.testing.assert_allclose(np.diff(phases), phases[1] - phases[0], atol=0.1)


# --- Files ---


@pytest.mark.parametrize(
    "name", ['a"""+str(1-1)+""".csv', "b\\", 'c"', "new\nline", "π\\N{x}", "\\x4"]
)
def test_file_names_are_escaped(points: ContactEnergies, tmp_path: Path, name: str) -> None:
    curve = fit(dataclasses.replace(points, source=name), "beta")
    module = written_function(curve, tmp_path)
    assert f"points of {name} (" in module.__doc__
    assert module.energy(1.0) == pytest.approx(float(curve(1.0)), rel=1e-13)


@pytest.mark.parametrize("method", ["least_squares", "aaa"])
@pytest.mark.parametrize("variable", ["xi", "beta"])
def test_the_written_function_is_the_fit(
    points: ContactEnergies, tmp_path: Path, method: str, variable: str
) -> None:
    curve = fit(points, variable, Choices(method=method))
    module = written_function(curve, tmp_path)
    low, high = curve.limits
    x = np.linspace(low, high, 1001)[1:]
    assert module.energy(x) == pytest.approx(curve(x), rel=1e-13)
    assert module.energy(curve.x[7]) == pytest.approx(float(curve(curve.x[7])), rel=1e-13)
    assert np.isnan(module.energy([2 * high, -1.0])).all()
    assert f"{low:.10g} <= {variable} <= {high:.10g}" in module.__doc__
    greatest = "< 1e-9" if (method, variable) == ("aaa", "xi") else f"{curve.error.greatest:.3g}"
    assert f"at most {greatest}, at" in module.__doc__


def test_json_has_coefficients_with_errors(points: ContactEnergies, tmp_path: Path) -> None:
    curve = fit(points, "beta")
    written = json.loads(write(curve, tmp_path)[0].read_text(encoding="utf-8"))
    (piece,) = written["pieces"]
    rational = curve.pieces[0].rational
    assert isinstance(rational, Quotient)
    assert piece["numerator"] == list(rational.numerator)
    assert len(piece["denominator_errors"]) == 4
    assert np.shape(piece["covariance"]) == (9, 9)
    standard_error = piece["standard_error"]
    assert standard_error["x"][0] == 0.1
    assert 0 < max(standard_error["relative"]) < TENTH_PERCENT
    assert (written["n_coefficients"], written["range"]) == (8, [0.1, 1e6])
    assert written["error"]["greatest"] == curve.error.greatest
    assert written["constants"]["phase"] == [math.pi / 2, math.pi / 2]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fig. 3 of the paper, fewer friction coefficients."""
    path = tmp_path_factory.mktemp("fit") / "hanisch_fig3.zarr"
    sweep.run("hanisch_fig3", ["beta={geomspace=[1e-5, 1e3, 401]}"], store=path)
    return path


def test_the_command_on_figure_3(run: Run, tmp_path: Path, store: Path) -> None:
    status, out, err = run("fit", str(store), "--at", "delta=1e-4", "-o", "there", "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    assert [each["variable"] for each in printed["fits"]] == ["xi", "beta"]
    assert printed["not_fitted"] == {}
    for each in printed["fits"]:
        assert each["from_theory"]["greatest"] < TENTH_PERCENT
        assert each["constants"]["delta"] == [1e-4, 1e-4]
    names = {"fit_xi.json", "fit_xi.py", "fit_beta.json", "fit_beta.py", "fits.png",
             "amplitudes.png"}  # fmt: skip
    assert {path.name for path in (tmp_path / "there").iterdir()} == names
    assert {Path(path).name for path in printed["files"]} == names


def test_a_store_at_a_url_is_fitted_beside_it(run: Run, tmp_path: Path, store: Path) -> None:
    status, out, err = run("fit", f"file://{store}", "--at", "delta=1e-4", "--variable", "xi")
    assert (status, err) == (0, "")
    assert str(store.with_name("hanisch_fig3_fit") / "fit_xi.json") in out.splitlines()
    assert list(tmp_path.iterdir()) == []


def test_exported_points_give_the_same_fit(run: Run, tmp_path: Path, store: Path) -> None:
    assert run("export", str(store), "-o", "points.csv")[0] == 0
    from_file, from_store = (
        load(path).at({"delta": 1e-4}) for path in (tmp_path / "points.csv", store)
    )
    for variable in ("xi", "beta"):
        csv_fit, store_fit = fit(from_file, variable), fit(from_store, variable)
        assert [piece.rational for piece in csv_fit.pieces] == [
            piece.rational for piece in store_fit.pieces
        ]
    assert from_file.phase[0] == math.pi / 2  # from the comments of the file


def test_errors_of_a_fit_are_distinguished_by_amplitude(store: Path) -> None:
    """Several branches of one colour before, which no legend explained."""
    points = load(store)
    curve = fit(points, "xi")
    (_, lower) = draw_fits([curve]).axes
    lines = {str(line.get_label()): line for line in lower.get_lines()}
    labels = [f"fit − points, δ = {delta}" for delta in ("0.0001", "0.001", "0.01")]
    assert [label for label in lines if "points" in label] == labels
    assert len({lines[label].get_color() for label in labels}) == 3
    for label, delta in zip(labels, (1e-4, 1e-3, 1e-2), strict=True):
        some = points.where((points.delta == delta) & (points.beta <= 4 * delta))
        expected = np.abs(curve(some.beta / delta) / (some.energy * delta) - 1)
        np.testing.assert_allclose(lines[label].get_ydata(), expected, atol=1e-14)


def test_several_phases_are_drawn_and_one_is_fitted(run: Run, tmp_path: Path) -> None:
    overrides = ["beta={geomspace=[1e-4, 1e3, 101]}", "phase={linspace=[0.0, 3.0, 4]}"]
    store = tmp_path / "hanisch_fig4.zarr"
    sweep.run("hanisch_fig4", overrides, store=store)
    status, out, _ = run("fit", str(store))
    assert status == 0
    assert "no fit over beta" in out
    assert "4 values of phase, from 0 to 3, and a curve for each" in out
    assert (tmp_path / "hanisch_fig4_fit" / "phases.png").is_file()
    degrees = f"phase={math.degrees(1.1)}degree"
    status, out, _ = run("fit", str(store), "--at", degrees, "--variable", "beta")
    assert status == 0
    assert "W̄ over β" in out
    assert json.loads((tmp_path / "hanisch_fig4_fit" / "fit_beta.json").read_text())["constants"][
        "phase"
    ] == [1.0, 1.0]


def test_measured_points_over_the_friction_coefficient(run: Run, tmp_path: Path) -> None:
    """A file of μ and J, with semicolons and a comment; scaled to β and W̄ it is the closed form."""
    friction = np.geomspace(0.1, 50, 80)
    energy = 3e-9 * closed_over_beta(1.2 * friction)
    rows = [f"{mu!r};{each!r}" for mu, each in zip(friction.tolist(), energy.tolist(), strict=True)]
    path = tmp_path / "measured.csv"
    path.write_text("# of a rig\nmu;loss\n" + "\n".join(rows) + "\n", encoding="utf-8")
    options = ["--x", "mu", "--y", "loss", "--scale-beta", "1.2", "--scale-energy", "3e-9"]
    status, out, err = run("fit", str(path), *options, "--at", "phase=1.5707963267948966", "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    assert [each["variable"] for each in printed["fits"]] == ["beta"]
    assert "has no delta" in printed["not_fitted"]["xi"]
    assert printed["fits"][0]["points_from_theory"]["greatest"] < 1e-13
    assert printed["fits"][0]["from_theory"]["greatest"] < TENTH_PERCENT
    assert (tmp_path / "measured_fit" / "fits.png").is_file()


def test_units_in_headers_and_decimal_commas_are_read(tmp_path: Path) -> None:
    """By hand: β = 1.2 μ, W̄ = W / 3 nJ, and the errors relative to the energies."""
    path = tmp_path / "rig.csv"
    text = "Prüfstand 3\n\nmu [%];Verlust [nJ];Fehler (nJ);delta [-];phase [deg]\n"
    path.write_text(text + "50;4,5;0,09;0,01;90\n12,5;1,5;0,015;0,01;90\n", encoding="utf-8")
    reading = Reading(energy="Verlust", sigma="Fehler", scale_beta=1.2, scale_energy=3e-9,
                      decimal=",", skip=2)  # fmt: skip
    points = load(path, reading)
    for values, expected in (
        (points.beta, [0.6, 0.15]), (points.energy, [1.5, 0.5]), (points.sigma, [0.02, 0.01]),
        (points.delta, [0.01, 0.01]), (points.phase, [math.pi / 2] * 2),
    ):  # fmt: skip
        np.testing.assert_allclose(values, expected, rtol=1e-15)
    with pytest.raises(SweepError, match=r"'Verlust' is in J: give the reference energy"):
        load(path, dataclasses.replace(reading, scale_energy=None))


def test_a_file_in_other_units_has_the_points_of_one_in_si_units(tmp_path: Path) -> None:
    """The reference energy follows from columns of the contact, for a column of any name."""
    si = "friction,dissipated_energy,radius,normal_amplitude,tangential_amplitude,indentation," \
        "youngs_modulus,poisson_ratio,phase\n0.5,3e-12,0.01,1e-8,2e-8,1e-6,2e11,0.3,1\n" \
        "0.25,2e-12,0.01,1e-8,2e-8,1e-6,2e11,0.3,1\n"  # fmt: skip
    own = "friction;loss [nJ];radius [mm];normal_amplitude [nm];tangential_amplitude [nm];" \
        "indentation [um];youngs_modulus [GPa];poisson_ratio [%];phase [rad]\n" \
        "0,5;0,003;10;10;20;1;200;30;1\n0,25;0,002;10;10;20;1;200;30;1\n"  # fmt: skip
    (tmp_path / "si.csv").write_text(si)
    (tmp_path / "own.csv").write_text(own)
    plain = load(tmp_path / "si.csv")
    converted = load(tmp_path / "own.csv", Reading(energy="loss", decimal=","))
    for name in ("beta", "delta", "phase", "energy", "xi", "xi_energy"):
        np.testing.assert_allclose(getattr(converted, name), getattr(plain, name), rtol=1e-15)
    assert plain.energy.size == 2


def test_a_german_file_is_fitted_like_an_english_one(run: Run, tmp_path: Path) -> None:
    beta = np.geomspace(0.1, 50, 40)
    rows = [[repr(x), repr(y)] for x, y in zip(beta.tolist(), closed_over_beta(beta).tolist(),
                                                strict=True)]  # fmt: skip
    english = "beta,energy\n" + "\n".join(",".join(row) for row in rows)
    german = "Rig\nbeta [1];energy [1]\n" + "\n".join(
        ";".join(row).replace(".", ",") for row in rows
    )
    printed: list[object] = []
    for text, options in ((english, ()), (german, ("--decimal", ",", "--skip", "1"))):
        (tmp_path / "m.csv").write_text(text, encoding="utf-8")
        status, out, err = run("fit", "m.csv", "--variable", "beta", "--json", *options)
        assert (status, err) == (0, "")
        printed.append(json.loads(out))
    assert printed[0] == printed[1]


def test_rows_that_are_not_ok_are_left_out(run: Run, tmp_path: Path) -> None:
    """Only those of the chosen delta are counted; statuses are numbers or names."""
    beta = np.geomspace(0.1, 50, 60)
    rows = [f"{x},{e},0.001,ok" for x, e in zip(beta, closed_over_beta(beta), strict=True)]
    rows += ["1.0,7.0,0.001,diverged", "1.5,-1,0.001,0", "2,7,0.001,3", "0,inf,0.5,ok"]
    text = "beta,energy,delta,status\n" + "\n".join(rows)
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    status, out, err = run("fit", "m.csv", "--at", "delta=0.001", "--variable", "beta", "--json")
    assert status == 0
    assert re.search(r"^warning: points of .*3 of 63 left out", err, re.MULTILINE)
    assert "(2 with no energy, 1 with energy 0 or below)" in err
    (summary,) = json.loads(out)["fits"]
    assert (summary["error"]["n_points"], summary["points_left_out"]) == (60, 3)
    assert summary["error"]["greatest"] < TENTH_PERCENT


def test_only_columns_that_are_used_are_read(run: Run, tmp_path: Path) -> None:
    """The file has remarks and dates too; rows with empty cells are left out and counted."""
    beta = np.geomspace(0.1, 50, 60)
    rows = [f"{x},{e},2020-01-0{k % 9},0.001,{0.01 * e}" for k, (x, e) in
            enumerate(zip(beta, closed_over_beta(beta), strict=True))]  # fmt: skip
    rows += ["3,,good,0.001,1", ",5,,0.001,1", "4,6,,,1", "5,7,,0.001,"]
    rows += ["3,2,,-0.001,1", "3,2,,0.001,0"]
    text = "beta,energy,remark,delta,error\n" + "\n".join(rows)
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    status, out, err = run("fit", "m.csv", "--sigma", "error", "--variable", "beta", "--json")
    assert status == 0
    causes = ("no energy", "beta not a positive number", "no delta", "no sigma", "delta below 0",
              "sigma 0 or below")  # fmt: skip
    assert f"6 of 66 left out ({', '.join(f'1 with {each}' for each in causes)})" in err
    (summary,) = json.loads(out)["fits"]
    assert (summary["weights"], summary["error"]["n_points"]) == ("sigma", 60)
    assert summary["error"]["greatest"] < TENTH_PERCENT
    status, out, _ = run("fit", "m.csv", "--sigma", "error", "--weights", "absolute", "--json")
    assert json.loads(out)["fits"][0]["weights"] == "absolute"


def test_the_command_prints_coefficients_and_notes_and_removes_an_earlier_fit(
    run: Run, tmp_path: Path, store: Path
) -> None:
    status, out, _ = run("fit", str(store), "--at", "delta=1e-4", "-o", "there")
    assert status == 0
    assert "closed form, δ → 0" in out
    assert "xi from 0.1 to 1: W̄δ = ξ · above(t)/below(t), t = ξ\n" in out
    assert ": W̄δ = 1/ξ · above(t)/below(t), t = √(1 − 1/ξ)\n" in out
    assert "W̄ = 1/β · above(t)/below(t), t = β" in out
    rows = [line.split() for line in out.splitlines() if re.search(r"[01], (above|below)", line)]
    leading = float(rows[0][7])
    assert leading == pytest.approx(2.0, rel=1e-3)  # W̄δ = 2ξ for small ξ
    assert float(rows[0][8]) < 1e-3
    for name in ("notes.txt", "fit_other.json"):
        (tmp_path / "there" / name).write_text("mine", encoding="utf-8")
    options = ("--at", "delta=4e-3", "--variable", "xi", "-o", "there")
    status, out, err = run("fit", str(store), *options)
    assert status == 0
    assert "delta = 0.001\nphase = 1.57079632679\nprofile_exponent = 2\n" in out
    assert re.search("warning: over xi: .*4.* is not among the points: using 0.001", err)
    assert "removed there/fit_beta.json, left by an earlier fit" in err
    kept = {path.name for path in (tmp_path / "there").iterdir()}
    assert kept == {"fit_xi.json", "fit_xi.py", "fits.png", "amplitudes.png", "notes.txt",
                    "fit_other.json"}  # fmt: skip


# --- What is refused ---

GOOD = "\n".join(f"{x},{1 / x}" for x in np.linspace(0.2, 3, 40))
MEASURED = f"beta,energy\n{GOOD}\n"
WRONG_OPTIONS = [
    ("--x bta", "has no column 'bta'; did you mean 'beta'?"),
    ("--sigma enrgy", "did you mean 'energy'?"),
    ("--at delta=0", "at delta has to be above 0, not 0"),
    ("--at delta=-1", "at delta has to be above 0, not -1"),
    ("--at phse=1", "did you mean 'phase'?"),
    ("--at phase=nan", "at phase: nan is not a finite number"),
    ("--at phase=9kg", "phase: '9kg' has the wrong dim"),
    ("--variable bta", "did you mean 'beta'?"),
    ("--variable xi", r"has no delta, .*: give it \(at\)"),
    ("--variable beta --range 5 6", "there are 0: use another range; the points are from 0.2 to 3"),
    ("--variable beta --range 2 1", "lower first"),
    ("--range 1 2", "--variable beta or --variable xi"),
    ("--variable beta --degrees 4", "is not P/Q"),
    ("--variable beta --degrees -1/2", "0 or above"),
    ("--variable beta --degrees 1/0,1/2", "has 1 piece"),
    ("--variable beta --whole", "has one piece anyway: leave it out"),
    ("--method minmax", "did you mean 'minimax'?"),
    ("--method aaa --tolerance 0", "tolerance has to be above 0"),
    ("--method aaa --weights relative", "aaa chooses its own curve"),
    ("--tolerance 1e-8", "add --method aaa"),
    ("--weights abs", "choose one of relative, absolute, sigma"),
    ("--weights sigma", "no standard errors"),
    ("--scale-beta 1e200", "choose another `scale_beta`"),
    (
        "--scale-beta 1e-200 --variable beta --range 1e-300 1",
        "beyond 1e-15 to 1e.15, the range of fits: choose another `scale_beta`",
    ),
    *((f"--scale-energy {scale}", "choose another .*`scale_energy`") for scale in (1e-307, 1e200)),
    ("--y beta", "'beta' is used for both .*: name two"),
]
WRONG_FILES = [
    ("beta,energy\n0,inf\n0,inf\n1,nan\n", "", "3 of 3 left out .2 with beta = 0, 1"),
    ("beta,energy\n1,2\n", "--variable beta --range 5 6", "points are from 1 to 1"),
    ("beta,energy\n1,2\n3,4\n", "", "there are 2: use another range; the points are from 1 to 3"),
    ("beta,energy\n", "", "has no points"),
    (f"{MEASURED}1.0,two\n", "", "line 42: energy = 'two' is not a number"),
    (f"{MEASURED}1.0\n", "", "line 42: 1 cells, but the header has 2"),
    (f"{MEASURED}1,5,0,2\n", "", "line 42: 4 cells, .* 2; .* write decimals with a point: 0.5"),
    (
        f"{MEASURED.replace(',', ';')}1,5;0.2\n",
        "",
        "line 42: beta = '1,5' is not a number; give decimal = \",\", or write decimals with",
    ),
    (f"mu,energy\n{GOOD}\n", "", "'mu' has to be scaled to beta: give `scale_beta`"),
    (f"mu,energy\n{GOOD}\n", "--scale-beta 0", "scale_beta has to be positive"),
    (f"mu,energy\n{GOOD}\n", "--x energy", "'energy' is used for both .*: name two"),
    (f"ratio,energy\n{GOOD}\n", "", "none of the columns beta, friction, mu"),
    (f"beta,loss\n{GOOD}\n", "", "none of the columns normalized_energy"),
    (f"beta,dissipated_energy\n{GOOD}\n", "", "give the reference energy .* as `scale_energy`"),
    (MEASURED, "--decimal .,", "decimal is '.,'; give"),
    (MEASURED, "--skip -1", "skip is -1; give the number of lines before the header"),
    (
        f"{MEASURED}",
        "--skip 99",
        "has no header below the first 99 of its 41 lines; give a smaller",
    ),
    (MEASURED, "--decimal ,", "columns are separated by commas; separate them by semicolons"),
    (
        f"{MEASURED.replace(',', ';')}",
        "--decimal ,",
        "line 2: beta = '0.2' has a point; decimal = \",\": write 1234,5 for 1234.5",
    ),
    (f"beta [mm],energy\n{GOOD}\n", "", r"header: 'beta \[mm\]' has the wrong dimension; write"),
    (f"x [mm],energy\n{GOOD}\n", "--x x", r"header: 'x \[mm\]' has the wrong dimension; write"),
    (f"beta,energy [mJ]\n{GOOD}\n", "", "'energy' is in J: give the reference energy"),
    (
        f"beta,energy,e [mJ]\n{GOOD.replace(',', ',1,')}\n",
        "--sigma e",
        "'e' is in J and 'energy' has no unit: give it one in the header, too",
    ),
    (
        f"beta [1],beta [%],energy\n{GOOD.replace(',', ',1,')}\n",
        "",
        "column 'beta' occurs more than once; rename one",
    ),
    ("beta,energy,beta\n1,2,3\n", "", "two columns are called 'beta'; rename one"),
]


@pytest.mark.parametrize(
    ("text", "options", "message"), [*((MEASURED, *each) for each in WRONG_OPTIONS), *WRONG_FILES]
)
def test_bad_requests_are_refused_with_a_cure(
    run: Run, tmp_path: Path, text: str, options: str, message: str
) -> None:
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    status, out, err = run("fit", "m.csv", *options.split())
    assert (status, out) == (2, "")
    assert re.search(message.replace("?", r"\?"), err), err
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_other_stores_are_refused(tmp_path: Path, store: Path) -> None:
    with pytest.raises(SweepError, match="leave them out, as a store has its own"):
        load(store, Reading(x="beta"))
    with pytest.raises(SweepError, match="leave them out, as a store has its own"):
        load(store, Reading(decimal=","))
    other = xr.Dataset(attrs={"model": "friction_oscillator"})
    with pytest.raises(SweepError, match="of friction_oscillator: master curves are fitted to mdr"):
        from_dataset(other)
    with pytest.raises(SweepError, match="has no energy: add 'normalized_energy'"):
        run_in_memory({"delta": 0.1, "phase": 1.0}, {"beta": [1.0]}, outputs=["stick_radius"])


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, cause in (
        ("folder.csv", r"folder\.csv' is not a file; name a CSV file$"),
        ("nope.csv", r"there is no file '.*nope\.csv'; name another, or a store$"),
    ):
        with pytest.raises(SweepError, match=cause):
            load(tmp_path / name)
