"""A master curve: rational functions over stretches of a variable, and how far off they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from sweep.analysis.master_curve.choices import CORE_APPEARS, Choices, Variable
from sweep.analysis.master_curve.points import Values
from sweep.analysis.master_curve.rational import Rational


@dataclass(frozen=True)
class Piece:
    """xᵖ R(t) for x from `low` to `high`.

    t is x itself, or √(1 − 1/x), in which the curve of any profile is smooth above x = 1: for a
    sphere the radius of the part that sticks under constant load, over that of the contact.
    """

    low: float
    high: float
    power: int
    rational: Rational
    has_core: bool = False  # t is √(1 − 1/x)
    method: str = ""  # it was fitted by
    strayed: bool = False  # the points scatter about it, by more than AAA bears

    def __call__(self, x: ArrayLike) -> Values:
        x = np.asarray(x, dtype=np.float64)
        return x**self.power * self.rational(inner(x, self.has_core))


@dataclass(frozen=True)
class Distance:
    """Of one curve or of points from another: greatest and rms relative, and where."""

    greatest: float
    rms: float
    where: float
    n_points: int


@dataclass(frozen=True, eq=False)
class MasterCurve:
    """A curve through the energies over one variable, NaN outside its range."""

    variable: Variable
    choices: Choices
    pieces: tuple[Piece, ...]
    x: Values  # of the points in the range
    energy: Values
    source: str
    constants: Mapping[str, tuple[float, float]]  # least and greatest, of what is known
    error: Distance  # of the curve from the points
    theory: Callable[[Values], Values] | None = None  # for vanishing normal amplitude
    from_theory: Distance | None = None  # of the curve, where theory is not 0
    points_from_theory: Distance | None = None
    left_out: int = field(default=0)
    notes: tuple[str, ...] = ()  # what to know before the curve is used

    @property
    def limits(self) -> tuple[float, float]:
        return self.pieces[0].low, self.pieces[-1].high

    @property
    def method(self) -> str:
        """What its pieces were fitted by, which may be another than was chosen."""
        return " and ".join(dict.fromkeys(piece.method for piece in self.pieces))

    @property
    def n_coefficients(self) -> int:
        """Free numbers of all pieces; where they meet is none."""
        return sum(piece.rational.n_coefficients for piece in self.pieces)

    def __call__(self, x: ArrayLike) -> Values:
        return evaluated(self.pieces, np.asarray(x, dtype=np.float64))


def inner(x: Values, has_core: bool) -> Values:
    """t of a piece at x."""
    return np.sqrt(np.maximum(x - CORE_APPEARS, 0.0) / x) if has_core else x


def evaluated(pieces: Sequence[Piece], x: Values) -> Values:
    """The pieces at x, of its shape, the upper one where two meet; NaN outside."""
    found = np.full(x.shape, np.nan)
    for piece in pieces:
        inside = (x >= piece.low) & (x <= piece.high)
        found[inside] = piece(x[inside])
    return found


def distance(found: Values, right: Values, x: Values) -> Distance:
    """Relative to what is right; all three (n_points,), nothing right is 0."""
    off = np.abs(found / right - 1)
    worst = int(np.argmax(off))
    return Distance(
        float(off[worst]), float(np.sqrt(np.mean(off**2))), float(x[worst]), int(x.size)
    )
