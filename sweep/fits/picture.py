"""Pictures of energies and of the curves fitted to them, after Figs. 3, 4 and 5 of the paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sweep.fits.curve import MasterCurve
from sweep.fits.points import ContactEnergies
from sweep.pictures.colours import LINES
from sweep.pictures.figures import WIDTH, Layout, figure_of, save
from sweep.pictures.panels import FREE, Limits, Mark, Panel, PanelAxis
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
BORDER = {"color": "0.6", "linewidth": 0.8}
DOTS = {"linestyle": "none", "marker": ".", "markersize": 2.5}
CIRCLES = {"linestyle": "none", "marker": "o", "markersize": 3.5, "fillstyle": "none"}


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


def draw_amplitudes(points: ContactEnergies) -> Figure:
    """Fig. 3: W̄ over β, and W̄δ over ξ = β/δ, a curve for each normal amplitude.

    Lines are the energies of complete and partial slip, eqs. 20 and 19, and of complete stick,
    eq. 22: over ξ a level δ sin²φ for each amplitude. Complete slip is that of the points' profile,
    W̄δ = 3n²ξ/(2(n + 1)), which for a sphere is eq. 20. Regions I and II part at ξ = 1/√8, II and
    III at β = 1/(4 sin²φ) (eq. 24). Contacts of constant load, δ = 0, are drawn over ξ alone.
    """
    points, left, right = points.usable, list[Mark](), list[Mark]()
    level = float(relaxation(points.phase[0])) if np.unique(points.phase).size == 1 else 0.0
    for delta, some in _curves(points, "delta", "xi"):
        label = f"δ = {delta:.4g}"
        right.append(_line(some.xi, some.xi_energy, label))
        if delta > 0:
            left.append(_line(some.beta, some.energy, label))
            if level > NEGLIGIBLE:
                right.append(Mark("axhline", (level * delta,), LEVEL, hue=label))
    low, high = float(points.xi.min()), float(points.xi.max())
    slip, stick = np.geomspace(low, 1.0), np.geomspace(0.2, max(high, 1.0))
    exponent = float(np.median(points.profile_exponent))
    # W̄δ of complete slip over a sphere's: W = 4μF_nΔx, and F_n = 2E*a0d0 n/(n + 1).
    share = 0.75 * exponent**2 / (exponent + 1)
    coulomb = share * complete_slip(slip, 1.0)
    right += [
        Mark("plot", (slip, coulomb), {**DOTTED, "label": COULOMB[share == 1]}),
        Mark("plot", (stick, partial_slip(stick)), {**DASHED, "label": "Mindlin, eq. 19"}),
        Mark("axvline", (1 / math.sqrt(8),), {**BORDER, "label": "I | II: ξ = 1/√8, eq. 24"}),
    ]
    if level > NEGLIGIBLE:
        right.append(Mark("plot", ([], []), {**LEVEL, "label": "W̄δ = δ sin²φ, eq. 22"}))
        left.append(Mark("axhline", (level,), {**LEVEL, "label": "W̄ = sin²φ, eq. 22"}))
        border = {**BORDER, "label": "II | III: β = 1/(4 sin²φ), eq. 24"}
        left.append(Mark("axvline", (0.25 / level,), border))
    limits = _around(np.hstack([mark.data[-1] for mark in right if mark.hue]))
    return _side_by_side(_logarithmic("β", "W̄", left), _logarithmic("ξ = β/δ", "W̄δ", right, limits))


def draw_phases(points: ContactEnergies) -> Figure:
    """Fig. 4: W̄ over β, and W̄/sin²φ, a curve for each phase."""
    left, right = list[Mark](), list[Mark]()
    for phase, some in _curves(points.usable, "phase", "beta"):
        label, share = f"φ = {np.degrees(phase):.4g}°", float(relaxation(phase))
        left.append(_line(some.beta, some.energy, label))
        if share > NEGLIGIBLE:
            right.append(_line(some.beta, some.energy / share, label))
    return _side_by_side(_logarithmic("β", "W̄", left), _logarithmic("β", "W̄/sin²φ", right))


def draw_fits(curves: Sequence[MasterCurve], others: Mapping[str, Formula] | None = None) -> Figure:
    """Fig. 5: the fits through the points, and below each its distance from them.

    `others` are labelled formulas by variable ("beta", "xi"), which are drawn too.
    """
    pairs = [_panels(curve, (others or {}).get(curve.variable.name)) for curve in curves]
    n = len(pairs)
    size = (WIDTH, 5.2 if n > 1 else 6.4)
    cells = np.arange(2 * n).reshape(2, n).tolist()
    layout = Layout(cells, size, heights=[3, 2], shared="x")
    return figure_of([panel for row in zip(*pairs, strict=True) for panel in row], layout=layout)


def _panels(curve: MasterCurve, other: Formula | None) -> tuple[Panel, Panel]:
    """A curve through its points, and its distance from them."""
    order = np.argsort(curve.x)
    x, energy = curve.x[order], curve.energy[order]
    marks = evenly(x.size, MAX_MARKS)
    grid: Values = np.geomspace(float(x[0]), float(x[-1]), 2001)
    label = f"fit of {curve.variable.energy}, {curve.n_coefficients} coefficients"
    upper = [
        Mark("plot", (x[marks], energy[marks]), {**CIRCLES, "label": "points"}),
        Mark("plot", (grid, curve(grid)), {"color": LINES[1], "label": label}),
    ]
    difference = _relative_difference(curve(curve.x), curve.energy)
    lower = [
        Mark("plot", (curve.x[some], difference[some]), {**DOTS, "label": name}, hue=name)
        for name, some in _branches(curve.points).items()
    ]
    if curve.theory is not None:
        closed_form = curve.theory(grid)
        upper.append(Mark("plot", (grid, closed_form), {**DOTTED, "label": "closed form, δ → 0"}))
        difference = _relative_difference(curve(grid), closed_form)
        lower.append(Mark("plot", (grid, difference), {**DOTTED, "label": "fit − closed form"}))
    if other:
        label, formula = other
        style = {"linestyle": "--", "color": LINES[2]}
        upper.append(Mark("plot", (x, formula(x)), {**style, "label": label}))
        difference = _relative_difference(formula(x), energy)
        lower.append(Mark("plot", (x, difference), {**style, "label": f"{label} − points"}))
    scale = "log" if x[-1] > 100 * x[0] > 0 else "linear"
    across = PanelAxis(curve.variable.symbol, scale)
    return (
        Panel(across, PanelAxis(curve.variable.energy), upper, has_grid=True),
        Panel(across, PanelAxis("relative difference", "log"), lower, has_grid=True),
    )


def _branches(points: ContactEnergies) -> dict[str, NDArray[np.bool_]]:
    """The points of each value of δ or φ by name; all by one unless one of the two varies.

    All, too, if there are more than MAX_CURVES values.
    """
    known = {"δ": points.delta, "φ": points.phase}
    varied = {symbol: np.unique(each) for symbol, each in known.items() if np.ptp(each) > 0}
    if len(varied) == 1:
        ((symbol, values),) = varied.items()
        if values.size <= MAX_CURVES:
            names = {f"fit − points, {symbol} = {value:.4g}": value for value in values}
            return {name: known[symbol] == value for name, value in names.items()}
    return {"fit − points": np.ones(points.beta.size, dtype=bool)}


def _relative_difference(energy: Values, reference: Values) -> Values:
    """The relative difference; NaN where the reference is 0."""
    return np.abs(energy / np.where(reference == 0, np.nan, reference) - 1)


def _line(x: Values, y: Values, label: str) -> Mark:
    return Mark("plot", (x, y), {"label": label}, hue=label)


def _logarithmic(x: str, y: str, marks: Sequence[Mark], limits: Limits = FREE) -> Panel:
    return Panel(PanelAxis(x, "log"), PanelAxis(y, "log", limits), marks, has_grid=True)


def _side_by_side(*panels: Panel) -> Figure:
    return figure_of(panels, layout=Layout([[0, 1]], (WIDTH, 4.0)))


def _around(values: Values) -> Limits:
    """Limits of a logarithmic axis around some values, as far from them as matplotlib's."""
    low, high = np.log10([np.nanmin(values), np.nanmax(values)])
    margin = 0.05 * (high - low)
    return float(10 ** (low - margin)), float(10 ** (high + margin))


def _curves(
    points: ContactEnergies, column: str, x: str
) -> Iterator[tuple[float, ContactEnergies]]:
    """Some values of a column, and the points of each in the order of x."""
    values: Values = getattr(points, column)
    for value in _chosen(values):
        some = points.where(values == value)
        yield float(value), some.where(np.argsort(getattr(some, x)))


def _chosen(column: Values) -> Values:
    """Values to draw a curve for: all, or evenly spaced ones."""
    distinct = np.unique(column)
    most = min(distinct.size, MAX_CURVES)
    if distinct.size > 1 and (distinct.size - 1) % (most - 1):
        return distinct[:: -(-distinct.size // MAX_CURVES)]
    return distinct[evenly(distinct.size, MAX_CURVES)]
