"""The figure of a slice of a sweep, or of several slices with common scales."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from math import ceil, sqrt

import numpy as np
from matplotlib.figure import Figure

from sweep.analysis.drawing import figure_of
from sweep.analysis.labels import in_words, point_text, quantity, readable
from sweep.analysis.line_panels import bar_panel, line_panel, values_panel
from sweep.analysis.map_panels import dot_panel, map_panel
from sweep.analysis.panels import MISSING_DOTS, NO_VALUE, TEXT_ALONE, ZERO, Mark, Note, Panel
from sweep.analysis.slices import Slice
from sweep.errors import SweepError
from sweep.spec import Status

MAX_PANELS = 9
MAX_STORES = 10  # whose lines share a panel; more would share colours
LABEL_WIDTH = 52  # letters of a panel's title
PANELS: Mapping[str, Callable[[Slice], Panel]] = {
    "values": values_panel, "bars": bar_panel, "dots": dot_panel, "map": map_panel,
}  # fmt: skip


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
        if first.view.row:
            columns = len({each.cuts.get(str(first.view.col)) for each in slices.values()})
    heading, notes = first.heading(without=omitted), notes_of(list(slices.values()))
    return figure_of(panels, heading, notes, columns=columns, size=first.view.size)


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
    if shown.kind == "years":
        from sweep.analysis.wear_pictures import wear_panel  # which most do without

        panel = wear_panel(shown)
    else:
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
    of_drawn = f" of {size:,} points drawn" if first.thinned else " points"
    if first.has_zeros_apart and zeros:
        words = "error 0" if first.is_error else f"{in_words(first.name)} = 0"
        notes.append((f"{words}: {zeros:,}{of_drawn}", ZERO))
    if missing:
        counts = ", ".join(f"{n:,} {in_words(status.name)}" for status, n in missing.items())
        share_text = "" if first.counts is not None else of_drawn.removeprefix(" points")
        style = MISSING_DOTS if first.kind == "dots" else TEXT_ALONE
        is_one = first.kind == "values" or (first.kind == "line" and len(slices) == 1)
        if first.kind == "map" or (is_one and not first.numbered):
            style = NO_VALUE
        notes.append((f"no value: {counts}{share_text}", style))
    if n_infinite:
        notes.append((f"{in_words(first.name)} = inf: {n_infinite:,}{of_drawn}", NO_VALUE))
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
