"""Frequency–energy curves (backbones) of a sweep over energy, and the energy at a frequency."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any, cast

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sweep import wording
from sweep.analysis.cuts import cut
from sweep.analysis.figures import save, single_panel, styled
from sweep.analysis.labels import axis_label, named, quantities, with_unit
from sweep.analysis.scales import evenly, scale
from sweep.errors import SweepError
from sweep.spec import Status
from sweep.store import open_results
from sweep.summary import flag_names, refuse_no_results
from sweep.work import Values

ENERGY, FREQUENCY = "energy", "frequency"
MAX_CURVES = 8


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
    energies = _crossing(curves, shown[ENERGY].values, frequency)
    rest = [name for name in shown[FREQUENCY].dims if name != ENERGY]
    along = {name: dataset[name] for name in rest if name in dataset.coords}
    described = {"long_name": f"energy at {frequency:g} Hz", "units": "J"}
    return xr.DataArray(energies, along, rest, attrs=described)


def plot_backbone(
    dataset: xr.Dataset | str | Path,
    path: str | Path,
    *,
    per: str | None = None,
    at: Mapping[str, float | str] | None = None,
) -> Path:
    """Save the picture of `draw_backbone` (.png, .pdf, .svg ...) and return the file's path.

    `dataset` may also be the path of a store.
    SweepError as for `draw_backbone`, and if the file cannot be written.
    """
    results = open_results(dataset) if isinstance(dataset, str | Path) else dataset
    return save(draw_backbone(results, per=per, at=at), path)


@styled
def draw_backbone(
    dataset: xr.Dataset, *, per: str | None = None, at: Mapping[str, float | str] | None = None
) -> Figure:
    """Draw the backbones as a matplotlib Figure, with one curve for each value of the axis `per`.

    By default, `per` is the longest other axis that `at` does not cut. At most MAX_CURVES values,
    evenly spread, are drawn. Other axes are cut at the value nearest to that in `at`, or at their
    middle. If the sweep has the output `stable`, unstable motions are dotted. SweepError without an
    axis of at least two energies, and for unknown axes.
    """
    _check(dataset)
    others = [str(name) for name in dataset[FREQUENCY].dims if name != ENERGY]
    if per is not None and per not in others:
        raise SweepError(
            f"this sweep has no axis {per!r} besides energy: choose one of {wording.listed(others)}"
        )
    at = at or {}
    if at.keys() & {ENERGY, per}:
        raise SweepError(
            "at= cannot cut energy, which is the abscissa, nor `per`, which has a curve per value: "
            "leave them out of at="
        )
    free = [name for name in others if name not in at]
    per = per or max(free, key=lambda name: dataset.sizes[name], default=None)
    middles = {name: float(dataset[name][dataset.sizes[name] // 2]) for name in others}
    cuts = {name: value for name, value in {**middles, **at}.items() if name != per}
    shown = cut(dataset, FREQUENCY, cuts)
    figure, axes = single_panel(*shown.heading("backbone"))
    along, frequencies = shown.variable(ENERGY), shown.output.copy(data=shown.values)
    unstable = frequencies.copy(data=_unstable(shown.dataset))
    axes.set(xscale=scale(along.values), xlabel=axis_label(along))
    axes.set_ylabel(with_unit(FREQUENCY, frequencies))
    if per is None or per not in frequencies.dims:
        _draw_curve(axes, along.values, frequencies.values, unstable.values)
        return figure
    some = evenly(frequencies.sizes[per], MAX_CURVES)
    label = named(shown.dataset[per])
    for i, text in zip(some.tolist(), quantities(shown.dataset[per][some]), strict=True):
        curve, dotted = (each.isel({per: i}).values for each in (frequencies, unstable))
        _draw_curve(axes, along.values, curve, dotted, label=f"{label} = {text}")
    axes.legend()
    return figure


def _draw_curve(
    axes: Axes, energies: Values, values: Values, unstable: NDArray[np.bool_], **label: Any
) -> None:
    line = axes.plot(energies, np.where(unstable, np.nan, values), linewidth=1.3, **label)[0]
    if unstable.any():  # dotted up to the neighbours, as a single point would not be visible
        beside = np.pad(unstable, 1)
        dotted = np.where(unstable | beside[:-2] | beside[2:], values, np.nan)
        axes.plot(energies, dotted, linestyle=":", linewidth=1.3, color=line.get_color())


def _unstable(curves: xr.Dataset) -> NDArray[np.bool_]:
    if "stable" not in curves:
        return np.zeros(curves[FREQUENCY].shape, dtype=bool)
    codes = {name: code for code, name in flag_names(curves["stable"]).items()}
    return curves["stable"].values == codes["unstable"]


def _crossing(curves: Values, energies: Values, level: float) -> Values:
    """The only energy at which each curve, along the last axis, has the value `level`.

    Between samples, ln E is interpolated linearly over the curve.
    """
    difference = curves - level
    before, after = difference[..., :-1], difference[..., 1:]
    passes: NDArray[np.bool_] = (before < 0) & (after > 0) | (before > 0) & (after < 0)
    met: NDArray[np.bool_] = difference == 0
    only = passes.sum(axis=-1) + met.sum(axis=-1) == 1
    crosses = only & passes.any(axis=-1)
    left = np.array(met.argmax(axis=-1), np.intp)
    np.copyto(left, passes.argmax(axis=-1), where=crosses)
    right: NDArray[np.intp] = left + crosses
    low: Values = np.take_along_axis(difference, left[..., None], -1)[..., 0]
    high: Values = np.take_along_axis(difference, right[..., None], -1)[..., 0]
    share = np.where(crosses, low, 0.0) / np.where(crosses, low - high, 1.0)
    return np.where(only, energies[left] * (energies[right] / energies[left]) ** share, np.nan)


def _check(dataset: xr.Dataset) -> None:
    refuse_no_results(dataset)
    if FREQUENCY not in dataset or ENERGY not in dataset[FREQUENCY].dims:
        raise SweepError(
            "a backbone is the frequency over the energy: this sweep has no output 'frequency' "
            "along an axis 'energy'; add them to its file"
        )
    if dataset.sizes[ENERGY] < 2:
        raise SweepError("a backbone needs at least two energies; add some to the axis 'energy'")
