"""The part of a sweep that a picture shows: one output over one or two axes, the others cut."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xarray as xr

from sweep import wording
from sweep.analysis.kept_axes import (
    by_number,
    check_names,
    cut_at,
    drawn_over,
    kept_axes,
    kept_labels,
    parameters_along,
)
from sweep.analysis.labels import (
    TITLE_WIDTH,
    labels_of,
    point_text,
    readable,
    with_codes,
    with_symbols,
)
from sweep.analysis.refined import cells_of, is_refined, on_grid, refined_axes
from sweep.analysis.view import View, factor
from sweep.causes import theory_of
from sweep.errors import SweepError
from sweep.request import POINT
from sweep.spec import Status, index_name, status_counts
from sweep.summary import blocks
from sweep.work import Values

MAX_DRAWN_POINTS = 2**24  # of the grid from which refined points over several axes are drawn
MAX_COUNTED = 2**26  # points of which the statuses are counted where only some are drawn
MAX_DRAWN_VALUES = {0: 1, 1: 65_536, 2: 2_048}  # left on each axis, by the number of axes shown


@dataclass(frozen=True, eq=False)
class Refined:
    """The cells and points of a refined sweep that is shown as a grid."""

    outlines: Mapping[str, Values]  # by axis: (n_cells, 2), where each cell begins and ends
    status: xr.DataArray  # of the points
    values: xr.DataArray  # of the output at the points


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
        if name in values.coords:  # arithmetic leaves a dimension's own coordinate as it was
            values = values.assign_coords({name: values.values})
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
    def has_several_values(self) -> bool:
        """Whether the output has several values at each point, along its last dimension."""
        return index_name(self.name) in self.output.dims

    @property
    def values(self) -> Values:
        """The output as shown, NaN without a value; for the status, indices into `names`."""
        if self.name != "status":
            return self._where_ok(self.name) * self.scales(self.name)[1]
        _, places = np.unique(self.output.values, return_inverse=True)
        return places.reshape(self.output.shape).astype(np.float64)

    def limits(self, name: str, kind: str = "linear") -> tuple[float, float] | None:
        """The limits that are chosen for a variable, in the unit in which it is shown.

        SweepError if they are not positive and the scale is "log".
        """
        limits = self.view.limits_of(name, self.scales(name)[0])
        if limits and kind == "log" and limits[0] <= 0:
            raise SweepError(
                f"--limits of {name}: {limits[0]:g} is not above 0, which a logarithmic scale needs"
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
            return flag_names(self.output) if is_flag(self.output) else {}
        return dict(enumerate(Status(int(code)).name for code in np.unique(self.output.values)))

    @property
    def flag(self) -> xr.DataArray | None:
        """The output if it is a flag, otherwise the first flag over the same points, or None."""
        dims = set(self.output.dims)
        known = (self.dataset[name] for name in [self.name, *map(str, self.dataset.data_vars)])
        return next((each for each in known if is_flag(each) and dims.issuperset(each.dims)), None)

    @property
    def classes(self) -> Values:
        """The codes of `flag`, NaN where a point has no value; all NaN without a flag."""
        if self.flag is None:
            return np.full(self.output.shape, np.nan)
        return self._where_ok(str(self.flag.name))

    @property
    def missing(self) -> dict[Status, int]:
        """Number of points that have no value, by status: of those drawn if `counts` is None."""
        if "status" not in self.dataset or self.name == "status":
            return {}
        computed = self.dataset["status"] if self.refined is None else self.refined.status
        counts = status_counts(computed.values) if self.counts is None else self.counts
        return {status: n for status, n in counts.items() if status is not Status.ok}

    @property
    def n_infinite(self) -> int:
        """Number of points drawn at which the output is infinite; of a refined sweep, computed."""
        if self.refined is None:
            return int(np.count_nonzero(np.isinf(self.values)))
        is_ok = self.refined.status.values == Status.ok
        return int(np.count_nonzero(np.isinf(self.refined.values.values[is_ok])))

    @property
    def parameters(self) -> dict[str, Values]:
        """The parameters of the sweep at each point shown, by name."""
        like = self.output
        coordinates = (self.dataset[str(name)] for name in self.dataset.coords)
        return {
            str(each.name): each.broadcast_like(like).transpose(*like.dims).values.astype(float)
            for each in coordinates
            if each.dtype.kind in "iuf" and set(each.dims) <= set(like.dims)
        }

    @property
    def theory_borders(self) -> dict[str, Values]:
        """The fields of `boundaries_of` at the points shown."""
        return boundaries_of(str(self.dataset.attrs.get("model", "")), self.parameters)

    def title(self, subject: str, without: Collection[str] = (), note: str = "") -> str:
        """The title of a picture: the model, the subject, cuts, a note, and fixed parameters.

        Those named in `without` are left out, as they differ between panels.
        """
        if self.view.title is not None:
            return self.view.title
        title = f"{self.dataset.attrs.get('model', 'sweep')}: {subject}"
        places = {axis: value for axis, value in self.cuts.items() if axis not in without}
        cuts = ", ".join(f"{axis} = {value}" for axis, value in places.items())
        head = f"{title} at {cuts}{note}" if cuts else f"{title}{note}"
        fixed = point_text(self.dataset, without={*self.cuts, *without})
        return "\n".join([head, *textwrap.wrap(fixed, TITLE_WIDTH)])

    def _where_ok(self, name: str) -> Values:
        values = self.dataset[name].values.astype(np.float64)
        if "status" in self.dataset:
            values[self.dataset["status"].values != Status.ok] = np.nan
        return values


def cut(
    dataset: xr.Dataset,
    output: str | None,
    at: Mapping[str, float],
    over: Sequence[str] = (),
    *,
    computed: bool = False,
    view: View | None = None,
) -> Slice:
    """The slice that shows `output`, by default the first real one.

    `at` and `over` are as in `plots.draw`. The axes that `view` chooses are kept, and if these are
    fewer than two the longest others that `at` does not name. Long axes are thinned evenly
    (MAX_DRAWN_VALUES). A sample over one parameter has that as an axis. Refined points over several
    axes become a grid (`on_grid`), except with `over` or if only `computed` points are to be shown:
    then they are a sample. Points at infinity on an axis shown are left out, but an axis may be cut
    at infinity. Without `output`, real ones that are infinite wherever they have a value are passed
    over (`instead_of`).
    """
    _refuse_kinds(dataset, output, at, over)
    dataset = with_symbols(with_codes(dataset))
    names = _output_names(dataset, output)
    view = view or View()
    first = shown = _cut(dataset, names[0], at, over, view, computed=computed)
    for i, name in enumerate(names[1:], start=1):
        if not _is_infinite(shown):
            break
        shown = _cut(dataset, name, at, over, view, computed=computed)
        shown = replace(shown, instead_of=tuple(names[:i]))
    shown = first if _is_infinite(shown) else shown
    view.check(shown.drawn)
    return shown


def output_name(dataset: xr.Dataset, output: str | None) -> str:
    """The name of an output, by default of the first real one; SweepError if it is unknown."""
    return _output_names(dataset, output)[0]


def _is_infinite(shown: Slice) -> bool:
    """Whether the output has values and none is finite."""
    values = shown.values
    return bool(np.isinf(values).any()) and not np.isfinite(values).any()


def _cut(
    dataset: xr.Dataset,
    name: str,
    at: Mapping[str, float],
    over: Sequence[str],
    view: View,
    *,
    computed: bool,
) -> Slice:
    """The slice that shows the output of this name."""
    refined, inner = None, index_name(name)
    most_axes = 1 if inner in dataset[name].dims else 2
    single = dataset[name].ndim == 1  # a grid of refined points has no other outputs
    if single and not (over or computed) and is_refined(dataset) and len(refined_axes(dataset)) > 1:
        dataset, refined = _as_grid(dataset, name)
    at = by_number(dataset, at)
    inners = {index_name(str(each)) for each in dataset.data_vars} - {*dataset.coords}
    check_names("axis", at, [axis for axis in dataset.sizes if axis not in inners])
    axes = {str(axis): size for axis, size in dataset[name].sizes.items() if axis != inner}
    labels = [label for label in labels_of(dataset, name) if label in axes]
    cells = {axis: size for axis, size in axes.items() if axis not in labels}
    sampled = parameters_along(dataset, POINT)
    over = over or [each for each in view.axes if each in sampled]
    chosen = View() if over else replace(view, lines=None) if view.lines in labels else view
    kept = kept_axes(cells, at, most_axes, dataset, chosen)
    if kept and name.endswith("_histogram") and f"{name}_start" in dataset:
        uncut = [axis for axis, size in cells.items() if size > 1 and axis not in at]
        raise SweepError(
            f"nothing to draw: every cell of {name} has bins of its own, so one cell is drawn; "
            f"choose it by {' '.join(f'--at {axis}=VALUE' for axis in uncut)}"
        )
    kept += kept_labels({label: axes[label] for label in labels}, at, len(kept))
    over = drawn_over(dataset, kept, over, most_axes)
    scattered: set[str] = set()
    if len(over) == 1:
        scattered = set(over) if len(parameters_along(dataset, kept[0])) > 1 else set()
        dataset = dataset.swap_dims({kept[0]: over[0]})
        kept, over = [over[0]], ()
    numbered = frozenset(map(str, dataset[name].dims)) - {*map(str, dataset.coords), inner}
    others = [str(axis) for axis in dataset[name].dims if axis not in (*kept, inner)]
    dataset, cuts = cut_at(dataset, others, at)
    dataset = dataset.assign_coords({axis: dataset[axis] for axis in numbered if axis in kept})
    most = MAX_DRAWN_VALUES[len(kept)]
    steps = {axis: slice(None, None, -(-dataset.sizes[axis] // most)) for axis in kept}
    shown = dataset.isel(steps).load()
    thinned = any(shown.sizes[axis] < dataset.sizes[axis] for axis in kept)
    shown, infinite = _without_infinite(shown, over or kept)
    if view.axes and not over and not scattered:
        shown = shown.transpose(*kept, ...)
    return Slice(
        dataset=shown.sortby(kept) if kept else shown,
        view=view,
        name=name,
        cuts=cuts,
        numbered=numbered | scattered,
        over=over,
        labels=frozenset(labels),
        refined=refined,
        infinite=infinite,
        thinned=thinned,
        counts=_all_statuses(dataset) if thinned and refined is None and not infinite else None,
    )


def _all_statuses(dataset: xr.Dataset) -> dict[Status, int] | None:
    """The number of points by status, read block by block; None if that takes too long."""
    if "status" not in dataset or dataset["status"].size > MAX_COUNTED:
        return None
    total: Counter[Status] = Counter()
    for block in blocks(dataset[["status"]]):
        total.update(status_counts(block["status"].values))
    return dict(sorted(total.items()))


def _refuse_kinds(dataset: object, output: object, at: object, over: object) -> None:
    """SweepError for arguments of the wrong type."""
    if not isinstance(dataset, xr.Dataset):
        kind = type(dataset).__name__
        raise SweepError(f"expected the xarray.Dataset of a sweep, not {kind}")
    if not isinstance(output, str | None):
        raise SweepError(f"output={wording.shown(output)} is not the name of an output")
    if not isinstance(at, Mapping):
        raise SweepError(f"at={wording.shown(at)} is not a mapping. Give values by name, as a dict")
    if isinstance(over, str) or not isinstance(over, Sequence):
        raise SweepError(f"over={wording.shown(over)} is not a list of names")


def _without_infinite(
    dataset: xr.Dataset, names: Sequence[str]
) -> tuple[xr.Dataset, dict[str, int]]:
    """The points at which these parameters are finite, and how many were not, by parameter."""
    infinite: dict[str, int] = {}
    for name in names:
        if dataset[name].dtype.kind not in "iuf":
            raise SweepError(f"{name} is not numeric, so it cannot be an axis: choose another")
        finite = np.isfinite(dataset[name].values)
        if finite.all():
            continue
        if not finite.any():
            raise SweepError(
                f"nothing to draw: {name} is infinite at every point; choose another parameter"
            )
        points = dataset["status"].size if "status" in dataset else finite.size
        infinite[name] = points * int(np.count_nonzero(~finite)) // finite.size
        dataset = dataset.isel({dataset[name].dims[0]: finite})
    return dataset, infinite


def _as_grid(dataset: xr.Dataset, name: str) -> tuple[xr.Dataset, Refined | None]:
    """Refined points as a grid no finer than is shown; over two axes also their cells."""
    dataset = dataset.load()
    cells = cells_of(dataset)
    shape, levels = cells.mesh.shape, cells.mesh.levels
    while levels and (max(shape) > MAX_DRAWN_VALUES[2] or math.prod(shape) > MAX_DRAWN_POINTS):
        shape, levels = tuple((n - 1) // 2 + 1 for n in shape), levels - 1
    grid = on_grid(dataset, levels)
    if len(cells.axes) > 2:
        return grid, None
    return grid, Refined(cells.outlines(), dataset["status"], dataset[name])


def boundaries_of(model: str, parameters: Mapping[str, Values]) -> dict[str, Values]:
    """Fields that change sign at the borders known from theory, if they do so at these points.

    They come from the function `boundaries` of the module of `sweep.theory` named after the model.
    """
    boundaries: Callable[[Mapping[str, Values]], dict[str, Values]] | None
    boundaries = getattr(theory_of(model), "boundaries", None)
    try:
        lines = boundaries(parameters) if boundaries else {}
    except KeyError:  # a parameter was reduced
        lines = {}
    return {label: line for label, line in lines.items() if np.any(line > 0) and np.any(line < 0)}


def is_flag(variable: xr.DataArray) -> bool:
    """Whether a variable holds named classes; the status is not a flag."""
    return "flag_meanings" in variable.attrs and variable.name != "status"


def flag_names(flag: xr.DataArray) -> dict[int, str]:
    """The name of each class by its code (CF attributes flag_values and flag_meanings)."""
    codes: Iterable[int] = np.atleast_1d(flag.attrs["flag_values"]).tolist()
    return dict(zip(codes, str(flag.attrs["flag_meanings"]).split(), strict=True))


def _output_names(dataset: xr.Dataset, output: str | None) -> list[str]:
    """The output, or those that may be shown by default, the first choice first."""
    names = [str(name) for name in dataset.data_vars if name != "status"]
    if output is not None:
        check_names("output", [output], [*names, "status"])
        return [output]
    real = [name for name in names if dataset[name].dtype.kind == "f"]
    if not names:
        raise SweepError("nothing to draw: the sweep has no output but its status; name that")
    return real or names[:1]
