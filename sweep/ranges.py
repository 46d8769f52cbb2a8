"""Whether values are in the range of their parameter, and the range in words."""

from __future__ import annotations

import math

import numpy as np

from sweep.spec import Parameter
from sweep.work import Values


def first_outside(values: Values, parameter: Parameter) -> int | None:
    """Index of the first value outside the parameter's range; None if there is none."""
    above = values > parameter.minimum if parameter.open_minimum else values >= parameter.minimum
    below = values < parameter.maximum if parameter.open_maximum else values <= parameter.maximum
    allowed = np.isfinite(values) & above & below
    if parameter.whole:
        allowed &= values == np.floor(values)
    allowed |= parameter.infinite & (values == np.inf)
    outside = np.flatnonzero(~allowed)
    return int(outside[0]) if outside.size else None


def requirement(parameter: Parameter) -> str:
    """The parameter's range in words: `above 0 and at most 1`."""
    unit = "" if parameter.unit == "1" else f" {parameter.unit}"
    words: list[str] = ["a whole number"] if parameter.whole else []
    if math.isfinite(parameter.minimum):
        relation = "above" if parameter.open_minimum else "at least"
        words.append(f"{relation} {parameter.minimum:g}{unit}")
    if math.isfinite(parameter.maximum):
        relation = "below" if parameter.open_maximum else "at most"
        words.append(f"{relation} {parameter.maximum:g}{unit}")
    if parameter.infinite:
        words.append("inf is allowed" if parameter.minimum < math.inf else "inf")
    return " and ".join(words) or "finite"
