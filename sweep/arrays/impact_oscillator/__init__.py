"""Method `harmonic_balance` of the impact oscillator: u(t) = Σ a_j cos jωt.

The motion is symmetric about the time t = 0 of its greatest displacement, so cosines suffice. The
unknowns are 1 + harmonics coefficients and the frequency. Internally, lengths are in √(2E/k), times
in √(m/k) and energies in 2E. The remaining parameters are K/k, the gap (1 at grazing, 0 in the
limit of high energy) and the regularization.
"""

from __future__ import annotations

from collections.abc import Mapping

from sweep.arrays.impact_oscillator.balance import Array, Library, Oscillator
from sweep.arrays.impact_oscillator.continuation import balanced
from sweep.arrays.impact_oscillator.orbit import scaled_outputs
from sweep.spec import Status

# Plain integers, because CuPy does not accept an IntEnum.
OK, NOT_CONVERGED, DIVERGED, OUTSIDE_VALIDITY = map(
    int, (Status.ok, Status.not_converged, Status.diverged, Status.outside_validity)
)
STIFFEST = 1e12  # K/k
SMALLEST, LARGEST = 1e-140, 1e140  # range of the parameters without overflow or underflow


def harmonic_balance(xp: Library, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs and status of n points, from parameters of shape (n,) in SI units."""
    status = _judged(xp, parameters)
    found: dict[str, Array] = {}
    for harmonics in xp.unique(parameters["harmonics"]).tolist():
        here = xp.flatnonzero((parameters["harmonics"] == harmonics) & (status == OK))
        if not here.size:
            continue
        outputs = _outputs(xp, {name: p[here] for name, p in parameters.items()}, int(harmonics))
        status[here] = xp.where(outputs.pop("converged"), status[here], NOT_CONVERGED)
        for name, values in outputs.items():
            found.setdefault(name, xp.zeros(status.shape))[here] = values
    return {**found, "status": status}


def _judged(xp: Library, p: Mapping[str, Array]) -> Array:
    """The status from the parameters alone: 0, 2 (overflow or underflow) or 3 (invalid)."""
    sizes = (p["mass"], p["stiffness"], p["energy"])
    positive = (p["mass"] > 0) & (p["stiffness"] > 0) & (p["energy"] > 0)
    wall = (p["wall_stiffness"] >= 0) & (p["wall_stiffness"] <= STIFFEST * p["stiffness"])
    valid = positive & wall & (p["gap"] >= 0)
    resolved = p["gap"] <= LARGEST
    for size in sizes:
        resolved = resolved & (size >= SMALLEST) & (size <= LARGEST)
    return xp.where(valid, xp.where(resolved, OK, DIVERGED), OUTSIDE_VALIDITY)


def _outputs(xp: Library, p: Mapping[str, Array], harmonics: int) -> dict[str, Array]:
    amplitude = xp.sqrt(2 * p["energy"] / p["stiffness"])
    rate = xp.sqrt(p["stiffness"] / p["mass"])
    oscillator = Oscillator(
        wall=p["wall_stiffness"] / p["stiffness"],
        gap=p["gap"] / amplitude,
        regularization=p["regularization"],
        instant=p["energy_instant"],
    )
    unknowns, converged = balanced(xp, oscillator, harmonics)
    scaled = scaled_outputs(xp, oscillator, unknowns)
    return {
        **scaled,
        "frequency": scaled["frequency"] * rate,
        "minimum": scaled["minimum"] * amplitude,
        "maximum": scaled["maximum"] * amplitude,
        "converged": converged,
    }
