"""The motion of the mass over time by method exact: section 2's curves and instants."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import sweep
from tests.validation.comparison import Row
from tests.validation.sdnd104.powers import OMEGA, SYSTEM

GRIP = SYSTEM["friction"] * SYSTEM["gravity"]  # m/s², greatest acceleration due to friction
N_REVERSALS = 48
REVERSALS_SHOWN = (1, 2, 3, 4, 8, 16, 32, 48)


def velocities(a0: float) -> xr.Dataset:
    """Velocities of mass and plane over the first three periods."""
    motion = _motion(a0, np.linspace(0, 3 * 2 * math.pi / OMEGA, 1501))
    mass = motion["base_velocity"] + motion["velocity"]
    mass.attrs = {"long_name": "velocity of the mass, fixed frame", "units": "m/s"}
    return motion[["base_velocity", "stuck", "status"]].assign(mass_velocity=mass)


def reversals(a0: float) -> NDArray[np.float64]:
    """The instants t_n [s], n = 1, 2, …, at which the slip changes direction."""
    end = (N_REVERSALS + 2) * math.pi / OMEGA
    coarse = np.linspace(0, end, round(end / 1e-3) + 1)  # no slip is as short as that
    brackets = _crossings(_velocity(a0, coarse))[:N_REVERSALS]
    fine = np.linspace(coarse[brackets - 1], coarse[brackets + 1], 2001).T.ravel()
    velocity = _velocity(a0, fine)
    last = _crossings(velocity)  # the slope has a step at the crossing, so it is taken before it
    slope = (velocity[last] - velocity[last - 1]) / (fine[last] - fine[last - 1])
    return fine[last] - velocity[last] / slope


def _motion(a0: float, times: NDArray[np.float64]) -> xr.Dataset:
    parameters = {**SYSTEM, "base_acceleration": a0, "window_end": float(times[-1]) + 5}
    request = {"model": "friction_oscillator", "method": "exact", "parameters": parameters}
    return sweep.trace(request, times=times)


def _velocity(a0: float, times: NDArray[np.float64]) -> NDArray[np.float64]:
    return _motion(a0, times)["velocity"].to_numpy()


def _crossings(velocity: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indices of the samples after which the velocity crosses zero."""
    return np.flatnonzero(velocity[:-1] * velocity[1:] < 0)


def reversal_rows(a0: float) -> Iterator[Row]:
    """Section 2: t_n − nπ/ω tends to ϑ in slip-slip.

    The line of slope μg through the plane's velocity at t_n meets that velocity again at t_(n+1).
    Linearized about ϑ, where the plane's acceleration is A, t_n − nπ/ω − ϑ changes by the factor
    −(A − μg)/(A + μg) per reversal.
    """
    instants, limit = reversals(a0), math.acos(GRIP * math.pi / (2 * a0)) / OMEGA
    acceleration = a0 * math.sin(OMEGA * limit)
    shifted = [t - n * math.pi / OMEGA for n, t in enumerate(instants.tolist(), start=1)]
    deviations = [each - limit for each in shifted]
    for n in REVERSALS_SHOWN:
        yield {
            "n": str(n),
            "instant": float(instants[n - 1]),
            "shifted": shifted[n - 1],
            "limit": limit,
            "deviation": deviations[n - 1],
            "ratio": deviations[n - 1] / deviations[n - 2] if n > 1 else None,
            "contraction": -(acceleration - GRIP) / (acceleration + GRIP),
        }
