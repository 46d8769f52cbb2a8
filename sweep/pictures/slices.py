"""The part of a sweep that a picture shows: one output over one or two axes, the others cut."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import xarray as xr

from sweep.errors import SweepError
from sweep.model.table import Status, index_name, status_counts
from sweep.pictures.labels import named, point_text, readable, title_of
from sweep.pictures.scales import edges, leaves_zeros_apart, scale, spaced
from sweep.pictures.theory_lines import along, theory_borders
from sweep.pictures.view import View, factor
from sweep.request.chunk import Values
from sweep.results.summary import flag_names, is_flag

Kind = Literal["values", "dots", "bars", "map", "lines", "line", "years"]

MAX_LINES = 8  # longest axis that is drawn as one line per value rather than as a map
FINE_VALUES = 400  # along each side of a map, at which borders known from theory are looked for


@dataclass(frozen=True, eq=False)
class Refined:
    """The cells and points of a refined sweep that is shown as a grid."""

    outlines: Mapping[str, Values]  # by axis: (n_cells, 2), where each cell begins and ends
    points: xr.Dataset  # those that were computed


@dataclass(frozen=True, eq=False)
class Slice:
    """One output over the axes shown, in memory, axes ascending."""

    dataset: xr.Dataset  # over the axes shown; axes that are cut are scalar coordinates
    name: str  # of the output
    cuts: Mapping[str, str]  # the value at each axis that is cut, such as "0.1 kg"
    numbered: frozenset[str]  # axes of samples, drawn as dots because neighbours are unrelated
    over: tuple[str, ...] = ()  # two parameters of a sample, as abscissa and ordinate
    refined: Refined | None = None  # cells and computed points of a refined sweep over two axes
    infinite: Mapping[str, int] = field(default_factory=dict[str, int])  # points left out, by axis
    thinned: bool = False  # whether only some of the points over the axes shown are drawn
    counts: Mapping[Status, int] | None = None  # of all points over the axes, if they are counted
    labels: frozenset[str] = frozenset()  # axes that only the output has, such as `quantile`
    view: View = field(default_factory=View)
    shared: Values | None = None  # values of all panels of a picture, if they share one scale
    note: str = ""  # for the legend: how many values of `col` and `row` are drawn, if not all
    contours: Sequence[float] = ()  # values that have a contour on a map
    instead_of: tuple[str, ...] = ()  # outputs that have no finite value, so that this one is shown

    @property
    def output(self) -> xr.DataArray:
        """The output, in the unit in which it is shown."""
        return self.variable(self.name)

    @property
    def axes(self) -> tuple[xr.DataArray, ...]:
        """The axes shown, in the units in which they are shown."""
        dims = (str(name) for name in self.dataset[self.name].dims)
        return tuple(self.variable(name) for name in dims if name != index_name(self.name))

    @property
    def drawn(self) -> list[str]:
        """The names of the axes, or of two parameters of a sample, and of the output."""
        return [*(self.over or (str(axis.name) for axis in self.axes)), self.name]

    def variable(self, name: str) -> xr.DataArray:
        """A variable in the unit in which it is shown: as chosen, or a readable one."""
        unit, share = self.scales(name)
        if share == 1:
            return self.dataset[name].assign_attrs({"units": unit})
        values = self.dataset[name] * share
        if name in values.coords:  # arithmetic leaves a variable's own coordinate as it was
            values = values.assign_coords({name: values.variable})
        return values.assign_attrs({**self.dataset[name].attrs, "units": unit})

    def scales(self, name: str) -> tuple[str, float]:
        """The unit in which a variable is shown, and by what its SI values are multiplied."""
        variable = self.dataset[name]
        unit = str(variable.attrs.get("units", "1"))
        chosen = self.view.unit.get(name)
        if chosen is not None:
            return chosen, factor(unit, chosen, name)
        if variable.dtype.kind != "f" or is_flag(variable):
            return unit, 1.0
        return readable(variable.values, unit)

    @property
    def kind(self) -> Kind:
        """How the slice is drawn: all values of each point, dots, bars, a map, or lines."""
        is_labelled = bool(self.labels & {*map(str, self.output.dims)})
        if self.view.x == "years":  # wear over time, in curves of its own
            return "years"
        if self.has_several_values:
            return "values"
        if self.over:
            return "dots"
        if len(self.axes) == 1:
            return "bars" if is_labelled else "line"
        if is_labelled or self.view.hue or not self.axes:
            return "lines"
        is_long = min(axis.size for axis in self.axes) > MAX_LINES
        return "map" if is_long or self.view.y is not None else "lines"

    @property
    def has_several_values(self) -> bool:
        """Whether the output has several values at each point, along its last dimension."""
        return index_name(self.name) in self.output.dims

    @property
    def along(self) -> xr.DataArray:
        """The axis over which lines are drawn: the chosen one, otherwise the longest."""
        if self.view.x is not None:
            return self.axes[0]
        others = [axis for axis in self.axes if axis.name != self.view.hue]
        return max(others or self.axes, key=lambda axis: (axis.name not in self.labels, axis.size))

    @property
    def is_error(self) -> bool:
        """Whether this is the error of an output against another method, not of a flag."""
        return "against" in self.dataset.attrs and not self.names

    @property
    def has_zeros_apart(self) -> bool:
        """Whether positive values are drawn on a logarithmic scale and zeros apart from them."""
        if self.names or self.kind in ("values", "bars", "years"):
            return False
        if self.name in self.view.log:
            return bool(np.any(self.scaled == 0))
        return self.is_error or leaves_zeros_apart(self.scaled)

    @property
    def values(self) -> Values:
        """The output as shown, NaN without a value; for the status, indices into `names`."""
        if self.name != "status":
            return _where_ok(self.dataset, self.name) * self.scales(self.name)[1]
        _, places = np.unique(self.output.values, return_inverse=True)
        return places.reshape(self.output.shape).astype(np.float64)

    def limits(self, name: str, kind: str = "linear") -> tuple[float, float] | None:
        """The limits that are chosen for a variable, in the unit in which it is shown.

        SweepError if they are not positive and the scale is "log".
        """
        limits = self.view.limits_of(name, self.scales(name)[0])
        if limits and kind == "log" and limits[0] <= 0:
            raise SweepError(
                f"limits of {name}: {limits[0]:g} is not above 0, which a logarithmic scale needs"
            )
        return limits

    @property
    def scaled(self) -> Values:
        """The values that set the scale of the picture: its own, or those of all panels."""
        return self.values if self.shared is None else self.shared

    @property
    def names(self) -> dict[int, str]:
        """The names of classes by value, {} if the output has none; of statuses those present."""
        if self.name != "status":
            return flag_names(self.output)
        return dict(enumerate(Status(int(code)).name for code in np.unique(self.output.values)))

    @property
    def flag(self) -> xr.DataArray | None:
        """The output if it is a flag, otherwise the first flag over the same points, or None."""
        dims = set(self.output.dims)
        known = (self.dataset[name] for name in [self.name, *map(str, self.dataset.data_vars)])
        return next((each for each in known if is_flag(each) and dims.issuperset(each.dims)), None)

    @property
    def flag_words(self) -> str:
        """What the legend calls `flag`: with errors, also the method of the reference."""
        if self.flag is None:
            return ""
        method = self.dataset.attrs.get("against")
        return f"{self.flag.name} of {method}" if method and not self.names else str(self.flag.name)

    @property
    def classes(self) -> Values:
        """The codes of `flag`, NaN where a point has no value; all NaN without a flag."""
        if self.flag is None:
            return np.full(self.output.shape, np.nan)
        return _where_ok(self.dataset, str(self.flag.name))

    @property
    def missing(self) -> dict[Status, int]:
        """Number of points that have no value, by status: of those drawn if `counts` is None."""
        points, counts = self.dataset if self.refined is None else self.refined.points, self.counts
        if self.name == "status" or (counts is None and "status" not in points):
            return {}
        counts = status_counts(points["status"].values) if counts is None else counts
        return {status: n for status, n in counts.items() if status is not Status.ok}

    @property
    def n_infinite(self) -> int:
        """Number of points drawn at which the output is infinite; of a refined sweep, computed."""
        if self.refined is None:
            return int(np.count_nonzero(np.isinf(self.values)))
        return int(np.count_nonzero(np.isinf(_where_ok(self.refined.points, self.name))))

    @cached_property
    def theory_borders(self) -> dict[str, list[Values]]:
        """The borders known from theory over the axes shown: lines (n_points, n_axes), by label.

        They are in the units that are shown, and reach to the ends of a line or of a map's cells.
        There are none if neighbours along an axis are unrelated.
        """
        if self.numbered & {*map(str, self.output.dims)}:
            return {}
        sides: dict[str, Values] = {}
        for axis in self.axes:
            name = str(axis.name)
            values = self.dataset[name].values.astype(np.float64)
            sides[name] = _fine(values, reaches_edges=len(self.axes) == 2)
        single = [self.dataset[name] for name in map(str, self.dataset.coords)]
        single = [each for each in single if not each.ndim and each.dtype.kind in "iuf"]
        constants = {str(each.name): float(each) for each in single}
        attributes = self.dataset.attrs
        derived: dict[str, str] = json.loads(str(attributes.get("recipe", "{}"))).get("derived", {})
        borders = theory_borders(str(attributes.get("model", "")), constants, derived, sides)
        shown = [side * self.scales(name)[1] for name, side in sides.items()]
        return {
            label: [
                np.stack([along(side, line[:, d]) for d, side in enumerate(shown)], axis=1)
                for line in lines
            ]
            for label, lines in borders.items()
        }

    def heading(
        self, subject: str = "", without: Collection[str] = (), note: str = ""
    ) -> tuple[str, str]:
        """The title of a picture, with what is shown, cuts and a note; and what is fixed.

        Fixed are parameters; of errors also those of the reference that are given, or not in the
        results. Those named in `without` are left out, as they differ between panels.
        """
        if self.view.title is not None:
            return self.view.title, ""
        title = title_of(self.dataset, subject or self.name)
        places = {axis: value for axis, value in self.cuts.items() if axis not in without}
        cuts = ", ".join(f"{named(self.dataset[axis])} = {v}" for axis, v in places.items())
        head = f"{title} at {cuts}{note}" if cuts else f"{title}{note}"
        fixed = point_text(self.dataset, without={*self.cuts, *without})
        if reference := self.dataset.attrs.get("against_parameters"):
            fixed += f"\nagainst {self.dataset.attrs['against']} with {reference}"
        return head, fixed.strip()


def _where_ok(dataset: xr.Dataset, name: str) -> Values:
    """The values of a variable, NaN at points that are not ok."""
    values = dataset[name].astype(np.float64)
    return (values.where(dataset["status"] == Status.ok) if "status" in dataset else values).values


def _fine(values: Values, *, reaches_edges: bool) -> Values:
    """Finely spaced values between the ends of an axis, or of its cells, down to 0 if none is less.

    They are spaced like the axis, so that lines between them are smooth in the picture.
    """
    kind = scale(values)
    ends = edges(values, kind) if reaches_edges else values
    low = max(ends[0], 0.0) if values[0] >= 0 else ends[0]
    return spaced(low, ends[-1], FINE_VALUES if reaches_edges else FINE_VALUES**2, kind)
