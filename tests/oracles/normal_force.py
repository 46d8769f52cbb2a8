"""The normal force of a body of revolution on a half-space, and its inverse, in mpmath.

F = 2 E* ∫ (d − g(x)) dx over the contact radius, with g(x) = A xⁿ n ∫ sinⁿ⁻¹θ dθ: the row of
springs of the method of dimensionality reduction. 1/E* and 1/G* are sums over the two bodies.
"""

from __future__ import annotations

import mpmath
from mpmath import mpf

DIGITS = 40


def normal_force(modulus: mpf, coefficient: mpf, exponent: mpf, indentation: mpf) -> mpf:
    """F of the profile A rⁿ at an indentation."""
    stretch = exponent * mpmath.quad(
        lambda angle: mpmath.sin(angle) ** (exponent - 1), [0, 0.1, 1, mpmath.pi / 2]
    )
    radius = (indentation / (stretch * coefficient)) ** (1 / exponent)
    share = mpmath.quad(lambda x: 1 - x**exponent, [0, 0.5, 1])
    return 2 * modulus * radius * indentation * share


def indentation(modulus: float, coefficient: float, exponent: float, force: float) -> mpf:
    """The root of F(d) = force, found in log d by the secant method."""
    with mpmath.workdps(DIGITS):
        fixed = (mpf(modulus), mpf(coefficient), mpf(exponent))
        root = mpmath.findroot(
            lambda log_d: mpmath.log(normal_force(*fixed, mpmath.exp(log_d)) / force), (-10, -9)
        )
        return mpmath.exp(root)


def hertz_indentation(modulus: float, radius: float, force: float) -> mpf:
    """Hertz: F = (4/3) E* √R d^{3/2}."""
    with mpmath.workdps(DIGITS):
        return (3 * mpf(force) / (4 * mpf(modulus) * mpmath.sqrt(radius))) ** (mpf(2) / 3)


def moduli(*bodies: tuple[float, float]) -> tuple[mpf, mpf]:
    """E* and G* of bodies given by (E, ν)."""
    with mpmath.workdps(DIGITS):
        pairs = [(mpf(e), mpf(nu)) for e, nu in bodies]
        normal = sum((1 - nu**2) / e for e, nu in pairs)
        shear = sum((2 - nu) * (1 + nu) / (2 * e) for e, nu in pairs)
        return 1 / normal, 1 / shear
