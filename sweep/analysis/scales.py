"""How values lie on an axis: its scale, the cells around them, and room for a word among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

LOG_DECADES = 3.0  # a positive output that spans more gets a logarithmic scale
CLEARLY = 0.6  # scatter of steps on one scale, of that on another, that tells it is the better one
CUT_OFF = 0.01  # share of values, the least ones, that may lie below their scale
BESIDE_ZERO = 0.05  # share of positive values, the least ones: on a border of rest of any smallness
FINEST_GRID = 40  # cells a side on which the room for a word is sought


def scale(values: Values) -> str:
    """The scale of an axis: "log" where its values lie far more evenly on it, else "linear"."""
    if values.size < 3 or values.min() <= 0:
        return "linear"
    return "log" if _scatter(np.log(values)) < CLEARLY * _scatter(values) else "linear"


def edges(values: Values) -> Values:
    """Borders of the cells around values, (n + 1,), halfway on the scale of their axis."""
    if scale(values) == "log":
        return np.exp(_halfway(np.log(values)))
    return _halfway(values)


def spans_decades(values: Values) -> bool:
    """Whether values call for a logarithmic scale: all positive, over LOG_DECADES and more."""
    return bool(values.size and values.min() > 0 and values.max() > 10**LOG_DECADES * values.min())


def leaves_zeros_apart(values: Values) -> bool:
    """Whether values, some of them 0 and none below, call for a logarithmic scale of the others.

    So they do if they span LOG_DECADES and more, but for the least that any continuous output has
    beside its zeros. NaN is no value.
    """
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size or np.any(values < 0) or not np.any(values == 0):
        return False
    low = np.quantile(positive, BESIDE_ZERO)
    return bool(positive.max() > 10**LOG_DECADES * low)


def decades(values: Values) -> tuple[float, float]:
    """The ends, powers of ten, of a logarithmic scale for those above 0; (1e-16, 1) if none is.

    Where a signed error changes its sign there are a few of any smallness: those are left below.
    """
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return 1e-16, 1.0
    low = np.floor(np.log10(np.quantile(positive, CUT_OFF)))
    high = np.ceil(np.log10(positive.max()))
    return float(10.0**low), float(10.0 ** max(high, low + 1))


def roomiest_cell(region: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The cell of a region farthest from all that is outside it, in shares of each side.

    Sought on a grid thinned to FINEST_GRID cells a side; None where the region has no cell on it.
    Widths count half, since words are wider than high.
    """
    strides = [-(-n // FINEST_GRID) for n in region.shape]
    coarse = np.pad(region[:: strides[0], :: strides[1]], 1)
    inside, outside = np.argwhere(coarse), np.argwhere(~coarse)
    if not inside.size:
        return None
    size = np.array([2.0, 1.0]) * coarse.shape
    apart = (inside[:, None, :] - outside[None, :, :]) / size
    room = np.min(np.sum(apart**2, axis=-1), axis=1)
    roomiest = inside[room > 0.999 * room.max()]  # of a long band there are many
    off = (roomiest - roomiest.mean(axis=0)) / size
    best = roomiest[np.argmin(np.sum(off**2, axis=1))] - 1
    return int(best[0]) * strides[0], int(best[1]) * strides[1]


def _scatter(values: Values) -> float:
    """Of the steps, relative to their mean; never below rounding."""
    steps = np.diff(values)
    return float(np.std(steps) / np.abs(np.mean(steps))) + 1e-9


def _halfway(values: Values) -> Values:
    if values.size == 1:
        return values[0] + np.array([-0.5, 0.5])
    steps = np.diff(values)
    ends = [values[0] - steps[0] / 2], [values[-1] + steps[-1] / 2]
    return np.concatenate([ends[0], values[:-1] + steps / 2, ends[1]])
