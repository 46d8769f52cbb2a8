"""Master curves: pieces of rational functions, of degrees that the points determine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sweep.analysis.barycentric import has_real
from sweep.analysis.least_squares import triangle
from sweep.analysis.master_curve.points import KNOWN, ContactEnergies, ScalingVariable
from sweep.analysis.quotients import FITTERS, Degrees, Ends, Quotient, Rational, SampledCurve, met
from sweep.errors import SweepError
from sweep.theory.mdr_contact import constant_load_energy, universal_surface
from sweep.wording import nearest
from sweep.work import Values

METHODS = (*FITTERS, "aaa")
WEIGHTS = ("relative", "absolute", "sigma")
N_COMPARED = 4001  # places at which a curve is compared with theory
MAX_ERROR = 2.0  # largest standard error of a curve, over that of the points
MAX_SCATTER_RATIO = 1.5  # scatter about a curve over that about one of higher degrees
MAX_RAISE = 3  # of both degrees, where AAA does not give a curve
CORE_APPEARS = 1.0  # ξ at which, under constant load, part of the contact begins to stick

Curve = Callable[[Values], Values]


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

    def target(self, energies: SampledCurve) -> SampledCurve:
        """The values that R has to have."""
        x = energies.t
        factor = 1 / x if self.power == 1 else x if self.power == -1 else np.ones(x.size)
        return SampledCurve(self.argument(x), energies.g * factor, energies.unit * factor)


@dataclass(frozen=True)
class Piece(Stretch):
    """A stretch with its function."""

    rational: Rational
    method: str  # by which it was fitted
    scattered: bool = False  # the points scatter about it by more than AAA tolerates
    met: bool = False  # the points lie on it but for rounding

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

    variable: ScalingVariable
    choices: Choices
    pieces: tuple[Piece, ...]
    points: ContactEnergies  # in the range
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


def determined(method: str, target: SampledCurve, degrees: Degrees, ends: Ends) -> Quotient:
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
        if not has_real(quotient.poles(), *ends):
            kept = quotient
        if degrees.numerator >= degrees.denominator:  # the larger degree falls
            degrees = replace(degrees, numerator=degrees.numerator - 1)
        else:
            degrees = replace(degrees, denominator=degrees.denominator - 1)


def raised(target: SampledCurve, degrees: Degrees, ends: Ends) -> Quotient:
    """Fit by least squares with these degrees, or with up to MAX_RAISE higher ones if needed.

    Higher ones are needed if the points determine them and scatter less about the curve.
    """
    best = determined("least_squares", target, degrees, ends)
    n_distinct = np.unique(target.t).size
    for more in range(1, MAX_RAISE + 1):
        higher = Degrees(degrees.numerator + more, degrees.denominator + more)
        if higher.n_coefficients >= n_distinct or met(best, target):
            break
        with np.errstate(all="ignore"):  # a curve that is not determined overflows
            quotient = determined("least_squares", target, higher, ends)
            needed = MAX_SCATTER_RATIO * _scatter(quotient, target) < _scatter(best, target)
        if quotient.degrees != higher or not needed:
            break
        best = quotient
    return best


def _scatter(quotient: Quotient, target: SampledCurve) -> float:
    """Standard deviation of the points about the curve, in their units."""
    with np.errstate(all="ignore"):
        residuals = (quotient(target.t) - target.g) / target.unit
    free = max(target.t.size - quotient.n_coefficients, 1)
    return float(np.sqrt(np.sum(residuals * residuals) / free))


def _sound(quotient: Quotient, target: SampledCurve, ends: Ends) -> bool:
    """Whether the points determine the curve, as `determined` says."""
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
