"""The MDR contact stepped through time in numba: the method time_stepping.

The same algorithm as in kernels/models/mdr_contact, but no spring is skipped. It is laid out for
SIMD: blocks of springs that stay in the cache, an inner loop over a block without branches, which
LLVM makes vectors of. Sines and cosines are taken once a cycle, for all springs.
"""

from __future__ import annotations

from math import cos, pi, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

BLOCK = 64

Values = NDArray[np.float64]


@njit(cache=False, nogil=True, error_model="numpy")
def time_stepping(beta: Values, delta: Values, phase: Values, steps: int, springs: int) -> Values:
    """W/W_ref of spheres, shape (n,), after two cycles of `steps` steps."""
    energies = np.empty(len(beta))
    for i in range(len(beta)):
        cosine, shift, weight = _motion(phase[i], steps)
        width = sqrt(1.0 + delta[i]) / springs
        total = 0.0
        for begin in range(0, springs, BLOCK):
            count = min(BLOCK, springs - begin)
            total += _block(beta[i], delta[i], width, begin, count, cosine, shift, weight)
        energies[i] = 0.75 / delta[i] * width * total
    return energies


@njit(cache=False, nogil=True, error_model="numpy")
def _motion(phase, steps):
    """The cosine at the end of each step, the shift in it, and that with the next one's."""
    cosine, shift = np.empty(steps), np.empty(steps)
    h = 2.0 * pi / steps
    for k in range(steps):
        cosine[k] = cos((k + 1) * h)
        shift[k] = cos((k + 1) * h + phase) - cos(k * h + phase)
    return cosine, shift, shift + np.roll(shift, -1)


@njit(cache=False, nogil=True, error_model="numpy")
def _block(beta, delta, width, begin, count, cosine, shift, weight):
    middle, q, work = np.empty(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK)
    for i in range(BLOCK):
        middle[i] = beta / delta * (1.0 - ((begin + i + 0.5) * width) ** 2)
    for k in range(len(cosine)):
        swing, moved = beta * cosine[k], shift[k]
        for i in range(BLOCK):
            bound = middle[i] + swing
            bound = bound if bound > 0.0 else 0.0
            trial = q[i] + moved
            trial = trial if trial < bound else bound
            q[i] = trial if trial > -bound else -bound
    for k in range(len(cosine)):
        swing, moved, factor = beta * cosine[k], shift[k], weight[k]
        for i in range(BLOCK):
            bound = middle[i] + swing
            bound = bound if bound > 0.0 else 0.0
            trial = q[i] + moved
            trial = trial if trial < bound else bound
            held = trial if trial > -bound else -bound
            q[i] = held
            work[i] += held * factor
    return 0.5 * work[:count].sum()
