"""A picture of any sweep: lines or a map, or several values of an axis or stores together."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Unpack, cast

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sweep.errors import SweepError
from sweep.model.table import Status
from sweep.pictures import colours
from sweep.pictures.cuts import check_names, cut, parameters_along
from sweep.pictures.figures import figure_of, in_rows, refuse_end, save
from sweep.pictures.labels import in_words, named, point_text, quantity, readable
from sweep.pictures.line_panels import bar_panel, line_panel, values_panel
from sweep.pictures.map_panels import dot_panel, map_panel
from sweep.pictures.panels import TEXT_ALONE, Mark, Note, Panel
from sweep.pictures.scales import evenly
from sweep.pictures.slices import Slice
from sweep.pictures.view import View, ViewKeywords, view_of
from sweep.pictures.wear_pictures import shows_wear, wear_panel, wear_slice
from sweep.request.sweeps import POINT
from sweep.results.summary import coded
from sweep.store import open_results
from sweep.text import wording
from sweep.text.keywords import spelled_out

if TYPE_CHECKING:
    from sweep.engine.loop import Report

Source = xr.Dataset | str | Path

MAX_PANELS_ALONG = 3  # each of two axes of panels
MAX_PANELS = 9
MAX_STORES = 10  # whose lines share a panel; more would share colours
LABEL_WIDTH = 52  # letters of a panel's title
PANELS: Mapping[str, Callable[[Slice], Panel]] = {
    "values": values_panel, "bars": bar_panel, "dots": dot_panel, "map": map_panel,
    "years": wear_panel,
}  # fmt: skip


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
    `output` is any variable of the Dataset, by default the first real one; `status` is drawn by
    its names. The two longest axes are drawn, on a logarithmic scale if that spaces their values
    far more evenly. Other axes are cut at the value nearest to the one in `at`, or at their
    middle, and the title says where. Borders between the classes of a flag are drawn and the
    classes named; the flag may be the output or another variable. Borders known from theory are
    dashed. Points without a value are hatched; points at infinity on an axis are left out; the
    legend counts both. Errors, and other outputs whose positive values span decades, are drawn on a
    logarithmic scale: where they are 0, a map is pale and lines are interrupted.

    A sample is drawn as dots over the two parameters in `over`, by default the first two; over a
    single parameter, it is drawn as an axis. All values of an output with several at each point are
    drawn as dots over one axis (a bifurcation map). A mean over one axis has the band between its
    lowest and highest quantile; a statistic with several values, such as quantiles, is drawn as
    lines over one axis, at one of them (in `at`) over two, and as bars for a single cell. Refined
    points are drawn as a grid (`results.refined.on_grid`), with their cells outlined. Wear is
    drawn over the years, and the time to a limit in years. With `against`, the error against that
    method is drawn, run with `parameters` as in `sweep.compare`.

    These keywords choose how the picture looks; names refer to axes or to the output:

    x, y: the axes drawn to the right and, on a map, upwards
    hue: the axis with a line for each of its values (at most 8)
    col, row: the axes with a panel for each value, side by side and below each other (at most 9)
    log: names that are drawn on a logarithmic scale
    limits: (lower, upper) by name, in the unit that is shown, or texts with a unit
    unit: the unit by name, such as "mm"; by default one in which the numbers are easy to read
    size: "page", as wide as two columns, or "column"
    title: the title

    With `path`, missing folders are created, and an existing file is replaced. Raises SweepError
    for a Dataset without a sweep, for unknown names, if there is nothing to draw, and if the file
    cannot be written.
    """
    if too_many:
        text = wording.shown(cast(object, too_many[0]))
        raise SweepError(f"{text} is a third argument: name it, as in path={text}")
    if path is not None:
        refuse_end(Path(path))
    chosen = view_of(cast(ViewKeywords, {key: v for key, v in view.items() if v is not None}))
    figure = draw_slices(
        slices_of(source, output, at or {}, over, chosen, against=against, parameters=parameters)
    )
    if path is not None:
        save(figure, path)
    return figure


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
        drawn = {axis: _values_along(dataset, axis, at, view) for axis in view.panel_axes}
        counts = {axis: (len(values), dataset.sizes[axis]) for axis, values in drawn.items()}
        notes = [
            f"{some} of {every:,} values of {in_words(axis)} drawn"
            for axis, (some, every) in counts.items()
            if some < every
        ]
        for values in product(*drawn.values()):
            where = {**at, **dict(zip(drawn, values, strict=True))} if drawn else at
            if not (over or against) and shows_wear(dataset, output):
                part = wear_slice(dataset, output, where, view)
            else:
                part = cut(dataset, output, where, over, computed=against is not None, view=view)
            if against is not None:
                from sweep.pictures.comparison import compare_slice  # brings the engine

                part = compare_slice(part, against, parameters, report)
            texts = [f"{named(part.dataset[axis])} = {part.cuts[axis]}" for axis in drawn]
            note = "; ".join(filter(None, (part.note, *notes)))
            slices[", ".join(filter(None, (label, *texts)))] = replace(part, note=note)
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
    for each in datasets:
        if not isinstance(each, xr.Dataset):
            raise SweepError(f"expected the xarray.Dataset of a sweep, not {type(each).__name__}")
    datasets = [coded(each) for each in datasets]
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


