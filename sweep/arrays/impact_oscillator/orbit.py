"""Properties of a balanced motion: frequency, extremes, contact and Floquet multipliers.

The monodromy matrix is computed over SAMPLES cells of the period. In each cell the stiffness is its
mean ΔF/Δu, which is exact if u is linear in the cell, even at the kink, and the disturbance is a
sinusoid. The second half of the period is the time reversal of the first half.
"""

from __future__ import annotations

import numpy as np

from sweep.arrays.impact_oscillator.balance import (
    SAMPLES,
    Array,
    Library,
    Oscillator,
    cosines_to_time,
    force,
)

STABLE_BELOW = 1.01  # Code_Aster's CALC_STABILITE
HALF = SAMPLES // 2  # cells per half period
STRAIGHT = (
    1e-10  # relative to the amplitude; if u changes less, the slopes at the ends are averaged
)

Matrix = tuple[Array, Array, Array, Array]  # xx, xv, vx, vv


def scaled_outputs(xp: Library, oscillator: Oscillator, unknowns: Array) -> dict[str, Array]:
    """The outputs of the model in scaled units, each of shape (n,)."""
    displacement = cosines_to_time(xp, unknowns[:, :-1])[:, : HALF + 1]
    rate = xp.sqrt(xp.where(unknowns[:, -1] > 0, unknowns[:, -1], np.nan))
    beyond = displacement - oscillator.gap[:, None]
    pressed = _mean_slope(xp, beyond, xp.maximum(beyond, 0.0), 1.0 * (beyond > 0))
    trace = _trace(xp, oscillator, displacement, rate)
    half = xp.abs(trace) / 2
    modulus = xp.maximum(half, 1.0) + xp.sqrt(xp.maximum((half - 1) * (half + 1), 0.0))
    return {
        "frequency": rate / (2 * np.pi),
        "minimum": displacement.min(axis=1),
        "maximum": displacement.max(axis=1),
        "contact_fraction": pressed.sum(axis=1) / HALF,
        "floquet_trace": trace,
        "floquet_modulus": modulus,
        "stable": 1.0 * (modulus < STABLE_BELOW),
    }


def _mean_slope(xp: Library, place: Array, value: Array, slope: Array) -> Array:
    """The mean of dvalue/dplace over each cell; from shape (n, cells + 1) to (n, cells)."""
    change = place[:, 1:] - place[:, :-1]
    straight = xp.abs(change) > STRAIGHT
    quotient = (value[:, 1:] - value[:, :-1]) / xp.where(straight, change, 1.0)
    return xp.where(straight, quotient, (slope[:, 1:] + slope[:, :-1]) / 2)


def _trace(xp: Library, oscillator: Oscillator, displacement: Array, rate: Array) -> Array:
    stop = force(xp, oscillator, displacement)
    stiffness = 1.0 + _mean_slope(xp, displacement, stop.value, stop.slope)
    own = xp.sqrt(stiffness)
    turn = own * (np.pi / HALF / rate)[:, None]
    cosine, sine = xp.cos(turn), xp.sin(turn)
    xx, xv, vx, vv = (each[:, 0] for each in _product((cosine, sine / own, -own * sine, cosine)))
    return 2 * (xx * vv + xv * vx)


def _product(cells: Matrix) -> Matrix:
    """The product over all cells, applied in order, computed pairwise; from (n, 2^k) to (n, 1)."""
    while cells[0].shape[1] > 1:
        cells = _pairs(*cells)
    return cells


def _pairs(xx: Array, xv: Array, vx: Array, vv: Array) -> Matrix:
    """The products of adjacent cells, with the later cell on the left."""
    a, b = slice(1, None, 2), slice(None, None, 2)
    return (
        xx[:, a] * xx[:, b] + xv[:, a] * vx[:, b],
        xx[:, a] * xv[:, b] + xv[:, a] * vv[:, b],
        vx[:, a] * xx[:, b] + vv[:, a] * vx[:, b],
        vx[:, a] * xv[:, b] + vv[:, a] * vv[:, b],
    )
