"""Pictures of energies and of the curves fitted to them, after Figs. 3, 4 and 5 of the paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sweep.fits.curve import MasterCurve
from sweep.fits.points import ContactEnergies
from sweep.pictures.colours import LINES
from sweep.pictures.figures import WIDTH, new_figure, plain_ticks, save, styled
from sweep.pictures.scales import evenly
from sweep.request.chunk import Values
from sweep.theory.mdr_contact import complete_slip, partial_slip, relaxation

Formula = tuple[str, Callable[[Values], Values]]  # label, energy over the variable

PICTURES = FITS, PHASES, AMPLITUDES = "fits.png", "phases.png", "amplitudes.png"
MAX_CURVES = 7
MAX_MARKS = 60  # of points drawn with a fit
NEGLIGIBLE = 1e-12  # sin²φ
COULOMB = ("Coulomb, of this profile", "Coulomb, eq. 20")
DASHED, LEVEL, DOTTED = (
    dict[str, Any](color="k", linestyle=style, linewidth=0.9) for style in ("--", "-.", ":")
)


def write_pictures(
    everything: ContactEnergies,
    points: ContactEnergies,
    curves: Sequence[MasterCurve],
    folder: Path,
) -> list[Path]:
    """Draw the fits, and the points where they make curves, into PICTURES; return their paths.

    `points` are those fitted, chosen from `everything`; of that, those of one amplitude and several
    phases are drawn, and those of one phase and several amplitudes.
    """
    everything, points = everything.usable, points.usable
    written = [save(draw_fits(curves), folder / FITS)]
    known = not np.isnan(everything.phase).any() and np.unique(everything.phase).size > 1
    if known and np.unique(points.delta).size == 1 and points.delta[0] != 0:
        same = everything.where(everything.delta == points.delta[0])
        if _makes_curves(same.phase):
            written.append(save(draw_phases(same), folder / PHASES))
    if np.all(points.delta >= 0) and points.delta.any() and np.unique(points.phase).size == 1:
        same = everything.where(everything.phase == points.phase[0]) if known else points
        if _makes_curves(same.delta):
            written.append(save(draw_amplitudes(same), folder / AMPLITUDES))
    return written


def _makes_curves(column: Values) -> bool:
    """Whether several points share a value, as on a grid: those of a sample have one each."""
    return 0 < 2 * np.unique(column).size <= column.size


@styled
def draw_amplitudes(points: ContactEnergies) -> Figure:
    """Fig. 3: W̄ over β, and W̄δ over ξ = β/δ, a curve for each normal amplitude.

    Lines are the energies of complete and partial slip, eqs. 20 and 19, and of complete stick,
    eq. 22: over ξ a level δ sin²φ for each amplitude. Complete slip is that of the points' profile,
    W̄δ = 3n²ξ/(2(n + 1)), which for a sphere is eq. 20. Regions I and II part at ξ = 1/√8, II and
    III at β = 1/(4 sin²φ) (eq. 24). Contacts of constant load, δ = 0, are drawn over ξ alone.
    """
    figure, left, right = _two_panels(("β", "W̄"), ("ξ = β/δ", "W̄δ"))
    points = points.usable
    level = float(relaxation(points.phase[0])) if np.unique(points.phase).size == 1 else 0.0
    for i, delta in enumerate(_chosen(points.delta)):
        some = points.where(points.delta == delta)
        some = some.where(np.argsort(some.xi))
        style: dict[str, Any] = {"label": f"δ = {delta:.4g}", "color": _colour(i)}
        if delta > 0:
            left.plot(some.beta, some.energy, **style)
            if level > NEGLIGIBLE:
                right.axhline(level * delta, color=_colour(i), linestyle="-.", linewidth=0.9)
        right.plot(some.xi, some.xi_energy, **style)
    low, high = float(points.xi.min()), float(points.xi.max())
    slip, stick = np.geomspace(low, 1.0), np.geomspace(0.2, max(high, 1.0))
    ends = right.get_ylim()
    exponent = float(np.median(points.profile_exponent))
    # W̄δ of complete slip over a sphere's: W = 4μF_nΔx, and F_n = 2E*a0d0 n/(n + 1).
    share = 0.75 * exponent**2 / (exponent + 1)
    right.plot(slip, share * complete_slip(slip, 1.0), **DOTTED, label=COULOMB[share == 1])
    right.plot(stick, partial_slip(stick), **DASHED, label="Mindlin, eq. 19")
    right.axvline(1 / math.sqrt(8), color="0.6", linewidth=0.8, label="I | II, eq. 24")
    if level > NEGLIGIBLE:
        right.plot([], [], **LEVEL, label="δ sin²φ, eq. 22")
        left.axhline(level, **LEVEL, label="sin²φ, eq. 22")
        left.axvline(0.25 / level, color="0.6", linewidth=0.8, label="II | III, eq. 24")
    right.set_ylim(ends)
    return _finished(figure)


@styled
def draw_phases(points: ContactEnergies) -> Figure:
    """Fig. 4: W̄ over β, and W̄/sin²φ, a curve for each phase."""
    figure, left, right = _two_panels(("β", "W̄"), ("β", "W̄/sin²φ"))
    points = points.usable
    for i, phase in enumerate(_chosen(points.phase)):
        some = points.where(points.phase == phase)
        some = some.where(np.argsort(some.beta))
        style: dict[str, Any] = {
            "label": f"φ = {np.degrees(phase):.4g}°",
            "color": _colour(i),
        }
        left.plot(some.beta, some.energy, **style)
        share = float(relaxation(phase))
        if share > NEGLIGIBLE:
            right.plot(some.beta, some.energy / share, **style)
    return _finished(figure)


@styled
def draw_fits(curves: Sequence[MasterCurve], others: Mapping[str, Formula] | None = None) -> Figure:
    """Fig. 5: the fits through the points, and below each its distance from them.

    `others` are labelled formulas by variable ("beta", "xi"), which are drawn too.
    """
    figure = new_figure(WIDTH, 4.6 if len(curves) > 1 else 6.0)
    panels = figure.subplots(
        2, len(curves), sharex="col", squeeze=False, gridspec_kw={"height_ratios": [3, 2]}
    )
    for (upper, lower), curve in zip(panels.T, curves, strict=True):
        _draw_curve(upper, lower, curve)
        if others and curve.variable.name in others:
            label, formula = others[curve.variable.name]
            x = np.sort(curve.x)
            upper.plot(x, formula(x), "--", color=LINES[2], label=label)
            difference = _relative_difference(formula(curve.x), curve.energy)
            order = np.argsort(curve.x)
            lower.plot(x, difference[order], "--", color=LINES[2], label=f"{label} − points")
    return _finished(figure)


def _draw_curve(upper: Axes, lower: Axes, curve: MasterCurve) -> None:
    order = np.argsort(curve.x)
    x, energy = curve.x[order], curve.energy[order]
    marks = evenly(x.size, MAX_MARKS)
    grid: Values = np.geomspace(float(x[0]), float(x[-1]), 2001)
    upper.plot(x[marks], energy[marks], "o", markersize=3.5, fillstyle="none", label="points")
    label = f"fit, {curve.n_coefficients} coefficients"
    upper.plot(grid, curve(grid), color=LINES[1], label=label)
    difference = _relative_difference(curve(curve.x), curve.energy)
    for i, (name, some) in enumerate(_branches(curve.points).items()):
        label = f"fit − points{name}"
        lower.plot(
            curve.x[some],
            difference[some],
            ".",
            color=_colour(i),
            label=label,
            ms=2.5,
        )
    if curve.theory is not None:
        closed_form = curve.theory(grid)
        upper.plot(grid, closed_form, **DOTTED, label="closed form, δ → 0")
        difference = _relative_difference(curve(grid), closed_form)
        lower.plot(grid, difference, **DOTTED, label="fit − closed form")
    scale = "log" if x[-1] > 100 * x[0] > 0 else "linear"
    upper.set(xscale=scale, ylabel=curve.variable.energy)
    lower.set(yscale="log", xlabel=curve.variable.symbol, ylabel="relative difference")


def _branches(points: ContactEnergies) -> dict[str, NDArray[np.bool_]]:
    """The points of each value of δ or φ, by ", δ = 0.01"; all by "" unless one of the two varies.

    All, too, if there are more than MAX_CURVES values.
    """
    known = {"δ": points.delta, "φ": points.phase}
    varied = {symbol: np.unique(each) for symbol, each in known.items() if np.ptp(each) > 0}
    if len(varied) == 1:
        ((symbol, values),) = varied.items()
        if values.size <= MAX_CURVES:
            return {f", {symbol} = {value:.4g}": known[symbol] == value for value in values}
    return {"": np.ones(points.beta.size, dtype=bool)}


def _relative_difference(energy: Values, reference: Values) -> Values:
    """The relative difference; NaN where the reference is 0."""
    return np.abs(energy / np.where(reference == 0, np.nan, reference) - 1)


def _two_panels(*labels: tuple[str, str]) -> tuple[Figure, Axes, Axes]:
    figure = new_figure(height=3.6)
    left, right = figure.subplots(1, 2)
    for axes, (abscissa, ordinate) in zip((left, right), labels, strict=True):
        axes.set(xscale="log", yscale="log", xlabel=abscissa, ylabel=ordinate)
    return figure, left, right


def _finished(figure: Figure) -> Figure:
    for axes in figure.axes:
        plain_ticks(axes.xaxis)
        plain_ticks(axes.yaxis)
        axes.grid(color="0.9")
        axes.legend()
    return figure


def _chosen(column: Values) -> Values:
    """Values to draw a curve for: all, or evenly spaced ones."""
    distinct = np.unique(column)
    most = min(distinct.size, MAX_CURVES)
    if distinct.size > 1 and (distinct.size - 1) % (most - 1):
        return distinct[:: -(-distinct.size // MAX_CURVES)]
    return distinct[evenly(distinct.size, MAX_CURVES)]


def _colour(number: int) -> str:
    """The colour of a line of this number; after the last, the first again."""
    return LINES[number % len(LINES)]
