"""The MDR contact stepped through time, in plain NumPy: the paper's algorithm and one of order 2.

Motions, elongations and bounds are in units of Δx, time is the phase t = ωt:

    u_x = U(t) = cos(t + φ),   the spring at X = x/a0 has the bound b(t) = β(s + cos t),
    s = (1 − X^n)/δ;           it is in contact where s + cos t > 0

Conventions, the same for both algorithms:

- Half of the contact is divided into `springs` springs of equal width dX = X_max/springs,
  X_max = (1 + δ)^(1/n), the greatest contact over the cycle; each stands for its midpoint
  X_j = (j + ½)dX. The other half is the same: a factor 2.
- A cycle has `steps` equal steps; the moments are t_k = 2π k/steps, k = 0, 1, 2, …, taken modulo
  one cycle (so that every cycle has the same cosines, to the bit).
- At k = 0 every spring is relaxed: u = 0. The algorithms go through `cycles` cycles and count
  the energy of the last one.
- The result is W̄ = W/W_ref = (3n/8δ) Σ_j w_j dX, with w_j the energy of one spring over ½G*Δx²dx,
  halved: w_j = ∮ u dU or the sum of its slip works.

`paper`, for a step from t0 to t1 (Hanisch et al. 2020, eqs. 6 and 7):

    u1 = clip(u0 + U1 − U0, −b1, b1) in contact at t1, else 0;     w += ½(u0 + u1)(U1 − U0)

`split`: the step is cut where the spring leaves or enters contact, at T = arccos(−s) and 2π − T (if
−1 < s < 1), so a step is at most two pieces in contact. A piece from ta to tb, elongation ua and
bound ba at its beginning (both 0 at entry), bound bb at its end (0 at exit):

    trial = ua + U(tb) − U(ta);   ub = clip(trial, −bb, bb);   nothing else if ub = trial
    σ = sign(trial);  ga = ba − σ ua;  gb = σ trial − bb;      how far inside, how far outside
    f = ba + (bb − ba) ga/(ga + gb)                            the bound where it is crossed
    w += |trial − ub| (f + bb)/2

With β = inf a spring sticks until it leaves contact, and f = |trial| there.
"""

from __future__ import annotations

import math

import numpy as np

TURN = 2 * math.pi


def paper(beta, delta, phase, exponent, steps, springs, cycles=2):
    """W̄ of one point by the paper's algorithm: predict, clamp, trapezoid of F du. First order."""
    s, weight = _springs(delta, exponent, springs)
    time = TURN * np.arange(steps + 1) / steps
    time[-1] = 0.0
    u, work = np.zeros(springs), np.zeros(springs)
    for step in range(cycles * steps):
        k = step % steps
        before = u
        moved = math.cos(time[k + 1] + phase) - math.cos(time[k] + phase)
        depth = s + math.cos(time[k + 1])
        bound = _bound(beta, depth)
        u = np.where(depth > 0, np.clip(before + moved, -bound, bound), 0.0)
        if step >= (cycles - 1) * steps:
            work += 0.5 * (before + u) * moved
    return weight * math.fsum(work)


def split(beta, delta, phase, exponent, steps, springs, cycles=2):
    """W̄ of one point, steps cut at contact entry and exit, slip work counted. Second order."""
    s, weight = _springs(delta, exponent, springs)
    leaves = np.where(s < 1, np.arccos(np.clip(-s, -1, 1)), math.inf)
    enters = np.where(s < 1, TURN - np.where(s < 1, leaves, 0), math.inf)
    u, work = np.zeros(springs), np.zeros(springs)
    for step in range(cycles * steps):
        k = step % steps
        ta, tb = TURN * k / steps, TURN * (k + 1) / steps
        counted = work if step >= (cycles - 1) * steps else np.zeros(springs)
        always = s >= 1
        for begin, end in (
            (np.full(springs, ta), np.where(always, tb, np.minimum(tb, leaves))),
            (np.where(always, tb, np.maximum(ta, enters)), np.full(springs, tb)),
        ):
            u = _piece(beta, s, phase, u, begin, end, counted, leaves, enters)
        u[(~always) & (tb >= leaves) & (tb <= enters)] = 0.0
    return weight * math.fsum(work)


def _piece(beta, s, phase, u, begin, end, work, leaves, enters):
    """Elongations after a piece of a step, its work added; pieces of no length change nothing."""
    exists = end > begin
    at_entry, at_exit = begin == enters, end == leaves
    ua = np.where(at_entry, 0.0, u)
    ba = np.where(at_entry, 0.0, _bound(beta, s + np.cos(begin)))
    bb = np.where(at_exit, 0.0, _bound(beta, s + np.cos(end)))
    trial = ua + (np.cos(end + phase) - np.cos(begin + phase))
    ub = np.clip(trial, -bb, bb)
    slips = exists & (ub != trial)
    crossing = np.abs(trial)
    if math.isfinite(beta):
        inside, outside = ba - np.sign(trial) * ua, np.abs(trial) - bb
        share = inside / np.where(slips, inside + outside, 1.0)
        crossing = ba + (bb - ba) * share
    work[slips] += np.abs(trial - ub)[slips] * 0.5 * (crossing + bb)[slips]
    return np.where(exists, ub, u)


def _bound(beta, depth):
    """β·depth where the spring is in contact, 0 where it is not; infinite with β."""
    return np.where(depth > 0, beta * np.where(depth > 0, depth, 1.0), 0.0)


def _springs(delta, exponent, springs):
    """Depth s of each spring, and what a sum over them is multiplied with."""
    width = (1 + delta) ** (1 / exponent) / springs
    middle = (np.arange(springs) + 0.5) * width
    return (1 - middle**exponent) / delta, 3 * exponent / (8 * delta) * width
