"""Den Hartog's closed form for the steady motion without stops of a mass on a spring with friction.

    m ÿ = −k y − m a0 sin(ωt) − μ m g sgn(ẏ)

is the model `friction_oscillator` with a spring, without damper or vertical shaking. With r =
ω/√(k/m) and η = μg/a0, the steady motion oscillates between ±X and reverses at both ends at once,

    X = (m a0/k) √(1 − η²G²)/|1 − r²|,   G = (1 − r²) tan(π/2r)/r,

provided that the mass does not stop in between: X ≥ η (m a0/k) S, where S is the maximum over half
a period of [sin(θ/r) + tan(π/2r)(cos θ − cos(θ/r))]/(r sin θ). At resonance the amplitude is
unbounded for η < π/4. Transients decay by friction only, and more slowly the weaker the friction
is.

The mass slips 4X per cycle. Wear power is the mean of N|v|, without μ. Functions take numbers or
arrays that broadcast together, in SI units, and return float64 arrays of the broadcast shape unless
stated otherwise. They are NaN where the motion has stops, without a spring, and for a plane at
rest.

Source: J. P. Den Hartog, Forced vibrations with combined Coulomb and viscous friction, Trans. ASME
53 (1931) APM-107-115; here with the limits at r = 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.theory import Values, all_zero, values

VOIDED_BY = ("damping", "vertical_acceleration")  # the closed form needs both to be 0

PHASES = 1024  # samples of the stopping condition per half period
SECTIONS = 40  # golden-section steps around the best sample
TOGETHER = 256  # frequency ratios per batch, to limit memory to a few megabytes


def amplitude(
    mass: ArrayLike,
    gravity: ArrayLike,
    friction: ArrayLike,
    stiffness: ArrayLike,
    base_acceleration: ArrayLike,
    angular_frequency: ArrayLike,
) -> Values:
    """The largest displacement X [m]; inf at resonance, NaN where the mass stops in between."""
    ratio = _frequency_ratio(mass, stiffness, angular_frequency)
    ratio, loss = np.broadcast_arrays(ratio, _loss(friction, gravity, base_acceleration))
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.sqrt(1 - (loss * _defect(ratio)) ** 2) / np.abs((1 - ratio) * (1 + ratio))
        size = size * values(base_acceleration) * values(mass) / values(stiffness)
    return np.where(loss <= continuous_limit(ratio), size, np.nan)


def turning_phase(
    mass: ArrayLike,
    gravity: ArrayLike,
    friction: ArrayLike,
    stiffness: ArrayLike,
    base_acceleration: ArrayLike,
    angular_frequency: ArrayLike,
) -> Values:
    """The phase ωt in (−π, π] of the largest displacement; NaN where the mass stops in between.

    Without friction it is −π/2 below resonance and π/2 above.
    """
    ratio = _frequency_ratio(mass, stiffness, angular_frequency)
    ratio, loss = np.broadcast_arrays(ratio, _loss(friction, gravity, base_acceleration))
    with np.errstate(invalid="ignore"):
        lag = loss * _defect(ratio)
        rest = np.where(ratio < 1, -1.0, 1.0) * np.sqrt(1 - lag**2)
        # The force −m a0 sin ωt is cos(ωt + π/2), which leads the displacement by asin(−lag).
        phase = np.arctan2(rest, -lag)
    return np.where(loss <= continuous_limit(ratio), phase, np.nan)


def wear_power(
    mass: ArrayLike,
    gravity: ArrayLike,
    friction: ArrayLike,
    stiffness: ArrayLike,
    base_acceleration: ArrayLike,
    angular_frequency: ArrayLike,
) -> Values:
    """Mean of N|v| [W] over a cycle, 4 m g X ω/2π; NaN where the mass stops in between."""
    size = amplitude(mass, gravity, friction, stiffness, base_acceleration, angular_frequency)
    return 2 / np.pi * values(mass) * values(gravity) * values(angular_frequency) * size


def friction_power(
    mass: ArrayLike,
    gravity: ArrayLike,
    friction: ArrayLike,
    stiffness: ArrayLike,
    base_acceleration: ArrayLike,
    angular_frequency: ArrayLike,
) -> Values:
    """Mean of μN|v| [W], the heat, 4 μ m g X ω/2π; NaN where the mass stops in between."""
    wear = wear_power(mass, gravity, friction, stiffness, base_acceleration, angular_frequency)
    return values(friction) * wear


def is_continuous(
    mass: ArrayLike,
    gravity: ArrayLike,
    friction: ArrayLike,
    stiffness: ArrayLike,
    base_acceleration: ArrayLike,
    angular_frequency: ArrayLike,
) -> NDArray[np.bool_]:
    """Whether the steady motion stops only to reverse."""
    limit = continuous_limit(_frequency_ratio(mass, stiffness, angular_frequency))
    return _loss(friction, gravity, base_acceleration) <= limit


def continuous_limit(frequency_ratio: ArrayLike) -> Values:
    """The largest η = μg/a0 for which the motion with r = ω/√(k/m) has no stops.

    1/√(G² + (1 − r²)²S²). It is 0 at r = 1/3, 1/5, ..., π/4 at r = 1, and for large r tends to
    2/√(π² + 4), the value without a spring. S is searched on 1024 phases, which resolve it down to
    r = 0.02; above that, the relative error is a few rounding errors of G.
    """
    ratio = values(frequency_ratio)
    each, places = np.unique(ratio, return_inverse=True)
    limits = np.full(each.shape, np.nan)
    known = np.flatnonzero((each > 0) & np.isfinite(each))
    for first in range(0, len(known), TOGETHER):
        some = known[first : first + TOGETHER]
        limits[some] = _limits(each[some])
    return limits[places].reshape(ratio.shape)


def boundaries(parameters: Mapping[str, ArrayLike]) -> dict[str, Values]:
    """The boundary of the motion without stops: for its label, an array that changes sign there.

    `parameters` maps names of parameters of friction_oscillator to values that broadcast together.
    The result is empty unless all relevant parameters are given, and NaN without a spring or where
    a damper or vertical shaking invalidates the closed form.
    """
    names = ("mass", "gravity", "friction", "base_acceleration", "angular_frequency", "stiffness")
    if not set(names) <= parameters.keys():
        return {}
    numbers = {name: values(parameters[name]) for name in names}
    ratio = _frequency_ratio(numbers["mass"], numbers["stiffness"], numbers["angular_frequency"])
    limit = continuous_limit(ratio) * numbers["base_acceleration"]
    border = limit - numbers["friction"] * numbers["gravity"]
    valid = (numbers["stiffness"] > 0) & all_zero(parameters, VOIDED_BY)
    return {"border of motion without stops": np.where(valid, border, np.nan)}


def _frequency_ratio(mass: ArrayLike, stiffness: ArrayLike, angular_frequency: ArrayLike) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        return values(angular_frequency) * np.sqrt(values(mass) / values(stiffness))


def _loss(friction: ArrayLike, gravity: ArrayLike, base_acceleration: ArrayLike) -> Values:
    """η = μg/a0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return values(friction) * values(gravity) / values(base_acceleration)


