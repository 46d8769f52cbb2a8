"""Fit master curves: which points and pieces, and warnings about the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.analysis.master_curve.curve import Choices, Interval, MasterCurve, Piece
from sweep.analysis.master_curve.points import (
    PERIODS,
    VARIABLES,
    ContactEnergies,
    ScalingVariable,
    from_dataset,
    load,
    positive,
    refuse_exponent,
)
from sweep.analysis.master_curve.solve import (
    Degrees,
    Ends,
    PieceData,
    Quotient,
    adaptive,
    quotients,
)
from sweep.analysis.scales import difference
from sweep.errors import SweepError
from sweep.wording import nearest
from sweep.work import Values

CORE_APPEARS = 1.0  # ξ at which, under constant load, part of the contact begins to stick
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
MAX_CORRELATION = 0.5  # of the errors of neighbours, if points scatter about a curve
SIGNIFICANT = 6.0  # difference between curves over the scatter along them
NEAR_ZERO = 0.01  # share of the upper end up to which the first point stands for 0
IN_PHASE = 0.3  # rad, phase up to which W̄ over β drops too steeply at β = 1 for a quotient
STEEP_RANGE = (0.9, 1.2)  # of β


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
    points, (low, high) = _in_range(points, kind, choices)
    x, energy = kind.collapse(points)
    _refuse_extremes(points.source, kind, x, energy)
    intervals = _intervals(kind, choices, low, high, float(points.profile_exponent[0]))
    _refuse_too_few(variable, intervals, x)
    unit = _units(points, energy, choices.weights)
    method, pieces = choices.method, None
    if method == "aaa":
        pieces = _adaptive(intervals, kind, choices.tolerance, x, energy)
        method = "aaa" if pieces else "least_squares"
    pieces = pieces or _quotients(method, intervals, x, energy, unit)
    curve = MasterCurve(kind, choices, method, tuple(pieces), points, x, energy)
    return replace(curve, notes=(*points.notes, *notes_on(curve)))


def _in_range(
    points: ContactEnergies, kind: ScalingVariable, choices: Choices
) -> tuple[ContactEnergies, Ends]:
    """The points of one curve that are in the range, and the range."""
    if points.beta.size:  # contacts of constant load have no place over β
        points = points.parted(positive(*kind.collapse(points)))
    points = points.with_profile()
    refuse_exponent(_single(points, "profile_exponent"))
    if kind.name == "beta" and not np.isnan(points.phase).all():
        _single(points, "phase")
    x, _ = kind.collapse(points)
    low, high = _limits(kind, choices, x)
    inside = (x >= low) & (x <= high)
    if not inside.any():
        cure = f"use a range from {x.min():.4g} to {x.max():.4g}"
        only = f"all are at {x.min():.4g}, and a fit needs several values: sweep over {kind.name}"
        raise SweepError(
            f"{points.source!r} has no points with {kind.name} from {low:g} to {high:g}"
            f"{points.left_out_text()}; {cure if x.min() < x.max() else only}"
        )
    return points.where(inside), (low, high)


def _single(points: ContactEnergies, name: str) -> float:
    values = np.unique(getattr(points, name))
    if values.size == 0:
        raise SweepError(f"{points.source!r} has no points{points.left_out_text()}")
    if values.size > 1:
        raise SweepError(
            f"{points.source!r} has {values.size} values of {name}, from {values[0]:g} to "
            f"{values[-1]:g}, and a curve for each: choose one (at)"
        )
    return float(values[0])


def _limits(kind: ScalingVariable, choices: Choices, x: Values) -> Ends:
    low, high = choices.limits or kind.limits
    inside = x[(x >= low) & (x <= high)]
    if choices.limits is not None or np.unique(inside).size < 2:
        return low, high if math.isfinite(high) else float(max(x.max(initial=low), 2 * low))
    return float(inside.min()), float(inside.max())


def _refuse_extremes(source: str, kind: ScalingVariable, x: Values, energy: Values) -> None:
    for name, column, argument, most in (
        (kind.name, x, "scale_beta", MAX_X), (kind.energy, energy, "scale_energy", MAX_ENERGY)
    ):  # fmt: skip
        if column.min() < 1 / most or column.max() > most:
            raise SweepError(
                f"{source!r}: {name} is from {column.min():.3g} to {column.max():.3g}, beyond the "
                f"range of fits from {1 / most:g} to {most:g}: choose another "
                f"`{argument}`, or another range"
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


def _refuse_too_few(variable: str, intervals: Sequence[Interval], x: Values) -> None:
    counts = [np.unique(x[_inside(intervals, i, x)]).size for i in range(len(intervals))]
    whole = (intervals[0].low, intervals[-1].high, MIN_VALUES, sum(counts))
    pieces = [(each.low, each.high, 1, n) for each, n in zip(intervals, counts, strict=True)]
    for low, high, needed, n in (*pieces, whole):
        if n < needed:
            raise SweepError(
                f"the fit needs {needed} different values of {variable} from {low:g} to {high:g}, "
                f"and there are {n}: choose a range with more points"
            )


def _inside(intervals: Sequence[Interval], i: int, x: Values) -> NDArray[np.bool_]:
    """Which points piece i is fitted to: where two meet, the lower one."""
    above = x > intervals[i].low if i else x >= intervals[i].low
    return above & (x <= intervals[i].high)


def _units(points: ContactEnergies, energy: Values, weights: str) -> Values:
    """The unit in which the error of each point is measured."""
    if weights == "sigma" and not np.all(points.sigma > 0):
        raise SweepError(f"{points.source!r} has no standard errors: name their column (sigma)")
    units = {"relative": energy, "absolute": np.ones(energy.size), "sigma": points.sigma * energy}
    return units[weights]


def _quotients(
    method: str, intervals: Sequence[Interval], x: Values, energy: Values, unit: Values
) -> list[Piece]:
    targets: list[PieceData] = []
    for i, interval in enumerate(intervals):
        inside = _inside(intervals, i, x)
        t, factor = interval.argument(x[inside]), interval.prefactor(x[inside])
        anchor = float(t.min())
        if len(intervals) > 1:  # where they meet
            anchor = interval.ends[0 if i else 1]
        g, own_unit = energy[inside] / factor, unit[inside] / factor
        targets.append(PieceData(t, g, own_unit, interval.ends, anchor))
    found = quotients(method, targets, [each.degrees for each in intervals])
    return [Piece(**vars(each), rational=own) for each, own in zip(intervals, found, strict=True)]


def _adaptive(
    intervals: Sequence[Interval],
    kind: ScalingVariable,
    tolerance: float,
    x: Values,
    energy: Values,
) -> list[Piece] | None:
    """The pieces by AAA; None unless half of the points of each predict the others."""
    pieces: list[Piece] = []
    for i, each in enumerate(intervals):
        # The tolerance is relative to the largest value, so over β AAA fits W̄ itself.
        interval = replace(each, power=0) if kind.name == "beta" else each
        inside = _inside(intervals, i, x)
        places, values = x[inside], energy[inside]
        if pieces:
            places, values = np.append(places, each.low), np.append(values, pieces[-1](each.low))
        values = values / interval.prefactor(places)
        rational = adaptive(interval.argument(places), values, tolerance, interval.ends)
        if rational is None:
            return None
        pieces.append(Piece(**vars(interval), rational=rational))
    return pieces


def notes_on(curve: MasterCurve) -> Iterator[str]:
    """Warnings about a curve."""
    name, x, points = curve.variable.name, curve.x, curve.points
    if curve.choices.limits is not None and _extrapolates(*curve.choices.limits, x):
        yield (
            f"the range goes beyond the points, which lie at {name} from {x.min():.4g} to "
            f"{x.max():.4g}: elsewhere the curve is extrapolated"
        )
    if curve.method != curve.choices.method:
        yield (
            "half of the points do not predict the others, because they scatter or are too far "
            "apart for aaa, which goes through points: fitted by least_squares"
        )
    for piece in curve.pieces if curve.choices.degrees else ():
        if isinstance(piece.rational, Quotient) and piece.rational.degrees != piece.degrees:
            yield (
                f"{name} from {piece.low:.4g} to {piece.high:.4g}: the points do not determine a "
                f"curve of degrees {piece.degrees}: fitted with degrees {piece.rational.degrees}"
            )
    if curve.choices.weights != "absolute" and _misses(curve):
        yield _mismatch(curve)
    largest = float(points.delta.max(initial=0.0))
    if largest > SMALL_DELTA:
        yield (
            f"delta is up to {largest:.4g}, and energies collapse for small delta only: choose "
            f"a delta below {SMALL_DELTA:g} (at)"
        )
    spread = _spread(points, x, curve.energy / curve(x))
    if spread > MAX_SPREAD:
        varied = [name for name in ("delta", "phase") if np.unique(getattr(points, name)).size > 1]
        verb = "varies" if len(varied) == 1 else "vary"
        yield (
            f"the points do not collapse: at nearly equal {name} they differ by up to "
            f"{100 * spread:.2g} %, because {' and '.join(varied)} {verb}: choose one value (at)"
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


def _mismatch(curve: MasterCurve) -> str:
    """A note on a curve that is farther from its points than they scatter."""
    mismatch = (
        f"the curve misses the points by {100 * curve.error.rms:.2g} % rms, more than they scatter"
    )
    (low, high), (below, above) = curve.limits, STEEP_RANGE
    phases = np.abs(difference(curve.points.phase, 0.0, PERIODS["phase"]))
    steep = curve.variable.name == "beta" and low < below and above < high
    if steep and np.all(phases <= IN_PHASE):
        return (
            f"{mismatch}; nearly in phase, slip ends at beta = 1, too steeply for one quotient: "
            f"fit the ranges from {low:g} to {below:g} and from {above:g} to {high:g}"
        )
    return f"{mismatch}: narrow the range, raise the degrees, or use method aaa"


def _spread(points: ContactEnergies, x: Values, share: Values) -> float:
    """How far neighbours of different amplitude or phase are apart; 0 if scatter explains it.

    `share` is the energy over the fitted one.
    """
    kinds = np.stack([np.nan_to_num(points.delta), np.nan_to_num(points.phase)], axis=1)
    kind = np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(x, kind="stable")
    apart = np.abs(np.diff(share[order])[np.diff(kind[order]) != 0])
    if not apart.size:
        return 0.0
    along = np.lexsort((x, kind))
    same = kind[along][2:] == kind[along][:-2]
    bends = np.diff(share[along], 2)[same]
    if not bends.size:  # no curves: nearly every point has its own amplitude and phase
        return float(np.sqrt(np.mean(apart**2)))
    scatter = float(np.sqrt(np.mean(bends**2) / 6))
    spread = float(np.max(apart))
    return spread if spread > SIGNIFICANT * scatter else 0.0
