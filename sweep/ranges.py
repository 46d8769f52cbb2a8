"""Whether values are in the range of their parameter, and the range in words."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sweep.spec import Parameter
from sweep.work import Values


def outside(values: Values, parameter: Parameter) -> NDArray[np.bool_]:
    """Which values are outside the parameter's range; NaN is outside every range."""
    above = values > parameter.minimum if parameter.open_minimum else values >= parameter.minimum
    below = values < parameter.maximum if parameter.open_maximum else values <= parameter.maximum
    allowed = np.isfinite(values) & above & below
    if parameter.whole:
        allowed &= values == np.floor(values)
    return ~(allowed | parameter.infinite & (values == np.inf))


def first_outside(values: Values, parameter: Parameter) -> int | None:
    """Index of the first value outside the parameter's range; None if there is none."""
    indices = np.flatnonzero(outside(values, parameter))
    return int(indices[0]) if indices.size else None


def requirement(parameter: Parameter) -> str:
    """The parameter's range in words: `above 0 and at most 1`."""
    unit = "" if parameter.unit == "1" else f" {parameter.unit}"
    words: list[str] = ["a whole number"] if parameter.whole else []
    lower = "above" if parameter.open_minimum else "at least"
    upper = "below" if parameter.open_maximum else "at most"
    for relation, bound in ((lower, parameter.minimum), (upper, parameter.maximum)):
        if math.isfinite(bound):
            words.append(f"{relation} {bound:g}{unit}")
    if parameter.infinite:
        words.append("inf is allowed" if parameter.minimum < math.inf else "inf")
    return " and ".join(words) or "finite"
