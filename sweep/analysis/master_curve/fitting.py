"""Master curves: energies collapsed on one variable, fitted piece by piece."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sweep.analysis.master_curve.choosing import (
    METHODS,
    adaptive,
    determined,
    raised,
    scatters,
)
from sweep.analysis.master_curve.linear import Values
from sweep.analysis.master_curve.points import (
    PERIODS,
    Points,
    difference,
    positive,
    refuse_exponent,
)
from sweep.analysis.master_curve.rational import Barycentric, Degrees, Rational, Target, met
from sweep.errors import SweepError
from sweep.theory.mdr_contact import constant_load_energy, universal_surface
from sweep.wording import nearest

CORE_APPEARS = 1.0  # ξ at which, under constant load, part of the contact begins to stick
WEIGHTS = ("relative", "absolute", "sigma")
MAX_GAP = (
    0.02  # of √(1 − 1/ξ) between ξ = 1 and the first point, bridged by the value of the piece below
)
NEAR_ZERO = 0.01  # share of the upper end up to which the first point stands for 0
MAX_X, MAX_ENERGY = (
    1e15,
    1e50,
)  # larger numbers, and smaller than their inverses, overflow in powers
N_COMPARED = 4001  # places at which a curve is compared with theory

SMALL_DELTA = 0.1  # δ up to which energies collapse within some per cent
MAX_SPREAD = 0.01  # relative difference allowed between points of one x
SIGNIFICANT = 6.0  # difference between curves over the scatter along them
MAX_COMPARED_CURVES = 25
MEDIAN_SIZE = 0.6745  # median size of a normal variate, in standard deviations
MAX_RMS = 0.02  # relative error of a curve that is never reported
IN_PHASE = 0.3  # rad, phase up to which W̄ over β drops too steeply at β = 1 for a quotient
STEEP_RANGE = (0.9, 1.2)  # of β

Curve = Callable[[Values], Values]


@dataclass(frozen=True)
class Variable:
    """One of the paper's two ways to collapse the energies on one curve."""

    name: str  # "beta" or "xi"
    symbol: str
    energy: str  # symbol of the ordinate
    collapse: Callable[[Points], tuple[Values, Values]]
    limits: tuple[float, float]  # the paper's; an infinite end is that of the points
    power: int  # W grows as x to this power at the lower end
    degrees: tuple[Degrees, ...]  # of each piece
    whole: Degrees  # of a single piece


@dataclass(frozen=True)
class Choices:
    """How a curve is fitted."""

    method: str = "least_squares"  # one of METHODS
    degrees: tuple[Degrees, ...] = ()  # of each piece; empty: the variable's own
    limits: tuple[float, float] | None = None
    weights: str = "relative"  # one of WEIGHTS
    whole: bool = False  # one piece, even where a stick core appears within the range
    tolerance: float = 1e-6  # of AAA

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SweepError(
                f"unknown method {self.method!r}; {nearest(str(self.method), METHODS)}"
            )
        if self.weights not in WEIGHTS:
            cure = nearest(str(self.weights), WEIGHTS)
            raise SweepError(f"unknown weights {self.weights!r}; {cure}")
        if self.limits is not None and not 0 <= self.limits[0] < self.limits[1]:
            raise SweepError(
                f"invalid range {self.limits}: give two numbers of 0 or above, the lower first"
            )
        if not self.tolerance > 0:
            raise SweepError(f"the tolerance has to be above 0, not {self.tolerance!r}")


@dataclass(frozen=True)
class Piece:
    """xᵖ R(t) for x from `low` to `high`.

    t is x itself or √(1 − 1/x), in which the curve of any profile is smooth above x = 1: for a
    sphere it is the radius of the stick core under constant load over the contact radius.
    """

    low: float
    high: float
    power: int
    rational: Rational
    has_core: bool = False  # t is √(1 − 1/x)
    method: str = ""  # by which it was fitted
    scattered: bool = False  # the points scatter about it by more than AAA tolerates
    met: bool = False  # the points lie on it but for rounding

    def __call__(self, x: ArrayLike) -> Values:
        x = np.asarray(x, dtype=np.float64)
        value = self.rational(argument(x, self.has_core))
        return value * x if self.power == 1 else value / x if self.power == -1 else value


