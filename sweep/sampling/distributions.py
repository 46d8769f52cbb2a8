"""Distributions of a parameter in a sample, each by its quantile function.

A value follows from one number of the unit interval by operations that give the same bits on every
machine (`elementary.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sweep.sampling import elementary
from sweep.work import Values

# What an argument is: a value of the parameter within its range; any number, or one above 0, in
# the parameter's unit; a plain number above 0.
Role = Literal["value", "number", "spread", "plain"]
Arguments = tuple[float, ...]

LARGEST_UNIT = 1 - 2.0**-53  # the largest double below 1
LEAST_PROBABILITY = 1e-290  # of the interval of a truncated normal distribution


@dataclass(frozen=True)
class Distribution:
    """A kind of distribution: its arguments and its quantile function."""

    arguments: Mapping[str, Role]
    quantile: Callable[[Values, Arguments], Values]  # of numbers in [0, 1]
    fault: Callable[[Arguments], str]  # why there is none with these arguments; "" if there is one
    unbounded: bool = False  # quantiles at 0 or 1 are infinite, or 0 where the range may exclude it


@dataclass(frozen=True)
class Margin:
    """The distribution of one parameter of a sample."""

    form: str  # a name in DISTRIBUTIONS
    arguments: Arguments
    whole: bool = False  # whole numbers only

    def values(self, unit: Values, resolution: float) -> Values:
        """The values for numbers in [0, 1], which are multiples of `resolution` or finer.

        Of an unbounded distribution, the value at 0 is that at half the resolution. Whole numbers
        are equally frequent in `uniform`, and rounded in other distributions.
        """
        kind = DISTRIBUTIONS[self.form]
        arguments = self.arguments
        if kind.unbounded:
            unit = np.clip(unit, resolution / 2, LARGEST_UNIT)
        is_cut = self.whole and self.form in ("uniform", "loguniform")
        if is_cut:
            arguments = (arguments[0], arguments[1] + 1)
        values = kind.quantile(unit, arguments)
        if self.whole:
            values = np.floor(values) if is_cut else np.rint(values)
        ends = dict(zip(kind.arguments, self.arguments, strict=True))
        if "least" in ends:
            values = np.clip(values, ends["least"], ends["greatest"])
        return values + 0.0


def _uniform(unit: Values, ends: Arguments) -> Values:
    least, greatest = ends
    return least + (greatest - least) * unit


def _loguniform(unit: Values, ends: Arguments) -> Values:
    low, high = elementary.log(np.array(ends)).tolist()
    return elementary.exp(low + (high - low) * unit)


def _normal(unit: Values, arguments: Arguments) -> Values:
    mean, deviation = arguments
    return mean + deviation * elementary.normal_quantile(unit)


def _lognormal(unit: Values, arguments: Arguments) -> Values:
    median, deviation = arguments
    return median * elementary.exp(deviation * elementary.normal_quantile(unit))


def _truncated_normal(unit: Values, arguments: Arguments) -> Values:
    """Quantiles above the median are those of the mirrored distribution: its tail is precise."""
    mean, deviation, least, greatest = arguments
    below, inside, above = _shares(arguments)
    low, high = below + inside * unit, above + inside * (1.0 - unit)
    is_low = low <= 0.5
    tail = np.minimum(np.where(is_low, low, high), 0.5)
    z = elementary.normal_quantile(np.maximum(tail, np.finfo(float).tiny))
    values = mean + deviation * np.where(is_low, z, -z)
    return np.clip(values, least, greatest)


def _shares(arguments: Arguments) -> Arguments:
    """The probabilities that a normal variable is below, inside and above an interval."""
    mean, deviation, least, greatest = arguments
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


def _triangular(unit: Values, arguments: Arguments) -> Values:
    least, mode, greatest = arguments
    width = greatest - least
    left, right = (mode - least) / width, (greatest - mode) / width
    rising = least + width * np.sqrt(unit * left)
    falling = greatest - width * np.sqrt((1.0 - unit) * right)
    return np.where(unit < left, rising, falling)


def _weibull(unit: Values, arguments: Arguments) -> Values:
    scale, shape = arguments
    return scale * elementary.exp(elementary.log(-elementary.log_of_rest(unit)) / shape)


def _range_fault(form: str, least: float, greatest: float) -> str:
    if not math.isfinite(greatest - least):
        return f"{form} from {least!r} to {greatest!r} is infinitely wide"
    if not least < greatest:
        cure = "give the smaller value first; a single value goes under [parameters]"
        return f"{form} from {least!r} to {greatest!r} is empty: {cure}"
    return ""


def _uniform_fault(ends: Arguments) -> str:
    return _range_fault("uniform", *ends)


def _loguniform_fault(ends: Arguments) -> str:
    if fault := _range_fault("loguniform", *ends):
        return fault
    least = ends[0]
    return "" if least > 0 else f"loguniform from {least!r}: give ends above 0, or use uniform"


def _lognormal_fault(arguments: Arguments) -> str:
    return _positive_fault("lognormal", arguments[0], "median")


def _truncated_normal_fault(arguments: Arguments) -> str:
    mean, deviation, least, greatest = arguments
    if fault := _range_fault("truncated_normal", least, greatest):
        return fault
    if _shares(arguments)[1] >= LEAST_PROBABILITY:
        return ""
    away = min(abs(least - mean), abs(greatest - mean)) / deviation
    cure = "bring mean and ends closer together, or use uniform"
    return f"from {least!r} to {greatest!r} is {away:.3g} standard deviations away; {cure}"


def _triangular_fault(arguments: Arguments) -> str:
    least, mode, greatest = arguments
    if fault := _range_fault("triangular", least, greatest):
        return fault
    if not least <= mode <= greatest:
        return f"the mode {mode!r} is not from {least!r} to {greatest!r}: [least, mode, greatest]"
    return ""


def _weibull_fault(arguments: Arguments) -> str:
    return _positive_fault("weibull", arguments[0], "scale")


def _positive_fault(form: str, value: float, name: str) -> str:
    return "" if value > 0 else f"the {name} of {form} is {value!r}; it has to be above 0"


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "uniform": Distribution({"least": "value", "greatest": "value"}, _uniform, _uniform_fault),
    "loguniform": Distribution(
        {"least": "value", "greatest": "value"}, _loguniform, _loguniform_fault
    ),
    "normal": Distribution(
        {"mean": "value", "standard deviation": "spread"}, _normal, lambda _: "", unbounded=True
    ),
    "lognormal": Distribution(
        {"median": "value", "standard deviation of the logarithm": "plain"},
        _lognormal, _lognormal_fault, unbounded=True,
    ),
    "truncated_normal": Distribution(
        {"mean": "number", "standard deviation": "spread", "least": "value", "greatest": "value"},
        _truncated_normal, _truncated_normal_fault,
    ),
    "triangular": Distribution(
        {"least": "value", "mode": "value", "greatest": "value"}, _triangular, _triangular_fault
    ),
    "weibull": Distribution(
        {"scale": "value", "shape": "plain"}, _weibull, _weibull_fault, unbounded=True
    ),
}  # fmt: skip
