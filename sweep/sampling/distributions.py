"""Distributions of a parameter in a sample, each by its quantile function.

A value follows from one number of the unit interval by operations that give the same bits on every
machine (`theory/elementary.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sweep.errors import FaultError
from sweep.request.chunk import Values
from sweep.theory import elementary

# What an argument is: a value of the parameter within its range; any number, or one above 0, in
# the parameter's unit; a plain number above 0.
Role = Literal["value", "number", "spread", "plain"]
Arguments = tuple[float, ...]

LARGEST_UNIT = 1 - 2.0**-53  # the largest double below 1
LEAST_PROBABILITY = 1e-290  # of the interval of a truncated normal distribution


def _themselves(*arguments: float) -> Arguments:
    return arguments


@dataclass(frozen=True)
class Distribution:
    """A kind of distribution: its arguments and its quantile function, also in drawing_gpu.h."""

    arguments: Mapping[str, Role]
    quantile: Callable[..., Values]  # of numbers in [0, 1] and the constants
    unbounded: bool = False  # quantiles at 0 or 1 are infinite, or 0 where the range may exclude it
    constants: Callable[..., Arguments] = _themselves  # of the arguments


@dataclass(frozen=True)
class Margin:
    """The distribution of one parameter of a sample."""

    form: str  # a name in DISTRIBUTIONS
    arguments: Arguments
    whole: bool = False  # whole numbers only

    def values(self, unit: Values, resolution: float) -> Values:
        """The values for numbers in [0, 1], which are multiples of `resolution` or finer.

        At 0, an unbounded distribution has its value at half the resolution. Whole numbers
        are equally frequent in `uniform`, and rounded in other distributions.
        """
        kind = DISTRIBUTIONS[self.form]
        if kind.unbounded:
            unit = np.clip(unit, resolution / 2, LARGEST_UNIT)
        values = kind.quantile(unit, *self.constants)
        if self.whole:
            values = np.floor(values) if self.is_cut else np.rint(values)
        if self.ends is not None:
            values = np.clip(values, *self.ends)
        return values + 0.0

    @property
    def is_cut(self) -> bool:
        """Whether fractions are cut off: whole numbers are equally frequent."""
        return self.whole and self.form in ("uniform", "loguniform")

    @cached_property
    def constants(self) -> Arguments:
        """What the quantile function takes."""
        first, second, *others = self.arguments
        second += self.is_cut
        return DISTRIBUTIONS[self.form].constants(first, second, *others)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Between which values are kept."""
        own = dict(zip(DISTRIBUTIONS[self.form].arguments, self.arguments, strict=True))
        return (own["least"], own["greatest"]) if "least" in own else None


def refuse(form: str, arguments: Arguments) -> None:
    """Raise FaultError if there is no distribution with these arguments."""
    own = dict(zip(DISTRIBUTIONS[form].arguments, arguments, strict=True))
    least, greatest = own.get("least", 0.0), own.get("greatest", 1.0)
    if not math.isfinite(greatest - least):
        raise FaultError(f"{form} from {least!r} to {greatest!r} is infinitely wide")
    if not least < greatest:
        cure = "give the smaller value first; a single value goes under [parameters]"
        raise FaultError(f"{form} from {least!r} to {greatest!r} is empty", cure)
    if form == "loguniform" and not least > 0:
        raise FaultError(
            f"loguniform from {least!r} is undefined", "give ends above 0, or use uniform"
        )
    for name in ("median", "scale"):
        if not own.get(name, 1.0) > 0:
            raise FaultError(f"the {name} of {form} is {own[name]!r}", "it has to be above 0")
    if not least <= own.get("mode", least) <= greatest:
        what = f"the mode {own['mode']!r} is not from {least!r} to {greatest!r}"
        raise FaultError(what, "give [least, mode, greatest]")
    if form == "truncated_normal" and _shares(*arguments)[1] < LEAST_PROBABILITY:
        away = min(abs(end - own["mean"]) for end in (least, greatest)) / own["standard deviation"]
        what = f"from {least!r} to {greatest!r} is {away:.3g} standard deviations away"
        raise FaultError(what, "bring mean and ends closer together, or use uniform")


def _uniform(unit: Values, least: float, greatest: float) -> Values:
    return least + (greatest - least) * unit


def _logarithms(least: float, greatest: float) -> Arguments:
    return (*elementary.log(np.array([least, greatest])).tolist(),)


def _loguniform(unit: Values, low: float, high: float) -> Values:
    return elementary.exp(low + (high - low) * unit)


def _normal(unit: Values, mean: float, deviation: float) -> Values:
    return mean + deviation * elementary.normal_quantile(unit)


def _lognormal(unit: Values, median: float, deviation: float) -> Values:
    return median * elementary.exp(deviation * elementary.normal_quantile(unit))


def _truncated_normal(unit: Values, *constants: float) -> Values:
    """Quantiles above the median are those of the mirrored distribution: its tail is precise."""
    below, inside, above, mean, deviation, least, greatest = constants
    low, high = below + inside * unit, above + inside * (1.0 - unit)
    is_low = low <= 0.5
    tail = np.minimum(np.where(is_low, low, high), 0.5)
    z = elementary.normal_quantile(np.maximum(tail, np.finfo(float).tiny))
    values = mean + deviation * np.where(is_low, z, -z)
    return np.clip(values, least, greatest)


def _shares(mean: float, deviation: float, least: float, greatest: float) -> Arguments:
    """The probabilities that a normal variable is below, inside and above an interval."""
    a, b = (least - mean) / deviation, (greatest - mean) / deviation
    beyond_a, beyond_b = (elementary.normal_beyond(min(abs(end), 1e3)) for end in (a, b))
    if a > 0:
        inside = beyond_a - beyond_b
    elif b < 0:
        inside = beyond_b - beyond_a
    else:
        inside = 1 - beyond_a - beyond_b
    below = beyond_a if a < 0 else 1 - beyond_a
    above = beyond_b if b > 0 else 1 - beyond_b
    return float(below), float(inside), float(above)


def _with_shares(*arguments: float) -> Arguments:
    return (*_shares(*arguments), *arguments)


def _triangular(unit: Values, least: float, mode: float, greatest: float) -> Values:
    width = greatest - least
    left, right = (mode - least) / width, (greatest - mode) / width
    rising = least + width * np.sqrt(unit * left)
    falling = greatest - width * np.sqrt((1.0 - unit) * right)
    return np.where(unit < left, rising, falling)


def _weibull(unit: Values, scale: float, shape: float) -> Values:
    return scale * elementary.exp(elementary.log(-elementary.log_of_rest(unit)) / shape)


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "uniform": Distribution({"least": "value", "greatest": "value"}, _uniform),
    "loguniform": Distribution(
        {"least": "value", "greatest": "value"}, _loguniform, constants=_logarithms
    ),
    "normal": Distribution(
        {"mean": "value", "standard deviation": "spread"}, _normal, unbounded=True
    ),
    "lognormal": Distribution(
        {"median": "value", "standard deviation of the logarithm": "plain"},
        _lognormal, unbounded=True,
    ),
    "truncated_normal": Distribution(
        {"mean": "number", "standard deviation": "spread", "least": "value", "greatest": "value"},
        _truncated_normal, constants=_with_shares,
    ),
    "triangular": Distribution(
        {"least": "value", "mode": "value", "greatest": "value"}, _triangular
    ),
    "weibull": Distribution({"scale": "value", "shape": "plain"}, _weibull, unbounded=True),
}  # fmt: skip
