"""Fit master curves: which points and pieces, and warnings about the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr

from sweep.errors import SweepError
from sweep.fits.curve import (
    Choices,
    Degrees,
    Interval,
    MasterCurve,
    Piece,
    Quotient,
)
from sweep.fits.points import (
    CONSTANT_LOAD,
    VARIABLES,
    ContactEnergies,
    ScalingVariable,
    from_dataset,
    left_out,
    load,
    positive,
)
from sweep.fits.solve import adaptive, quotients
from sweep.request.chunk import Values
from sweep.text.wording import nearest

CORE_APPEARS = 1.0  # ξ at which, under constant load, part of the contact begins to stick
MIN_EXPONENT = 0.5  # of a profile; itself excluded
MIN_VALUES = 3  # different x that a curve needs
MAX_X, MAX_ENERGY = 1e15, 1e50  # larger values, and smaller than their inverses, overflow in powers
WHOLE = {"xi": Degrees(4, 5), "beta": Degrees(4, 3)}  # of a single piece, as in eqs. 25 and 27
WITHOUT_CORE = Degrees(1, 0)  # below ξ = 1
# Above ξ = 1 the curves of cone and sphere are quotients, of degrees 0/0 and 2/3 in √(1 − 1/ξ);
# those of other profiles are not.
WITH_CORE, WITH_CORE_OF_OTHERS = Degrees(1, 2), Degrees(3, 4)
PLAIN_PROFILES = (1.0, 2.0)  # exponents

SMALL_DELTA = 0.1  # δ up to which energies collapse within some per cent
MAX_SPREAD = 0.01  # relative difference allowed between points of one x
MAX_RMS = 0.02  # relative error of a curve that is never reported
FAR_RMS = 0.1  # of a curve that is always reported
MAX_CORRELATION = 0.5  # of the errors of neighbours, if points scatter about a curve
SIGNIFICANT = 6.0  # difference between curves over the scatter along them
NEAR_ZERO = 0.01  # share of the upper end up to which the first point stands for 0


def fit(
    source: str | Path | xr.Dataset | ContactEnergies,
    variable: str = "xi",
    choices: Choices | None = None,
    *,
    at: Mapping[str, float | str] | None = None,
) -> MasterCurve:
    """Fit the curve of W̄ over β ("beta"), or of W̄δ over ξ = β/δ ("xi").

    `source` is a store, a CSV file, a Dataset or ContactEnergies; of several values of `delta`,
    `phase` or `profile_exponent`, `at` chooses one (SI). Over β each phase has its own curve, so
    the points must have one phase; over ξ the phase does not matter for small β. The default range
    is the paper's, β from 0.1 on and ξ up to 4, as far as there are points.
    A fit over ξ has two pieces that meet at ξ = 1, where a stick core appears and the curvature is
    infinite; `whole` makes it one. With default degrees and 150 points from ξ = 1 to 4 it is
    within 2e-4 of the closed form between the points too, for any exponent of the profile; for a
    sphere, whose degrees are lower, within 8e-4.
    Degrees are the highest that are tried: those are taken whose curve predicts best, so that five
    points are enough for a curve of few coefficients. `notes` say where chosen degrees were
    lowered, and whether the points lie on one curve at all. SweepError for too few points, or
    points of several curves.
    """
    if isinstance(source, str | Path):
        points = load(source)
    else:
        points = source if isinstance(source, ContactEnergies) else from_dataset(source)
    points, choices = points.at(at or {}), choices or Choices()
    if variable not in VARIABLES:
        raise SweepError(f"unknown variable {variable!r}; {nearest(str(variable), VARIABLES)}")
    kind = VARIABLES[variable]
    points, (low, high), n_left_out, n_outside = _in_range(points, kind, choices)
    x, energy = kind.collapse(points)
    intervals = _intervals(kind, choices, low, high, float(points.profile_exponent[0]))
    for interval in intervals if len(intervals) > 1 else ():
        _refuse_few(variable, x, interval.low, interval.high, 1)
    unit = _units(points, energy, choices.weights)
    method, pieces = choices.method, None
    if method == "aaa":
        pieces = _adaptive(intervals, kind, choices.tolerance, x, energy)
        method = "aaa" if pieces else "least_squares"
    if pieces is None:
        rationals = zip(intervals, quotients(method, intervals, x, energy, unit), strict=True)
        pieces = [Piece(**vars(interval), rational=rational) for interval, rational in rationals]
    found = method, tuple(pieces), points, x, energy, n_left_out, n_outside
    curve = MasterCurve(kind, choices, *found)
    return replace(curve, notes=(*points.notes, *notes_on(curve)))


def _in_range(
    points: ContactEnergies, kind: ScalingVariable, choices: Choices
) -> tuple[ContactEnergies, tuple[float, float], int, int]:
    """The points of one curve in the range, the range, and how many are left out and outside."""
    placed = positive(*kind.collapse(points))
    faults = np.where((points.faults == "") & ~placed, CONSTANT_LOAD, points.faults)
    points = points.where(placed).usable
    if not points.beta.size:
        raise SweepError(f"{points.source!r} has no points{left_out(faults)}")
    _refuse_several(points, "profile_exponent")
    if not points.profile_exponent[0] > MIN_EXPONENT:
        given = f"{points.profile_exponent[0]:g}"
        raise SweepError(f"profile_exponent has to be above {MIN_EXPONENT:g}, not {given}")
    if kind.name == "beta" and not np.isnan(points.phase).all():
        _refuse_several(points, "phase")
    x, energy = kind.collapse(points)
    low, high = choices.limits or kind.limits
    inside = (x >= low) & (x <= high)
    _refuse_few(kind.name, x, low, high, MIN_VALUES)
    if choices.limits is None:
        low, high = float(x[inside].min()), float(x[inside].max())
    for name, column, most in (
        (kind.name, x[inside], MAX_X),
        (kind.energy, energy[inside], MAX_ENERGY),
    ):
        if column.min() < 1 / most or column.max() > most:
            raise SweepError(
                f"{points.source!r}: {name} is beyond {1 / most:g} to {most:g}, the range of fits: "
                "choose another `scale_beta`, `scale_energy` or range"
            )
    return points.where(inside), (low, high), int(np.sum(faults != "")), int(np.sum(~inside))


def _refuse_several(points: ContactEnergies, name: str) -> None:
    values = np.unique(getattr(points, name))
    if values.size > 1:
        raise SweepError(
            f"{points.source!r} has {values.size} values of {name}, from {values[0]:g} to "
            f"{values[-1]:g}, and a curve for each: choose one (at)"
        )


def _intervals(
    kind: ScalingVariable, choices: Choices, low: float, high: float, exponent: float
) -> list[Interval]:
    """The intervals of the pieces, with the highest degrees of each."""
    if choices.whole or kind.name == "beta":
        intervals = [Interval(low, high, kind.power, WHOLE[kind.name], has_core=False)]
    else:
        above = WITH_CORE if exponent in PLAIN_PROFILES else WITH_CORE_OF_OTHERS
        intervals = [
            Interval(low, min(high, CORE_APPEARS), kind.power, WITHOUT_CORE, has_core=False),
            Interval(max(low, CORE_APPEARS), high, -1, above, has_core=True),
        ]
        intervals = [each for each in intervals if each.low < each.high]
    degrees = choices.degrees or tuple(each.degrees for each in intervals)
    if len(degrees) != len(intervals):
        pieces = "has 1 piece" if len(intervals) == 1 else "has 2 pieces, below and above xi = 1"
        example = ",".join(str(each.degrees) for each in intervals)
        raise SweepError(
            f"the fit over {kind.name} {pieces}: give degrees for each, such as {example}"
        )
    return [replace(each, degrees=own) for each, own in zip(intervals, degrees, strict=True)]


def _refuse_few(name: str, x: Values, low: float, high: float, needed: int) -> None:
    n = np.unique(x[(x >= low) & (x <= high) & ((needed > 1) | (x != CORE_APPEARS))]).size
    if n < needed:
        raise SweepError(
            f"the fit needs {needed} different values of {name} from {low:g} to {high:g}, and "
            f"there are {n}: use another range; the points are from {x.min():.4g} to {x.max():.4g}"
        )


def _units(points: ContactEnergies, energy: Values, weights: str) -> Values:
    """The unit in which the error of each point is measured."""
    if weights == "sigma" and not np.all(points.sigma > 0):
        raise SweepError(f"{points.source!r} has no standard errors: name their column (sigma)")
    units = {"relative": energy, "absolute": np.ones(energy.size), "sigma": points.sigma * energy}
    return units[weights]


def _adaptive(
    intervals: Sequence[Interval],
    kind: ScalingVariable,
    tolerance: float,
    x: Values,
    energy: Values,
) -> list[Piece] | None:
    """The pieces by AAA; None unless half of the points of each predict the others."""
    pieces: list[Piece] = []
    for each in intervals:
        # The tolerance is relative to the largest value, so over β AAA fits W̄ itself.
        interval = replace(each, power=0) if kind.name == "beta" else each
        inside = each.contains(x) if not pieces else (x > each.low)
        places, values = x[inside], energy[inside]
        if pieces:
            places, values = np.append(places, each.low), np.append(values, pieces[-1](each.low))
        values = values / places**interval.power
        rational = adaptive(interval.argument(places), values, tolerance, interval.ends)
        if rational is None:
            return None
        pieces.append(Piece(**vars(interval), rational=rational))
    return pieces


def notes_on(curve: MasterCurve) -> Iterator[str]:
    """Warnings about a curve."""
    name, x, choices = curve.variable.name, curve.x, curve.choices
    if choices.limits is not None and _extrapolates(*choices.limits, x):
        yield (
            f"the range goes beyond the points, which lie at {name} from {x.min():.4g} to "
            f"{x.max():.4g}: elsewhere the curve is extrapolated"
        )
    if curve.method != choices.method:
        yield (
            "half of the points do not predict the others, because they scatter or are too far "
            "apart for aaa, which goes through points: fitted by least_squares"
        )
    for piece in curve.pieces if choices.degrees else ():
        if isinstance(piece.rational, Quotient) and piece.rational.degrees != piece.degrees:
            yield (
                f"{name} from {piece.low:.4g} to {piece.high:.4g}: the points do not determine a "
                f"curve of degrees {piece.degrees}: fitted with degrees {piece.rational.degrees}"
            )
    if choices.weights != "absolute" and _misses(curve):
        steep = " (nearly in phase, slip ends at beta = 1: fit up to 0.9 and from 1.2 on)"
        yield (
            f"the curve misses the points by {100 * curve.error.rms:.2g} % rms, more than they "
            f"scatter: narrow the range{steep if name == 'beta' else ''}, raise the degrees, or "
            "use method aaa"
        )
    elif choices.weights != "absolute" and curve.error.rms > FAR_RMS:
        yield (
            f"the curve is {100 * curve.error.rms:.2g} % rms off the points, too far for most "
            "uses: the points scatter, or are too few"
        )
    largest = float(curve.points.delta.max(initial=0.0))
    if largest > SMALL_DELTA:
        yield (
            f"delta is up to {largest:.4g}, and energies collapse for small delta only: choose "
            f"a delta below {SMALL_DELTA:g} (at)"
        )
    spread = _spread(curve)
    if spread > MAX_SPREAD:
        yield (
            f"the points do not collapse: at nearly equal {name} they differ by up to "
            f"{100 * spread:.2g} %, because delta or phase varies: choose one value (at)"
        )


def _extrapolates(low: float, high: float, x: Values) -> bool:
    """Whether a range goes beyond the points by more than the distance of the last two."""
    places = np.unique(x)
    first, last = np.diff(places)[[0, -1]]
    from_start = low >= places[0] - first or (low == 0 and places[0] <= NEAR_ZERO * high)
    return not (from_start and high <= places[-1] + last)


def _misses(curve: MasterCurve) -> bool:
    """Whether neighbours lie on the same side of the curve, rather than scatter about it."""
    order = np.argsort(curve.x)
    errors = curve(curve.x[order]) / curve.energy[order] - 1
    shared = float(np.sum(errors[1:] * errors[:-1]))
    return curve.error.rms > MAX_RMS and shared > MAX_CORRELATION * float(np.sum(errors * errors))


def _spread(curve: MasterCurve) -> float:
    """How far neighbours of different amplitude or phase are apart; 0 if scatter explains it."""
    points, x = curve.points, curve.x
    share = curve.energy / curve(x)
    kinds = np.nan_to_num([points.delta, points.phase])
    kind = np.unique(kinds, axis=1, return_inverse=True)[1].reshape(-1)
    order = np.argsort(x, kind="stable")
    apart = np.abs(np.diff(share[order])[np.diff(kind[order]) != 0])
    along = np.lexsort((x, kind))
    bends = np.diff(share[along], 2)[kind[along][2:] == kind[along][:-2]]
    if not bends.size:  # no curves: nearly every point has its own amplitude and phase
        return float(np.sqrt(np.mean(apart**2)))
    scatter = float(np.sqrt(np.mean(bends**2) / 6))
    spread = float(np.max(apart, initial=0.0))
    return spread if spread > SIGNIFICANT * scatter else 0.0
