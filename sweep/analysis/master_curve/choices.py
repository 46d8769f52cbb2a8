"""The two ways the energies are collapsed on one curve, and how a curve is fitted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sweep.analysis.master_curve.degrees import METHODS
from sweep.analysis.master_curve.fitting import Degrees
from sweep.analysis.master_curve.points import Points, Values
from sweep.errors import SweepError
from sweep.wording import nearest

CORE_APPEARS = 1.0  # ξ at which, under constant load, a part of the contact begins to stick
WEIGHTS = ("relative", "absolute", "sigma")

_Collapse = Callable[[Points], tuple[Values, Values]]


@dataclass(frozen=True)
class Variable:
    """One of the paper's two ways to make one curve of the energies."""

    name: str  # "beta" or "xi"
    symbol: str
    energy: str  # what stands over it
    collapse: _Collapse
    limits: tuple[float, float]  # the paper's; an infinite end is that of the points
    power: int  # W grows as x to this at the lower end
    degrees: tuple[Degrees, ...]  # of a piece each
    whole: Degrees


@dataclass(frozen=True)
class Choices:
    """How a curve is fitted."""

    method: str = "least_squares"  # of METHODS
    degrees: tuple[Degrees, ...] = ()  # of a piece each; empty: those of the variable
    limits: tuple[float, float] | None = None
    weights: str = "relative"  # of WEIGHTS
    whole: bool = False  # one piece, also where a stick core appears within the range
    tolerance: float = 1e-6  # of AAA

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SweepError(
                f"there is no method {self.method!r}; {nearest(str(self.method), METHODS)}"
            )
        if self.weights not in WEIGHTS:
            cure = nearest(str(self.weights), WEIGHTS)
            raise SweepError(f"there are no weights {self.weights!r}; {cure}")
        if self.limits is not None and not 0 <= self.limits[0] < self.limits[1]:
            raise SweepError(
                f"a range is two numbers, 0 or above and the lower first, not {self.limits}"
            )
        if not self.tolerance > 0:
            raise SweepError(f"the tolerance has to be above 0, not {self.tolerance!r}")


def _over_beta(points: Points) -> tuple[Values, Values]:
    return points.beta, points.energy


def _over_xi(points: Points) -> tuple[Values, Values]:
    if np.isnan(points.delta).any():
        raise SweepError(
            f"{points.source!r} tells no delta, and xi = beta/delta takes one: --at delta=..."
        )
    return points.xi, points.xi_energy


# Above ξ = 1 the curves of cone and sphere are quotients, of degrees 0/0 and 2/3 in √(1 − 1/ξ);
# those of other profiles are none.
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
