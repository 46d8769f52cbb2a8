"""Fit master curves: piece by piece, with degrees that the points determine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr

from sweep.analysis.least_squares import smallest_direction, triangle
from sweep.analysis.master_curve.curve import (
    CORE_APPEARS,
    VARIABLES,
    Choices,
    MasterCurve,
    Piece,
    Stretch,
    Variable,
    notes_on,
)
from sweep.analysis.master_curve.points import (
    Points,
    from_dataset,
    load,
    positive,
    refuse_exponent,
)
from sweep.analysis.master_curve.rational import (
    Barycentric,
    Degrees,
    Ends,
    Quotient,
    Rational,
    Target,
    least_squares,
    met,
    minimax,
    poles_within,
)
from sweep.errors import SweepError
from sweep.wording import nearest
from sweep.work import Values

NO_SCATTER = 1e-4  # rms scatter over the largest value, up to which AAA is used
MAX_TERMS = 30  # of AAA
MAX_ERROR = 2.0  # largest standard error of a curve, over that of the points
MAX_SCATTER_RATIO = 1.5  # scatter about a curve over that about one of higher degrees
MAX_RAISE = 3  # of both degrees, where AAA does not give a curve
MAX_GAP = 0.02  # of √(1 − 1/ξ) from ξ = 1 to the first point, bridged by the end of the piece below
MAX_X, MAX_ENERGY = 1e15, 1e50  # larger values, and smaller than their inverses, overflow in powers
WITHOUT_CORE = Degrees(1, 0)  # below ξ = 1
# Above ξ = 1 the curves of cone and sphere are quotients, of degrees 0/0 and 2/3 in √(1 − 1/ξ);
# those of other profiles are not.
WITH_CORE, WITH_CORE_OF_OTHERS = Degrees(1, 2), Degrees(3, 4)
PLAIN_PROFILES = (1.0, 2.0)  # exponents
FITTERS: dict[str, Callable[..., Quotient]] = {"least_squares": least_squares, "minimax": minimax}


def fit(
    source: str | Path | xr.Dataset | Points,
    variable: str = "xi",
    choices: Choices | None = None,
    *,
    at: Mapping[str, float] | None = None,
) -> MasterCurve:
    """Fit the curve of W̄ over β ("beta"), or of W̄δ over ξ = β/δ ("xi").

    `source` is a store, a CSV file, a Dataset or Points; of several values of `delta`, `phase` or
    `profile_exponent`, `at` chooses one (SI). Over β each phase has its own curve, so the points
    must have one phase; over ξ the phase does not matter for small β. The default range is the
    paper's, β from 0.1 on and ξ up to 4, as far as there are points.
    A fit over ξ has two pieces, below and above ξ = 1, where a stick core appears and the curvature
    is infinite; `whole` makes it one. With default degrees and 150 points from ξ = 1 to 4 it is
    within 2e-4 of the closed form between the points too, for any exponent of the profile; for a
    sphere, whose degrees are lower, within 7e-4.
    Degrees that the points do not determine are lowered. `notes` say so, and also whether the
    points lie on one curve at all. SweepError for too few points, or points of several curves.
    """
    if isinstance(source, str | Path):
        points = load(source)
    else:
        points = source if isinstance(source, Points) else from_dataset(source)
    points, choices = points.at(at or {}), choices or Choices()
    if variable not in VARIABLES:
        raise SweepError(f"unknown variable {variable!r}; {nearest(str(variable), VARIABLES)}")
    kind = VARIABLES[variable]
    if points.beta.size:  # contacts of constant load have no place over β
        points = points.parted(positive(*kind.collapse(points)))
    points = points.with_profile()
    exponent = _single(points, "profile_exponent")
    refuse_exponent(exponent)
    if variable == "beta" and not np.isnan(points.phase).all():
        _single(points, "phase")
    energies = _collapsed(points, kind, choices.weights)
    low, high = _limits(kind, choices, energies.t)
    inside = (energies.t >= low) & (energies.t <= high)
    if not inside.any():
        raise SweepError(
            f"{points.source!r} has no points with {variable} from {low:g} to {high:g}"
            f"{points.left_out_text()}; use "
            f"--range {energies.t.min():.4g} {energies.t.max():.4g}"
        )
    energies, points = energies.where(inside), points.where(inside)
    _refuse_extremes(points.source, kind, energies)
    pieces: list[Piece] = []
    for plan in _plans(kind, choices, low, high, exponent):
        pieces.append(_piece(plan, kind.name, choices, energies, pieces))
    curve = MasterCurve(kind, choices, tuple(pieces), points, energies.t, energies.g)
    return replace(curve, notes=(*points.notes, *notes_on(curve)))


def _single(points: Points, name: str) -> float:
    values = np.unique(getattr(points, name))
    if values.size == 0:
        raise SweepError(f"{points.source!r} has no points{points.left_out_text()}")
    if values.size > 1:
        raise SweepError(
            f"{points.source!r} has {values.size} values of {name}, from {values[0]:g} to "
            f"{values[-1]:g}, and a curve for each: choose one, --at {name}={values[-1]:g}"
        )
    return float(values[0])


def _collapsed(points: Points, kind: Variable, weights: str) -> Target:
    """The energies over x, and the unit in which the error of each is measured."""
    x, energy = kind.collapse(points)
    if weights == "relative":
        return Target(x, energy, energy)
    if weights == "absolute":
        return Target(x, energy, np.ones(x.size))
    if not np.all(points.sigma > 0):
        raise SweepError(
            f"{points.source!r} has no standard errors: name their column with --sigma"
        )
    return Target(x, energy, points.sigma * energy)


def _refuse_extremes(source: str, kind: Variable, energies: Target) -> None:
    for name, column, option, most in (
        (kind.name, energies.t, "--scale-beta", MAX_X),
        (kind.energy, energies.g, "--scale-energy", MAX_ENERGY),
    ):
        if column.min() < 1 / most or column.max() > most:
            raise SweepError(
                f"{source!r}: {name} is from {column.min():.3g} to {column.max():.3g}, beyond the "
                f"range of fits from {1 / most:g} to {most:g}: choose another {option}, or --range"
            )


def _limits(kind: Variable, choices: Choices, x: Values) -> tuple[float, float]:
    low, high = choices.limits or kind.limits
    inside = x[(x >= low) & (x <= high)]
    if choices.limits is not None or np.unique(inside).size < 2:
        return low, high if math.isfinite(high) else float(max(x.max(initial=low), 2 * low))
    return float(inside.min()), float(inside.max())


def _plans(
    kind: Variable, choices: Choices, low: float, high: float, exponent: float
) -> list[Stretch]:
    """The stretches to fit, with the degrees chosen."""
    if choices.whole or kind.name == "beta":
        plans = [Stretch(low, high, kind.power, kind.degrees, has_core=False)]
    else:
        above = WITH_CORE if exponent in PLAIN_PROFILES else WITH_CORE_OF_OTHERS
        plans = [
            Stretch(low, min(high, CORE_APPEARS), kind.power, WITHOUT_CORE, has_core=False),
            Stretch(max(low, CORE_APPEARS), high, -1, above, has_core=True),
        ]
    plans = [plan for plan in plans if plan.low < plan.high]
    degrees = choices.degrees or tuple(plan.degrees for plan in plans)
    if len(degrees) != len(plans):
        pieces = "has 1 piece" if len(plans) == 1 else "has 2 pieces, below and above xi = 1"
        example = ",".join(str(plan.degrees) for plan in plans)
        raise SweepError(
            f"the fit over {kind.name} {pieces}: give degrees for each, as in --degrees {example}"
        )
    return [replace(plan, degrees=each) for plan, each in zip(plans, degrees, strict=True)]


def _piece(
    plan: Stretch, variable: str, choices: Choices, energies: Target, before: Sequence[Piece]
) -> Piece:
    """The fitted piece; where its points begin late, the end of the piece before is added."""
    energies = energies.where((energies.t >= plan.low) & (energies.t <= plan.high))
    needed = 3 if choices.method == "aaa" else plan.degrees.n_coefficients + 1
    distinct = np.unique(energies.t).size
    where = f"{variable} from {plan.low:g} to {plan.high:g}"
    if distinct < needed:
        cure = "widen --range" if choices.method == "aaa" else "lower --degrees, or widen --range"
        raise SweepError(
            f"the fit needs {needed} different values of {where}, and there are {distinct}: {cure}"
        )
    if before and plan.argument(energies.t).min() > MAX_GAP:
        join, first = float(before[-1](plan.low)), np.argmin(energies.t)
        share = float(energies.unit[first] / energies.g[first])
        columns = (energies.t, energies.g, energies.unit)
        ends = (plan.low, join, join * share)
        energies = Target(*(np.append(each, end) for each, end in zip(columns, ends, strict=True)))
    low, high = plan.argument(np.array([plan.low, plan.high])).tolist()
    piece = _fitted(plan, (low, high), variable, choices, energies)
    if poles_within(piece.rational, low, high):
        raise SweepError(f"every fit over {where} has a pole: narrow --range to the points")
    return piece


def _fitted(plan: Stretch, ends: Ends, variable: str, choices: Choices, energies: Target) -> Piece:
    """Fit by the chosen method; by least squares where AAA does not predict half of the points."""
    (target, size), method = _scaled(plan, energies), choices.method
    scattered = is_met = False
    rational: Rational | None
    if method == "aaa":
        # AAA's tolerance is relative to the largest value, so over β it fits W̄ itself.
        whole = replace(plan, power=0) if variable == "beta" else plan
        whole_target, whole_size = _scaled(whole, energies)
        rational = adaptive(whole_target, choices.tolerance, ends)
        if rational is not None:
            plan, size = whole, whole_size
        else:
            rational, method = _raised(target, plan.degrees, ends), "least_squares"
            scattered = not _is_near(rational, target.t, target.g, choices.tolerance)
    else:
        rational = _determined(method, target, plan.degrees, ends)
        is_met = met(rational, target)
    return Piece(
        **vars(plan), rational=rational.times(size), method=method, scattered=scattered, met=is_met
    )


def _scaled(plan: Stretch, energies: Target) -> tuple[Target, float]:
    """Values of about 1 in t, and the power of two by which to multiply the function."""
    x, energy = energies.t, energies.g
    factor = 1 / x if plan.power == 1 else x if plan.power == -1 else np.ones(x.size)
    size = 2.0 ** round(math.log2(float(np.median(energy * factor))))
    return Target(plan.argument(x), energy * factor / size, energies.unit * factor / size), size


def _determined(method: str, target: Target, degrees: Degrees, ends: Ends) -> Quotient:
    """Fit with these degrees or, where the points do not determine the curve, with lower ones.

    The curve is determined if it has no pole between the ends, nor near them within half the
    distance of points there, and if its standard error is nowhere above MAX_ERROR of that of the
    points. Degrees fall one by one, unless the points then scatter more about the curve. A curve
    that meets its points but for rounding has the lowest degrees that do: in any higher ones,
    numerator and denominator share factors that rounding would choose.
    """
    kept: Quotient | None = None
    while True:
        quotient = FITTERS[method](target, degrees)
        if not met(quotient, target) and not _sound(quotient, target, ends):
            quotient = FITTERS[method](target, degrees, bounded=True)
        is_met = met(quotient, target)
        if kept is not None and not is_met:
            limit = MAX_SCATTER_RATIO * _scatter(kept, target)
            if not _scatter(quotient, target) <= limit:
                return kept
        if degrees.n_coefficients == 1 or (not is_met and _sound(quotient, target, ends)):
            return quotient
        if not poles_within(quotient, *ends):
            kept = quotient
        if degrees.numerator >= degrees.denominator:  # the larger degree falls
            degrees = replace(degrees, numerator=degrees.numerator - 1)
        else:
            degrees = replace(degrees, denominator=degrees.denominator - 1)


def _raised(target: Target, degrees: Degrees, ends: Ends) -> Quotient:
    """Fit by least squares with these degrees, or with up to MAX_RAISE higher ones if needed.

    Higher ones are needed if the points determine them and scatter less about the curve.
    """
    best = _determined("least_squares", target, degrees, ends)
    n_distinct = np.unique(target.t).size
    for more in range(1, MAX_RAISE + 1):
        higher = Degrees(degrees.numerator + more, degrees.denominator + more)
        if higher.n_coefficients >= n_distinct or met(best, target):
            break
        with np.errstate(all="ignore"):  # a curve that is not determined overflows
            quotient = _determined("least_squares", target, higher, ends)
            needed = MAX_SCATTER_RATIO * _scatter(quotient, target) < _scatter(best, target)
        if quotient.degrees != higher or not needed:
            break
        best = quotient
    return best


def _scatter(quotient: Quotient, target: Target) -> float:
    """Standard deviation of the points about the curve, in their units."""
    with np.errstate(all="ignore"):
        residuals = (quotient(target.t) - target.g) / target.unit
    free = max(target.t.size - quotient.n_coefficients, 1)
    return float(np.sqrt(np.sum(residuals * residuals) / free))


def _sound(quotient: Quotient, target: Target, ends: Ends) -> bool:
    """Whether the points determine the curve, as `_determined` says."""
    places = np.unique(np.clip(np.append(target.t, ends), *ends))
    poles = quotient.poles()
    nearest_place = np.clip(poles.real, *ends)
    i = np.clip(np.searchsorted(places, nearest_place), 1, places.size - 1)
    if np.any(np.abs(poles - nearest_place) <= 0.5 * (places[i] - places[i - 1])):
        return False
    grid = np.unique(np.concatenate([places, 0.5 * (places[1:] + places[:-1])]))
    order = np.argsort(target.t)
    unit = quotient(grid) * np.interp(grid, target.t[order], (target.unit / target.g)[order])
    at_points, over_range = quotient.slopes(target.t) / target.unit, quotient.slopes(grid) / unit
    if not (np.all(np.isfinite(over_range)) and np.all(np.any(at_points != 0, axis=1))):
        return False
    errors = triangle(at_points, np.zeros(target.t.size)).leverage(over_range)
    return bool(np.max(errors) <= MAX_ERROR)


def adaptive(target: Target, tolerance: float, ends: Ends) -> Barycentric | None:
    """Fit by AAA with the degrees that the tolerance needs, relative to the largest g.

    Points of equal t count by their mean. Terms are removed until there is no pole between the
    ends. None for points that scatter by more than the tolerance, as the curve goes through some of
    them: then every other point does not predict the rest.
    """
    t, place = np.unique(target.t, return_inverse=True)
    g = np.bincount(place, target.g) / np.bincount(place)
    shown = np.arange(t.size) % 2 == 0
    shown[-1] = True
    if not any(
        not poles_within(half, *ends) and _is_near(half, t[~shown], g[~shown], tolerance)
        for half in _approximants(t[shown], g[shown])
    ):
        return None
    without_poles: Barycentric | None = None
    for approximant in _approximants(t, g):
        if not poles_within(approximant, *ends):
            without_poles = approximant
        if np.max(np.abs(approximant(t) - g)) <= tolerance * np.max(g):
            break
    return without_poles


def _is_near(rational: Rational, t: Values, g: Values, tolerance: float) -> bool:
    """Whether a function is as near to values as AAA has to be."""
    residuals = (rational(t) - g) / np.max(g)
    return float(np.sqrt(np.mean(residuals * residuals))) <= max(tolerance, NO_SCATTER)


def _approximants(t: Values, g: Values) -> Iterator[Barycentric]:
    """Functions of 1, 2 ... terms through more points.

    Each interpolates where the one before is farthest off; its weights minimise the linearised
    error at the other points.
    """
    used = np.zeros(t.size, dtype=bool)
    support: list[int] = []
    values = np.full(t.size, np.mean(g))
    for _ in range(min(MAX_TERMS, t.size // 2)):
        support.append(int(np.argmax(np.where(used, -1.0, np.abs(g - values)))))
        used[support[-1]] = True
        rest = ~used
        columns = np.stack([(g[rest] - g[k]) / (t[rest] - t[k]) for k in support])
        weights = smallest_direction(columns)
        approximant = Barycentric(
            tuple(t[support].tolist()), tuple(g[support].tolist()), tuple(weights.tolist())
        )
        yield approximant
        values = approximant(t)
