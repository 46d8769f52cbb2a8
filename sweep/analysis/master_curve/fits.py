"""Points collapsed on one curve, and the rational functions fitted to it piece by piece."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sweep.analysis.master_curve.adaptive import adaptive
from sweep.analysis.master_curve.choices import (
    CORE_APPEARS,
    OTHER_PROFILES,
    PLAIN_PROFILES,
    VARIABLES,
    Choices,
    Variable,
)
from sweep.analysis.master_curve.collapse import FOLLOWED, scatter, uncollapsed, unfollowed
from sweep.analysis.master_curve.curve import (
    Distance,
    MasterCurve,
    Piece,
    distance,
    evaluated,
    inner,
)
from sweep.analysis.master_curve.degrees import FITTERS, raised, steady, strays
from sweep.analysis.master_curve.fitting import Degrees, Target
from sweep.analysis.master_curve.points import Points, Values, positive, refuse_exponent
from sweep.analysis.master_curve.rational import Barycentric
from sweep.errors import SweepError
from sweep.theory.mdr_contact import constant_load_energy, universal_surface
from sweep.wording import listed, nearest

GAP = 0.02  # of √(1 − 1/ξ), from 0 on, that is bridged
NOTHING = 0.01  # share of the upper end up to which a point stands for 0
MOST_X, MOST_ENERGY = 1e15, 1e50  # and their inverses: beyond them powers overflow
GRID = 4001  # points on which a curve is compared with theory


def fit(points: Points, variable: str, choices: Choices | None = None) -> MasterCurve:
    """The curve through W̄ over β ("beta"), or through W̄δ over ξ = β/δ ("xi").

    Over β there is one curve for each phase, so there has to be one phase; over ξ the phase does
    not matter for small β. The range is the paper's unless it is told, β from 0.1 on and ξ up to 4,
    as far as there are points.
    A fit over ξ is in two pieces, below and above ξ = 1 where a stick core appears and the
    curvature is infinite, unless it is to be `whole`. With the degrees of its own and 150 points
    from ξ = 1 to 4 it is within 2e-4 of the closed form between them too, for any exponent of the
    profile; a sphere, whose degrees are lower, within 7e-4.
    Degrees that the points do not determine are lowered: `notes` tell so, and whether the points
    lie on one curve at all. SweepError for too few points, or what makes no single curve.
    """
    choices = choices or Choices()
    if variable not in VARIABLES:
        raise SweepError(f"there is no variable {variable!r}; {nearest(str(variable), VARIABLES)}")
    kind = VARIABLES[variable]
    points = _drawable(points, kind).with_profile()
    exponent = _single(points, "profile_exponent")
    refuse_exponent(exponent)
    if variable == "beta" and not np.isnan(points.phase).all():
        _single(points, "phase")
    x, energy, unit = _collapsed(points, kind, choices)
    low, high = _limits(kind, choices, x)
    inside = (x >= low) & (x <= high)
    if not inside.any():
        raise SweepError(
            f"{points.source!r} has no points of {variable} from {low:g} to {high:g}; they are of "
            f"{x.min():.4g} to {x.max():.4g}{points.told_left_out()}"
        )
    x, energy, unit = x[inside], energy[inside], unit[inside]
    _refuse_extremes(points.source, kind, x, energy)
    pieces: list[Piece] = []
    plans = _plans(kind, choices, low, high, exponent)
    for plan in plans:
        pieces.append(_piece(plan, kind, choices, (x, energy, unit), pieces))
    theory = _theory(kind, points, exponent)
    used = points.where(_finite_in(points, kind, low, high))
    error = distance(evaluated(pieces, x), energy, x)
    allowed = math.inf if choices.weights == "absolute" else scatter(x, energy)
    notes = [*points.notes, *_beyond(kind, choices, x)]
    notes += _lowered(kind, choices, plans, pieces, scattered=error.rms <= allowed)
    if error.rms > max(allowed, FOLLOWED):
        notes.append(unfollowed(used, kind.name, (low, high), error.rms))
    notes += uncollapsed(used, kind.name, x, energy / evaluated(pieces, x))
    return MasterCurve(
        variable=kind,
        choices=choices,
        pieces=tuple(pieces),
        x=x,
        energy=energy,
        source=points.source,
        constants=_constants(used),
        error=error,
        theory=theory,
        from_theory=theory and _on_grid(pieces, theory, x, low, high),
        points_from_theory=theory and _from(theory, energy, x),
        left_out=points.left_out,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Plan:
    """A piece before it is fitted."""

    low: float
    high: float
    power: int
    degrees: Degrees
    has_core: bool = False


def _drawable(points: Points, kind: Variable) -> Points:
    """Those with a place on this curve: contacts of constant load have none over β."""
    return points.parted(positive(*kind.collapse(points))) if points.beta.size else points


def _collapsed(points: Points, kind: Variable, choices: Choices) -> tuple[Values, Values, Values]:
    """x, energy, and the unit its error is measured in."""
    x, energy = kind.collapse(points)
    if choices.weights == "relative":
        return x, energy, energy
    if choices.weights == "absolute":
        return x, energy, np.ones(x.size)
    if not np.all(points.sigma > 0):
        raise SweepError(f"{points.source!r} has no standard errors: --sigma names their column")
    return x, energy, points.sigma * energy


def _refuse_extremes(source: str, kind: Variable, x: Values, energy: Values) -> None:
    """SweepError for numbers whose powers overflow."""
    for name, column, option, most in (
        (kind.name, x, "--scale-beta", MOST_X), (kind.energy, energy, "--scale-energy", MOST_ENERGY)
    ):  # fmt: skip
        if column.min() < 1 / most or column.max() > most:
            raise SweepError(
                f"{source!r}: {name} is from {column.min():.3g} to {column.max():.3g}, and fits "
                f"are of numbers from {1 / most:g} to {most:g}: choose another {option}, or --range"
            )


def _limits(kind: Variable, choices: Choices, x: Values) -> tuple[float, float]:
    low, high = choices.limits or kind.limits
    inside = x[(x >= low) & (x <= high)]
    if choices.limits is not None or np.unique(inside).size < 2:
        return low, high if math.isfinite(high) else float(max(x.max(initial=low), 2 * low))
    return float(inside.min()), float(inside.max())


def _plans(
    kind: Variable, choices: Choices, low: float, high: float, exponent: float
) -> list[_Plan]:
    whole = choices.whole or kind.name == "beta"
    if whole:
        ends = [(low, high)]
        defaults = [kind.whole]
    else:
        below, above = kind.degrees
        above = above if exponent in PLAIN_PROFILES else OTHER_PROFILES
        ends = [(low, min(high, CORE_APPEARS)), (max(low, CORE_APPEARS), high)]
        defaults = [d for d, (a, b) in zip((below, above), ends, strict=True) if a < b]
        ends = [(a, b) for a, b in ends if a < b]
    degrees = choices.degrees or defaults
    if len(degrees) != len(ends):
        pieces = "is in 1 piece" if len(ends) == 1 else "is in 2 pieces, below and above xi = 1"
        raise SweepError(
            f"the fit over {kind.name} {pieces}: it takes degrees as {listed(map(str, defaults))}"
        )
    return [
        _Plan(a, b, kind.power, d) if whole or b <= CORE_APPEARS else _Plan(a, b, -1, d, True)
        for (a, b), d in zip(ends, degrees, strict=True)
    ]


def _piece(
    plan: _Plan,
    kind: Variable,
    choices: Choices,
    columns: tuple[Values, Values, Values],
    before: Sequence[Piece],
) -> Piece:
    """Fitted; points that leave a gap where the piece before ends have its value there added."""
    x, energy, unit = columns
    inside = (x >= plan.low) & (x <= plan.high)
    x, energy, unit = x[inside], energy[inside], unit[inside]
    needed = 3 if choices.method == "aaa" else plan.degrees.n_coefficients + 1
    distinct = np.unique(x).size
    if distinct < needed:
        advice = "widen --range" if choices.method == "aaa" else "lower --degrees, or widen --range"
        raise SweepError(
            f"{distinct} different {kind.name} from {plan.low:g} to {plan.high:g} are too few for "
            f"a fit that takes {needed}: {advice}"
        )
    if before and inner(x, plan.has_core).min() > GAP:
        join = float(before[-1](plan.low))
        share = float(unit[np.argmin(x)] / energy[np.argmin(x)])
        x, energy = np.append(x, plan.low), np.append(energy, join)
        unit = np.append(unit, join * share)
    piece = _fitted(plan, kind, choices, (x, energy, unit))
    _refuse_poles(piece, kind)
    return piece


def _fitted(
    plan: _Plan, kind: Variable, choices: Choices, columns: tuple[Values, Values, Values]
) -> Piece:
    """By AAA if it is asked for and half of the points tells the other; else by other methods."""
    x, energy, unit = columns
    ends = inner(np.array([plan.low, plan.high]), plan.has_core)
    ends = float(ends[0]), float(ends[1])
    t = inner(x, plan.has_core)
    if choices.method == "aaa":  # over β of W̄ itself: its tolerance is of the greatest value
        power = 0 if kind.name == "beta" else plan.power
        target, size = _scaled(t, energy, unit, x ** -float(power))
        found = adaptive(target, choices.tolerance, ends)
        if found is not None:
            found = found.times(size)
            return Piece(plan.low, plan.high, power, found, plan.has_core, "aaa")
    target, size = _scaled(t, energy, unit, x ** -float(plan.power))
    if choices.method == "aaa":
        found = raised(target, plan.degrees, ends)
    else:
        found = steady(FITTERS[choices.method], target, plan.degrees, ends)
    stray = choices.method == "aaa" and strays(found, target, choices.tolerance)
    method = "least_squares" if choices.method == "aaa" else choices.method
    found = found.times(size)
    return Piece(plan.low, plan.high, plan.power, found, plan.has_core, method, stray)


def _scaled(t: Values, energy: Values, unit: Values, factor: Values) -> tuple[Target, float]:
    """Values of about 1, and the power of two that they are to be multiplied with."""
    size = 2.0 ** round(math.log2(float(np.median(energy * factor))))
    return Target(t, energy * factor / size, unit * factor / size), size


def _refuse_poles(piece: Piece, kind: Variable) -> None:
    ends = inner(np.array([piece.low, piece.high]), piece.has_core)
    poles = piece.rational.poles_within(*map(float, ends))
    if poles:
        raise SweepError(
            f"no fit over {kind.name} from {piece.low:g} to {piece.high:g} is without a pole: "
            "narrow --range to where there are points"
        )


def _beyond(kind: Variable, choices: Choices, x: Values) -> list[str]:
    """That the range told goes beyond the points."""
    if choices.limits is None or x.size == 0:
        return []
    (low, high), least, greatest = choices.limits, float(x.min()), float(x.max())
    places = np.unique(x)
    first, last = np.diff(places)[[0, -1]] if places.size > 1 else (0.0, 0.0)
    from_start = low >= least - first or (low == 0 and least <= NOTHING * high)
    if from_start and high <= greatest + last:
        return []
    return [
        f"the range goes beyond the points, which are of {kind.name} = {least:.4g} to "
        f"{greatest:.4g}: elsewhere the curve is extrapolated"
    ]


def _lowered(
    kind: Variable,
    choices: Choices,
    plans: Sequence[_Plan],
    pieces: Sequence[Piece],
    *,
    scattered: bool,
) -> list[str]:
    """What was not fitted as it was to be; blamed on the points if they are `scattered`."""
    found: list[str] = []
    for plan, piece in zip(plans, pieces, strict=True):
        if isinstance(piece.rational, Barycentric):
            continue
        where = f"{kind.name} from {plan.low:.4g} to {plan.high:.4g}"
        used = piece.rational.degrees
        if choices.method == "aaa":
            why = (
                "the points scatter by more than the tolerance, and aaa goes through points"
                if piece.strayed and scattered
                else "the points are too far apart for aaa, which half of them takes to the other"
            )
            found.append(f"{where}: {why}: it is least_squares of degrees {used}")
        elif used != str(plan.degrees):
            why = f"the points do not determine a curve of degrees {plan.degrees}"
            if not scattered:
                why = f"of degrees {plan.degrees} a curve has a pole or wavers between the points"
            found.append(f"{where}: {why}: it is of {used}")
    return found


def _theory(kind: Variable, points: Points, exponent: float) -> Callable[[Values], Values] | None:
    """The curve for vanishing normal amplitude, where it is known."""
    if kind.name == "xi":
        return lambda x: 3 * exponent / 16 * constant_load_energy(x, exponent)
    if np.isnan(points.phase).any():
        return None
    phase = float(points.phase[0])
    return lambda x: universal_surface(x, phase)


def _on_grid(
    pieces: Sequence[Piece], theory: Callable[[Values], Values], x: Values, low: float, high: float
) -> Distance | None:
    """Over the whole range, a lower end of 0 replaced by the least x."""
    least = low if low > 0 else float(x.min())
    even, spread = np.linspace(least, high, GRID), np.geomspace(least, high, GRID)
    grid = np.clip(np.unique(np.concatenate([even, spread])), least, high)
    return _from(theory, evaluated(pieces, grid), grid)


def _from(theory: Callable[[Values], Values], found: Values, x: Values) -> Distance | None:
    """From the closed form where it has an energy: in phase it has none from β = 1 on."""
    right = theory(x)
    there = right > 0
    return distance(found[there], right[there], x[there]) if there.any() else None


def _single(points: Points, name: str) -> float:
    found = np.unique(getattr(points, name))
    if found.size == 0:
        raise SweepError(f"{points.source!r} has no points{points.told_left_out()}")
    if found.size > 1:
        raise SweepError(
            f"{points.source!r} has {found.size} values of {name}, from {found[0]:g} to "
            f"{found[-1]:g}, and a curve for each: choose one, --at {name}={found[-1]:g}"
        )
    return float(found[0])


def _finite_in(points: Points, kind: Variable, low: float, high: float) -> np.ndarray:
    x, _ = kind.collapse(points)
    return (x >= low) & (x <= high)


def _constants(points: Points) -> dict[str, tuple[float, float]]:
    columns = {name: getattr(points, name) for name in ("delta", "phase", "profile_exponent")}
    return {
        name: (float(column.min()), float(column.max()))
        for name, column in columns.items()
        if not np.isnan(column).any()
    }
