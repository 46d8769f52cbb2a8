"""The motion of the mass over time by method exact: section 2's curves and instants."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.analysis.traces import plot_trace
from sweep.tracing import trace
from sweep.verify.record import Picture
from sweep.verify.sdnd104.published import GRIP, OMEGA, SYSTEM
from sweep.work import Values

N_REVERSALS = 48
COARSE_STEP = 1e-3  # s, far shorter than any slip in slip-slip
REGIMES = {1.5: "stick_slip", 15.0: "slip_slip"}


def reversals(amplitude: float) -> Values:
    """The instants t_n [s], n = 1, 2, …, at which the slip changes direction."""
    end = (N_REVERSALS + 2) * math.pi / OMEGA
    coarse = np.linspace(0, end, round(end / COARSE_STEP) + 1)
    brackets = _crossings(_velocity(amplitude, coarse))[:N_REVERSALS]
    fine = np.linspace(coarse[brackets - 1], coarse[brackets + 1], 2001).T.ravel()
    velocity = _velocity(amplitude, fine)
    last = _crossings(velocity)  # the slope has a step at the crossing, so it is taken before it
    slope = (velocity[last] - velocity[last - 1]) / (fine[last] - fine[last - 1])
    return fine[last] - velocity[last] / slope


def limit(amplitude: float) -> float:
    """ϑ [s], the limit of t_n − nπ/ω in slip-slip."""
    return math.acos(GRIP * math.pi / (2 * amplitude)) / OMEGA


def contraction(amplitude: float) -> float:
    """The factor by which t_n − nπ/ω − ϑ changes per reversal, close to the limit.

    The line of slope μg through the plane's velocity at t_n meets that velocity again at t_(n+1).
    Linearized about ϑ, where the plane's acceleration is A, the factor is −(A − μg)/(A + μg).
    """
    acceleration = amplitude * math.sin(OMEGA * limit(amplitude))
    return -(acceleration - GRIP) / (acceleration + GRIP)


def curves(amplitude: float) -> xr.Dataset:
    """Velocities of mass and plane over the first three periods."""
    moments = np.linspace(0, 3 * 2 * math.pi / OMEGA, 1501)
    motion = _motion(amplitude, moments)
    mass = motion["base_velocity"] + motion["velocity"]
    mass.attrs = {"long_name": "velocity of the mass, fixed frame", "units": "m/s"}
    return motion[["base_velocity", "stuck", "status"]].assign(mass_velocity=mass)


def pictures(motions: Mapping[float, xr.Dataset]) -> tuple[Picture, ...]:
    """The document's curves for both slipping regimes."""
    return tuple(
        Picture(
            f"sdnd104_{regime}.png",
            f"Section 2: velocities of plane and mass, a₀ = {amplitude:g} m/s²",
            partial(plot_trace, motions[amplitude]),
        )
        for amplitude, regime in REGIMES.items()
    )


def _motion(amplitude: float, moments: Values) -> xr.Dataset:
    parameters = {**SYSTEM, "base_acceleration": amplitude, "window_end": float(moments[-1]) + 5}
    request = {"model": "friction_oscillator", "method": "exact", "parameters": parameters}
    return trace(request, times=moments)


def _velocity(amplitude: float, moments: Values) -> Values:
    return _motion(amplitude, moments)["velocity"].to_numpy()


def _crossings(velocity: Values) -> NDArray[np.intp]:
    """Indices of the samples after which the velocity crosses zero."""
    return np.flatnonzero(velocity[:-1] * velocity[1:] < 0)
