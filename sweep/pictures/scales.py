"""How values lie on an axis: its scale, cells around the values, and which values are the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.request.chunk import Values

ROUNDING = 1e-9  # relative difference of values that count as equal
LOG_DECADES = 3.0  # a positive output that spans more decades is drawn on a logarithmic scale
MAX_UNEVENNESS_RATIO = 0.6  # unevenness of steps on a logarithmic scale over that on a linear one
ROUNDING_SHARE = 1e-6  # share of the values that is not drawn over the whole height of a picture
CONSTANT_HEIGHT = 0.1  # height of a picture of a constant, as a share of its value
OUTLIER_SHARE = 0.01  # of a sample, at each end
OUTLIER_DISTANCE = 0.5  # from the rest, over the width of the rest: farther values are left out
MAX_SHARE_BELOW_SCALE = 0.01  # share of the positive values that may lie below a logarithmic scale
SMALL_SHARE_BESIDE_ZEROS = (
    0.05  # share of the positive values that may be arbitrarily small, beside zeros
)


def scale(values: Values) -> str:
    """The scale of an axis: "log" if its values are far more evenly spaced there, else "linear"."""
    if values.size < 3 or values.min() <= 0:
        return "linear"
    even = _unevenness(np.log(values)) < MAX_UNEVENNESS_RATIO * _unevenness(values)
    return "log" if even else "linear"


def edges(values: Values, kind: str | None = None) -> Values:
    """Borders of the cells around values, shape (n + 1,), halfway on the scale of their axis."""
    if (kind or scale(values)) == "log":
        return np.exp(_halfway(np.log(values)))
    return _halfway(values)


def spaced(first: float, last: float, count: int, kind: str) -> Values:
    """So many values between two ends, evenly spaced on a scale, "log" or "linear"."""
    if kind == "log":
        return np.geomspace(first, last, count, dtype=np.float64)
    return np.linspace(first, last, count, dtype=np.float64)


def evenly(count: int, most: int) -> NDArray[np.intp]:
    """Indices of at most `most` of `count` values, evenly spread, both ends included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def merged(column: Values, period: float | None = None) -> Values:
    """The column with values that differ by rounding, or by whole periods, made equal.

    Each group takes its value of smallest magnitude. NaN stays.
    """
    values, place = np.unique(column, return_inverse=True)
    size = float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
    folded = difference(values, 0.0, period)
    allowed = 0.0 if period is None else 8 * np.finfo(float).eps * max(size, period)
    if period is not None:  # both ends of a period are the same
        folded = np.where(folded < allowed - 0.5 * period, 0.5 * period, folded)
    order = np.argsort(folded, kind="stable")
    with np.errstate(invalid="ignore"):
        same = np.diff(folded[order]) <= np.maximum(ROUNDING * np.abs(folded[order][1:]), allowed)
    group = np.concatenate([np.zeros(min(values.size, 1), dtype=int), np.cumsum(~same)])
    by_size = order[np.lexsort((np.abs(values[order]), group))]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    values[order] = values[by_size][first][group]
    return values[place.reshape(-1)]


def difference(column: Values, value: float, period: float | None = None) -> Values:
    """The column minus the value; with a period, at most half of it in magnitude."""
    deviation = column - value
    return deviation if period is None else deviation - period * np.round(deviation / period)


def spans_decades(values: Values) -> bool:
    """Whether values need a logarithmic scale: all positive, over more than LOG_DECADES decades."""
    return bool(values.size and values.min() > 0 and values.max() > 10**LOG_DECADES * values.min())


def without_rounding(values: Values) -> tuple[float, float]:
    """Limits of a linear scale: the ends, or wider if values differ only by rounding."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if high - low > ROUNDING_SHARE * size:
        return low, high
    return (low + high - size * CONSTANT_HEIGHT) / 2, (low + high + size * CONSTANT_HEIGHT) / 2


def without_outliers(values: Values) -> tuple[float, float]:
    """Limits of a linear scale for a sample: without the few values far beyond all others."""
    low, high = without_rounding(values)
    least, greatest = (
        float(end) for end in np.quantile(values, [OUTLIER_SHARE, 1 - OUTLIER_SHARE])
    )
    width = greatest - least
    if width <= ROUNDING_SHARE * max(abs(low), abs(high)):
        return low, high
    return (
        least if least - low > OUTLIER_DISTANCE * width else low,
        greatest if high - greatest > OUTLIER_DISTANCE * width else high,
    )


def leaves_zeros_apart(values: Values) -> bool:
    """Whether some values are 0, none is negative, and the others need a logarithmic scale.

    They do if they span more than LOG_DECADES without the smallest of them: any continuous output
    has small values beside its zeros. NaN is ignored.
    """
    positive = _positive(values)
    if not positive.size or np.any(values < 0) or not np.any(values == 0):
        return False
    return bool(positive.max() > 10**LOG_DECADES * np.quantile(positive, SMALL_SHARE_BESIDE_ZEROS))


def decades(values: Values) -> tuple[float, float]:
    """The ends, powers of ten, of a logarithmic scale for the positive values; 1e-16, 1 if none.

    The smallest of them may lie below: where an error changes sign, some are very small.
    """
    positive = _positive(values)
    if not positive.size:
        return 1e-16, 1.0
    low = np.floor(np.log10(np.quantile(positive, MAX_SHARE_BELOW_SCALE)))
    high = np.ceil(np.log10(positive.max()))
    return float(10.0**low), float(10.0 ** max(high, low + 1))


def _positive(values: Values) -> Values:
    return values[np.isfinite(values) & (values > 0)]


def _unevenness(values: Values) -> float:
    """Standard deviation of the steps over their mean; never below rounding."""
    steps = np.diff(values)
    return float(np.std(steps) / np.abs(np.mean(steps))) + 1e-9


def _halfway(values: Values) -> Values:
    if values.size == 1:
        return values[0] + np.array([-0.5, 0.5])
    steps = np.diff(values)
    ends = [values[0] - steps[0] / 2], [values[-1] + steps[-1] / 2]
    return np.concatenate([ends[0], values[:-1] + steps / 2, ends[1]])
