"""Several slices in one picture: values of an axis, or several stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sweep.analysis.colours import draw_colour_bar
from sweep.analysis.figures import new_figure, single_panel
from sweep.analysis.kept_axes import check_names
from sweep.analysis.labels import in_words, quantities, readable, with_symbols
from sweep.analysis.legends import draw_legend, notes_of
from sweep.analysis.panels import draw_panel, is_single_line
from sweep.analysis.scales import evenly
from sweep.analysis.slices import Slice
from sweep.analysis.statistics import with_codes
from sweep.analysis.view import View
from sweep.errors import SweepError
from sweep.store import open_results

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Source = xr.Dataset | str | Path

MAX_PANELS = 9
MAX_LINES = 10  # of stores in one panel; more would share colours
PANEL = 4.0, 3.2  # width and height in inches


def labelled(source: Source | Sequence[Source]) -> dict[str, xr.Dataset]:
    """The Datasets of a source by what tells them apart: method, model, file, or a parameter."""
    sources: list[Any] = (
        list(cast(Sequence[Any], source)) if isinstance(source, list | tuple) else [source]
    )
    if not sources:
        raise SweepError("nothing to draw: the list of results is empty")
    datasets: list[Any] = [
        open_results(each) if isinstance(each, str | Path) else each for each in sources
    ]
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
    dataset: xr.Dataset, at: Mapping[str, float], view: View
) -> dict[str, Mapping[str, float]]:
    """The cuts of each panel by its label: one for each value of the axis `facet`, evenly spread.

    SweepError if the Dataset has no such axis, or cuts it.
    """
    axis = view.facet
    if axis is None:
        return {"": at}
    free = [str(name) for name in dataset.dims if name in dataset.coords and name not in at]
    if not free:
        raise SweepError(f"--facet takes an axis of a grid, and these results have none: {axis}")
    check_names("uncut axis", [axis], free)
    values = with_symbols(with_codes(dataset))[axis].load()
    words = in_words(axis)
    some = values[evenly(values.size, MAX_PANELS)]
    return {
        f"{words} = {text}": {**at, axis: float(value)}
        for text, value in zip(quantities(some), some.values, strict=True)
    }


def draw_together(slices: Mapping[str, Slice]) -> Figure:
    """Draw slices of one output with common scales: single lines in one panel, others side by side.

    SweepError if they show different outputs, or have different axes.
    """
    _refuse_different(slices)
    slices = _alike(slices)
    first = next(iter(slices.values()))
    is_line = all(is_single_line(each) for each in slices.values()) and not first.view.facet
    is_line = is_line and len(slices) <= MAX_LINES
    figure = _lines(slices) if is_line else _side_by_side(slices)
    different = {*_different(slices), *([first.view.facet] if first.view.facet else [])}
    title = first.title(first.name, without=different)
    figure.suptitle(title, x=0.01, ha="left", fontsize="medium")
    return figure


def _lines(slices: Mapping[str, Slice]) -> Figure:
    figure, axes = single_panel()
    for label, shown in slices.items():
        draw_panel(axes, shown, label)
    handles = axes.get_legend_handles_labels()[0]
    draw_legend(figure, [*handles, *notes_of(slices.values())])
    return figure


def _side_by_side(slices: Mapping[str, Slice]) -> Figure:
    columns = min(3, ceil(sqrt(len(slices))))
    rows = ceil(len(slices) / columns)
    figure = new_figure(max(columns * PANEL[0], 8.0), rows * PANEL[1] + 1.2)
    grid: Any = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    places: list[Axes] = list(grid.flat)
    handles: list[Any] = []
    mesh = None
    for axes, (label, shown) in zip(places, slices.items(), strict=False):
        mesh = draw_panel(axes, shown) or mesh
        axes.set_title(label, loc="left", fontsize="small")
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
    draw_legend(figure, [*handles, *notes_of(slices.values())])
    return figure


def _refuse_different(slices: Mapping[str, Slice]) -> None:
    if len(slices) > MAX_PANELS:
        raise SweepError(f"{len(slices)} panels are too many for one picture: at most {MAX_PANELS}")
    drawn = {(each.name, *(str(a.name) for a in each.axes), *each.over) for each in slices.values()}
    if len(drawn) > 1:
        texts = "; ".join(f"{names[0]} over {', '.join(names[1:])}" for names in sorted(drawn))
        raise SweepError(
            f"these results cannot share a picture, which would show {texts}: name an output that "
            "all have, and cut axes that some lack with --at"
        )
    if any(each.name == "status" for each in slices.values()):
        raise SweepError("the status is drawn of one store or cell: name another output")


def _alike(slices: Mapping[str, Slice]) -> dict[str, Slice]:
    """The slices with common units and a common scale of values."""
    first = next(iter(slices.values()))
    names = [first.name, *(first.over or (str(axis.name) for axis in first.axes))]
    units: dict[str, str] = {}
    for name in names:
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


def _different(slices: Mapping[str, Slice]) -> set[str]:
    """The parameters that have different values in the slices, or that some lack."""
    texts: list[dict[str, str]] = []
    for each in slices.values():
        fixed = (each.dataset[name] for name in map(str, each.dataset.coords))
        numbers = (value for value in fixed if not value.ndim and value.dtype.kind in "iuf")
        texts.append({str(value.name): repr(float(value)) for value in numbers})
    names = {name for each in texts for name in each}
    return {name for name in names if len({each.get(name) for each in texts}) > 1}
