"""Master curves: pieces, each a rational function, and their distance from points and theory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import AAA

from sweep.errors import SweepError
from sweep.fits.points import KNOWN, ContactEnergies, ScalingVariable
from sweep.request.chunk import Values
from sweep.text.wording import nearest
from sweep.theory.mdr_contact import constant_load_energy, universal_surface

METHODS = ("least_squares", "minimax", "aaa")
WEIGHTS = ("relative", "absolute", "sigma")
N_COMPARED = 4001  # places at which a curve is compared with theory

Curve = Callable[[Values], Values]


@dataclass(frozen=True)
class Degrees:
    """Degrees of the numerator and of the denominator."""

    numerator: int
    denominator: int

    def __post_init__(self) -> None:
        if min(self.numerator, self.denominator) < 0:
            raise SweepError(f"degrees {self} are negative: use whole numbers of 0 or above")

    @property
    def n_coefficients(self) -> int:
        return self.numerator + self.denominator + 1

    def __str__(self) -> str:
        return f"{self.numerator}/{self.denominator}"


@dataclass(frozen=True)
class Choices:
    """How a curve is fitted."""

    method: str = "least_squares"  # one of METHODS
    degrees: tuple[Degrees, ...] = ()  # the highest of each piece; empty: the variable's own
    limits: tuple[float, float] | None = None
    weights: str = "relative"  # one of WEIGHTS
    whole: bool = False  # one piece, even where a stick core appears within the range
    tolerance: float = 1e-6  # of AAA

    def __post_init__(self) -> None:
        for kind, known in (("method", METHODS), ("weights", WEIGHTS)):
            choice = getattr(self, kind)
            if choice not in known:
                raise SweepError(f"unknown {kind} {choice!r}; {nearest(str(choice), known)}")
        if self.limits is not None and not 0 <= self.limits[0] < self.limits[1]:
            raise SweepError(
                f"invalid range {self.limits}: give two numbers of 0 or above, the lower first"
            )
        if not self.tolerance > 0:
            raise SweepError(f"the tolerance has to be above 0, not {self.tolerance!r}")


@dataclass(frozen=True)
class Quotient:
    """P(t)/Q(t), coefficients in ascending powers; the constant of Q is 1 unless it is negligible.

    Errors are standard errors of the coefficients, from the scatter of the points about the curve
    as if points were independent; a minimax fit has none. The covariance is that of all
    coefficients, numerator first.
    """

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    numerator_errors: tuple[float, ...] = ()
    denominator_errors: tuple[float, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()

    @property
    def degrees(self) -> Degrees:
        return Degrees(len(self.numerator) - 1, len(self.denominator) - 1)

    def __call__(self, t: ArrayLike) -> Values:
        t = np.asarray(t, dtype=np.float64)
        return polynomial.polyval(t, self.numerator) / polynomial.polyval(t, self.denominator)

    def standard_error(self, t: Values) -> Values | None:
        """Standard error of the value, from the covariance; None without one."""
        if not self.covariance:
            return None
        above, below = (polynomial.polyvander(t, n) for n in vars(self.degrees).values())
        slopes = np.hstack([above, -below * self(t)[:, None]]) / (below @ self.denominator)[:, None]
        return np.sqrt(np.maximum(np.sum(slopes @ self.covariance * slopes, axis=1), 0.0))


@dataclass(frozen=True)
class Interval:
    """A range of x over which the curve is xᵖ R(t).

    t is x itself or √(1 − 1/x), in which the curve of any profile is smooth above x = 1: for a
    sphere it is the radius of the stick core under constant load over the contact radius.
    """

    low: float
    high: float
    power: int  # p: 1, 0 or -1
    degrees: Degrees  # the highest that R may have
    has_core: bool  # t is √(1 − 1/x)

    def contains(self, x: Values) -> NDArray[np.bool_]:
        return (x >= self.low) & (x <= self.high)

    def argument(self, x: Values) -> Values:
        """t at x."""
        return np.sqrt(np.maximum(x - 1.0, 0.0) / x) if self.has_core else x

    @property
    def ends(self) -> tuple[float, float]:
        """The range of t."""
        low, high = self.argument(np.array([self.low, self.high])).tolist()
        return low, high


@dataclass(frozen=True)
class Piece(Interval):
    """An interval with its function R."""

    rational: Quotient | AAA

    def __call__(self, x: ArrayLike) -> Values:
        x = np.asarray(x, dtype=np.float64)
        return x**self.power * self.rational(self.argument(x))

    @property
    def n_coefficients(self) -> int:
        """Number of free coefficients of R, as a quotient of two polynomials."""
        if isinstance(self.rational, Quotient):
            return self.rational.degrees.n_coefficients
        return 2 * self.rational.weights.size - 1


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
    rms = float(np.sqrt(np.mean(errors * errors)))
    return Distance(float(errors[worst]), rms, float(x[worst]), int(x.size))


@dataclass(frozen=True, eq=False)
class MasterCurve:
    """A curve through the energies over one variable; NaN outside its range."""

    variable: ScalingVariable
    choices: Choices
    method: str  # by which it was fitted, which may differ from the one chosen
    pieces: tuple[Piece, ...]
    points: ContactEnergies  # in the range
    x: Values  # the variable at the points
    energy: Values  # the ordinate at the points
    left_out: int  # number of points that could not be fitted
    outside: int  # number of points outside the range
    notes: tuple[str, ...] = ()  # warnings to read before the curve is used

    def __call__(self, x: ArrayLike) -> Values:
        """The pieces at x, the upper one where two meet."""
        x = np.asarray(x, dtype=np.float64)
        values = np.full(x.shape, np.nan)
        for piece in self.pieces:
            inside = piece.contains(x)
            values[inside] = piece(x[inside])
        return values

    @property
    def limits(self) -> tuple[float, float]:
        return self.pieces[0].low, self.pieces[-1].high

    @property
    def n_coefficients(self) -> int:
        """Number of free coefficients of all pieces; where two meet, they share one."""
        n_shared = 0 if self.method == "aaa" else len(self.pieces) - 1
        return sum(piece.n_coefficients for piece in self.pieces) - n_shared

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
        spaces = [space(least, high, N_COMPARED) for space in (np.linspace, np.geomspace)]
        grid = np.clip(np.unique(np.concatenate(spaces)), least, high)
        return self._from_theory(self(grid), grid)

    @cached_property
    def points_from_theory(self) -> Distance | None:
        """Distance of the points from theory."""
        return self._from_theory(self.energy, self.x)

    def _from_theory(self, values: Values, x: Values) -> Distance | None:
        """Distance where the closed form has an energy: in phase it has none from β = 1 on."""
        expected = np.zeros(x.size) if self.theory is None else self.theory(x)
        some = expected > 0
        return distance(values[some], expected[some], x[some]) if some.any() else None
