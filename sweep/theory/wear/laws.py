"""Laws of wear: worn volume over time at a mean wear power, and its inverse.

Laws and geometries have tables of parameters, whose values `in_order` takes from names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.errors import SweepError
from sweep.model.table import Parameter
from sweep.text.wording import nearest
from sweep.theory import Values
from sweep.theory.elementary import exp, one_minus_exp
from sweep.theory.elementary import power as elementary_power

MAX_STEPS = 100  # of Newton's method, which takes up to 40 where a volume is hardly ever reached
LAST_STEP = 1e-10  # relative; the next one would be about its square


@dataclass(frozen=True)
class Law:
    """Worn volume over time. The functions take arrays and the coefficients in the table's order.

    The volume never decreases with the power, with the time, or with `coefficient`.
    """

    name: str
    coefficients: Mapping[str, Parameter]
    _volume: Callable[..., Values]  # of power, seconds, coefficients
    _seconds: Callable[..., Values]  # of power, volume, coefficients
    _within: Callable[..., NDArray[np.bool_]]  # of power, coefficients

    def volume(
        self, power: ArrayLike, seconds: ArrayLike, coefficients: Mapping[str, ArrayLike]
    ) -> Values:
        """Worn volume [m³] after `seconds` [s] at a power [W]."""
        return _where_positive(self._volume, power, seconds, *self._in_order(coefficients))

    def seconds(
        self, power: ArrayLike, volume: ArrayLike, coefficients: Mapping[str, ArrayLike]
    ) -> Values:
        """Time [s] until a volume [m³] is worn at a power [W]; inf if it never is."""
        return _where_positive(self._seconds, power, volume, *self._in_order(coefficients))

    def within(self, power: ArrayLike, coefficients: Mapping[str, ArrayLike]) -> Values:
        """1 where the law holds, 0 where the power is too low for it."""
        return _where_positive(self._within, power, *self._in_order(coefficients))

    def _in_order(self, coefficients: Mapping[str, ArrayLike]) -> list[ArrayLike]:
        return in_order(self.name, "coefficient", self.coefficients, coefficients)


def law_of(name: str) -> Law:
    """The law with this name; SweepError if there is none."""
    if name not in LAWS:
        raise SweepError(f"there is no law of wear {name!r}; {nearest(name, LAWS)}")
    return LAWS[name]


def in_order(
    owner: str, kind: str, table: Mapping[str, Parameter], arguments: Mapping[str, ArrayLike | None]
) -> list[ArrayLike]:
    """The values of `arguments`, or the defaults, in the order of the table.

    SweepError if a name is not in the table, or has no value; `owner` and `kind` are how it calls
    the law or geometry and its parameters.
    """
    if unknown := [name for name in arguments if name not in table]:
        raise SweepError(f"{owner} has no {kind} {unknown[0]!r}; {nearest(unknown[0], table)}")
    values = {name: arguments.get(name, each.default) for name, each in table.items()}
    if missing := [name for name, value in values.items() if value is None]:
        raise SweepError(f"{owner} needs {missing[0]!r}: the {table[missing[0]].meaning}")
    return [value for value in values.values() if value is not None]


def _where_positive(function: Callable[..., NDArray[np.generic]], *arguments: ArrayLike) -> Values:
    """The function's values, but NaN where an argument is negative or NaN."""
    values = np.broadcast_arrays(*(np.asarray(each, np.float64) for each in arguments))
    valid = np.logical_and.reduce([each >= 0 for each in values])
    with np.errstate(all="ignore"):
        computed = function(*(np.where(valid, each, 0.0) for each in values))
    return np.where(valid, computed, np.nan)


def _archard_volume(power: Values, seconds: Values, coefficient: Values) -> Values:
    return coefficient * power * seconds


def _archard_seconds(power: Values, volume: Values, coefficient: Values) -> Values:
    return np.where(volume == 0, 0.0, volume / (coefficient * power))


def _archard_within(power: Values, _: Values) -> NDArray[np.bool_]:
    return np.full(power.shape, True)