def _defect(ratio: Values) -> Values:
    """G = (1 − r²) tan(π/2r)/r; −4/π at resonance. `beyond` is π/2r less a right angle."""
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.pi / 2 * (1 - ratio) / ratio
        near = -2 / np.pi * (1 + ratio) * np.where(beyond == 0, 1.0, beyond / np.tan(beyond))
        above = (1 - ratio) * (1 + ratio) / ratio * np.tan(np.pi / 2 / ratio)
    return np.where(ratio < 1.5, near, above)


def _limits(ratio: Values) -> Values:
    """`continuous_limit` for distinct ratios of shape (n,)."""
    phases = np.pi * np.arange(1, PHASES) / PHASES
    values = _stopping(ratio[:, None], phases)
    best = phases[np.argmax(values, axis=1)]
    at_reversal = np.abs(1 - ratio) * (1 + ratio) / ratio**2
    greatest = np.maximum(at_reversal, np.maximum(values.max(axis=1), _summit(ratio, best)))
    return 1 / np.hypot(_defect(ratio), greatest)


def _stopping(ratio: Values, phase: Values) -> Values:
    """|1 − r²| times the function whose maximum is S."""
    swing = (1 - ratio) * (1 + ratio) * np.sin(phase / ratio)
    swing += _defect(ratio) * ratio * (np.cos(phase) - np.cos(phase / ratio))
    return np.where(ratio < 1, swing, -swing) / (ratio * np.sin(phase))


def _summit(ratio: Values, phase: Values) -> Values:
    """The maximum within one grid spacing of the phase, by golden-section search."""
    golden, spacing = (np.sqrt(5) - 1) / 2, np.pi / PHASES
    low = np.maximum(phase - spacing, spacing / 2)
    high = np.minimum(phase + spacing, np.pi - spacing / 2)
    for _ in range(SECTIONS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        falls = _stopping(ratio, left) > _stopping(ratio, right)
        low, high = np.where(falls, low, left), np.where(falls, right, high)
    return _stopping(ratio, (low + high) / 2)
