"""Frequency–energy curves (backbones) of a sweep over energy, and the energy at a frequency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import cast

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sweep.errors import SweepError
from sweep.model.table import Status
from sweep.pictures.cuts import cut
from sweep.pictures.figures import figure_of, save
from sweep.pictures.line_panels import lines_of
from sweep.pictures.panels import Mark, Panel
from sweep.pictures.plots import notes_of, panel_of
from sweep.pictures.slices import Slice
from sweep.pictures.view import View
from sweep.request.chunk import Values
from sweep.results.summary import flag_names, refuse_no_results
from sweep.store import open_results
from sweep.text import wording

ENERGY, FREQUENCY = "energy", "frequency"


def energy_at(dataset: xr.Dataset, frequency: float) -> xr.DataArray:
    """The energy [J] at which the motion has a given frequency [Hz], over the other axes.

    It is exact at the points of the sweep. Between them log E is interpolated linearly over the
    frequency; the error is of second order in the step of log E, and up to the step itself just
    above grazing. NaN if no energy, or more than one, has that frequency: where the curve is not
    monotonic, and on its flat part below grazing. SweepError without an axis of energy.
    """
    _check(dataset)
    if not isinstance(cast(object, frequency), Real):
        raise SweepError(f"frequency={wording.shown(frequency)} is not one number in Hz")
    shown = dataset[[FREQUENCY, "status"]].sortby(ENERGY).transpose(..., ENERGY)
    curves = np.where(shown["status"].values == Status.ok, shown[FREQUENCY].values, np.nan)
    energies = np.apply_along_axis(_crossing, -1, curves - frequency, shown[ENERGY].values)
    rest = [name for name in shown[FREQUENCY].dims if name != ENERGY]
    along = {name: dataset[name] for name in rest if name in dataset.coords}
    described = {"long_name": f"energy at {frequency:g} Hz", "units": "J"}
    return xr.DataArray(energies, along, rest, attrs=described)


def plot_backbone(
    dataset: xr.Dataset | str | Path,
    path: str | Path | None = None,
    *,
    per: str | None = None,
    at: Mapping[str, float | str] | None = None,
) -> Figure:
    """Draw the backbones as a matplotlib Figure; with `path` (.png, .pdf, .svg ...), also save it.

    `dataset` may also be the path of a store. There is one curve for each value of the axis `per`,
    by default the longest other axis that `at` does not cut; of many values, some are drawn, evenly
    spread. Other axes are cut at the value nearest to that in `at`, or at their middle. If the
    sweep has the output `stable`, unstable motions are dotted. SweepError without an axis of at
    least two energies, for unknown axes, and if the file cannot be written.
    """
    results = open_results(dataset) if isinstance(dataset, str | Path) else dataset
    _check(results)
    free = [str(each) for each in results[FREQUENCY].dims if each not in {ENERGY, *(at or {})}]
    per = per or max(free, key=lambda name: results.sizes[name], default=None)
    shown = cut(results, FREQUENCY, at or {}, view=View(x=ENERGY, hue=per))
    panel = panel_of({"": shown})
    if "stable" in shown.dataset:
        panel = replace(panel, marks=[*_dotted_where_unstable(panel, shown)])
    figure = figure_of([panel], shown.heading("backbone"), notes_of([shown]))
    if path is not None:
        save(figure, path)
    return figure


def _dotted_where_unstable(panel: Panel, shown: Slice) -> Iterator[Mark]:
    """The marks, with the unstable parts of lines dotted up to their neighbours.

    By itself, a single point would not be visible.
    """
    (unstable,) = (code for code, name in flag_names(shown.dataset["stable"]).items()
                   if name == "unstable")  # fmt: skip
    _, stabilities, _ = lines_of(replace(shown, name="stable"))
    lines = iter(stabilities)
    for mark in panel.marks:
        if mark.hue is None:
            yield mark
            continue
        (x, line), is_unstable = mark.data, next(lines) == unstable
        beside = np.pad(is_unstable, 1)
        is_dotted = is_unstable | beside[:-2] | beside[2:]
        yield replace(mark, data=(x, np.where(is_unstable, np.nan, line)))
        if is_unstable.any():
            style = {"linestyle": ":"}
            yield Mark("plot", (x, np.where(is_dotted, line, np.nan)), style, hue=mark.hue)


def _crossing(difference: Values, energies: Values) -> float:
    """The only energy at which a curve less its level is 0; NaN if there is none, or several.

    Between samples, ln E is interpolated linearly over the curve.
    """
    met = np.flatnonzero(difference == 0)
    passes = np.flatnonzero(np.sign(difference[:-1]) * np.sign(difference[1:]) < 0)
    if met.size + passes.size != 1:
        return np.nan
    if met.size:
        return float(energies[met[0]])
    i = int(passes[0])
    share = difference[i] / (difference[i] - difference[i + 1])
    return float(energies[i] * (energies[i + 1] / energies[i]) ** share)


def _check(dataset: xr.Dataset) -> None:
    refuse_no_results(dataset)
    if FREQUENCY not in dataset or ENERGY not in dataset[FREQUENCY].dims:
        raise SweepError(
            "a backbone is the frequency over the energy: this sweep has no output 'frequency' "
            "along an axis 'energy'; add them to its file"
        )
    if dataset.sizes[ENERGY] < 2:
        raise SweepError("a backbone needs at least two energies; add some to the axis 'energy'")
