"""Lorenz by heyoka: Taylor series, as many points side by side as a vector has doubles."""

from __future__ import annotations

from collections.abc import Callable

import heyoka as hy
import numpy as np


def lorenz(tolerance: float) -> Callable[[np.ndarray, float], np.ndarray]:
    """A function of rho (n_points,) and the end: x, y, z at the end from (1, 1, 1), (n_points, 3).

    It is compiled here.
    """
    x, y, z = hy.make_vars("x", "y", "z")
    rates = [
        (x, 10.0 * (y - x)),
        (y, x * (hy.par[0] - z) - y),
        (z, x * y - (8.0 / 3.0) * z),
    ]
    lanes = hy.recommended_simd_size()
    motion = hy.taylor_adaptive_batch(
        rates, np.ones((3, lanes)), pars=np.zeros((1, lanes)), tol=tolerance
    )

    def solve(rho: np.ndarray, end: float) -> np.ndarray:
        final_states = np.empty((len(rho), 3))
        for first in range(0, len(rho), lanes):
            part = np.minimum(np.arange(first, first + lanes), len(rho) - 1)
            motion.set_time(0.0)
            motion.state[:] = 1.0
            motion.pars[0] = rho[part]
            motion.propagate_until(end)
            final_states[part] = motion.state.T
        return final_states

    return solve