def _values_along(
    dataset: xr.Dataset, axis: str, at: Mapping[str, float | str], view: View
) -> list[float | str]:
    """The values of an axis that have a panel: all, or as many as fit, evenly spread.

    SweepError if the Dataset has no such axis, or cuts it.
    """
    along = {
        name: parameters_along(dataset, name) or ([name] if name in dataset.coords else [])
        for name in map(str, dataset.dims)
        if name != POINT
    }
    free = [name for name, names in along.items() if names and not {name, *names} & set(at)]
    if not free:
        raise SweepError(f"panels take an axis of a grid, and these results have none: {axis}")
    check_names("uncut axis", [axis], free)
    most = MAX_PANELS if len(view.panel_axes) == 1 else MAX_PANELS_ALONG
    return dataset[axis].values[evenly(dataset.sizes[axis], most)].tolist()


def draw_slices(slices: Mapping[str, Slice]) -> Figure:
    """Draw one slice, or several of one output with common scales in one picture.

    Single lines share a panel; other slices are side by side. SweepError for a single point, and if
    the slices show different outputs or have different axes.
    """
    first = next(iter(slices.values()))
    omitted: set[str] = set()
    if len(slices) > 1:
        _refuse_different(slices)
        slices = _alike(slices)
        named_by_panels = _along_panel_axes(first)
        different = _different(slices) - named_by_panels
        omitted = different | named_by_panels
        slices = {_with_values(label, each, different): each for label, each in slices.items()}
    are_lines = all(each.kind == "line" for each in slices.values()) and not first.view.panel_axes
    if len(slices) == 1 or (are_lines and len(slices) <= MAX_STORES):
        panels, columns = [panel_of(slices)], 1
    else:
        panels = [panel_of({"": each}, title) for title, each in slices.items()]
        columns = min(3, ceil(sqrt(len(slices))))
        if first.view.col and len(slices) <= MAX_PANELS_ALONG:
            columns = len(slices)
        if first.view.row:
            columns = len({each.cuts.get(str(first.view.col)) for each in slices.values()})
    heading, notes = first.heading(without=omitted), notes_of(list(slices.values()))
    return figure_of(panels, heading, notes, in_rows(len(panels), columns, first.view.size))


def panel_of(slices: Mapping[str, Slice], title: str = "") -> Panel:
    """The panel of a slice, or of several single lines by label.

    A single line with a label is drawn without borders and classes, as one of several. SweepError
    for a single point.
    """
    shown = next(iter(slices.values()))
    if not shown.axes:
        value = f", {shown.name} = {quantity(shown.output)}" if shown.output.size == 1 else ""
        raise SweepError(
            f"nothing to draw: there is a single point{value}; give a store with an axis"
        )
    panel = PANELS[shown.kind](shown) if shown.kind in PANELS else line_panel(slices)
    marks = list(panel.marks)
    if all(np.isnan(each.values).all() for each in slices.values()):
        box = {"facecolor": "white", "edgecolor": "none"}
        style = {"ha": "center", "va": "center", "bbox": box}
        marks.append(Mark("text", (0.5, 0.5, "no values"), style, within="panel"))
    y, colours = panel.y, panel.colours
    if np.isnan(shown.scaled).all():  # in no panel: there is no scale
        y, colours = (replace(y, ticks={}) if colours is None else y), None
    return replace(panel, y=y, colours=colours, marks=marks, title=title)


def notes_of(slices: Collection[Slice]) -> list[Note]:
    """What the legend says of points without a value, zeros, and points that are not drawn."""
    notes: list[Note] = []
    first = next(iter(slices))
    zeros = sum(int(np.count_nonzero(each.values == 0)) for each in slices)
    size = sum(each.output.size for each in slices)
    missing, infinite = Counter[Status](), Counter[str]()
    for each in slices:
        missing.update(each.missing)
        infinite.update(each.infinite)
    n_infinite = sum(each.n_infinite for each in slices)
    is_line = first.kind == "line" and len(slices) == len(first.axes) == 1
    is_hatched = (is_line or first.kind == "values") and not first.numbered
    hatch = colours.NO_VALUE if is_hatched or first.kind == "map" else TEXT_ALONE
    of_drawn = f" of {size:,} points drawn" if first.thinned else " points"
    if first.has_zeros_apart and zeros:
        words = "error 0" if first.is_error else f"{in_words(first.name)} = 0"
        notes.append((f"{words}: {zeros:,}{of_drawn}", colours.ZERO))
    if missing:
        counts = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in missing.items())
        share_text = "" if first.counts is not None else of_drawn.removeprefix(" points")
        style = colours.MISSING_DOTS if first.kind == "dots" else hatch
        notes.append((f"no value: {counts}{share_text}", style))
    if n_infinite:
        notes.append((f"{in_words(first.name)} = inf: {n_infinite:,}{of_drawn}", hatch))
    texts = [f"not drawn: {n:,} with {in_words(name)} = inf" for name, n in infinite.items()]
    texts += [f"instead of {in_words(name)}, which is infinite" for name in first.instead_of]
    texts += [first.note] if first.note else []
    notes += [(text, TEXT_ALONE) for text in texts]
    refined = [each.refined.points[each.name].size for each in slices if each.refined is not None]
    if refined:
        label = f"cells of {sum(refined):,} points, interpolated within"
        notes.append((label, {"facecolor": "none", "edgecolor": "0.6"}))
    return notes


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
