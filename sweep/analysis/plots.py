"""A picture of any sweep: lines or a map, or several values of an axis or stores together."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Unpack, cast

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sweep import wording
from sweep.analysis.colours import draw_colour_bar, notes_of
from sweep.analysis.cuts import cut
from sweep.analysis.figures import (
    SIZES,
    colour_of,
    draw_heading,
    draw_legend,
    new_figure,
    once,
    refuse_end,
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
from sweep.analysis.panel_figures import draw_slice, in_one_panel
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
from sweep.keywords import spelled_out
from sweep.request import POINT
from sweep.store import open_results
from sweep.store.derived_stores import wear_of
from sweep.summary import coded
from sweep.units import printed

if TYPE_CHECKING:
    from sweep.engine.loop import Report

Source = xr.Dataset | str | Path

MAX_PANELS, MAX_PANELS_ALONG = 9, 3
MAX_LINES = 10  # of stores in one panel; more would share colours
TITLE_LETTERS = 13  # of a panel's title, in an inch
PANEL_ASPECT = 0.55  # height over width of one of several panels, on its own
LABEL_WIDTH = 52  # letters of a panel's title


@spelled_out(ViewKeywords)
def plot(
    source: Source | Sequence[Source],
    output: str | None = None,
    *too_many: Never,
    at: Mapping[str, float | str] | None = None,
    over: Sequence[str] = (),
    against: str | None = None,
    parameters: Mapping[str, float | str] | None = None,
    path: str | Path | None = None,
    **view: Unpack[ViewKeywords],
) -> Figure:
    """Draw one output as a matplotlib Figure; with `path` (.png, .pdf, .svg ...), also save it.

    `source` is a Dataset, the path of a store, or a list of these, which are drawn together.
    Missing folders are created; an existing file is replaced. With `against`, the error against
    that method is drawn, run with `parameters` as in `sweep.compare`. Wear is drawn over the years,
    and the time to a limit in years. These keywords choose how the picture looks; names are those
    of axes or of the output:

    x, y: the axes drawn to the right and, on a map, upwards
    hue: the axis with a line for each of its values (at most 8)
    col, row: the axes with a panel for each value, side by side and below each other (at most 9)
    log: names that are drawn on a logarithmic scale
    limits: (lower, upper) by name, in the unit that is shown, or texts with a unit
    unit: the unit by name, such as "mm"
    size: "page", as wide as two columns, or "column"
    title: the title

    Otherwise as `draw`; SweepError as for `draw`, and if the file cannot be written.
    """
    if too_many:
        text = wording.shown(cast(object, too_many[0]))
        raise SweepError(f"{text} is a third argument: name it, as in path={text}")
    if path is not None:
        refuse_end(Path(path))
    view_keywords = {name: value for name, value in view.items() if value is not None}
    chosen = view_of(cast(ViewKeywords, view_keywords))
    datasets = labelled(source)
    first: Any = next(iter(datasets.values()))
    drawn_plainly = over or against or len(datasets) > 1 or chosen != View()
    if not drawn_plainly and isinstance(first, xr.Dataset) and wear_of(first) is not None:
        from sweep.analysis.wear_pictures import draw_wear  # which most pictures do without

        figure = draw_wear(first, output, at)
    else:
        figure = draw_panels(
            slices_of(
                source, output, at or {}, over, chosen, against=against, parameters=parameters
            )
        )
    if path is not None:
        save(figure, path)
    return figure


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
    """The slices that a picture shows, by label: of stores, and of values of `row` and `col`.

    `report` is called with the progress of each run of the method `against`.
    """
    if parameters and against is None:
        raise SweepError("parameters are those of the method to compare with: name it (against)")
    slices: dict[str, Slice] = {}
    for label, dataset in labelled(source).items():
        panels, note = panels_of(dataset, at, view)
        for place, where in panels.items():
            part = cut(dataset, output, where, over, computed=against is not None, view=view)
            if against is not None:
                from sweep.analysis.comparison import compare_slice  # brings the engine

                part = compare_slice(part, against, parameters, report)
            slices[", ".join(filter(None, (label, place)))] = replace(part, note=note)
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
) -> tuple[dict[str, Mapping[str, float | str]], str]:
    """The cuts of each panel by its label, row by row, and how many values have none.

    There is a panel for each value of `row` and `col`, or for some, evenly spread. SweepError if
    the Dataset has no such axis, or cuts it.
    """
    panels: dict[str, Mapping[str, float | str]] = {"": at}
    notes: list[str] = []
    most = MAX_PANELS if len(view.panel_axes) == 1 else MAX_PANELS_ALONG
    for axis in view.panel_axes:
        values = _values_along(dataset, axis, at, view, most)
        panels = {
            ", ".join(filter(None, (label, text))): {**where, axis: value}
            for label, where in panels.items()
            for text, value in values.items()
        }
        if len(values) < (n_values := dataset.sizes[axis]):
            notes.append(f"{len(values)} of {n_values:,} values of {in_words(axis)} drawn")
    return panels, "; ".join(notes)


def _values_along(
    dataset: xr.Dataset, axis: str, at: Mapping[str, float | str], view: View, most: int
) -> dict[str, float]:
    """At most so many values of an axis of panels, evenly spread, by the label of their panel."""
    along = {
        name: parameters_along(dataset, name) or ([name] if name in dataset.coords else [])
        for name in map(str, dataset.dims)
        if name != POINT
    }
    free = [name for name, names in along.items() if names and not {name, *names} & set(at)]
    if not free:
        raise SweepError(f"panels take an axis of a grid, and these results have none: {axis}")
    check_names("uncut axis", [axis], free)
    dataset = with_symbols(with_codes(dataset))
    some = dataset[axis].load()[evenly(dataset.sizes[axis], most)]
    numbers: list[float] = some.values.astype(np.float64).tolist()
    if along[axis] != [axis]:  # its values are places
        points = {place: dataset.isel({axis: int(place)}) for place in numbers}
        return {
            f"{in_words(axis)} {place:g}: {values_of(point, along[axis])}": place
            for place, point in points.items()
        }
    values = quantities(some)
    if unit := view.unit.get(axis):
        share = factor(str(some.attrs.get("units", "1")), unit, axis)
        values = [f"{share * value:.6g} {printed(unit)}" for value in numbers]
    return {f"{named(some)} = {text}": value for text, value in zip(values, numbers, strict=True)}


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
    is_line = all(is_single_line(each) for each in slices.values()) and not first.view.panel_axes
    is_line = is_line and len(slices) <= MAX_LINES
    named_by_panels = _along_panel_axes(first)
    different = _different(slices) - named_by_panels
    slices = {_with_values(label, each, different): each for label, each in slices.items()}
    figure = in_one_panel(slices) if is_line else _side_by_side(slices)
    draw_heading(figure, *first.heading(without=different | named_by_panels))
    return figure


def _side_by_side(slices: Mapping[str, Slice]) -> Figure:
    shown = next(iter(slices.values()))
    columns = min(3, ceil(sqrt(len(slices))))
    if shown.view.row:
        columns = len({each.cuts.get(str(shown.view.col)) for each in slices.values()})
    rows = ceil(len(slices) / columns)
    width, _ = SIZES[shown.view.size]
    letters = int(TITLE_LETTERS * width / columns)
    figure = new_figure(width, rows * PANEL_ASPECT * width / columns**0.6 + 1.0)
    grid: Any = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    places: list[Axes] = list(grid.flat)
    handles: list[Any] = []
    limits: list[tuple[float, float, float, float]] = []
    mesh = None
    labels = list(dict.fromkeys(each for part in slices.values() for each in line_labels(part)))
    many = colormaps["turbo"].resampled(
        len(labels) + 1
    )  # if there are more than the ten of the cycle
    colours = {each: many(i) if len(labels) > 10 else colour_of(i) for i, each in enumerate(labels)}
    for axes, (label, each) in zip(places, slices.items(), strict=False):
        if own := [colours[text] for text in line_labels(each)]:
            axes.set_prop_cycle(color=own)
        mesh = draw_panel(axes, each) or mesh
        limits.append((*axes.get_xlim(), *axes.get_ylim()))
        axes.set_title(textwrap.fill(label, letters), loc="left", fontsize="small")
    if mesh is not None:  # each map has set the common limits to its own
        least, greatest = np.min(limits, axis=0), np.max(limits, axis=0)
        places[0].set(xlim=(least[0], greatest[1]), ylim=(least[2], greatest[3]))
    for axes, each in zip(places, slices.values(), strict=False):
        name_regions(axes, each)
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


def _along_panel_axes(shown: Slice) -> set[str]:
    """The axes of panels, and the parameters along them, which the labels of panels name."""
    axes = json.loads(str(shown.dataset.attrs.get("recipe", "{}"))).get("axes", [])
    of_panels = shown.view.panel_axes
    along = {name for axis in axes if axis["name"] in of_panels for name in axis["parameters"]}
    return along | {*of_panels}


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
