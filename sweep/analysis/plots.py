"""A picture of any sweep: lines or a map, or several values of an axis or stores together."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sweep.analysis.colours import draw_colour_bar, notes_of
from sweep.analysis.cuts import cut
from sweep.analysis.figures import (
    WIDTH,
    colour_of,
    draw_heading,
    draw_legend,
    new_figure,
    once,
    save,
    styled,
)
from sweep.analysis.kept_axes import check_names, parameters_along
from sweep.analysis.labels import (
    in_words,
    named,
    point_text,
    quantities,
    readable,
    values_of,
    with_codes,
    with_symbols,
)
from sweep.analysis.panels import (
    draw_panel,
    is_single_line,
    line_labels,
    missing_mark,
    name_regions,
)
from sweep.analysis.scales import evenly
from sweep.analysis.slices import Slice
from sweep.analysis.view import View, ViewKeywords, factor, view_of
from sweep.errors import SweepError
from sweep.request import POINT
from sweep.store import open_results
from sweep.summary import coded
from sweep.units import printed

if TYPE_CHECKING:
    from sweep.engine.loop import Report

Source = xr.Dataset | str | Path

MAX_PANELS = 9
MAX_LINES = 10  # of stores in one panel; more would share colours
PANEL_HEIGHTS = {1: 2.6, 2: 2.4, 3: 1.9}  # in inches, by the number of columns
LABEL_WIDTH = 52  # letters of a panel's title


def plot(
    source: Source | Sequence[Source],
    output: str | None = None,
    path: str | Path = "sweep.png",
    *,
    at: Mapping[str, float | str] | None = None,
    over: Sequence[str] = (),
    against: str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    **view: Unpack[ViewKeywords],
) -> Path:
    """Save the picture of one output (.png, .pdf, .svg ...) and return the file's path.

    `source` is a Dataset, the path of a store, or a list of these, which are drawn together.
    Missing folders are created; an existing file is replaced. With `against`, the error against
    that method is drawn, run with `parameters` as in `sweep.compare`. These keywords choose how the
    picture looks; names are those of axes or of the output:

    x, y: the axes drawn to the right and, on a map, upwards
    lines: the axis with a line for each of its values (at most 8)
    facet: the axis with a panel for each of its values (at most 9)
    log: names that are drawn on a logarithmic scale
    limits: (lower, upper) by name, in the unit that is shown, or texts with a unit
    unit: the unit by name, such as "mm"
    title: the title

    Otherwise as `draw`; SweepError as for `draw`, and if the file cannot be written.
    """
    shown = slices_of(
        source, output, at or {}, over, view_of(view), against=against, parameters=parameters
    )
    return save(draw_panels(shown), path)


def draw(
    dataset: xr.Dataset,
    output: str | None = None,
    *,
    at: Mapping[str, float | str] | None = None,
    over: Sequence[str] = (),
    view: View | None = None,
) -> Figure:
    """Draw one output of a sweep as a matplotlib Figure.

    `output` is any variable of the Dataset, by default the first real one; of the status the names
    are drawn. The two longest axes are drawn, on a logarithmic scale if their values are far more
    evenly spaced there. Other axes are cut at the value nearest to that in `at`, or at their
    middle, and the title says where. Borders between the classes of a flag are drawn and the
    classes named; the flag may be the output or another variable. Borders known from theory are
    dashed. Points without a value are hatched; points at infinity on an axis are left out; the
    legend counts both. A sample is drawn as dots over the two parameters in `over`, by default the
    first two; over a single parameter, it is drawn as an axis. All values of an output with
    several at each point are drawn as dots over one axis (a bifurcation map). A mean over one axis
    has the band between its lowest and highest quantile; a statistic with several values, such as
    quantiles, is drawn as lines over one axis, at one of them (in `at`) over two, and as bars for
    a single cell. Refined points are drawn as a grid (`analysis.refined.on_grid`), with their cells
    outlined. Units have prefixes that make them easy to read. `view` chooses axes, scales, limits,
    units, panels and the title. SweepError for a Dataset that is not that of a sweep, for unknown
    names, and if there is nothing to draw.
    """
    return draw_panels(slices_of(dataset, output, at or {}, over, view or View()))


def slices_of(
    source: Source | Sequence[Source],
    output: str | None,
    at: Mapping[str, float | str],
    over: Sequence[str],
    view: View,
    *,
    against: str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    report: Report | None = None,
) -> dict[str, Slice]:
    """The slices that a picture shows, by the label of each: of stores, and values of `facet`.

    `report` is called with the progress of each run of the method `against`.
    """
    if parameters and against is None:
        raise SweepError("parameters are those of the method to compare with: name it (against)")
    slices: dict[str, Slice] = {}
    for label, dataset in labelled(source).items():
        panels = panels_of(dataset, at, view)
        for place, where in panels.items():
            shown = cut(dataset, output, where, over, computed=against is not None, view=view)
            if against is not None:
                from sweep.analysis.comparison import compare_slice  # brings the engine

                shown = compare_slice(shown, against, parameters, report)
            if view.facet and len(panels) < (n_values := dataset.sizes[view.facet]):
                note = f"{len(panels)} of {n_values:,} values of {in_words(view.facet)} drawn"
                shown = replace(shown, note=note)
            slices[", ".join(filter(None, (label, place)))] = shown
    return slices


def labelled(source: Source | Sequence[Source]) -> dict[str, xr.Dataset]:
    """The Datasets of a source by what tells them apart: method, file, or file and number."""
    sources: list[Any] = (
        list(cast(Sequence[Any], source)) if isinstance(source, list | tuple) else [source]
    )
    if not sources:
        raise SweepError("nothing to draw: the list of results is empty; give one or more")
    datasets: list[Any] = [
        open_results(each) if isinstance(each, str | Path) else each for each in sources
    ]
    datasets = [coded(each) if isinstance(each, xr.Dataset) else each for each in datasets]
    if len(datasets) == 1:
        return {"": datasets[0]}
    candidates = [
        [str(getattr(each, "attrs", {}).get("method")) for each in datasets],
        [_stem(each, number) for number, each in enumerate(sources, start=1)],
        [f"{_stem(each, i)} ({i})" for i, each in enumerate(sources, start=1)],
    ]
    labels = next(names for names in candidates if len({*names}) == len(names))
    return dict(zip(labels, datasets, strict=True))


def _stem(source: Source, number: int) -> str:
    if not isinstance(source, str | Path):
        return f"results {number}"
    return str(source).rstrip("/").rpartition("/")[2].removesuffix(".zarr")


def panels_of(
    dataset: xr.Dataset, at: Mapping[str, float | str], view: View
) -> dict[str, Mapping[str, float | str]]:
    """The cuts of each panel by its label: one for each value of the axis `facet`, evenly spread.

    SweepError if the Dataset has no such axis, or cuts it.
    """
    axis = view.facet
    if axis is None:
        return {"": at}
    along = {
        axis: parameters_along(dataset, axis) or ([axis] if axis in dataset.coords else [])
        for axis in map(str, dataset.dims)
        if axis != POINT
    }
    free = [axis for axis, names in along.items() if names and not {axis, *names} & set(at)]
    if not free:
        raise SweepError(f"`facet` takes an axis of a grid, and these results have none: {axis}")
    check_names("uncut axis", [axis], free)
    values = with_symbols(with_codes(dataset))[axis].load()
    words = named(values)
    some = values[evenly(values.size, MAX_PANELS)]
    if along[axis] != [axis]:  # its values are places
        return {
            f"{in_words(axis)} {place:g}: {values_of(dataset.isel({axis: place}), along[axis])}": {
                **at,
                axis: float(place),
            }
            for place in some.values.tolist()
        }
    texts = quantities(some)
    if unit := view.unit.get(axis):
        share = factor(str(some.attrs.get("units", "1")), unit, axis)
        texts = [f"{share * value:.6g} {printed(unit)}" for value in some.values.tolist()]
    return {
        f"{words} = {text}": {**at, axis: float(value)}
        for text, value in zip(texts, some.values, strict=True)
    }


@styled
def draw_panels(slices: Mapping[str, Slice]) -> Figure:
    """Draw one slice, or several of one output with common scales in one picture.

    Single lines share a panel; other slices are side by side. SweepError if they show different
    outputs, or have different axes.
    """
    if len(slices) == 1:
        (only,) = slices.values()
        return draw_slice(only)
    _refuse_different(slices)
    slices = _alike(slices)
    first = next(iter(slices.values()))
    is_line = all(is_single_line(each) for each in slices.values()) and not first.view.facet
    is_line = is_line and len(slices) <= MAX_LINES
    facet = _along_facet(first)
    different = _different(slices) - facet
    slices = {_with_values(label, each, different): each for label, each in slices.items()}
    figure = _in_one_panel(slices) if is_line else _side_by_side(slices)
    draw_heading(figure, *first.heading(without=different | facet))
    return figure


@styled
def draw_slice(shown: Slice) -> Figure:
    """Draw a slice of a sweep, or of its error, as `draw` does.

    Errors are drawn on a logarithmic scale; on a map its lowest part is cut off. Where the error is
    0, the map is pale and lines are interrupted, unless it is 0 everywhere; the legend counts those
    points. Other outputs whose positive values span decades are drawn in the same way. SweepError
    for a single point.
    """
    figure = _in_one_panel({"": shown})
    draw_heading(figure, *shown.heading())
    return figure


def _in_one_panel(slices: Mapping[str, Slice]) -> Figure:
    figure = new_figure()
    axes = figure.add_subplot()
    for label, shown in slices.items():
        mesh = draw_panel(axes, shown, label)
        if mesh is not None:
            draw_colour_bar(figure, axes, mesh, shown)
        name_regions(axes, shown)
    handles = axes.get_legend_handles_labels()[0]
    missing = missing_mark(next(iter(slices.values())), alone=len(slices) == 1)
    draw_legend(figure, once([*handles, *notes_of(slices.values(), missing)]))
    return figure


def _side_by_side(slices: Mapping[str, Slice]) -> Figure:
    columns = min(3, ceil(sqrt(len(slices))))
    rows = ceil(len(slices) / columns)
    figure = new_figure(WIDTH, rows * PANEL_HEIGHTS[columns] + 1.0)
    grid: Any = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    places: list[Axes] = list(grid.flat)
    handles: list[Any] = []
    limits: list[tuple[float, float, float, float]] = []
    mesh = None
    labels = list(dict.fromkeys(each for shown in slices.values() for each in line_labels(shown)))
    many = colormaps["turbo"].resampled(
        len(labels) + 1
    )  # if there are more than the ten of the cycle
    colours = {each: many(i) if len(labels) > 10 else colour_of(i) for i, each in enumerate(labels)}
    for axes, (label, shown) in zip(places, slices.items(), strict=False):
        if own := [colours[each] for each in line_labels(shown)]:
            axes.set_prop_cycle(color=own)
        mesh = draw_panel(axes, shown) or mesh
        limits.append((*axes.get_xlim(), *axes.get_ylim()))
        axes.set_title(label, loc="left", fontsize="small")
    if mesh is not None:  # each map has set the common limits to its own
        least, greatest = np.min(limits, axis=0), np.max(limits, axis=0)
        places[0].set(xlim=(least[0], greatest[1]), ylim=(least[2], greatest[3]))
    for axes, shown in zip(places, slices.values(), strict=False):
        name_regions(axes, shown)
        handles += axes.get_legend_handles_labels()[0]
    for axes in places[len(slices) :]:
        axes.set_visible(False)
    for i, axes in enumerate(places[: len(slices)]):
        has_below = i + columns < len(slices)
        axes.tick_params(which="both", labelbottom=not has_below, labelleft=i % columns == 0)
        if has_below:
            axes.set_xlabel("")
    figure.supylabel(places[0].get_ylabel(), fontsize="medium")
    for axes in places:
        axes.set_ylabel("")
    shown = next(iter(slices.values()))
    if mesh is not None:
        draw_colour_bar(figure, places[: len(slices)], mesh, shown)
    notes = notes_of(slices.values(), missing_mark(shown))
    draw_legend(figure, once([*handles, *notes]))
    return figure


def _refuse_different(slices: Mapping[str, Slice]) -> None:
    if len(slices) > MAX_PANELS:
        raise SweepError(
            f"{len(slices)} panels are too many for one picture: draw at most {MAX_PANELS}"
        )
    drawn = {(each.name, *(str(a.name) for a in each.axes), *each.over) for each in slices.values()}
    if len(drawn) > 1:
        texts = "; ".join(f"{names[0]} over {', '.join(names[1:])}" for names in sorted(drawn))
        raise SweepError(
            f"these results cannot share a picture, which would show {texts}: name an output that "
            "all have, and cut the axes that some lack (at)"
        )
    if any(each.name == "status" for each in slices.values()):
        raise SweepError("the status is drawn of one store or cell: name another output")


def _alike(slices: Mapping[str, Slice]) -> dict[str, Slice]:
    """The slices with common units and a common scale of values."""
    first = next(iter(slices.values()))
    units: dict[str, str] = {}
    for name in first.drawn:
        variables = [each.dataset[name] for each in slices.values()]
        if variables[0].dtype.kind == "f":
            values = np.concatenate([variable.values.ravel() for variable in variables])
            units[name] = readable(values, str(variables[0].attrs.get("units", "1")))[0]
    view = replace(first.view, unit={**units, **first.view.unit})
    alike = {label: replace(each, view=view) for label, each in slices.items()}
    if first.names:
        return alike
    values = np.concatenate([each.values.ravel() for each in alike.values()])
    return {label: replace(each, shared=values) for label, each in alike.items()}


def _along_facet(shown: Slice) -> set[str]:
    """The axis of `facet`, and the parameters along it, which the labels of its panels name."""
    axes = json.loads(str(shown.dataset.attrs.get("recipe", "{}"))).get("axes", [])
    along = {
        name for axis in axes if axis["name"] == shown.view.facet for name in axis["parameters"]
    }
    return along | ({shown.view.facet} if shown.view.facet else set())


def _with_values(label: str, shown: Slice, names: Collection[str]) -> str:
    """The label of a panel or a line, with the values of these parameters, in lines of a panel."""
    others = {str(name) for name in shown.dataset.coords} - {*names}
    values = point_text(shown.dataset, without=others, always=names)
    return "\n".join(textwrap.wrap(f"{label}: {values}" if values else label, LABEL_WIDTH))


def _different(slices: Mapping[str, Slice]) -> set[str]:
    """The parameters that have different values in the slices, or that some lack."""
    texts: list[dict[str, str]] = []
    for each in slices.values():
        fixed = (each.dataset[name] for name in map(str, each.dataset.coords))
        numbers = (value for value in fixed if not value.ndim and value.dtype.kind in "iuf")
        texts.append({str(value.name): repr(float(value)) for value in numbers})
    names = {name for each in texts for name in each}
    return {name for name in names if len({each.get(name) for each in texts}) > 1}