def _edf_volume(
    power: Values,
    seconds: Values,
    coefficient: Values,
    exponent: Values,
    decay: Values,
    slope: Values,
) -> Values:
    first = _initial_rate(power, coefficient, exponent)
    worn_in = np.where(decay == 0, seconds, one_minus_exp(decay * seconds) / decay)
    volume = slope * seconds + np.maximum(first - slope, 0.0) * worn_in
    return np.where(power == 0, 0.0, volume)


def _edf_seconds(
    power: Values,
    volume: Values,
    coefficient: Values,
    exponent: Values,
    decay: Values,
    slope: Values,
) -> Values:
    """With x = S/V₀ and τ = N T, the root of x τ + (1 − x)(1 − e^(−τ)) = N V/V₀."""
    first = _initial_rate(power, coefficient, exponent)
    x = np.minimum(np.where(first == 0, 1.0, slope / first), 1.0)
    steady = volume / np.maximum(first, slope)  # without decay, or without a faster beginning
    scaled_volume = decay * steady
    tau = np.where((x == 0) & (scaled_volume >= 1), np.inf, _decaying(x, scaled_volume))
    seconds = np.where((x == 1) | (decay == 0), steady, tau / decay)
    return np.where(volume == 0, 0.0, np.where(power == 0, np.inf, seconds))


def _decaying(x: Values, scaled_volume: Values) -> Values:
    """Newton's method from below: the function is concave, so that it never passes the root.

    A root that has converged stays, so that it does not depend on others beside it.
    """
    # The root, once e^(−τ) is negligible.
    late = np.where(x > 0, (scaled_volume - (1 - x)) / x, 0.0)
    tau = np.maximum(scaled_volume, np.where(np.isfinite(late), late, 0.0))
    is_done = np.zeros(tau.shape, bool)
    for _ in range(MAX_STEPS):
        rest = scaled_volume - (x * tau + (1 - x) * one_minus_exp(tau))
        slope = x + (1 - x) * exp(-tau)
        step = np.where(slope > 0, rest / slope, 0.0)
        step = np.where(np.isfinite(step) & ~is_done, step, 0.0)
        tau = tau + step
        is_done |= np.abs(step) <= LAST_STEP * tau
        if is_done.all():
            break
    return tau


def _edf_within(
    power: Values, coefficient: Values, exponent: Values, _: Values, slope: Values
) -> NDArray[np.bool_]:
    return (power == 0) | (_initial_rate(power, coefficient, exponent) >= slope)


def _initial_rate(power: Values, coefficient: Values, exponent: Values) -> Values:
    """A P^B [m³/s]."""
    raised = elementary_power(np.where(power > 0, power, 1.0), exponent)
    return coefficient * np.where((power > 0) | (exponent == 0), raised, 0.0)


def by_name(*parameters: Parameter) -> Mapping[str, Parameter]:
    """A table of parameters."""
    return {each.name: each for each in parameters}


LAWS = {
    "archard": Law(
        "archard",
        by_name(
            Parameter(
                name="coefficient", symbol="K", unit="1/Pa", minimum=0, open_minimum=True,
                meaning="worn volume over load times distance slipped",
            ),
        ),
        _archard_volume,
        _archard_seconds,
        _archard_within,
    ),
    "edf_mz": Law(
        "edf_mz",
        by_name(
            Parameter(
                name="coefficient", symbol="A", unit="m^3/s", minimum=0, open_minimum=True,
                default=1e-13, meaning="initial rate of wear at 1 W",
            ),
            Parameter(
                name="exponent", symbol="B", unit="1", minimum=0, default=1.2,
                meaning="exponent of the power in the initial rate",
            ),
            Parameter(
                name="decay", symbol="N", unit="1/s", minimum=0, default=2.44e-8,
                meaning="how fast the rate of wear decreases",
            ),
            Parameter(
                name="slope", symbol="S", unit="m^3/s", minimum=0, default=1.14e-16,
                meaning="final rate of wear",
            ),
        ),
        _edf_volume,
        _edf_seconds,
        _edf_within,
    ),
}  # fmt: skip
