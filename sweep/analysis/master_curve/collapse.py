"""Whether points of several amplitudes and phases lie on one curve."""

from __future__ import annotations

import numpy as np

from sweep.analysis.master_curve.points import Points, Values

SMALL = 0.1  # δ up to which energies collapse, some per cent off
APART = 0.01  # relative, that points of one x may differ by
SCATTERS = 6.0  # how far above the scatter along a curve the difference of curves has to be
MOST_CURVES = 25


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
