"""Points collapsed on one curve, the rational functions fitted to it, and how far off they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from sweep.analysis.master_curve.choices import CORE_APPEARS, VARIABLES, Choices, Variable
from sweep.analysis.master_curve.fitting import FITTERS, Degrees, Target, adaptive
from sweep.analysis.master_curve.points import Points, Values
from sweep.analysis.master_curve.rational import Rational
from sweep.config.wording import listed
from sweep.errors import SweepError
from sweep.theory.mdr_contact import constant_load_energy, universal_surface

GRID = 4001  # points on which a curve is compared with theory


@dataclass(frozen=True)
class Piece:
    """xᵖ R(t) for x from `low` to `high`.

    t is x itself, or the core (1 − 1/x)^{1/n}: the radius of the part of the contact that sticks
    under constant load, over that of the contact.
    """

    low: float
    high: float
    power: int
    rational: Rational
    core_exponent: float | None = None  # n; None: t is x

    def __call__(self, x: ArrayLike) -> Values:
        x = np.asarray(x, dtype=np.float64)
        return x**self.power * self.rational(inner(x, self.core_exponent))


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
    from_theory: Distance | None = None  # of the curve
    points_from_theory: Distance | None = None
    left_out: int = field(default=0)

    @property
    def limits(self) -> tuple[float, float]:
        return self.pieces[0].low, self.pieces[-1].high

    @property
    def n_coefficients(self) -> int:
        """Free numbers of all pieces; where they meet is none."""
        return sum(piece.rational.n_coefficients for piece in self.pieces)

    def __call__(self, x: ArrayLike) -> Values:
        return evaluated(self.pieces, np.asarray(x, dtype=np.float64))


def fit(points: Points, variable: str, choices: Choices | None = None) -> MasterCurve:
    """The curve through W̄ over β ("beta"), or through W̄δ over ξ = β/δ ("xi").

    Over β there is one curve for each phase, so there has to be one phase; over ξ the phase does
    not matter for small β. The range is the paper's unless it is told: β from 0.1 on, ξ up to 4.
    A fit over ξ is in two pieces, below and above ξ = 1 where a stick core appears and the
    curvature is infinite, unless it is to be `whole`.
    SweepError for too few points, a pole within the range, or what makes no single curve.
    """
    choices = choices or Choices()
    kind = VARIABLES[variable]
    exponent = _single(points, "profile_exponent")
    if variable == "beta" and not np.isnan(points.phase).all():
        _single(points, "phase")
    x, energy, unit = _collapsed(points, kind, choices)
    low, high = _limits(kind, choices, x)
    inside = (x >= low) & (x <= high)
    x, energy, unit = x[inside], energy[inside], unit[inside]
    pieces = tuple(
        _piece(plan, kind, choices, (x, energy, unit))
        for plan in _plans(kind, choices, low, high, exponent)
    )
    theory = _theory(kind, points, exponent)
    return MasterCurve(
        variable=kind,
        choices=choices,
        pieces=pieces,
        x=x,
        energy=energy,
        source=points.source,
        constants=_constants(points.where(_finite_in(points, kind, low, high))),
        error=distance(evaluated(pieces, x), energy, x),
        theory=theory,
        from_theory=theory and _on_grid(pieces, theory, x, low, high),
        points_from_theory=theory and distance(energy, theory(x), x),
        left_out=points.left_out,
    )


def inner(x: Values, core_exponent: float | None) -> Values:
    """t of a piece at x."""
    if core_exponent is None:
        return x
    return (np.maximum(x - CORE_APPEARS, 0.0) / x) ** (1 / core_exponent)


def evaluated(pieces: Sequence[Piece], x: Values) -> Values:
    """The pieces at x, the upper one where two meet; NaN outside."""
    found = np.full(x.shape, np.nan)
    for piece in pieces:
        inside = (x >= piece.low) & (x <= piece.high)
        found[inside] = piece(x[inside])
    return found


def distance(found: Values, right: Values, x: Values) -> Distance:
    """Relative to what is right."""
    off = np.abs(found / right - 1)
    worst = int(np.argmax(off))
    return Distance(
        float(off[worst]), float(np.sqrt(np.mean(off**2))), float(x[worst]), int(x.size)
    )


@dataclass(frozen=True)
class _Plan:
    """A piece before it is fitted."""

    low: float
    high: float
    power: int
    degrees: Degrees
    core_exponent: float | None = None


def _collapsed(points: Points, kind: Variable, choices: Choices) -> tuple[Values, Values, Values]:
    """x, energy, and the unit its error is measured in."""
    x, energy = kind.collapse(points)
    if choices.weights == "relative":
        return x, energy, energy
    if choices.weights == "absolute":
        return x, energy, np.ones(x.size)
    if np.isnan(points.sigma).any():
        raise SweepError(f"{points.source!r} has no standard errors: --sigma names their column")
    return x, energy, points.sigma * energy / points.energy


def _limits(kind: Variable, choices: Choices, x: Values) -> tuple[float, float]:
    low, high = choices.limits or kind.limits
    greatest = float(x.max()) if x.size else 0.0
    return low, greatest if math.isinf(high) and greatest > low else high


def _plans(
    kind: Variable, choices: Choices, low: float, high: float, exponent: float
) -> list[_Plan]:
    whole = choices.whole or kind.name == "beta"
    if whole:
        ends = [(low, high)]
        defaults = [kind.whole]
    else:
        below, above = kind.degrees
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
        _Plan(a, b, kind.power, d) if whole or b <= CORE_APPEARS else _Plan(a, b, -1, d, exponent)
        for (a, b), d in zip(ends, degrees, strict=True)
    ]


def _piece(
    plan: _Plan, kind: Variable, choices: Choices, columns: tuple[Values, Values, Values]
) -> Piece:
    x, energy, unit = columns
    inside = (x >= plan.low) & (x <= plan.high)
    x, energy, unit = x[inside], energy[inside], unit[inside]
    needed = 3 if choices.method == "aaa" else plan.degrees.n_coefficients + 1
    distinct = np.unique(x).size
    if distinct < needed:
        raise SweepError(
            f"{distinct} different {kind.name} from {plan.low:g} to {plan.high:g} are too few for "
            f"a fit that takes {needed}: lower --degrees, or widen --range"
        )
    if choices.method == "aaa" and kind.name == "beta":  # whose tolerance is of the greatest value
        plan = replace(plan, power=0)
    scale = x ** -float(plan.power)
    target = Target(inner(x, plan.core_exponent), energy * scale, unit * scale)
    if choices.method == "aaa":
        rational = adaptive(target, choices.tolerance)
    else:
        rational = FITTERS[choices.method](target, plan.degrees)
    piece = Piece(plan.low, plan.high, plan.power, rational, plan.core_exponent)
    _refuse_poles(piece, kind, plan)
    return piece


def _refuse_poles(piece: Piece, kind: Variable, plan: _Plan) -> None:
    ends = inner(np.array([piece.low, piece.high]), piece.core_exponent)
    poles = piece.rational.poles_within(*map(float, ends))
    if poles:
        raise SweepError(
            f"the fit of {plan.degrees} over {kind.name} has a pole between {piece.low:g} and "
            f"{piece.high:g}: lower --degrees, or use --method minimax"
        )


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
) -> Distance:
    """Over the whole range, a lower end of 0 replaced by the least x."""
    least = low if low > 0 else float(x.min())
    even, spread = np.linspace(least, high, GRID), np.geomspace(least, high, GRID)
    grid = np.clip(np.unique(np.concatenate([even, spread])), least, high)
    return distance(evaluated(pieces, grid), theory(grid), grid)


def _single(points: Points, name: str) -> float:
    found = np.unique(getattr(points, name))
    if found.size == 0:
        raise SweepError(f"{points.source!r} has no points")
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
