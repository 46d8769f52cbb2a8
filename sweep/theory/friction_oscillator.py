"""Closed forms for a mass rubbing on a shaken plane, without spring, damper or vertical shaking.

The plane shakes with a0 sin(ωt), the normal force is mg, and η = μg/a0 is the ratio of the friction
limit to the largest inertia force. η >= 1: the mass sticks. η* < η < 1: it sticks and slips in
every half period. η <= η*: it always slips, in alternating directions.

Wear power and wear energy (Archard; PUIS_USURE in Code_Aster) are those of N|v|, without μ. All
functions take numbers or arrays that broadcast together, in SI units, and return float64 arrays of
the broadcast shape unless stated otherwise.

Source: Code_Aster V5.01.104 (SDND104). Accuracies are from comparisons with 50-digit arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.model.table import MISSING_FLAG
from sweep.model.windows import end_in_cycles
from sweep.theory import Values, all_zero, den_hartog, values
from sweep.theory.elementary import product_error

STICK, STICK_SLIP, SLIP_SLIP = 0, 1, 2  # the flags of the model's output `regime`

CRITICAL_RATIO = 2 / math.sqrt(math.pi**2 + 4)  # η*: a slip lasts exactly half a period

VOIDED_BY = ("stiffness", "damping", "vertical_acceleration")  # the closed forms need all to be 0


def regime(
    friction: ArrayLike, gravity: ArrayLike, base_acceleration: ArrayLike
) -> NDArray[np.uint8]:
    """The steady motion: 0 stick, 1 stick-slip, 2 slip-slip, like the model's output `regime`.

    255, the missing value of a flag, if an argument is NaN.
    """
    grip, a0 = np.broadcast_arrays(_product(friction, gravity)[0], values(base_acceleration))
    codes = np.full(grip.shape, SLIP_SLIP, dtype=np.uint8)
    codes[grip > CRITICAL_RATIO * a0] = STICK_SLIP
    codes[grip >= a0] = STICK
    codes[np.isnan(grip) | np.isnan(a0)] = MISSING_FLAG
    return codes


def slip_threshold(friction: ArrayLike, gravity: ArrayLike) -> Values:
    """Base acceleration [m/s²] above which the mass slips: η = 1."""
    return _product(friction, gravity)[0]


def continuous_slip_threshold(friction: ArrayLike, gravity: ArrayLike) -> Values:
    """Base acceleration [m/s²] above which the mass never sticks: η = η*."""
    return _product(friction, gravity)[0] / CRITICAL_RATIO


def slip_duration(friction: ArrayLike, gravity: ArrayLike, base_acceleration: ArrayLike) -> Values:
    """Duration of each slip as a phase ω(t2 − t1) [rad]: 0 in stick, π in slip-slip.

    In stick-slip it solves (τ − sin τ)/(1 − cos τ) = √(1 − η²)/η, which is the equation of SDND104,
    η(ωt2 − ωt1) − cos ωt1 + cos ωt2 = 0, with ωt1 = arcsin η. The relative error is below 1e-15 for
    arbitrarily short slips, because the excess of a0 over μg is formed exactly.
    """
    codes = regime(friction, gravity, base_acceleration)
    duration = np.where(codes == SLIP_SLIP, np.pi, np.where(codes == MISSING_FLAG, np.nan, 0.0))
    is_stick_slip = codes == STICK_SLIP
    cotangent = _cotangent(friction, gravity, base_acceleration)
    duration[is_stick_slip] = _solve_duration(cotangent[is_stick_slip])
    return duration


def slip_end(friction: ArrayLike, gravity: ArrayLike, base_acceleration: ArrayLike) -> Values:
    """Phase ωt2 [rad] at which a slip that began at ωt1 = arcsin η ends; NaN outside stick-slip.

    For short slips use `slip_duration`, which keeps its relative accuracy.
    """
    codes = regime(friction, gravity, base_acceleration)
    start = np.arctan2(1.0, _cotangent(friction, gravity, base_acceleration))
    duration = slip_duration(friction, gravity, base_acceleration)
    return np.where(codes == STICK_SLIP, start + duration, np.nan)


def half_period_wear_energy(
    mass: ArrayLike,
    gravity: ArrayLike,
    friction: ArrayLike,
    base_acceleration: ArrayLike,
    angular_frequency: ArrayLike,
) -> Values:
    """Wear energy ∫N|v|dt [J] of half a period of the steady motion; 0 in stick.

    Stick-slip: mg[(a0/ω)((t2−t1)cos ωt1 − (sin ωt2 − η)/ω) − (μg/2)(t2−t1)²]. To avoid
    cancellation, cos ωt1 is taken from the equation for t2; the relative error stays below 1e-14
    down to a0 = μg(1 + 1e-12). Slip-slip: the mean power times half a period.
    """
    force = values(mass) * values(gravity)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = force * values(base_acceleration) / values(angular_frequency) ** 2
    return _times(unit, _half_period_integral(friction, gravity, base_acceleration))


def asymptotic_wear_power(
    mass: ArrayLike,
    gravity: ArrayLike,
    friction: ArrayLike,
    base_acceleration: ArrayLike,
    angular_frequency: ArrayLike,
) -> Values:
    """Mean of N|v| [W] over a period of the steady motion; 0 in stick.

    Slip-slip: (m g a0/ω)√(4/π² − η²). Stick-slip: two half-period energies per period; this motion
    is reached from rest within the first half period. Both expressions agree at η*.
    """
    force = values(mass) * values(gravity)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = force * values(base_acceleration) / values(angular_frequency) / np.pi
    return _times(unit, _half_period_integral(friction, gravity, base_acceleration))


def friction_power(wear_power: ArrayLike, friction: ArrayLike) -> Values:
    """Mean of μN|v| [W], the heat, from the mean of N|v| [W]."""
    return values(friction) * values(wear_power)


def wear_volume(wear_energy: ArrayLike, archard_coefficient: ArrayLike) -> Values:
    """Worn volume [m³]: Archard's k times the wear energy ∫N|v|dt [J = N m].

    k [m³/(N m) = 1/Pa] refers to load × distance slipped. Multiply a coefficient that refers to the
    dissipated energy ∫μN|v|dt by μ first.
    """
    return values(archard_coefficient) * values(wear_energy)


def archard_coefficient(wear_constant: ArrayLike, hardness: ArrayLike) -> Values:
    """Archard's k [1/Pa] from his dimensionless constant K and the hardness H [Pa]: k = K/H."""
    return values(wear_constant) / values(hardness)