@dataclass(frozen=True)
class Distance:
    """Relative difference of a curve or of points from another curve."""

    greatest: float
    rms: float
    where: float  # x of the greatest
    n_points: int


@dataclass(frozen=True, eq=False)
class MasterCurve:
    """A curve through the energies over one variable; NaN outside its range."""

    variable: Variable
    choices: Choices
    pieces: tuple[Piece, ...]
    x: Values  # of the points in the range
    energy: Values
    source: str
    constants: Mapping[str, tuple[float, float]]  # smallest and largest value of each known column
    error: Distance  # of the curve from the points
    theory: Curve | None = None  # closed form for vanishing normal amplitude
    from_theory: Distance | None = None  # of the curve, where theory is not 0
    points_from_theory: Distance | None = None
    left_out: int = 0
    notes: tuple[str, ...] = ()  # warnings to read before the curve is used

    @property
    def limits(self) -> tuple[float, float]:
        return self.pieces[0].low, self.pieces[-1].high

    @property
    def method(self) -> str:
        """The methods its pieces were fitted by, which may differ from the one chosen."""
        return " and ".join(dict.fromkeys(piece.method for piece in self.pieces))

    @property
    def n_coefficients(self) -> int:
        """Number of free coefficients of all pieces; the places where they meet do not count."""
        return sum(piece.rational.n_coefficients for piece in self.pieces)

    def __call__(self, x: ArrayLike) -> Values:
        return evaluated(self.pieces, np.asarray(x, dtype=np.float64))


def argument(x: Values, has_core: bool) -> Values:
    """t of a piece at x."""
    return np.sqrt(np.maximum(x - CORE_APPEARS, 0.0) / x) if has_core else x


def evaluated(pieces: Sequence[Piece], x: Values) -> Values:
    """The pieces at x, the upper one where two meet; NaN outside."""
    values = np.full(x.shape, np.nan)
    for piece in pieces:
        inside = (x >= piece.low) & (x <= piece.high)
        values[inside] = piece(x[inside])
    return values


def distance(values: Values, expected: Values, x: Values) -> Distance:
    """Relative difference of `values`; all of shape (n_points,), `expected` nonzero everywhere."""
    off = np.abs(values / expected - 1)
    worst = int(np.argmax(off))
    return Distance(
        float(off[worst]), float(np.sqrt(np.mean(off * off))), float(x[worst]), int(x.size)
    )


def _over_beta(points: Points) -> tuple[Values, Values]:
    return points.beta, points.energy


def _over_xi(points: Points) -> tuple[Values, Values]:
    if np.isnan(points.delta).any():
        raise SweepError(
            f"{points.source!r} has no delta, needed for xi = beta/delta: give --at delta=..."
        )
    return points.xi, points.xi_energy


# Above ξ = 1 the curves of cone and sphere are quotients, of degrees 0/0 and 2/3 in √(1 − 1/ξ);
# those of other profiles are not.
OTHER_PROFILES = Degrees(3, 4)
PLAIN_PROFILES = (1.0, 2.0)  # exponents

VARIABLES = {
    "xi": Variable(
        "xi", "ξ = β/δ", "W̄δ", _over_xi, (0.0, 4.0), 1, (Degrees(1, 0), Degrees(1, 2)),
        Degrees(4, 5),
    ),
    "beta": Variable(
        "beta", "β", "W̄", _over_beta, (0.1, math.inf), -1, (Degrees(4, 3),), Degrees(4, 3)
    ),
}  # fmt: skip


