"""Stiffnesses, lengths and energies of physical contacts, in SI units."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sweep.theory import Values, values
from sweep.theory.elementary import power

_MOTION = (
    "friction", "poisson_ratio", "indentation", "normal_amplitude", "tangential_amplitude",
)  # fmt: skip
ROOT_PI = 1.7724538509055161
# √w Γ(z)/Γ(z + ½) in powers of 1/w², w = z − ¼; the error is below 1e-16 from w = 11.75 on.
_GAMMA_RATIO = (
    1.0, -0.015625, 0.0025634765625, -0.0012798309326171875, 0.0013435110449790955,
    -0.0024328966392204165, 0.0067542375336415716,
)  # fmt: skip


def contact_modulus(youngs_modulus: ArrayLike, poisson_ratio: ArrayLike) -> Values:
    """E* = E/(1 − ν²) [Pa] of a rigid body on a half-space (Hanisch et al. 2020, after eq. 3)."""
    nu = values(poisson_ratio)
    return values(youngs_modulus) / ((1 - nu) * (1 + nu))


def shear_modulus(youngs_modulus: ArrayLike, poisson_ratio: ArrayLike) -> Values:
    """G* = 4G/(2 − ν) [Pa], with G = E/(2(1 + ν)) (Hanisch et al. 2020, after eq. 3)."""
    nu = values(poisson_ratio)
    return 2 * values(youngs_modulus) / ((1 + nu) * (2 - nu))


def stiffness_ratio(poisson_ratio: ArrayLike) -> Values:
    """κ = E*/G* = (2 − ν)/(2(1 − ν))."""
    nu = values(poisson_ratio)
    return (2 - nu) / (2 * (1 - nu))


def profile_factor(profile_exponent: ArrayLike) -> Values:
    """κ_n = (√π/2) n Γ(n/2)/Γ((n+1)/2), so that f(r) = A rⁿ becomes g(x) = κ_n A|x|ⁿ.

    This is the Abel transform |x|∫₀ˣ f'(r)/√(x² − r²) dr (Hanisch et al. 2020, eq. 2): π/2 for a
    cone, 2 for a sphere, 1 in the limit n = 0, NaN for n < 0, where the integral diverges. Relative
    error below 1e-14, with the same bits on every machine.
    """
    n = values(profile_exponent)
    with np.errstate(all="ignore"):
        z, w = n / 2, n / 2 + 11.75
        series = np.zeros_like(z)
        for coefficient in reversed(_GAMMA_RATIO):
            series = series / (w * w) + coefficient
        factor = ROOT_PI * (series / np.sqrt(w) * (z + 11.5))
        for i in range(11):  # Γ(z + 1)/Γ(z) = z
            factor = factor * ((z + (i + 0.5)) / (z + (i + 1.0)))
    return np.where(n >= 0, np.where(np.isposinf(n), np.inf, factor), np.nan)


def contact_radius(
    indentation: ArrayLike, profile_coefficient: ArrayLike, profile_exponent: ArrayLike
) -> Values:
    """Contact radius a [m] at an indentation d: g(a) = d. For a sphere (A = 1/2R), √(Rd)."""
    n = values(profile_exponent)
    steepness = profile_factor(n) * values(profile_coefficient)
    return (values(indentation) / steepness) ** (1 / n)


def normal_force(
    contact_modulus: ArrayLike,
    contact_radius: ArrayLike,
    indentation: ArrayLike,
    profile_exponent: ArrayLike,
) -> Values:
    """F_n = 2E*ad n/(n+1) [N]; for a sphere (4/3)E*√R d^{3/2} (Hertz)."""
    n = values(profile_exponent)
    pressed = values(contact_radius) * values(indentation)
    finite = np.where(np.isposinf(n), 1.0, n)
    share = np.where(np.isposinf(n), 1.0, finite / (finite + 1))  # 1 for a flat punch
    return 2 * values(contact_modulus) * pressed * share


def indentation(
    normal_force: ArrayLike,
    contact_modulus: ArrayLike,
    profile_coefficient: ArrayLike,
    profile_exponent: ArrayLike,
) -> Values:
    """Indentation d [m] under a normal force, the inverse of `normal_force`.

    d = (F (n+1)/(2 n E*))^(n/(n+1)) (κ_n A)^(1/(n+1)); for a sphere (A = 1/2R, n = 2)
    (3F/(4E*√R))^(2/3) (Hertz). 0.5 < n <= 1000. Relative error below 1e-14, with the same bits on
    every machine.
    """
    arguments = (normal_force, contact_modulus, profile_coefficient, profile_exponent)
    force, modulus, coefficient, n = np.broadcast_arrays(*map(values, arguments))
    area = force * (n + 1) / (2 * n * modulus)
    return power(area, n / (n + 1)) * power(profile_factor(n) * coefficient, 1 / (n + 1))


def amplitude_numbers(
    friction: ArrayLike,
    poisson_ratio: ArrayLike,
    indentation: ArrayLike,
    normal_amplitude: ArrayLike,
    tangential_amplitude: ArrayLike,
) -> tuple[Values, Values, Values]:
    """β = μκΔz/Δx (Hanisch et al. 2020, eq. 18), δ = Δz/d0 (eq. 21) and ξ = μκd0/Δx (eq. 26).

    Without tangential motion, β and ξ are infinite. Without normal motion, ξ is finite and
    β = δ = 0. With infinite friction, β and ξ are infinite even without normal motion.
    """
    grip = values(friction) * stiffness_ratio(poisson_ratio)
    normal, tangential = values(normal_amplitude), values(tangential_amplitude)
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = np.where(normal > 0, grip * normal, 0.0) / tangential
        beta = np.where(np.isinf(grip) | (tangential == 0), np.inf, beta)
        depth = np.where(tangential == 0, np.inf, grip * values(indentation) / tangential)
        delta = normal / values(indentation)
    beta, delta, depth = np.broadcast_arrays(beta, delta, depth)
    return beta, delta, depth


def physical_numbers(parameters: Mapping[str, ArrayLike]) -> tuple[Values, Values, Values] | None:
    """β, δ and ξ of physical parameters by name; None if one of them is missing."""
    if not set(_MOTION) <= parameters.keys():
        return None
    return amplitude_numbers(*(parameters[name] for name in _MOTION))


def reference_energy(
    shear_modulus: ArrayLike,
    contact_radius: ArrayLike,
    tangential_amplitude: ArrayLike,
    delta: ArrayLike,
    profile_exponent: ArrayLike,
) -> Values:
    """W_ref = (16/3) G* a0 Δx² δ/n [J], the unit of W̄ = W/W_ref.

    For a sphere it is W_∞,max of the paper (Hanisch et al. 2020, eq. 10).
    """
    stiffness = values(shear_modulus) * values(contact_radius)
    share = values(delta) / values(profile_exponent)
    return 16 / 3 * stiffness * values(tangential_amplitude) ** 2 * share


def energy_unit(
    parameters: Mapping[str, ArrayLike], delta: ArrayLike | None = None
) -> Values | None:
    """W_ref [J] of physical parameters by name, of a sphere or a profile; None if one is missing.

    `delta` replaces δ: 1 for the unit of W̄δ, which is finite under constant load too.
    """
    sphere = "radius" in parameters
    shape = ("radius",) if sphere else ("profile_coefficient", "profile_exponent")
    if not {*_MOTION, "youngs_modulus", *shape} <= parameters.keys():
        return None
    if delta is None:
        delta = values(parameters["normal_amplitude"]) / values(parameters["indentation"])
    n = parameters.get("profile_exponent", 2.0)
    coefficient = 0.5 / values(parameters["radius"]) if sphere else parameters[shape[0]]
    return reference_energy(
        shear_modulus(parameters["youngs_modulus"], parameters["poisson_ratio"]),
        contact_radius(parameters["indentation"], coefficient, n),
        parameters["tangential_amplitude"],
        delta,
        n,
    )


def wear_volume(
    dissipated_energy: ArrayLike, friction: ArrayLike, archard_coefficient: ArrayLike
) -> Values:
    """Worn volume [m³] in the cycles that dissipated the energy W [J]: kW/μ.

    Archard's k [m³/(N m) = 1/Pa] refers to load × distance slipped. The dissipated energy is μ
    times that, because all energy is lost by slip under μ times the pressure.
    """
    return values(archard_coefficient) * values(dissipated_energy) / values(friction)