def boundaries(parameters: Mapping[str, ArrayLike]) -> dict[str, Values]:
    """The boundaries of the regimes: for each label, an array that changes sign at the boundary.

    `parameters` maps names of model parameters to values that broadcast together. The result is
    empty unless friction, gravity and base_acceleration are given, and NaN where a spring, a damper
    or vertical shaking invalidates the closed forms. It includes Den Hartog's boundary of the
    motion without stops, for a mass on a spring.
    """
    if not {"friction", "gravity", "base_acceleration"} <= parameters.keys():
        return {}
    rigid = all_zero(parameters, VOIDED_BY)
    friction, gravity = parameters["friction"], parameters["gravity"]
    a0 = values(parameters["base_acceleration"])
    continuous = continuous_slip_threshold(friction, gravity)
    thresholds = {
        "border of stick, μg/a₀ = 1": slip_threshold(friction, gravity),
        "border of slip without rest, μg/a₀ = 2/√(π²+4)": continuous,
    }
    borders = {label: np.where(rigid, a0 - limit, np.nan) for label, limit in thresholds.items()}
    return borders | den_hartog.boundaries(parameters)


def causes_outside_validity(parameters: Mapping[str, Values]) -> dict[str, NDArray[np.bool_]]:
    """Where points are outside validity and why, beyond what the table says: by cause, a mask.

    `parameters` maps the names of a sweep's parameters to values that broadcast together.
    """
    none = np.zeros(1)
    get = parameters.get
    omega, mass = parameters["angular_frequency"], parameters["mass"]
    step = get("step", none)
    end = end_in_cycles(parameters, omega)
    with np.errstate(all="ignore"):
        spring = get("stiffness", none) / mass / omega**2
        damper = get("damping", none) / mass / omega
        long_steps = np.isinf(get("tolerance", none + np.inf)) & (omega * step > 2 * np.pi / 10)
    limit = np.where(step > 0, 1e9 / (2 * np.pi), 1e9)
    return {
        "the spring is too strong: stiffness/mass is above 1e12 ω²": (step == 0) & (spring > 1e12),
        "the damper is too strong: damping/mass is above 1e12 ω": (step == 0) & (damper > 1e12),
        "the window ends after too many cycles (1e9; with time stepping, a phase of 1e9): end it "
        "earlier": end > limit,
        "the step is longer than a tenth of the period although the mass slips: use a step below "
        "0.2π/ω": long_steps,
        "there are more blocks than half the samples of the window: use fewer blocks or a shorter "
        "step": get("blocks", none) > 1,
    }


