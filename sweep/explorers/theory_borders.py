"""Borders known from theory, as lines over two axes."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.explorers.packing import packed, shuffled
from sweep.pictures import theory_lines
from sweep.pictures.scales import evenly, spaced
from sweep.request.chunk import Values
from sweep.request.sweeps import Sweep

Border = dict[str, Any]
Dimensions = Mapping[str, Mapping[str, Values]]  # by axis, the values of every parameter along it
MAX_BORDER_VALUES = 256  # of an axis on which a border is looked for
MAX_SLICES = 16  # of the other axes that have borders
LAST = 2**16 - 1  # the number that stands for the last value of an axis
TOLERANCE = 2**-13  # by which a line may pass a point of it, as a share of the map: 1/10 of a pixel


@dataclass
class TheoryBorders:
    """The borders over every two axes of a page, and the pairs of axes without them."""

    borders: list[Border] = field(default_factory=list[Border])
    of_many_places: list[str] = field(default_factory=list[str])
    without_room: list[str] = field(default_factory=list[str])


def theory_borders(dimensions: Dimensions, sweep: Sweep, room: int) -> TheoryBorders:
    """The borders over every two axes, in at most `room` bytes of text.

    A border has a label, the indices of the other axes (`at`, None for the two), and `lines`: for
    each, packed whole numbers x, y of one point after another, where 0 is the index of an axis'
    first value and LAST that of its last. The borders of two axes are left out if the others have
    more than MAX_SLICES places, and if earlier pairs leave no room for them; the pair is named if
    it has one, in the first case at the middle place. An axis of several parameters, or of a
    sample, has no borders along it: its neighbours are unrelated.
    """
    found = TheoryBorders()
    sizes = [len(next(iter(columns.values()), ())) for columns in dimensions.values()]
    along = [d for d, name in enumerate(dimensions) if list(dimensions[name]) == [name]]
    for pair in itertools.combinations([d for d in along if sizes[d] > 1], 2):
        words = " and ".join(list(dimensions)[d] for d in pair)
        ranges = [[None] if d in pair else range(size) for d, size in enumerate(sizes)]
        if math.prod(map(len, ranges)) > MAX_SLICES:
            middle = [None if d in pair else size // 2 for d, size in enumerate(sizes)]
            if any(_borders(dimensions, sweep, middle)):
                found.of_many_places.append(words)
            continue
        places = itertools.product(*ranges)
        borders = [each for at in places for each in _borders(dimensions, sweep, at)]
        length = len(json.dumps(borders))
        if length <= room:
            found.borders += borders
            room -= length
        elif borders:
            found.without_room.append(words)
    return found


def _borders(dimensions: Dimensions, sweep: Sweep, at: Sequence[int | None]) -> Iterator[Border]:
    """The borders over the two axes without an index."""
    sides: dict[str, Values] = {}
    constants: dict[str, float] = dict(sweep.constants)
    for (name, columns), index in zip(dimensions.items(), at, strict=True):
        if index is None:
            sides[name] = _fine(columns[name])
        else:
            constants |= {each: float(values[index]) for each, values in columns.items()}
    stored = [_places(dimensions[name][name]) for name in sides]
    fine = [_places(values) for values in sides.values()]
    borders = theory_lines.theory_borders(sweep.model.name, constants, sweep.derived, sides)
    for label, lines in borders.items():
        if not lines:
            continue
        packed_lines = [_packed_line(line, fine, stored) for line in lines]
        yield {"label": label, "at": list(at), "lines": packed_lines}


def _packed_line(line: Values, fine: Sequence[Values], stored: Sequence[Values]) -> str:
    """A line (n, 2) of positions on the fine grid as numbers that stand for indices."""
    places = np.stack([theory_lines.along(each, line[:, d]) for d, each in enumerate(fine)], axis=1)
    corners = places[_corners(places)]
    numbers = [
        np.interp(corners[:, side], each, np.linspace(0, LAST, each.size))
        for side, each in enumerate(stored)
    ]
    return packed(shuffled(np.round(np.stack(numbers, axis=1)).astype(np.uint16)))


def _fine(values: Values) -> Values:
    """Values of an axis at which a border is looked for: evenly spaced where the page draws them.

    Of an axis that the page draws by number, some of its own.
    """
    if not _is_ordered(values):
        return values[evenly(values.size, MAX_BORDER_VALUES)]
    kind = "log" if _is_geometric(values) else "linear"
    return spaced(values[0], values[-1], MAX_BORDER_VALUES, kind)


def _places(values: Values) -> Values:
    """Where the page draws the values of an axis, as shares of it; see Axis in page/data.js.

    Values that are not in order, or infinite, count as evenly spaced.
    """
    if not _is_ordered(values):
        return np.linspace(0.0, 1.0, values.size)
    if _is_geometric(values):
        values = np.log(values)
    return (values - values[0]) / (values[-1] - values[0])


def _is_ordered(values: Values) -> bool:
    """Whether values are finite, and ascend or descend."""
    steps = np.diff(values)
    return bool(np.isfinite(values).all() and (np.all(steps > 0) or np.all(steps < 0)))


def _is_geometric(values: Values) -> bool:
    """Whether the middle one of ordered values is nearer to the geometric mean of the ends."""
    first, middle, last = (float(values[i]) for i in (0, values.size // 2, -1))
    if min(first, last) <= 0 or values.size <= 2:
        return False
    share = (values.size // 2) / (values.size - 1)
    linear, geometric = first + share * (last - first), first * (last / first) ** share
    return abs(middle - geometric) < abs(middle - linear)


def _corners(line: Values) -> NDArray[np.intp]:
    """The indices of points of a line (n, 2) between which all others are within TOLERANCE of it.

    By the algorithm of Douglas and Peucker: the farthest point is kept, and both parts follow.
    """
    across, ahead = (line - line[0]).T, line[-1] - line[0]
    length = float(np.hypot(*ahead))
    distances = np.hypot(*across)  # of a closed line
    if length > 0:
        distances = np.abs(across[0] * ahead[1] - across[1] * ahead[0]) / length
    farthest = int(np.argmax(distances))
    if distances[farthest] <= TOLERANCE:
        return np.array([0, len(line) - 1])
    before, after = _corners(line[: farthest + 1]), _corners(line[farthest:])
    return np.concatenate([before, farthest + after[1:]])
