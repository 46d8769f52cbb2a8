"""Lorenz by diffrax: an explicit scheme of order 8 over all points at once, compiled by XLA."""

from __future__ import annotations

from collections.abc import Callable

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def lorenz(tolerance: float) -> Callable[[np.ndarray, float], np.ndarray]:
    """A function of rho (n_points,) and the end: x, y, z at the end from (1, 1, 1), (n_points, 3).

    It is compiled at its first call.
    """

    def rates(_t: object, y: jax.Array, rho: jax.Array) -> jax.Array:
        return jnp.array(
            [10.0 * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - (8.0 / 3.0) * y[2]]
        )

    def motion(rho: jax.Array, end: float) -> jax.Array:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rates), diffrax.Dopri8(), t0=0.0, t1=end, dt0=None, y0=jnp.ones(3),
            args=rho, stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=100_000,
        ).ys[0]  # fmt: skip

    together = jax.jit(jax.vmap(motion, in_axes=(0, None)))
    return lambda rho, end: np.asarray(together(rho, end))
