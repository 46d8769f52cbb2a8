"""Borders known from theory, as lines found on a fine grid of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from contourpy import contour_generator

from sweep.equations.derived import in_order, inputs, value_of
from sweep.request.chunk import Values
from sweep.results.causes import theory_of

Boundaries = Callable[[Mapping[str, Any]], dict[str, Values]]


def theory_borders(
    model: str,
    constants: Mapping[str, float],
    derived: Mapping[str, str],
    sides: Mapping[str, Values],
) -> dict[str, list[Values]]:
    """The borders that theory knows over one or two parameters: lines, by the border's label.

    `sides` has finely spaced values of these parameters; all others have one value, in `constants`
    or as an expression in `derived`. A line has shape (n_points, n_sides): positions along the
    sides, counted in their values, with fractions between two of them. Over one side, each line is
    a single point. The borders are those at which the fields of `boundaries`, in the module of
    `sweep.theory` named after the model, change sign; some may have no lines.
    """
    boundaries = cast("Boundaries | None", getattr(theory_of(model), "boundaries", None))
    if boundaries is None:
        return {}
    shape = tuple(values.size for values in sides.values())
    parameters: dict[str, Any] = dict(constants)
    for d, (name, values) in enumerate(sides.items()):
        parameters[name] = values.reshape([-1 if each == d else 1 for each in range(len(sides))])
    for name in in_order(derived):
        if parameters.keys() >= set(inputs(derived[name])):
            parameters[name] = value_of(derived[name], parameters)
    with np.errstate(all="ignore"):
        fields = boundaries(parameters)
    return {label: _zeros(np.broadcast_to(field, shape)) for label, field in fields.items()}


def along(side: Values, positions: Values) -> Values:
    """What `side` has at positions along it, of which it has one number at each whole one."""
    return np.interp(positions, np.arange(side.size), side)


def _zeros(field: Values) -> list[Values]:
    """The lines on which a field is 0, interpolated linearly; there are none next to NaN."""
    if field.ndim == 2:
        rows, columns = (np.arange(float(size)) for size in field.shape)
        generator = contour_generator(rows, columns, np.ma.masked_invalid(field.T))
        return cast("list[Values]", generator.lines(0.0))
    before = np.flatnonzero(np.diff(field >= 0) & np.isfinite(np.diff(field)))
    share = field[before] / (field[before] - field[before + 1])
    return [np.array([[position]]) for position in before + share]