def fit(points: Points, variable: str, choices: Choices | None = None) -> MasterCurve:
    """Fit the curve of W̄ over β ("beta"), or of W̄δ over ξ = β/δ ("xi").

    Over β each phase has its own curve, so the points must have one phase; over ξ the phase does
    not matter for small β. The default range is the paper's, β from 0.1 on and ξ up to 4, as far as
    there are points.
    A fit over ξ has two pieces, below and above ξ = 1, where a stick core appears and the curvature
    is infinite; `whole` makes it one. With default degrees and 150 points from ξ = 1 to 4 it is
    within 2e-4 of the closed form between the points too, for any exponent of the profile; for a
    sphere, whose degrees are lower, within 7e-4.
    Degrees that the points do not determine are lowered. `notes` say so, and also whether the
    points lie on one curve at all. SweepError for too few points, or points of several curves.
    """
    choices = choices or Choices()
    if variable not in VARIABLES:
        raise SweepError(f"unknown variable {variable!r}; {nearest(str(variable), VARIABLES)}")
    kind = VARIABLES[variable]
    points = _usable(points, kind).with_profile()
    exponent = _single(points, "profile_exponent")
    refuse_exponent(exponent)
    if variable == "beta" and not np.isnan(points.phase).all():
        _single(points, "phase")
    x, energy, unit = _collapsed(points, kind, choices)
    low, high = _limits(kind, choices, x)
    inside = (x >= low) & (x <= high)
    if not inside.any():
        raise SweepError(
            f"{points.source!r} has no points with {variable} from {low:g} to {high:g}: choose a "
            f"--range from {x.min():.4g} to {x.max():.4g}{points.left_out_text()}"
        )
    x, energy, unit = x[inside], energy[inside], unit[inside]
    _refuse_extremes(points.source, kind, x, energy)
    pieces: list[Piece] = []
    plans = _plans(kind, choices, low, high, exponent)
    for plan in plans:
        pieces.append(_piece(plan, kind, choices, (x, energy, unit), pieces))
    theory = _theory(kind, points, exponent)
    used = points.where(inside)
    values = evaluated(pieces, x)
    error = distance(values, energy, x)
    allowed = math.inf if choices.weights == "absolute" else _scatter_error(x, energy)
    notes = [*points.notes, *_extrapolation(kind, choices, x)]
    notes += _lowered(kind, choices, plans, pieces, error, allowed)
    if error.rms > max(allowed, MAX_RMS):
        notes.append(_mismatch(used, kind.name, (low, high), error.rms))
    notes += _separate_curves(used, kind.name, x, energy / values)
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
        from_theory=theory and _curve_from_theory(pieces, theory, x, low, high),
        points_from_theory=theory and _from_theory(theory, energy, x),
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

    @property
    def ends(self) -> tuple[float, float]:
        """The range of t."""
        low, high = argument(np.array([self.low, self.high]), self.has_core).tolist()
        return low, high


def _usable(points: Points, kind: Variable) -> Points:
    """The points with a place on this curve: contacts of constant load have none over β."""
    return points.parted(positive(*kind.collapse(points))) if points.beta.size else points


def _collapsed(points: Points, kind: Variable, choices: Choices) -> tuple[Values, Values, Values]:
    """x, energy, and the unit in which its error is measured."""
    x, energy = kind.collapse(points)
    if choices.weights == "relative":
        return x, energy, energy
    if choices.weights == "absolute":
        return x, energy, np.ones(x.size)
    if not np.all(points.sigma > 0):
        raise SweepError(
            f"{points.source!r} has no standard errors: name their column with --sigma"
        )
    return x, energy, points.sigma * energy


def _refuse_extremes(source: str, kind: Variable, x: Values, energy: Values) -> None:
    for name, column, option, most in (
        (kind.name, x, "--scale-beta", MAX_X), (kind.energy, energy, "--scale-energy", MAX_ENERGY)
    ):  # fmt: skip
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
) -> list[_Plan]:
    if choices.whole or kind.name == "beta":
        plans = [_Plan(low, high, kind.power, kind.whole)]
    else:
        below, above = kind.degrees
        above = above if exponent in PLAIN_PROFILES else OTHER_PROFILES
        plans = [
            _Plan(low, min(high, CORE_APPEARS), kind.power, below),
            _Plan(max(low, CORE_APPEARS), high, -1, above, has_core=True),
        ]
    plans = [plan for plan in plans if plan.low < plan.high]
    degrees = choices.degrees or tuple(plan.degrees for plan in plans)
    if len(degrees) != len(plans):
        pieces = "has 1 piece" if len(plans) == 1 else "has 2 pieces, below and above xi = 1"
        example = ",".join(str(plan.degrees) for plan in plans)
        raise SweepError(
            f"the fit over {kind.name} {pieces}: give degrees for each, as in --degrees {example}"
        )
    return [
        _Plan(plan.low, plan.high, plan.power, each, plan.has_core)
        for plan, each in zip(plans, degrees, strict=True)
    ]


