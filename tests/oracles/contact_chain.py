"""Masses in a row whose neighbours touch beyond gaps: matrix exponentials between contacts.

m x'' = F sin(w t) on each mass, springs to the ground, and k (x_i - x_{i+1} - gap) between
neighbours where that is positive. Contacts begin and end at roots by Brent's method.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq


def matrix(
    masses: Sequence[float],
    ground: Sequence[float],
    contact: Sequence[float],
    gap: float,
    force: Sequence[float],
    rate: float,
    touching: Sequence[bool],
) -> Any:
    """The rates of (x, v, sin, cos, 1) while the same contacts are closed."""
    n = len(masses)
    a = np.zeros((2 * n + 3, 2 * n + 3))
    sine, cosine, one = 2 * n, 2 * n + 1, 2 * n + 2
    a[:n, n : 2 * n] = np.eye(n)
    for i in range(n):
        a[n + i, i] -= ground[i]
        a[n + i, sine] += force[i]
    for i, closed in enumerate(touching):
        for place, sign in ((i, -1.0), (i + 1, 1.0)):
            a[n + place, i] += sign * closed * contact[i]
            a[n + place, i + 1] -= sign * closed * contact[i]
            a[n + place, one] -= sign * closed * contact[i] * gap
    a[n : 2 * n] /= np.array(masses)[:, None]
    a[sine, cosine], a[cosine, sine] = rate, -rate
    return a


def motion(
    masses: Sequence[float],
    ground: Sequence[float],
    contact: Sequence[float],
    gap: float,
    force: Sequence[float],
    rate: float,
    end: float,
    step: float = 2e-5,
) -> tuple[Any, list[tuple[float, int, bool]]]:
    """The state at the end, from rest; time, contact and whether it closes, of each change."""
    n = len(masses)
    touching = [False] * (n - 1)
    state, t = np.array([0.0] * (2 * n + 1) + [1.0, 1.0]), 0.0
    changes: list[tuple[float, int, bool]] = []
    while True:
        a = matrix(masses, ground, contact, gap, force, rate, touching)
        whole, start, since = expm(a * step), state, t

        def overlap(i: int, at: Any) -> float:
            return float(at[i] - at[i + 1] - gap)

        def crossed(at: Any, now: Sequence[bool] = tuple(touching)) -> list[int]:
            return [i for i in range(n - 1) if (overlap(i, at) > 0) != now[i]]

        k = 0
        while since + (k + 1) * step < end:
            following = whole @ state
            if k and (found := crossed(following)):
                break
            state, k = following, k + 1
        else:
            return expm(a * (end - since)) @ start, changes
        times = [
            (
                brentq(
                    lambda s, i=i, a=a, x=state: overlap(i, expm(a * s) @ x), 0, step, xtol=1e-15
                ),
                i,
            )
            for i in found
        ]
        delay, i = min(times)
        state = expm(a * (k * step + delay)) @ start
        t = since + k * step + delay
        touching[i] = not touching[i]
        changes.append((t, i, touching[i]))