def derived_parameters(parameters: Mapping[str, float]) -> dict[str, float]:
    """The values that the kernel uses for parameters whose default is NaN, by name.

    Critical damping of the stuck contact, 2 √(m (k + K_T)).
    """
    mass, stiffness, contact = (
        parameters[name] for name in ("mass", "stiffness", "tangential_stiffness")
    )
    return {"tangential_damping": float(critical_damping(mass, stiffness + contact))}


def critical_damping(mass: ArrayLike, stiffness: ArrayLike) -> Values:
    """2 √(m k) in N s/m, of a mass in kg on a spring in N/m; NaN where either is negative."""
    mass, stiffness = values(mass), values(stiffness)
    valid = (mass >= 0) & (stiffness >= 0)
    with np.errstate(invalid="ignore"):
        return np.where(valid, 2.0 * np.sqrt(mass * stiffness), np.nan)


def _times(unit: Values, share: Values) -> Values:
    """unit · share, where a share of 0 gives 0 even if the unit is infinite."""
    with np.errstate(invalid="ignore"):
        return np.where((share == 0) & np.isposinf(unit), 0.0, unit * share)


def _half_period_integral(
    friction: ArrayLike, gravity: ArrayLike, base_acceleration: ArrayLike
) -> Values:
    """Wear energy of half a period, in units of m g a0/ω²."""
    codes = regime(friction, gravity, base_acceleration)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = values(friction) * values(gravity) / values(base_acceleration)
    energy = np.where(codes == MISSING_FLAG, np.nan, 0.0)
    is_stick_slip, is_slip_slip = codes == STICK_SLIP, codes == SLIP_SLIP
    duration = slip_duration(friction, gravity, base_acceleration)
    energy[is_stick_slip] = ratio[is_stick_slip] * _short_slip_integral(duration[is_stick_slip])
    energy[is_slip_slip] = np.sqrt(4 - (np.pi * ratio[is_slip_slip]) ** 2)
    return energy


def _product(a: ArrayLike, b: ArrayLike) -> tuple[Values, Values]:
    """a·b rounded, and the rounding error (exact for magnitudes within 1e±146)."""
    a, b = values(a), values(b)
    with np.errstate(invalid="ignore"):  # an infinite product has no rounding error
        product = a * b
        return product, product_error(a, b, product)


def _cotangent(friction: ArrayLike, gravity: ArrayLike, base_acceleration: ArrayLike) -> Values:
    """cot ωt1 = √(a0² − μ²g²)/(μg), accurate even if a0 barely exceeds μg; 0 in stick."""
    grip, rest = _product(friction, gravity)
    a0 = values(base_acceleration)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.maximum((a0 - grip) - rest, 0.0)
        return np.where(excess > 0, np.sqrt(excess * (a0 + grip)) / grip, 0.0)


def _solve_duration(cotangent: Values) -> Values:
    """The τ in [0, π] with (τ − sin τ)/(1 − cos τ) = cotangent, for a cotangent in [0, π/2].

    The left side is convex, its slope increases from 1/3 at 0 to 1 at π, and its value at π is π/2.
    So the root is at most min(3 cotangent, π), and Newton's method converges monotonically from
    there; five steps reach rounding from the worst start.
    """
    tau = np.minimum(3 * cotangent, np.pi)
    for _ in range(5):
        slack, versine = _minus_sine(tau), 2 * np.sin(tau / 2) ** 2
        slope = versine - slack * np.sin(tau) / np.where(versine > 0, versine, 1.0)
        step = (slack - cotangent * versine) / np.where(slope > 0, slope, 1.0)
        tau = np.clip(tau - step, 0.0, np.pi)
    return tau


def _short_slip_integral(tau: Values) -> Values:
    """[S² − C D]/C with S = τ − sin τ, C = 1 − cos τ, D = τ²/2 − C; τ⁴/72 for small τ."""
    versine = 2 * np.sin(tau / 2) ** 2
    rest = 2 * _minus_sine(tau / 2) * (tau / 2 + np.sin(tau / 2))
    return _minus_sine(tau) * (_minus_sine(tau) / np.where(versine > 0, versine, 1.0)) - rest


def _minus_sine(x: Values) -> Values:
    """x − sin x for 0 <= x <= π, with a relative error of about 1e-16; a series for x < 1."""
    square = x * x
    series = np.ones_like(x)
    for k in range(20, 2, -2):  # x³/6 (1 − x²/20 (1 − x²/42 (1 − ...)))
        series = 1 - square / (k * (k + 1)) * series
    return np.where(x < 1, x * square / 6 * series, x - np.sin(x))
