"""Pictures of energies and of the curves fitted to them, after Figs. 3, 4 and 5 of the paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sweep.analysis.figures import new_figure, plain_ticks
from sweep.analysis.master_curve.curve import MasterCurve
from sweep.analysis.master_curve.points import ContactEnergies
from sweep.analysis.scales import evenly
from sweep.theory.mdr_contact import complete_slip, partial_slip, relaxation
from sweep.work import Values

Formula = tuple[str, Callable[[Values], Values]]  # label, energy over the variable

MAX_CURVES = 7
BRANCH_COLOURS = ("C1", "C0", "C3", "C4", "C5", "C6", "C8")
MAX_MARKS = 60  # of points drawn with a fit
DPI = 100
NEGLIGIBLE = 1e-12  # sin²φ
COULOMB = ("Coulomb, of this profile", "Coulomb, eq. 20")


def draw_amplitudes(points: ContactEnergies) -> Figure:
    """Fig. 3: W̄ over β, and W̄δ over ξ = β/δ, a curve for each normal amplitude.

    Lines are the energies of complete and partial slip, eqs. 20 and 19, and of complete stick,
    eq. 22: over ξ a level δ sin²φ for each amplitude. Complete slip is that of the points' profile,
    W̄δ = 3n²ξ/(2(n + 1)), which for a sphere is eq. 20. Regions I and II part at ξ = 1/√8, II and
    III at β = 1/(4 sin²φ) (eq. 24). Contacts of constant load, δ = 0, are drawn over ξ alone.
    """
    figure = new_figure(10.4, 4.4, DPI)
    left, right = figure.subplots(1, 2)
    right.set(xscale="log", yscale="log")
    points = points.with_profile()
    level = float(relaxation(points.phase[0])) if np.unique(points.phase).size == 1 else math.nan
    for i, delta in enumerate(_chosen(points.delta)):
        some = points.where(points.delta == delta)
        some = some.where(np.argsort(some.xi))
        style: dict[str, Any] = {"linewidth": 1.2, "label": f"δ = {delta:.4g}", "color": f"C{i}"}
        if delta > 0:
            left.plot(some.beta, some.energy, **style)
            if level > NEGLIGIBLE:
                right.axhline(level * delta, color=f"C{i}", linewidth=0.7, linestyle="-.")
        right.plot(some.xi, some.xi_energy, **style)
    low, high = float(points.xi.min()), float(points.xi.max())
    slip, stick = np.geomspace(low, 1.0), np.geomspace(0.2, max(high, 1.0))
    ends = right.get_ylim()
    exponent = float(np.median(points.profile_exponent))
    # W̄δ of complete slip over a sphere's: W = 4μF_nΔx, and F_n = 2E*a0d0 n/(n + 1).
    share = 0.75 * exponent**2 / (exponent + 1)
    right.plot(
        slip, share * complete_slip(slip, 1.0), "k:", linewidth=0.9, label=COULOMB[share == 1]
    )
    right.plot(stick, partial_slip(stick), "k--", linewidth=0.9, label="Mindlin, eq. 19")
    right.axvline(1 / math.sqrt(8), color="0.6", linewidth=0.8, label="I | II, eq. 24")
    if level > NEGLIGIBLE:
        right.plot([], [], "k-.", linewidth=0.7, label="δ sin²φ, eq. 22")
        left.axhline(level, color="k", linewidth=0.7, linestyle="-.", label="sin²φ, eq. 22")
        left.axvline(0.25 / level, color="0.6", linewidth=0.8, label="II | III, eq. 24")
    right.set_ylim(ends)
    _finish(left, "β", "W̄")
    _finish(right, "ξ = β/δ", "W̄δ")
    return figure


def draw_phases(points: ContactEnergies) -> Figure:
    """Fig. 4: W̄ over β, and W̄/sin²φ, a curve for each phase."""
    figure = new_figure(10.4, 4.4, DPI)
    left, right = figure.subplots(1, 2)
    for i, phase in enumerate(_chosen(points.phase)):
        some = points.where(points.phase == phase)
        some = some.where(np.argsort(some.beta))
        style: dict[str, Any] = {"label": f"φ = {np.degrees(phase):.4g}°", "color": f"C{i}"}
        left.plot(some.beta, some.energy, linewidth=1.2, **style)
        share = float(relaxation(phase))
        if share > NEGLIGIBLE:
            right.plot(some.beta, some.energy / share, linewidth=1.2, **style)
    _finish(left, "β", "W̄")
    _finish(right, "β", "W̄/sin²φ")
    return figure


def draw_fits(curves: Sequence[MasterCurve], others: Mapping[str, Formula] | None = None) -> Figure:
    """Fig. 5: the fits through the points, and below each its distance from them.

    `others` are labelled formulas by variable ("beta", "xi"), which are drawn too.
    """
    figure = new_figure(5.2 * len(curves), 6.0, DPI)
    grid = figure.add_gridspec(2, len(curves), height_ratios=[3, 2])
    for i, curve in enumerate(curves):
        upper = figure.add_subplot(grid[0, i])
        lower = figure.add_subplot(grid[1, i], sharex=upper)
        _draw_curve(upper, lower, curve)
        if others and curve.variable.name in others:
            label, formula = others[curve.variable.name]
            order = np.argsort(curve.x)
            x, energy = curve.x[order], curve.energy[order]
            style: dict[str, Any] = {"linestyle": "--", "color": "C2", "linewidth": 1.0}
            upper.plot(x, formula(x), label=label, **style)
            difference = _relative_difference(formula(x), energy)
            lower.plot(x, difference, label=f"{label} − points", **style)
        for axes in (upper, lower):
            plain_ticks(axes.xaxis)
            plain_ticks(axes.yaxis)
            axes.grid(color="0.9")
            axes.legend(frameon=False, fontsize="small")
    return figure


def _draw_curve(upper: Axes, lower: Axes, curve: MasterCurve) -> None:
    order = np.argsort(curve.x)
    x, energy = curve.x[order], curve.energy[order]
    marks = evenly(x.size, MAX_MARKS)
    grid: Values = np.geomspace(float(x[0]), float(x[-1]), 2001)
    upper.plot(x[marks], energy[marks], "o", markersize=3.5, fillstyle="none", label="points")
    label = f"fit, {curve.n_coefficients} coefficients"
    upper.plot(grid, curve(grid), linewidth=1.2, color="C1", label=label)
    difference = _relative_difference(curve(curve.x), curve.energy)
    branches = _branches(curve.points)
    if not 1 < len(branches) <= MAX_CURVES:
        branches = {"": np.ones(x.size, dtype=bool)}
    for (name, some), colour in zip(branches.items(), BRANCH_COLOURS, strict=False):
        label = f"fit − points, {name}" if name else "fit − points"
        lower.plot(curve.x[some], difference[some], ".", color=colour, label=label, markersize=2.5)
    if curve.theory is not None:
        closed_form = curve.theory(grid)
        upper.plot(grid, closed_form, "k:", linewidth=1.0, label="closed form, δ → 0")
        difference = _relative_difference(curve(grid), closed_form)
        lower.plot(grid, difference, "k:", linewidth=1.0, label="fit − closed form")
    name, scale = curve.variable.symbol, "log" if x[-1] > 100 * x[0] > 0 else "linear"
    upper.set(xscale=scale, ylabel=curve.variable.energy)
    lower.set(yscale="log", xlabel=name, ylabel="relative difference")


def _branches(points: ContactEnergies) -> dict[str, NDArray[np.bool_]]:
    """The points of each value of δ or φ, by "δ = 0.01"; none unless one of the two varies."""
    known = {"δ": points.delta, "φ": points.phase}
    varied = {symbol: np.unique(each) for symbol, each in known.items() if np.ptp(each) > 0}
    if len(varied) != 1:
        return {}
    ((symbol, values),) = varied.items()
    return {f"{symbol} = {value:.4g}": known[symbol] == value for value in values}


def _relative_difference(energy: Values, reference: Values) -> Values:
    """The relative difference; NaN where the reference is 0."""
    return np.abs(energy / np.where(reference == 0, np.nan, reference) - 1)


def _finish(axes: Axes, abscissa: str, ordinate: str) -> None:
    axes.set(xscale="log", yscale="log", xlabel=abscissa, ylabel=ordinate)
    plain_ticks(axes.xaxis)
    plain_ticks(axes.yaxis)
    axes.grid(color="0.9")
    axes.legend(frameon=False, fontsize="small")


def _chosen(column: Values) -> Values:
    """Values to draw a curve for: all, or evenly spaced ones."""
    distinct = np.unique(column)
    most = min(distinct.size, MAX_CURVES)
    if distinct.size > 1 and (distinct.size - 1) % (most - 1):
        return distinct[:: -(-distinct.size // MAX_CURVES)]
    return distinct[evenly(distinct.size, MAX_CURVES)]