def _piece(
    plan: _Plan,
    kind: Variable,
    choices: Choices,
    columns: tuple[Values, Values, Values],
    before: Sequence[Piece],
) -> Piece:
    """The fitted piece; where its points begin late, the end of the piece before is added."""
    x, energy, unit = columns
    inside = (x >= plan.low) & (x <= plan.high)
    x, energy, unit = x[inside], energy[inside], unit[inside]
    needed = 3 if choices.method == "aaa" else plan.degrees.n_coefficients + 1
    distinct = np.unique(x).size
    where = f"{kind.name} from {plan.low:g} to {plan.high:g}"
    if distinct < needed:
        cure = "widen --range" if choices.method == "aaa" else "lower --degrees, or widen --range"
        raise SweepError(
            f"the fit needs {needed} different values of {where}, and there are {distinct}: {cure}"
        )
    if before and argument(x, plan.has_core).min() > MAX_GAP:
        join = float(before[-1](plan.low))
        share = float(unit[np.argmin(x)] / energy[np.argmin(x)])
        x, energy = np.append(x, plan.low), np.append(energy, join)
        unit = np.append(unit, join * share)
    piece = _fitted(plan, kind, choices, (x, energy, unit))
    if piece.rational.poles_within(*plan.ends):
        raise SweepError(f"every fit over {where} has a pole: narrow --range to the points")
    return piece


def _fitted(
    plan: _Plan, kind: Variable, choices: Choices, columns: tuple[Values, Values, Values]
) -> Piece:
    """By the chosen method; by least squares where AAA does not predict half of the points."""
    target, size = _target(plan, plan.power, columns)
    if choices.method != "aaa":
        found = determined(choices.method, target, plan.degrees, plan.ends)
        return Piece(
            plan.low, plan.high, plan.power, found.times(size), plan.has_core, choices.method,
            met=met(found, target),
        )  # fmt: skip
    # AAA's tolerance is relative to the largest value, so over β it fits W̄ itself.
    power = 0 if kind.name == "beta" else plan.power
    whole_target, whole_size = _target(plan, power, columns)
    adapted = adaptive(whole_target, choices.tolerance, plan.ends)
    if adapted is not None:
        return Piece(plan.low, plan.high, power, adapted.times(whole_size), plan.has_core, "aaa")
    found = raised(target, plan.degrees, plan.ends)
    scattered = scatters(found, target, choices.tolerance)
    return Piece(
        plan.low,
        plan.high,
        plan.power,
        found.times(size),
        plan.has_core,
        "least_squares",
        scattered,
    )


def _target(
    plan: _Plan, power: int, columns: tuple[Values, Values, Values]
) -> tuple[Target, float]:
    """Values of about 1 in t, and the power of two by which to multiply the function."""
    x, energy, unit = columns
    factor = 1 / x if power == 1 else x if power == -1 else np.ones(x.size)
    size = 2.0 ** round(math.log2(float(np.median(energy * factor))))
    t = argument(x, plan.has_core)
    return Target(t, energy * factor / size, unit * factor / size), size


def _extrapolation(kind: Variable, choices: Choices, x: Values) -> list[str]:
    """A note if the chosen range goes beyond the points."""
    if choices.limits is None or x.size == 0:
        return []
    (low, high), least, greatest = choices.limits, float(x.min()), float(x.max())
    places = np.unique(x)
    first, last = np.diff(places)[[0, -1]] if places.size > 1 else (0.0, 0.0)
    from_start = low >= least - first or (low == 0 and least <= NEAR_ZERO * high)
    if from_start and high <= greatest + last:
        return []
    return [
        f"the range goes beyond the points, which lie at {kind.name} from {least:.4g} to "
        f"{greatest:.4g}: elsewhere the curve is extrapolated"
    ]


def _lowered(
    kind: Variable,
    choices: Choices,
    plans: Sequence[_Plan],
    pieces: Sequence[Piece],
    error: Distance,
    allowed: float,
) -> list[str]:
    """Notes on pieces fitted by another method or with other degrees than chosen.

    A curve of lower degrees than the default ones needs no note where it meets its points.
    """
    notes: list[str] = []
    for plan, piece in zip(plans, pieces, strict=True):
        if isinstance(piece.rational, Barycentric):
            continue
        where = f"{kind.name} from {plan.low:.4g} to {plan.high:.4g}"
        used, explained = piece.rational.degrees, error.rms <= allowed
        if choices.method == "aaa":
            why = (
                "the points scatter by more than the tolerance, and aaa goes through points"
                if piece.scattered and explained
                else "the points are too far apart for aaa: half of them do not predict the others"
            )
            notes.append(f"{where}: {why}: fitted by least_squares of degrees {used}")
        elif used != plan.degrees and (choices.degrees or not piece.met):
            why = f"the points do not determine a curve of degrees {plan.degrees}"
            if not explained:
                why = f"a curve of degrees {plan.degrees} has a pole or wavers between the points"
            notes.append(f"{where}: {why}: fitted with degrees {used}")
    return notes


