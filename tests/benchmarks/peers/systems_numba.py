"""Lorenz in numba: points side by side in lanes, a loop over which LLVM vectorises.

Products and sums may be fused, as they may not in the kernels.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from numba import njit

LANES = 64
jit = njit(nogil=True, error_model="numpy", fastmath={"contract"})
part = njit(nogil=True, error_model="numpy", fastmath={"contract"}, forceinline=True)


@jit
def lorenz_rk4(sigma, rho, beta, end, step):
    """x at the end of constant steps from (1, 1, 1); sigma, rho and beta are (n_points,)."""
    n = len(rho)
    final_x = np.empty(n)
    steps = ceil(end / step - 1e-9)
    w = np.empty((6, LANES))
    for first in range(0, n, LANES):
        for j in range(LANES):
            i = min(first + j, n - 1)
            w[0, j] = w[1, j] = w[2, j] = 1.0
            w[3, j], w[4, j], w[5, j] = sigma[i], rho[i], beta[i]
        for _ in range(steps):
            lorenz_rk4_step(w, step)
        for j in range(min(LANES, n - first)):
            final_x[first + j] = w[0, j]
    return final_x


@part
def lorenz_rk4_step(w, h):
    half, sixth = 0.5 * h, h / 6.0
    for j in range(LANES):
        x, y, z = w[0, j], w[1, j], w[2, j]
        s, r, b = w[3, j], w[4, j], w[5, j]
        x1, y1, z1 = s * (y - x), x * (r - z) - y, x * y - b * z
        u, v, q = x + half * x1, y + half * y1, z + half * z1
        x2, y2, z2 = s * (v - u), u * (r - q) - v, u * v - b * q
        u, v, q = x + half * x2, y + half * y2, z + half * z2
        x3, y3, z3 = s * (v - u), u * (r - q) - v, u * v - b * q
        u, v, q = x + h * x3, y + h * y3, z + h * z3
        x4, y4, z4 = s * (v - u), u * (r - q) - v, u * v - b * q
        w[0, j] = x + sixth * (x1 + x4 + 2.0 * (x2 + x3))
        w[1, j] = y + sixth * (y1 + y4 + 2.0 * (y2 + y3))
        w[2, j] = z + sixth * (z1 + z4 + 2.0 * (z2 + z3))


@part
def lorenz(x, y, z, s, r, b):
    return s * (y - x), x * (r - z) - y, x * y - b * z


@jit
def lorenz_rk54(sigma, rho, beta, end, tolerance):
    """x at the end by Dormand-Prince 5(4), with a step length of its own in each lane."""
    n = len(rho)
    final_x = np.empty(n)
    w = np.empty((9, LANES))  # x, y, z, parameters, t, h, whether it goes on
    for block in range(0, n, LANES):
        for j in range(LANES):
            i = min(block + j, n - 1)
            w[0, j] = w[1, j] = w[2, j] = 1.0
            w[3, j], w[4, j], w[5, j] = sigma[i], rho[i], beta[i]
            w[6, j], w[7, j], w[8, j] = 0.0, 1e-3, 1.0
        while w[8].max() > 0.0:
            for j in range(LANES):
                x, y, z, t = w[0, j], w[1, j], w[2, j], w[6, j]
                p, q, r = w[3, j], w[4, j], w[5, j]
                h = min(w[7, j], end - t)
                a1, b1, c1 = lorenz(x, y, z, p, q, r)
                k = h / 5.0
                a2, b2, c2 = lorenz(x + k * a1, y + k * b1, z + k * c1, p, q, r)
                m, k = 3.0 / 40.0 * h, 9.0 / 40.0 * h
                a3, b3, c3 = lorenz(
                    x + m * a1 + k * a2, y + m * b1 + k * b2, z + m * c1 + k * c2, p, q, r
                )
                d1, d2, d3 = 44.0 / 45.0 * h, -56.0 / 15.0 * h, 32.0 / 9.0 * h
                a4, b4, c4 = lorenz(
                    x + d1 * a1 + d2 * a2 + d3 * a3,
                    y + d1 * b1 + d2 * b2 + d3 * b3, z + d1 * c1 + d2 * c2 + d3 * c3, p, q, r,
                )  # fmt: skip
                d1, d2 = 19372.0 / 6561.0 * h, -25360.0 / 2187.0 * h
                d3, d4 = 64448.0 / 6561.0 * h, -212.0 / 729.0 * h
                a5, b5, c5 = lorenz(
                    x + d1 * a1 + d2 * a2 + d3 * a3 + d4 * a4,
                    y + d1 * b1 + d2 * b2 + d3 * b3 + d4 * b4,
                    z + d1 * c1 + d2 * c2 + d3 * c3 + d4 * c4, p, q, r,
                )  # fmt: skip
                d1, d2, d3 = 9017.0 / 3168.0 * h, -355.0 / 33.0 * h, 46732.0 / 5247.0 * h
                d4, d5 = 49.0 / 176.0 * h, -5103.0 / 18656.0 * h
                a6, b6, c6 = lorenz(
                    x + d1 * a1 + d2 * a2 + d3 * a3 + d4 * a4 + d5 * a5,
                    y + d1 * b1 + d2 * b2 + d3 * b3 + d4 * b4 + d5 * b5,
                    z + d1 * c1 + d2 * c2 + d3 * c3 + d4 * c4 + d5 * c5, p, q, r,
                )  # fmt: skip
                d1, d3, d4 = 35.0 / 384.0 * h, 500.0 / 1113.0 * h, 125.0 / 192.0 * h
                d5, d6 = -2187.0 / 6784.0 * h, 11.0 / 84.0 * h
                u = x + d1 * a1 + d3 * a3 + d4 * a4 + d5 * a5 + d6 * a6
                v = y + d1 * b1 + d3 * b3 + d4 * b4 + d5 * b5 + d6 * b6
                s = z + d1 * c1 + d3 * c3 + d4 * c4 + d5 * c5 + d6 * c6
                a7, b7, c7 = lorenz(u, v, s, p, q, r)
                e1, e3, e4 = 71.0 / 57600.0 * h, -71.0 / 16695.0 * h, 71.0 / 1920.0 * h
                e5, e6, e7 = -17253.0 / 339200.0 * h, 22.0 / 525.0 * h, -h / 40.0
                ex = e1 * a1 + e3 * a3 + e4 * a4 + e5 * a5 + e6 * a6 + e7 * a7
                ey = e1 * b1 + e3 * b3 + e4 * b4 + e5 * b5 + e6 * b6 + e7 * b7
                ez = e1 * c1 + e3 * c3 + e4 * c4 + e5 * c5 + e6 * c6 + e7 * c7
                ex /= tolerance * (1.0 + max(abs(x), abs(u)))
                ey /= tolerance * (1.0 + max(abs(y), abs(v)))
                ez /= tolerance * (1.0 + max(abs(z), abs(s)))
                error = (ex * ex + ey * ey + ez * ez) / 3.0
                taken = error < 1.0
                # To the power -1/8, which LLVM vectorises, in place of -1/10.
                factor = 0.9 / np.sqrt(np.sqrt(np.sqrt(max(error, 1e-20))))
                w[7, j] = w[7, j] if taken and h < w[7, j] else h * min(max(factor, 0.2), 5.0)
                w[0, j] = u if taken else x
                w[1, j] = v if taken else y
                w[2, j] = s if taken else z
                w[6, j] = t + h if taken else t
                w[8, j] = 1.0 if w[6, j] < end else 0.0
        for j in range(min(LANES, n - block)):
            final_x[block + j] = w[0, j]
    return final_x
