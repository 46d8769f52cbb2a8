"""Which axes of a sweep a picture shows, and over which parameters it draws a sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sweep import wording
from sweep.analysis.cells import parameters_along
from sweep.analysis.view import View
from sweep.errors import SweepError
from sweep.request import POINT

if TYPE_CHECKING:
    import xarray as xr

MAX_LABELS = 8  # of a dimension that is drawn as lines


def kept_axes(
    sizes: Mapping[str, int], at: Mapping[str, float], most: int, dataset: xr.Dataset, view: View
) -> list[str]:
    """The longest axes, at most this many, that `at` does not cut, in the order of the sweep.

    A sample is shown by itself: beside axes, at the cell where these are cut. Chosen axes come
    first if `x` is among them, otherwise last.
    """
    free = [axis for axis in sizes if axis not in at]
    if view.axes:
        check_names("uncut axis", view.axes, free)
        if len(view.axes) > most:
            raise SweepError(f"this output is drawn over one axis, not {', '.join(view.axes)}")
        rest = [axis for axis in free if axis not in view.axes and sizes[axis] > 1]
        rest = sorted(rest, key=lambda axis: -sizes[axis])[: most - len(view.axes)]
        return [*view.axes, *rest] if view.x is not None else [*rest, *view.axes]
    if sizes.get(POINT, 1) > 1 and POINT in free and parameters_along(dataset, POINT):
        return [POINT]
    longest = sorted(free, key=lambda axis: sizes[axis], reverse=True)[:most]
    return [axis for axis in free if axis in longest and sizes[axis] > 1]


def kept_labels(sizes: Mapping[str, int], at: Mapping[str, float], n_kept: int) -> list[str]:
    """The longest labelled dimension that is drawn: as bars, or as lines over a single axis."""
    free = [label for label, size in sizes.items() if label not in at and size > 1]
    most = {0: math.inf, 1: MAX_LABELS}.get(n_kept, 0)
    fitting = [label for label in free if sizes[label] <= most]
    return sorted(fitting, key=lambda label: sizes[label])[-1:]


def drawn_over(
    dataset: xr.Dataset, kept: Sequence[str], asked: Sequence[str], most: int
) -> tuple[str, ...]:
    """The parameters over which a sample is drawn: those asked for, or the first `most`."""
    sampled = parameters_along(dataset, kept[0]) if len(kept) == 1 else []
    if asked and not sampled:
        raise SweepError(
            "--over draws a sample over its parameters, and this sweep has no sample: leave it out"
        )
    check_names("sampled parameter", asked, sampled)
    if most == 1 and len(asked) > 1:
        raise SweepError(
            "an output with several values at each point is drawn over one parameter, not "
            f"{', '.join(asked)}"
        )
    if len(set(asked)) != len(asked) or len(asked) > 2:
        raise SweepError(f"a sample is drawn over one or two parameters, not {', '.join(asked)}")
    return tuple(asked or sampled[:most])


def check_names(kind: str, given: Iterable[str], known: Iterable[object]) -> None:
    """Raise SweepError if one of these names is not among those known."""
    choices = [str(name) for name in known]
    for name in given:
        if name not in choices:
            cure = wording.nearest(name, choices)
            raise SweepError(f"this sweep has no {kind} {name!r}: {cure}")
