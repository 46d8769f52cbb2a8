"""The MDR contact stepped through time in numba: the methods time_stepping and time_stepping_2.

The same algorithms as kernels/models/mdr_contact, but no spring is skipped. The first is laid out
for SIMD: blocks of springs that stay in the cache, an inner loop over a block without branches,
which LLVM makes vectors of. The second goes spring by spring and branches where something happens.
Sines and cosines are taken once a cycle, for all springs.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

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
def time_stepping_2(beta: Values, delta: Values, phase: Values, steps: int, springs: int) -> Values:
    """As time_stepping, by the method of second order; an even number of steps."""
    energies = np.empty(len(beta))
    for i in range(len(beta)):
        cosine, shift, _ = _motion(phase[i], steps)
        width = sqrt(1.0 + delta[i]) / springs
        total = 0.0
        for j in range(springs):
            middle = beta[i] / delta[i] * (1.0 - ((j + 0.5) * width) ** 2)
            total += _spring(beta[i], middle, phase[i], cosine, shift)
        energies[i] = 0.75 / delta[i] * width * total
    return energies


@njit(cache=False, nogil=True, error_model="numpy")
def _motion(phase, steps):
    """The cosine at the end of each step, the shift in it, and that with the next one's."""
    cosine, shift, weight = np.empty(steps), np.empty(steps), np.empty(steps)
    h = 2.0 * pi / steps
    for k in range(steps):
        cosine[k] = cos((k + 1) * h)
        shift[k] = cos((k + 1) * h + phase) - cos(k * h + phase)
    for k in range(steps):
        weight[k] = shift[k] + shift[(k + 1) % steps]
    return cosine, shift, weight


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


@njit(cache=False, nogil=True, error_model="numpy")
def _spring(beta, middle, phase, cosine, shift):
    """The work of one spring in its second cycle."""
    q, work = 0.0, 0.0
    edge = -middle / beta
    rest = sqrt(max(1.0 - edge * edge, 0.0)) * sin(phase)
    leave, enter = edge * cos(phase) - rest, edge * cos(phase) + rest
    for cycle in range(2):
        begin, place = max(middle + beta, 0.0), cos(phase)
        for k in range(len(cosine)):
            end = max(middle + beta * cosine[k], 0.0)
            moved = shift[k]
            after = place + moved
            if begin == 0.0:
                if end == 0.0:
                    place = after
                    continue
                moved = after - enter
            elif end == 0.0:
                moved = leave - place
            trial = q + moved
            if -end <= trial <= end:
                if cycle:
                    work += 0.5 * moved * (q + trial)
                q = trial
            else:
                held = end if trial > 0.0 else -end
                if cycle:
                    inside = begin - (q if trial > 0.0 else -q)
                    bulge = 0.0
                    if inside > 0.0:
                        part = inside / (inside + abs(trial) - end)
                        bend = q + part * moved
                        bulge = (1.0 - part) * (bend - q) + part * (bend - held)
                    work += 0.5 * moved * (q + held + bulge)
                q = held
            begin, place = end, after
    return work
