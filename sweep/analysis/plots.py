"""A picture of any sweep: lines or a map, or several values of an axis or stores together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, Unpack, cast

import xarray as xr
from matplotlib.figure import Figure

from sweep import wording
from sweep.analysis.cuts import check_names, cut, parameters_along
from sweep.analysis.figures import refuse_end, save
from sweep.analysis.labels import in_words, named
from sweep.analysis.scales import evenly
from sweep.analysis.slice_figures import MAX_PANELS, draw_slices
from sweep.analysis.slices import Slice
from sweep.analysis.view import View, ViewKeywords, view_of
from sweep.errors import SweepError
from sweep.keywords import spelled_out
from sweep.request import POINT
from sweep.store import open_results
from sweep.store.derived_stores import wear_of
from sweep.summary import coded

if TYPE_CHECKING:
    from sweep.engine.loop import Report

Source = xr.Dataset | str | Path

MAX_PANELS_ALONG = 3  # each of two axes of panels


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
    `output` is any variable of the Dataset, by default the first real one; of the status the names
    are drawn. The two longest axes are drawn, on a logarithmic scale if their values are far more
    evenly spaced there. Other axes are cut at the value nearest to that in `at`, or at their
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
    points are drawn as a grid (`analysis.refined.on_grid`), with their cells outlined. Wear is
    drawn over the years, and the time to a limit in years. With `against`, the error against that
    method is drawn, run with `parameters` as in `sweep.compare`.

    These keywords choose how the picture looks; names are those of axes or of the output:

    x, y: the axes drawn to the right and, on a map, upwards
    hue: the axis with a line for each of its values (at most 8)
    col, row: the axes with a panel for each value, side by side and below each other (at most 9)
    log: names that are drawn on a logarithmic scale
    limits: (lower, upper) by name, in the unit that is shown, or texts with a unit
    unit: the unit by name, such as "mm"; by default one in which the numbers are easy to read
    size: "page", as wide as two columns, or "column"
    title: the title

    With `path`, missing folders are created, and an existing file is replaced. SweepError for a
    Dataset that is not that of a sweep, for unknown names, if there is nothing to draw, and if the
    file cannot be written.
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
            where = {**at, **dict(zip(drawn, values, strict=True))}
            if wear_of(dataset) is not None and not (over or against):
                from sweep.analysis.wear_pictures import wear_slice  # which most do without

                part = wear_slice(dataset, output, where, view)
            else:
                part = cut(dataset, output, where, over, computed=against is not None, view=view)
            if against is not None:
                from sweep.analysis.comparison import compare_slice  # brings the engine

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
