"""How values lie on an axis: its scale, the cells around the values, and room for names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.spec import Values

LOG_DECADES = 3.0  # a positive output that spans more decades is drawn on a logarithmic scale
MAX_UNEVENNESS_RATIO = 0.6  # unevenness of steps on a logarithmic scale over that on a linear one
CUT_OFF = 0.01  # share of the positive values that may lie below a logarithmic scale
BESIDE_ZERO = 0.05  # share of the positive values that may be arbitrarily small, beside zeros
FINEST_GRID = 40  # cells per side of the grid on which room for a name is searched


def scale(values: Values) -> str:
    """The scale of an axis: "log" if its values are far more evenly spaced there, else "linear"."""
    if values.size < 3 or values.min() <= 0:
        return "linear"
    even = _unevenness(np.log(values)) < MAX_UNEVENNESS_RATIO * _unevenness(values)
    return "log" if even else "linear"


def edges(values: Values) -> Values:
    """Borders of the cells around values, shape (n + 1,), halfway on the scale of their axis."""
    if scale(values) == "log":
        return np.exp(_halfway(np.log(values)))
    return _halfway(values)


def evenly(count: int, most: int) -> NDArray[np.intp]:
    """Indices of at most `most` of `count` values, evenly spread, both ends included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def spans_decades(values: Values) -> bool:
    """Whether values need a logarithmic scale: all positive, over more than LOG_DECADES decades."""
    return bool(values.size and values.min() > 0 and values.max() > 10**LOG_DECADES * values.min())


def leaves_zeros_apart(values: Values) -> bool:
    """Whether some values are 0, none is negative, and the others need a logarithmic scale.

    They do if they span more than LOG_DECADES. The smallest BESIDE_ZERO of them are ignored, since
    any continuous output has small values beside its zeros. NaN is ignored.
    """
    positive = _positive(values)
    if not positive.size or np.any(values < 0) or not np.any(values == 0):
        return False
    return bool(positive.max() > 10**LOG_DECADES * np.quantile(positive, BESIDE_ZERO))


def decades(values: Values) -> tuple[float, float]:
    """The ends, powers of ten, of a logarithmic scale for the positive values; 1e-16, 1 if none.

    The smallest CUT_OFF of them may lie below: where an error changes sign, some are very small.
    """
    positive = _positive(values)
    if not positive.size:
        return 1e-16, 1.0
    low = np.floor(np.log10(np.quantile(positive, CUT_OFF)))
    high = np.ceil(np.log10(positive.max()))
    return float(10.0**low), float(10.0 ** max(high, low + 1))


def roomiest_cell(region: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The cell of a region that is farthest from everything outside it.

    Distances are shares of each side; those along x count half, since names are wider than high.
    The grid is thinned to FINEST_GRID cells per side; None if no cell of the region is on it.
    """
    strides = [-(-n // FINEST_GRID) for n in region.shape]
    coarse = np.pad(region[:: strides[0], :: strides[1]], 1)
    inside, outside = np.argwhere(coarse), np.argwhere(~coarse)
    if not inside.size:
        return None
    size = np.array([2.0, 1.0]) * coarse.shape
    apart = (inside[:, None, :] - outside[None, :, :]) / size
    room = np.min(np.sum(apart**2, axis=-1), axis=1)
    roomiest = inside[room > 0.999 * room.max()]  # a long band has many such cells
    off = (roomiest - roomiest.mean(axis=0)) / size
    best = roomiest[np.argmin(np.sum(off**2, axis=1))] - 1
    return int(best[0]) * strides[0], int(best[1]) * strides[1]


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
