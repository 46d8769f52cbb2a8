"""Names of classes, written on a map where each class has the most room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from scipy import ndimage

from sweep.pictures.labels import hyphenated
from sweep.pictures.panels import Regions
from sweep.request.chunk import Values

LETTER_WIDTH, LETTER_HEIGHT = 0.72, 1.3  # of bold letters, over the size of the font
MOST_ROOM = 1.5  # from the middle of a name to a border, over its size, that is enough
SAMPLES = 120  # squares along each side of a panel, in which classes are looked up
_distance = cast(
    "Callable[..., Values]",
    ndimage.distance_transform_edt,  # pyright: ignore[reportUnknownMemberType]
)


def name_classes(axes: Axes, regions: Regions) -> None:
    """Write the name of each class of a flag where that class has the most room.

    A name that fits only upright is upright, and theory is crossed only if there is no other place.
    A name that does not fit is a number, which the legend explains. Limits and scales must be set.
    """
    shares = axes.transData + axes.transAxes.inverted()
    middles = np.repeat((np.arange(SAMPLES) + 0.5) / SAMPLES, 2).reshape(SAMPLES, 2)
    places: Values = shares.inverted().transform(middles)
    cells = (np.searchsorted(regions.x, places[:, 0]), np.searchsorted(regions.y, places[:, 1]))
    codes = np.pad(regions.codes, 1, constant_values=np.nan)[np.ix_(*cells)]
    is_free = np.ones(codes.shape, dtype=bool)
    for line in regions.crossed_by:
        columns, rows = np.floor(shares.transform(line) * SAMPLES).clip(-1, SAMPLES).astype(int).T
        is_shown = (np.minimum(columns, rows) >= 0) & (np.maximum(columns, rows) < SAMPLES)
        is_free[columns[is_shown], rows[is_shown]] = False
    for number, (code, class_name) in enumerate(regions.names.items(), start=1):
        name, region = hyphenated(class_name), codes == code
        ways = [(region & is_free, name, 0), (region & is_free, name, 90)]
        ways += [(region, name, 0), (region, name, 90)]
        if not region.any() or any(_write(axes, *way) for way in ways):
            continue
        _write(axes, region, str(number), 0)
        axes.plot([], [], " ", label=f"{number}: {name}")


def _write(axes: Axes, region: NDArray[np.bool_], text: str, rotation: int) -> bool:
    """Write a text in the middle of a region, if it fits there; whether it does.

    The region is that of the squares into which the panel is divided.
    """
    figure: Any = axes.figure  # a part of a figure has dpi, too, which its type does not say
    letter = float(matplotlib.rcParams["font.size"]) * figure.dpi / 72
    size = np.array([LETTER_WIDTH * len(text), LETTER_HEIGHT][:: -1 if rotation else 1]) * letter
    boxes = SAMPLES * size / (axes.bbox.width, axes.bbox.height)  # squares that the text takes
    room = _distance(np.pad(region, 1), sampling=(1 / boxes).tolist())[1:-1, 1:-1]
    if room.max() < np.sqrt(0.5):  # from the middle of a text to its corner, in its sizes
        return False
    fits = np.argwhere(room >= 0.99 * min(room.max(), MOST_ROOM))
    middle = fits[np.argmin(np.sum((fits - fits.mean(axis=0)) ** 2, axis=1))]
    x, y = ((middle + 0.5) / SAMPLES).tolist()
    axes.text(
        x, y, text, transform=axes.transAxes, color="white", weight="bold",
        ha="center", va="center", rotation=rotation, **outline(2.5),
    )  # fmt: skip
    return True


def outline(width: float) -> dict[str, Any]:
    """An outline around lines or letters, which makes them legible on any background."""
    return {"path_effects": [withStroke(linewidth=width, foreground="black")]}