def _scatter_error(x: Values, energy: Values) -> float:
    """Relative error of a curve that the scatter of its points explains.

    The scatter is what neighbours differ by, less a straight line on logarithmic scales; its median
    is taken, since at a sharp bend of the curve the difference is that bend.
    """
    bends = np.abs(np.diff(np.log(energy[np.argsort(x)]), 2))
    if not bends.size:
        return math.inf
    return SIGNIFICANT * float(np.median(bends)) / math.sqrt(6) / MEDIAN_SIZE


def _mismatch(points: Points, variable: str, ends: tuple[float, float], rms: float) -> str:
    """A note on a curve that is farther from its points than they scatter."""
    what = f"the curve misses the points by {100 * rms:.2g} % rms, more than they scatter"
    (low, high), (below, above) = ends, STEEP_RANGE
    phases = np.abs(difference(points.phase, 0.0, PERIODS["phase"]))
    if variable == "beta" and low < below and above < high and np.all(phases <= IN_PHASE):
        return (
            f"{what}; nearly in phase, slip ends at beta = 1, too steeply for one quotient: fit "
            f"both sides, --range {low:g} {below:g} and --range {above:g} {high:g}"
        )
    return f"{what}: narrow --range, raise --degrees, or use --method aaa"


def _separate_curves(points: Points, variable: str, x: Values, share: Values) -> list[str]:
    """Notes on points that do not lie on one curve; `share` is the energy over the fitted one."""
    notes: list[str] = []
    largest = float(points.delta.max(initial=0.0))
    if largest > SMALL_DELTA:
        notes.append(
            f"delta is up to {largest:.4g}, and energies collapse for small delta only: choose "
            f"points below {SMALL_DELTA:g} with --at delta=..."
        )
    spread = _spread(points, x, share)
    if spread > MAX_SPREAD:
        varied = [name for name in ("delta", "phase") if np.unique(getattr(points, name)).size > 1]
        cuts = " or ".join(f"--at {name}=..." for name in varied)
        notes.append(
            f"the points do not collapse: at nearly equal {variable} they differ by up to "
            f"{100 * spread:.2g} %, because {' and '.join(varied)} vary: choose one value, {cuts}"
        )
    return notes


def _spread(points: Points, x: Values, share: Values) -> float:
    """How far curves of one amplitude and phase each are apart; 0 if their scatter explains it."""
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


def _theory(kind: Variable, points: Points, exponent: float) -> Curve | None:
    """The curve for vanishing normal amplitude, where it is known."""
    if kind.name == "xi":
        return lambda x: 3 * exponent / 16 * constant_load_energy(x, exponent)
    if np.isnan(points.phase).any():
        return None
    phase = float(points.phase[0])
    return lambda x: universal_surface(x, phase)


def _curve_from_theory(
    pieces: Sequence[Piece], theory: Curve, x: Values, low: float, high: float
) -> Distance | None:
    """Over the whole range, from the smallest x if that begins at 0."""
    least = low if low > 0 else float(x.min())
    even, logarithmic = (space(least, high, N_COMPARED) for space in (np.linspace, np.geomspace))
    grid = np.clip(np.unique(np.concatenate([even, logarithmic])), least, high)
    return _from_theory(theory, evaluated(pieces, grid), grid)


def _from_theory(theory: Curve, values: Values, x: Values) -> Distance | None:
    """Where the closed form has an energy: in phase it has none from β = 1 on."""
    expected = theory(x)
    there = expected > 0
    return distance(values[there], expected[there], x[there]) if there.any() else None


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


def _constants(points: Points) -> dict[str, tuple[float, float]]:
    columns = {name: getattr(points, name) for name in ("delta", "phase", "profile_exponent")}
    return {
        name: (float(column.min()), float(column.max()))
        for name, column in columns.items()
        if not np.isnan(column).any()
    }
