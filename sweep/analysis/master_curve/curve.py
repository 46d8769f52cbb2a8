"""Master curves: energies over one variable in pieces of rational functions, and notes on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.analysis.master_curve.points import KNOWN, PERIODS, Points, difference
from sweep.analysis.master_curve.rational import Barycentric, Degrees, Rational
from sweep.errors import SweepError
from sweep.theory.mdr_contact import constant_load_energy, universal_surface
from sweep.wording import nearest
from sweep.work import Values

CORE_APPEARS = 1.0  # ξ at which, under constant load, part of the contact begins to stick
METHODS = ("least_squares", "minimax", "aaa")
WEIGHTS = ("relative", "absolute", "sigma")
N_COMPARED = 4001  # places at which a curve is compared with theory

SMALL_DELTA = 0.1  # δ up to which energies collapse within some per cent
MAX_SPREAD = 0.01  # relative difference allowed between points of one x
MAX_RMS = 0.02  # relative error of a curve that is never reported
SIGNIFICANT = 6.0  # difference between curves over the scatter along them
MEDIAN_SIZE = 0.6745  # median size of a normal variate, in standard deviations
MAX_COMPARED_CURVES = 25
NEAR_ZERO = 0.01  # share of the upper end up to which the first point stands for 0
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
    degrees: Degrees  # of a single piece


def _over_xi(points: Points) -> tuple[Values, Values]:
    if np.isnan(points.delta).any():
        raise SweepError(
            f"{points.source!r} has no delta, needed for xi = beta/delta: give --at delta=..."
        )
    return points.xi, points.xi_energy


VARIABLES = {
    "xi": Variable("xi", "ξ = β/δ", "W̄δ", _over_xi, (0.0, 4.0), 1, Degrees(4, 5)),
    "beta": Variable(
        "beta", "β", "W̄", lambda points: (points.beta, points.energy), (0.1, math.inf), -1,
        Degrees(4, 3),
    ),
}  # fmt: skip


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
        for kind, choice, known in (
            ("method", self.method, METHODS), ("weights", self.weights, WEIGHTS)
        ):  # fmt: skip
            if choice not in known:
                raise SweepError(f"unknown {kind} {choice!r}; {nearest(str(choice), known)}")
        if self.limits is not None and not 0 <= self.limits[0] < self.limits[1]:
            raise SweepError(
                f"invalid range {self.limits}: give two numbers of 0 or above, the lower first"
            )
        if not self.tolerance > 0:
            raise SweepError(f"the tolerance has to be above 0, not {self.tolerance!r}")


@dataclass(frozen=True)
class Stretch:
    """A range of x that one function fits, xᵖ R(t) with R of these degrees.

    t is x itself or √(1 − 1/x), in which the curve of any profile is smooth above x = 1: for a
    sphere it is the radius of the stick core under constant load over the contact radius.
    """

    low: float
    high: float
    power: int
    degrees: Degrees  # chosen; those of the function may be others
    has_core: bool  # t is √(1 − 1/x)

    def argument(self, x: Values) -> Values:
        """t at x."""
        return np.sqrt(np.maximum(x - CORE_APPEARS, 0.0) / x) if self.has_core else x


@dataclass(frozen=True)
class Piece(Stretch):
    """A stretch with its function."""

    rational: Rational
    method: str  # by which it was fitted
    scattered: bool  # the points scatter about it by more than AAA tolerates
    met: bool  # the points lie on it but for rounding

    def __call__(self, x: ArrayLike) -> Values:
        x = np.asarray(x, dtype=np.float64)
        value = self.rational(self.argument(x))
        return value * x if self.power == 1 else value / x if self.power == -1 else value


@dataclass(frozen=True)
class Distance:
    """Relative difference of a curve or of points from another curve."""

    greatest: float
    rms: float
    where: float  # x of the greatest
    n_points: int


def distance(values: Values, expected: Values, x: Values) -> Distance:
    """Relative difference of `values`; all of shape (n_points,), `expected` nonzero everywhere."""
    errors = np.abs(values / expected - 1)
    worst = int(np.argmax(errors))
    return Distance(
        float(errors[worst]), float(np.sqrt(np.mean(errors * errors))), float(x[worst]), int(x.size)
    )


@dataclass(frozen=True, eq=False)
class MasterCurve:
    """A curve through the energies over one variable; NaN outside its range."""

    variable: Variable
    choices: Choices
    pieces: tuple[Piece, ...]
    points: Points  # in the range
    x: Values  # the variable at the points
    energy: Values  # the ordinate at the points
    notes: tuple[str, ...] = ()  # warnings to read before the curve is used

    def __call__(self, x: ArrayLike) -> Values:
        """The pieces at x, the upper one where two meet."""
        x = np.asarray(x, dtype=np.float64)
        values = np.full(x.shape, np.nan)
        for piece in self.pieces:
            inside = (x >= piece.low) & (x <= piece.high)
            values[inside] = piece(x[inside])
        return values

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

    @property
    def constants(self) -> dict[str, tuple[float, float]]:
        """Smallest and largest value of each known column."""
        columns = {name: getattr(self.points, name) for name in KNOWN}
        return {
            name: (float(column.min()), float(column.max()))
            for name, column in columns.items()
            if not np.isnan(column).any()
        }

    @property
    def branches(self) -> dict[str, NDArray[np.bool_]]:
        """The points of each value of δ or φ, by "δ = 0.01"; none unless one of the two varies."""
        known = {"δ": self.points.delta, "φ": self.points.phase}
        varied = {symbol: np.unique(each) for symbol, each in known.items() if np.ptp(each) > 0}
        if len(varied) != 1:
            return {}
        ((symbol, values),) = varied.items()
        return {f"{symbol} = {value:.4g}": known[symbol] == value for value in values}

    @cached_property
    def error(self) -> Distance:
        """Distance of the curve from the points."""
        return distance(self(self.x), self.energy, self.x)

    @property
    def theory(self) -> Curve | None:
        """Closed form for vanishing normal amplitude, where it is known."""
        exponent, phase = float(self.points.profile_exponent[0]), float(self.points.phase[0])
        if self.variable.name == "xi":
            return lambda x: 3 * exponent / 16 * constant_load_energy(x, exponent)
        return None if math.isnan(phase) else lambda x: universal_surface(x, phase)

    @cached_property
    def from_theory(self) -> Distance | None:
        """Distance of the curve from theory, over the whole range or from the first point on."""
        least, high = self.limits[0] or float(self.x.min()), self.limits[1]
        even, logarithmic = (
            space(least, high, N_COMPARED) for space in (np.linspace, np.geomspace)
        )
        grid = np.clip(np.unique(np.concatenate([even, logarithmic])), least, high)
        return self._from_theory(self(grid), grid)

    @cached_property
    def points_from_theory(self) -> Distance | None:
        """Distance of the points from theory."""
        return self._from_theory(self.energy, self.x)

    def _from_theory(self, values: Values, x: Values) -> Distance | None:
        """Distance where the closed form has an energy: in phase it has none from β = 1 on."""
        if self.theory is None:
            return None
        expected = self.theory(x)
        positive = expected > 0
        if not positive.any():
            return None
        return distance(values[positive], expected[positive], x[positive])


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
            f"points below {SMALL_DELTA:g} with --at delta=..."
        )
    spread = _spread(points, x, curve.energy / curve(x))
    if spread > MAX_SPREAD:
        varied = [name for name in ("delta", "phase") if np.unique(getattr(points, name)).size > 1]
        cuts = " or ".join(f"--at {name}=..." for name in varied)
        yield (
            f"the points do not collapse: at nearly equal {name} they differ by up to "
            f"{100 * spread:.2g} %, because {' and '.join(varied)} vary: choose one value, {cuts}"
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
            f"fit both sides, --range {low:g} {below:g} and --range {above:g} {high:g}"
        )
    return f"{mismatch}: narrow --range, raise --degrees, or use --method aaa"


def _spread(points: Points, x: Values, share: Values) -> float:
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
