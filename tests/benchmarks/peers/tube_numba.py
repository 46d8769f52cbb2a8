"""The model `tube` in numba: one point after the other, each from contact to contact.

The schemes are those of SciPy's tables. Unlike the kernels, it looks for changes of the contacts at
the ends of steps alone, so that it may miss some, and locates them by the Illinois method.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np
from numba import njit
from scipy.integrate import RK45
from scipy.integrate._ivp import dop853_coefficients as dop853

jit = njit(nogil=True, error_model="numpy", fastmath={"contract"})
OPEN, STICK, PLUS, MINUS = 0, 1, 2, 3
WAYS = np.array([1, 3, 2, 2])  # in which a contact leaves each state
RK54 = (RK45.A, RK45.B, RK45.C, np.vstack([RK45.E, RK45.E]), RK45.P, False)
STAGES = dop853.N_STAGES  # without the three that its dense motion adds
DOP853 = (
    dop853.A[:STAGES], dop853.B, dop853.C[:STAGES], np.vstack([dop853.E3, dop853.E5]), dop853.D,
    True,
)  # fmt: skip
FURTHER = (dop853.A[STAGES + 1 :], dop853.C[STAGES + 1 :], dop853.D)


@jit
def rates(t, y, contact, system, out):
    """All rates of y = (q, qv, r, rv, grip), whose contacts are given."""
    omega, mass, drive, shape, gap, (kn, kt, mu, zeta, force, rate) = system
    n, m = len(omega), len(gap)
    push, pull = drive * (force * sin(rate * t)), drive * (force * cos(rate * t))
    for s in range(m):
        out[4 * n + s] = 0.0
        if contact[s] == OPEN:
            continue
        normal = 0.0
        for i in range(n):
            normal += shape[s, i] * y[i]
        normal = kn * (normal - gap[s])
        rub = mu * normal if contact[s] == PLUS else -mu * normal
        if contact[s] == STICK:
            rub, zv = y[4 * n + s], 0.0
            for i in range(n):
                zv += shape[s, i] * y[3 * n + i]
            out[4 * n + s] = kt * zv
        for i in range(n):
            push[i] -= shape[s, i] * normal
            pull[i] -= shape[s, i] * rub
    for i in range(n):
        w = omega[i]
        out[i], out[2 * n + i] = y[n + i], y[3 * n + i]
        out[n + i] = push[i] / mass[i] - w * (w * y[i] + 2.0 * zeta * y[n + i])
        out[3 * n + i] = pull[i] / mass[i] - w * (w * y[2 * n + i] + 2.0 * zeta * y[3 * n + i])


@jit
def seen(y, s, n, shape, gap):
    """Depth of a contact, velocities along y and z, and grip."""
    depth, yv, zv = -gap[s], 0.0, 0.0
    for i in range(n):
        depth += shape[s, i] * y[i]
        yv += shape[s, i] * y[n + i]
        zv += shape[s, i] * y[3 * n + i]
    return depth, yv, zv, y[4 * n + s]


@jit
def ends(y, s, state, which, n, system):
    """One of the expressions that turn positive where a contact leaves its state."""
    shape, gap, (kn, kt, mu, _, _, _) = system[3], system[4], system[5]
    depth, yv, zv, grip = seen(y, s, n, shape, gap)
    if state == OPEN:
        return depth
    if which == 0:
        return -depth
    if state == STICK:
        return grip - mu * kn * depth if which == 1 else -grip - mu * kn * depth
    return mu * kn * yv - kt * zv if state == PLUS else mu * kn * yv + kt * zv


@jit
def dense(x, curve, out):
    """The state at the share x of the step."""
    y0, h, k, extra, is_dop853 = curve
    if not is_dop853:
        out[:] = 0.0
        for j in range(k.shape[0]):
            p = extra[j]
            weight = h * x * (p[0] + x * (p[1] + x * (p[2] + x * p[3])))
            if weight != 0.0:
                out += weight * k[j]
        out += y0
        return
    out[:] = 0.0
    for i in range(7):
        out += k[6 - i]
        out *= x if i % 2 == 0 else 1.0 - x
    out += y0


@jit
def tube(forces, end, tolerance, tables, gap, constants, scales, scheme):
    """The mean of normal force times speed of slip at each support, (n_points, n_supports)."""
    omega, mass, drive, shape = tables
    is_dop853, stages = scheme[-1], len(scheme[1])
    kn, kt, mu, zeta, rate = constants
    n, m = len(omega), len(gap)
    size = 4 * n + m
    wear = np.zeros((len(forces), m))
    k, parts = np.zeros((16, size)), np.zeros((7, size))
    trial, y1, middle = np.empty(size), np.empty(size), np.empty(size)
    power = 1.0 / 8.0 if is_dop853 else 1.0 / 5.0
    for point in range(len(forces)):
        system = (omega, mass, drive, shape, gap, (kn, kt, mu, zeta, forces[point], rate))
        contact = np.zeros(m, np.int64)
        y, t, h = np.zeros(size), 0.0, 1e-5
        rates(t, y, contact, system, k[0])
        while t < end:
            h = min(h, end - t)
            error = step(t, h, y, y1, contact, system, k, trial, tolerance, scales, scheme)
            factor = min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -power))
            if error >= 1.0:
                h *= factor
                continue
            changes = False
            for s in range(m):
                for which in range(WAYS[contact[s]]):
                    changes |= ends(y1, s, contact[s], which, n, system) > 0.0
            is_closed = contact.max() > OPEN
            if is_dop853 and (changes or is_closed):
                fit(t, h, y, y1, k, parts, trial, contact, system)
            curve = (y, h, parts if is_dop853 else k, scheme[-2], is_dop853)
            share, s, which = 1.0, -1, -1
            if changes:
                share, s, which = first_change(curve, y1, contact, system, trial)
            if is_closed:
                for node in range(3):  # Simpson's rule
                    dense(0.5 * node * share, curve, middle)
                    weight = (4.0 if node == 1 else 1.0) / 6.0 * share * h
                    add_wear(wear[point], weight, middle, contact, system)
            if s < 0:
                t, h = t + h, h * factor
                y[:] = y1
                k[0, :] = k[stages]
                continue
            dense(share, curve, middle)
            y[:] = middle
            t, h = t + share * h, h * factor
            change(y, s, which, contact, system)
            rates(t, y, contact, system, k[0])
    return wear / end


@jit
def step(t, h, y, y1, contact, system, k, trial, tolerance, scales, scheme):
    """Try a step from y to y1, and return its error relative to what is tolerated."""
    a, b, c, e, _, is_dop853 = scheme
    stages, size = len(b), len(y)
    for i in range(1, stages):
        trial[:] = y
        for j in range(i):
            if a[i, j] != 0.0:
                trial += (h * a[i, j]) * k[j]
        rates(t + c[i] * h, trial, contact, system, k[i])
    y1[:] = y
    for j in range(stages):
        if b[j] != 0.0:
            y1 += (h * b[j]) * k[j]
    rates(t + h, y1, contact, system, k[stages])
    third, fifth = 0.0, 0.0
    for i in range(size):
        low, high = 0.0, 0.0
        for j in range(stages + 1):
            low += e[0, j] * k[j, i]
            high += e[1, j] * k[j, i]
        weight = 1.0 / (tolerance * (scales[i] + max(abs(y[i]), abs(y1[i]))))
        third += (low * weight) ** 2
        fifth += (high * weight) ** 2
    if is_dop853:
        return h * fifth / sqrt((fifth + 0.01 * third) * size) if fifth > 0.0 else 0.0
    return h * sqrt(fifth / size)


@jit
def first_change(curve, y1, contact, system, located):
    """The share of the step at which a contact first leaves its state, the contact, and how."""
    kn = system[-1][0]
    n, share, place, way = len(system[0]), 1.0, -1, -1
    for s in range(len(contact)):
        state = contact[s]
        for which in range(WAYS[state]):
            after = ends(y1, s, state, which, n, system)
            if after <= 0.0:
                continue
            low, high, side = 0.0, 1.0, 0
            before = ends(curve[0], s, state, which, n, system)
            if before > -1e-13 * kn:  # it begins at zero, where the contact changed
                low = 1e-6
                dense(low, curve, located)
                before = ends(located, s, state, which, n, system)
            if before >= 0.0:
                continue
            for _ in range(60):
                x = high - after * (high - low) / (after - before)
                dense(x, curve, located)
                value = ends(located, s, state, which, n, system)
                if value > 0.0:
                    high, after = x, value
                    before = 0.5 * before if side == 1 else before
                    side = 1
                else:
                    low, before = x, value
                    after = 0.5 * after if side == -1 else after
                    side = -1
                if high - low < 1e-13 or value == 0.0:
                    break
            if high < share:
                share, place, way = high, s, which
    return share, place, way


@jit
def add_wear(wear, weight, y, contact, system):
    """Add normal force times speed of slip, with a weight, at each support that slips."""
    _, _, _, shape, gap, (kn, kt, mu, _, _, _) = system
    for s in range(len(contact)):
        if contact[s] >= PLUS:
            depth, yv, zv, _ = seen(y, s, len(system[0]), shape, gap)
            side = 1.0 if contact[s] == PLUS else -1.0
            wear[s] += weight * kn * depth * abs(zv - side * mu * kn * yv / kt)


@jit
def fit(t, h, y, y1, k, parts, trial, contact, system):
    """The seven parts of the dense motion of dop853, with three further evaluations."""
    a, c, d = FURTHER
    for i in range(3):
        trial[:] = y
        for j in range(13 + i):
            if a[i, j] != 0.0:
                trial += (h * a[i, j]) * k[j]
        rates(t + c[i] * h, trial, contact, system, k[13 + i])
    for i in range(len(y)):
        delta = y1[i] - y[i]
        parts[0, i] = delta
        parts[1, i] = h * k[0, i] - delta
        parts[2, i] = 2.0 * delta - h * (k[12, i] + k[0, i])
        for r in range(4):
            total = 0.0
            for j in range(16):
                total += d[r, j] * k[j, i]
            parts[3 + r, i] = h * total


@jit
def change(y, s, which, contact, system):
    """What a contact becomes where it leaves its state."""
    omega, _, _, shape, gap, (kn, kt, mu, _, _, _) = system
    n, state = len(omega), contact[s]
    depth, yv, zv, _ = seen(y, s, n, shape, gap)
    if state == OPEN:
        slips = kt * abs(zv) > mu * kn * yv
        contact[s] = STICK if not slips else PLUS if zv > 0.0 else MINUS
        y[4 * n + s] = 0.0
    elif which == 0:
        contact[s] = OPEN
        y[4 * n + s] = 0.0
    elif state == STICK:
        contact[s] = PLUS if which == 1 else MINUS
    else:
        contact[s] = STICK
        y[4 * n + s] = mu * kn * depth if state == PLUS else -mu * kn * depth
