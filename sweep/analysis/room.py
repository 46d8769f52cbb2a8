"""Room for names inside the regions of a map, so that no name stands on a border."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SAMPLES = 120  # along each side of the picture, at which a region is looked up
SPARE = 3.0, 2.0, 1.5, 1.2  # how many times the size of a name may be free; the most is taken

Region = NDArray[np.bool_]  # at the middles of SAMPLES x SAMPLES squares of the picture


def region_in(inside: Region, sides: NDArray[np.float64], heights: NDArray[np.float64]) -> Region:
    """Where the picture shows cells of a region.

    `inside` has shape (n_x, n_y); the borders between the cells, (n_x + 1,) and (n_y + 1,), are
    ascending shares of the width and the height of the picture, and may lie outside it.
    """
    middles = (np.arange(SAMPLES) + 0.5) / SAMPLES
    columns, rows = (np.searchsorted(each, middles) - 1 for each in (sides, heights))
    (known_x, known_y) = (
        (cells >= 0) & (cells < count)
        for cells, count in zip((columns, rows), inside.shape, strict=True)
    )
    found = inside[np.clip(columns, 0, inside.shape[0] - 1)]
    found = found[:, np.clip(rows, 0, inside.shape[1] - 1)]
    return found & known_x[:, None] & known_y[None, :]


def place_for(region: Region, width: float, height: float) -> tuple[float, float] | None:
    """The middle of a box of this size, in shares of the picture, where the region has most room.

    None if the box fits nowhere.
    """
    for spare in SPARE:
        box = [int(np.ceil(spare * size * SAMPLES)) for size in (width, height)]
        fits = _fitting(region, *box)
        if fits.size:
            middle = fits.mean(axis=0)
            best = fits[np.argmin(np.sum((fits - middle) ** 2, axis=1))]
            x, y = (best + np.array(box) / 2) / SAMPLES
            return float(x), float(y)
    return None


def _fitting(region: Region, width: int, height: int) -> NDArray[np.intp]:
    """The lower left corners of all boxes that lie within the region, shape (n, 2)."""
    if max(width, height) > SAMPLES:
        return np.empty((0, 2), np.intp)
    total = np.pad(region.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    right, left = slice(width, None), slice(None, SAMPLES + 1 - width)
    upper, lower = slice(height, None), slice(None, SAMPLES + 1 - height)
    inside = total[right, upper] - total[left, upper] - total[right, lower] + total[left, lower]
    return np.argwhere(inside == width * height)
