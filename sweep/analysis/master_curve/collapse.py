"""Whether points of several amplitudes and phases lie on one curve, and a fit on them."""

from __future__ import annotations

import math

import numpy as np

from sweep.analysis.master_curve import alike
from sweep.analysis.master_curve.points import Points, Values

SMALL = 0.1  # δ up to which energies collapse, some per cent off
APART = 0.01  # relative, that points of one x may differ by
SCATTERS = 6.0  # how far above the scatter along a curve the difference of curves has to be
MOST_CURVES = 25
MEDIAN = 0.6745  # of the size of a normal variate, in its standard deviations
FOLLOWED = 0.02  # rms, relative, that a curve may be off by in any case
IN_PHASE = 0.3  # rad, up to which curves over β are too steep at 1
BESIDE = (0.9, 1.2)  # of β: where they are no more


def uncollapsed(points: Points, variable: str, x: Values, share: Values) -> list[str]:
    """Sentences on what makes no single curve; `share` is the energy over that of the fit."""
    found: list[str] = []
    greatest = float(points.delta.max(initial=0.0))
    if greatest > SMALL:
        found.append(
            f"delta is up to {greatest:.4g}, and energies collapse for small ones: choose points "
            f"below {SMALL:g}, --at delta=..."
        )
    apart = _apart(points, x, share)
    if apart > APART:
        varied = [name for name in ("delta", "phase") if np.unique(getattr(points, name)).size > 1]
        cuts = " or ".join(f"--at {name}=..." for name in varied)
        found.append(
            f"the points do not collapse: of nearly equal {variable} they differ by up to "
            f"{100 * apart:.2g} %, being of several {' and '.join(varied)}: choose one, {cuts}"
        )
    return found


def scatter(x: Values, energy: Values) -> float:
    """How far a curve through the points may be off by their scatter alone, relative.

    They scatter by what neighbours differ by, a straight line on logarithmic scales taken away: of
    most, for where a curve bends sharply that is its bend.
    """
    bends = np.abs(np.diff(np.log(energy[np.argsort(x)]), 2))
    return SCATTERS * float(np.median(bends)) / math.sqrt(6) / MEDIAN if bends.size else math.inf


def unfollowed(points: Points, variable: str, ends: tuple[float, float], off: float) -> str:
    """What to say of a curve between these ends that is off its points, rms, by more than that."""
    said = (
        f"the curve does not follow the points, which scatter less, and is off by "
        f"{100 * off:.2g} % rms"
    )
    (low, high), (below, above) = ends, BESIDE
    phases = np.abs(alike.apart(points.phase, 0.0, alike.PERIODS["phase"]))
    if variable == "beta" and low < below and above < high and np.all(phases <= IN_PHASE):
        return (
            f"{said}; nearly in phase slip all but ends at beta = 1, too suddenly for one quotient:"
            f" fit both sides, --range {low:g} {below:g} and --range {above:g} {high:g}"
        )
    return f"{said}: narrow --range, raise --degrees, or ask for --method aaa"


def _apart(points: Points, x: Values, share: Values) -> float:
    """How far curves of one amplitude and phase each are apart; 0 if it is their scatter."""
    kinds = np.stack([np.nan_to_num(points.delta), np.nan_to_num(points.phase)], axis=1)
    kinds, kind = np.unique(kinds, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    if len(kinds) < 2:
        return 0.0
    order = np.argsort(x)
    if 4 * len(kinds) > x.size:  # no curves, each point is of its own
        return float(np.sqrt(np.mean(np.diff(share[order]) ** 2)))
    grid = np.quantile(np.log(x), np.linspace(0, 1, 101))
    some = np.unique(np.linspace(0, len(kinds) - 1, min(len(kinds), MOST_CURVES)).astype(int))
    least, greatest, steps = np.full(101, np.inf), np.full(101, -np.inf), np.empty(0)
    for k in some:
        own = order[kind[order] == k]
        at = np.interp(grid, np.log(x[own]), share[own], left=np.nan, right=np.nan)
        least, greatest = np.fmin(least, at), np.fmax(greatest, at)
        steps = np.append(steps, np.diff(share[own], 2))
    scatter = float(np.sqrt(np.mean(steps**2) / 6)) if steps.size else 0.0
    apart = float(np.max(np.where(greatest > least, greatest - least, 0.0)))
    return apart if apart > SCATTERS * scatter else 0.0
