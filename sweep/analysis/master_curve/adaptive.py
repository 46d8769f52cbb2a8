"""Rational functions fitted by AAA, which finds the degrees itself."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy.interpolate import AAA

from sweep.analysis.master_curve.fitting import Ends, Target
from sweep.analysis.master_curve.rational import Barycentric, Values

MOST_TERMS = 30  # of AAA
CLEAN = 1e-4  # scatter, of the greatest value, that is none


def adaptive(target: Target, tolerance: float, ends: Ends | None = None) -> Barycentric | None:
    """The AAA algorithm (Nakatsukasa, Sète, Trefethen 2018): degrees as the tolerance needs them.

    The tolerance is relative to the greatest g. Points of one t count with their mean. Terms are
    taken off until there is no pole between the ends (the points', if none are told). None for
    points that scatter by more than the tolerance: the curve goes through some of them.
    """
    t, place = np.unique(target.t, return_inverse=True)
    g = np.bincount(place, target.g) / np.bincount(place)
    ends = ends or (float(t[0]), float(t[-1]))
    if _foreseen(t, g, tolerance, ends) > max(tolerance, CLEAN):
        return None
    most = min(MOST_TERMS, t.size // 2)
    while most > 0:
        found = _adapted(t, g, tolerance, most)
        if not found.poles_within(*ends):
            return found
        most = len(found.support) - 1
    return None


def _adapted(t: Values, g: Values, tolerance: float, most: int) -> Barycentric:
    with warnings.catch_warnings():  # that the tolerance is not met: the error is told anyway
        warnings.simplefilter("ignore", RuntimeWarning)
        fit: Any = AAA(t, g, rtol=tolerance, max_terms=most)
        return Barycentric(
            tuple(np.real(fit.support_points).tolist()),
            tuple(np.real(fit.support_values).tolist()),
            tuple(np.real(fit.weights).tolist()),
            tuple(fit.poles().tolist()),
        )


def _foreseen(t: Values, g: Values, tolerance: float, ends: Ends) -> float:
    """How well AAA on every other point tells the rest: rms, over the greatest g."""
    shown = np.arange(t.size) % 2 == 0
    shown[-1] = True
    least = math.inf
    for terms in range(1, min(MOST_TERMS, int(shown.sum()) // 2) + 1):
        found = _adapted(t[shown], g[shown], tolerance, terms)
        if not found.poles_within(*ends):
            off = (found(t[~shown]) - g[~shown]) / np.max(g)
            least = min(least, float(np.sqrt(np.mean(off**2))))
        if least <= max(tolerance, CLEAN):
            break
    return least
