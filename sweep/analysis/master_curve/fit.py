"""Fit master curves: which points and pieces, and warnings about the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr

from sweep.analysis.barycentric import Barycentric, adaptive, has_real, is_near
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
from sweep.analysis.master_curve.rational import (
    CORE_APPEARS,
    Choices,
    MasterCurve,
    Piece,
    Stretch,
    determined,
    raised,
)
from sweep.analysis.quotients import Degrees, Ends, SampledCurve, met
from sweep.analysis.scales import difference
from sweep.errors import SweepError
from sweep.wording import nearest
from sweep.work import Values

MAX_GAP = 0.02  # of √(1 − 1/ξ) from ξ = 1 to the first point, bridged by the end of the piece below
MAX_X, MAX_ENERGY = 1e15, 1e50  # larger values, and smaller than their inverses, overflow in powers
WITHOUT_CORE = Degrees(1, 0)  # below ξ = 1
# Above ξ = 1 the curves of cone and sphere are quotients, of degrees 0/0 and 2/3 in √(1 − 1/ξ);
# those of other profiles are not.
WITH_CORE, WITH_CORE_OF_OTHERS = Degrees(1, 2), Degrees(3, 4)
PLAIN_PROFILES = (1.0, 2.0)  # exponents

SMALL_DELTA = 0.1  # δ up to which energies collapse within some per cent
MAX_SPREAD = 0.01  # relative difference allowed between points of one x
MAX_RMS = 0.02  # relative error of a curve that is never reported
SIGNIFICANT = 6.0  # difference between curves over the scatter along them
MEDIAN_SIZE = 0.6745  # median size of a normal variate, in standard deviations
MAX_COMPARED_CURVES = 25
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
        points = source if isinstance(source, ContactEnergies) else from_dataset(source)
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
        first, last = energies.t.min(), energies.t.max()
        cure = f"use a range from {first:.4g} to {last:.4g}"
        only = f"all are at {first:.4g}, and a fit needs several values: sweep over {variable}"
        raise SweepError(
            f"{points.source!r} has no points with {variable} from {low:g} to {high:g}"
            f"{points.left_out_text()}; {cure if first < last else only}"
        )
    energies, points = energies.where(inside), points.where(inside)
    _refuse_extremes(points.source, kind, energies)
    pieces: list[Piece] = []
    for plan in _plans(kind, choices, low, high, exponent):
        pieces.append(_piece(plan, kind.name, choices, energies, pieces))
    curve = MasterCurve(kind, choices, tuple(pieces), points, energies.t, energies.g)
    return replace(curve, notes=(*points.notes, *notes_on(curve)))


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


def _collapsed(points: ContactEnergies, kind: ScalingVariable, weights: str) -> SampledCurve:
    """The energies over x, and the unit in which the error of each is measured."""
    x, energy = kind.collapse(points)
    if weights == "sigma" and not np.all(points.sigma > 0):
        raise SweepError(f"{points.source!r} has no standard errors: name their column (sigma)")
    units = {"relative": energy, "absolute": np.ones(x.size), "sigma": points.sigma * energy}
    return SampledCurve(x, energy, units[weights])


def _refuse_extremes(source: str, kind: ScalingVariable, energies: SampledCurve) -> None:
    for name, column, argument, most in (
        (kind.name, energies.t, "scale_beta", MAX_X),
        (kind.energy, energies.g, "scale_energy", MAX_ENERGY),
    ):
        if column.min() < 1 / most or column.max() > most:
            raise SweepError(
                f"{source!r}: {name} is from {column.min():.3g} to {column.max():.3g}, beyond the "
                f"range of fits from {1 / most:g} to {most:g}: choose another "
                f"`{argument}`, or another range"
            )


def _limits(kind: ScalingVariable, choices: Choices, x: Values) -> tuple[float, float]:
    low, high = choices.limits or kind.limits
    inside = x[(x >= low) & (x <= high)]
    if choices.limits is not None or np.unique(inside).size < 2:
        return low, high if math.isfinite(high) else float(max(x.max(initial=low), 2 * low))
    return float(inside.min()), float(inside.max())


def _plans(
    kind: ScalingVariable, choices: Choices, low: float, high: float, exponent: float
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
            f"the fit over {kind.name} {pieces}: give degrees for each, such as {example}"
        )
    return [replace(plan, degrees=each) for plan, each in zip(plans, degrees, strict=True)]


def _piece(
    plan: Stretch, variable: str, choices: Choices, energies: SampledCurve, before: Sequence[Piece]
) -> Piece:
    """The fitted piece; where its points begin late, the end of the piece before is added."""
    energies = energies.where((energies.t >= plan.low) & (energies.t <= plan.high))
    needed = 3 if choices.method == "aaa" else plan.degrees.n_coefficients + 1
    distinct = np.unique(energies.t).size
    where = f"{variable} from {plan.low:g} to {plan.high:g}"
    if distinct < needed:
        cure = (
            "widen the range"
            if choices.method == "aaa"
            else "lower the degrees, or widen the range"
        )
        raise SweepError(
            f"the fit needs {needed} different values of {where}, and there are {distinct}: {cure}"
        )
    if before and plan.argument(energies.t).min() > MAX_GAP:
        join, first = float(before[-1](plan.low)), np.argmin(energies.t)
        share = float(energies.unit[first] / energies.g[first])
        columns = (energies.t, energies.g, energies.unit)
        ends = (plan.low, join, join * share)
        energies = SampledCurve(
            *(np.append(each, end) for each, end in zip(columns, ends, strict=True))
        )
    low, high = plan.argument(np.array([plan.low, plan.high])).tolist()
    piece = _fitted(plan, (low, high), variable, choices, energies)
    if has_real(piece.rational.poles(), low, high):
        raise SweepError(f"every fit over {where} has a pole: narrow the range to the points")
    return piece


def _fitted(
    plan: Stretch, ends: Ends, variable: str, choices: Choices, energies: SampledCurve
) -> Piece:
    """Fit by the chosen method; by least squares where AAA does not predict half of the points."""
    target = plan.target(energies)
    if choices.method != "aaa":
        rational = determined(choices.method, target, plan.degrees, ends)
        return Piece(
            **vars(plan), rational=rational, method=choices.method, met=met(rational, target)
        )
    # AAA's tolerance is relative to the largest value, so over β it fits W̄ itself.
    whole = replace(plan, power=0) if variable == "beta" else plan
    values = whole.target(energies)
    barycentric = adaptive(values.t, values.g, choices.tolerance, ends)
    if barycentric is not None:
        return Piece(**vars(whole), rational=barycentric, method="aaa")
    rational = raised(target, plan.degrees, ends)
    scattered = not is_near(rational, target.t, target.g, choices.tolerance)
    return Piece(**vars(plan), rational=rational, method="least_squares", scattered=scattered)


def notes_on(curve: MasterCurve) -> Iterator[str]:
    """Warnings about a curve."""
    name, x, points, error = curve.variable.name, curve.x, curve.points, curve.error
    absolute = curve.choices.weights == "absolute"
    allowed = math.inf if absolute else _scatter_error(x, curve.energy)
    if curve.choices.limits is not None and _extrapolates(*curve.choices.limits, x):
        yield (
            f"the range goes beyond the points, which lie at {name} from {x.min():.4g} to "
            f"{x.max():.4g}: elsewhere the curve is extrapolated"
        )
    for piece in curve.pieces:
        yield from _lowered(name, curve.choices, piece, explained=error.rms <= allowed)
    if error.rms > max(allowed, MAX_RMS):
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
    first, last = np.diff(places)[[0, -1]] if places.size > 1 else (0.0, 0.0)
    from_start = low >= places[0] - first or (low == 0 and places[0] <= NEAR_ZERO * high)
    return not (from_start and high <= places[-1] + last)


def _lowered(variable: str, choices: Choices, piece: Piece, *, explained: bool) -> Iterator[str]:
    """A note on a piece fitted by another method or with other degrees than chosen.

    One of lower degrees than the default ones needs no note where it meets its points.
    """
    if isinstance(piece.rational, Barycentric):
        return
    used, where = piece.rational.degrees, f"{variable} from {piece.low:.4g} to {piece.high:.4g}"
    if choices.method == "aaa":
        cause = (
            "the points scatter by more than the tolerance, and aaa goes through points"
            if piece.scattered and explained
            else "the points are too far apart for aaa: half of them do not predict the others"
        )
        yield f"{where}: {cause}: fitted by least_squares of degrees {used}"
    elif used != piece.degrees and not (piece.met and not choices.degrees):
        cause = f"the points do not determine a curve of degrees {piece.degrees}"
        if not explained:
            cause = f"a curve of degrees {piece.degrees} has a pole or wavers between the points"
        yield f"{where}: {cause}: fitted with degrees {used}"


def _scatter_error(x: Values, energy: Values) -> float:
    """Relative error of a curve that the scatter of its points explains.

    The scatter is what neighbours differ by, less a straight line on logarithmic scales; its median
    is taken, since at a sharp bend of the curve the difference is that bend.
    """
    bends = np.abs(np.diff(np.log(energy[np.argsort(x)]), 2))
    if not bends.size:
        return math.inf
    return SIGNIFICANT * float(np.median(bends)) / math.sqrt(6) / MEDIAN_SIZE


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
    """How far curves of one amplitude and phase each are apart; 0 if their scatter explains it.

    `share` is the energy over the fitted one.
    """
    kinds = np.stack([np.nan_to_num(points.delta), np.nan_to_num(points.phase)], axis=1)
    kinds, kind = np.unique(kinds, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    if len(kinds) < 2:
        return 0.0
    order = np.argsort(x)
    if 4 * len(kinds) > x.size:  # no curves: nearly every point has its own amplitude and phase
        return float(np.sqrt(np.mean(np.diff(share[order]) ** 2)))
    grid = np.quantile(np.log(x), np.linspace(0, 1, 101))
    some = np.unique(
        np.linspace(0, len(kinds) - 1, min(len(kinds), MAX_COMPARED_CURVES)).astype(int)
    )
    least, greatest, steps = np.full(101, np.inf), np.full(101, -np.inf), np.empty(0)
    for k in some:
        own = order[kind[order] == k]
        at = np.interp(grid, np.log(x[own]), share[own], left=np.nan, right=np.nan)
        least, greatest = np.fmin(least, at), np.fmax(greatest, at)
        steps = np.append(steps, np.diff(share[own], 2))
    scatter = float(np.sqrt(np.mean(steps**2) / 6)) if steps.size else 0.0
    spread = float(np.max(np.where(greatest > least, greatest - least, 0.0)))
    return spread if spread > SIGNIFICANT * scatter else 0.0
