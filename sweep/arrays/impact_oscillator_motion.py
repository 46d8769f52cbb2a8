"""The motion that `harmonic_balance` finds: the sum of its cosines, its derivative, the stop."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sweep.arrays import Motion
from sweep.arrays import impact_oscillator as method
from sweep.arrays.impact_oscillator.balance import Array, Library, Oscillator, force
from sweep.arrays.impact_oscillator.continuation import balanced


def harmonic_balance(xp: Library, parameters: Mapping[str, Array]) -> Motion:
    """One period of the motion of one point, from parameters of shape (1,) in SI units."""
    outputs = method.harmonic_balance(xp, parameters)
    status = int(outputs["status"][0])
    if status != method.OK:
        return Motion(status)
    # As in the method, which has no function for it: any change of its text changes its digest.
    amplitude = xp.sqrt(2 * parameters["energy"] / parameters["stiffness"])
    rate = xp.sqrt(parameters["stiffness"] / parameters["mass"])
    oscillator = Oscillator(
        wall=parameters["wall_stiffness"] / parameters["stiffness"],
        gap=parameters["gap"] / amplitude,
        regularization=parameters["regularization"],
        instant=parameters["energy_instant"],
    )
    unknowns, _ = balanced(xp, oscillator, int(parameters["harmonics"][0]))
    period = float(1 / outputs["frequency"][0])

    def look(times: Array) -> dict[str, Array]:
        displacement, velocity, stop = _scaled(xp, oscillator, unknowns, times / period)
        return {
            "displacement": displacement[0] * amplitude,
            "velocity": velocity[0] * (amplitude * rate),
            "wall_force": stop[0] * (amplitude * parameters["stiffness"]),
        }

    return Motion(status, period, look)


def _scaled(
    xp: Library, oscillator: Oscillator, unknowns: Array, times: Array
) -> tuple[Array, Array, Array]:
    """Displacement, velocity and force on the stop in scaled units, each of shape (n, n_times).

    `times`, of shape (n_times,), are in periods.
    """
    phase = 2 * np.pi * (times - xp.rint(times))
    displacement, slope = xp.zeros((2, len(unknowns), len(times)))
    for order in range(unknowns.shape[1] - 1):
        cosine = unknowns[:, order, None]
        displacement += cosine * xp.cos(order * phase)
        slope -= order * cosine * xp.sin(order * phase)
    velocity = xp.sqrt(unknowns[:, -1:]) * slope
    return displacement, velocity, force(xp, oscillator, displacement).value
