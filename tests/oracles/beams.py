"""Modes of uniform Bernoulli beams by mpmath: roots of the determinant, hyperbolic functions."""

from __future__ import annotations

from collections.abc import Callable

import mpmath

Shape = Callable[[mpmath.mpf], mpmath.mpf]  # of x/L
# φ, φ', φ'', φ''' of which an end sets two to zero.
ZERO = {"clamped": (0, 1), "pinned": (0, 2), "free": (2, 3)}


def derivatives(number: mpmath.mpf, x: mpmath.mpf) -> list[list[mpmath.mpf]]:
    """cosh, sinh, cos and sin of λx, and their derivatives by λx up to the third."""
    ch, sh = mpmath.cosh(number * x), mpmath.sinh(number * x)
    c, s = mpmath.cos(number * x), mpmath.sin(number * x)
    return [[ch, sh, c, s], [sh, ch, -s, c], [ch, sh, -c, -s], [sh, ch, s, -c]]


def conditions(number: mpmath.mpf, ends: tuple[str, str]) -> mpmath.matrix:
    """The four equations of the ends for the factors of cosh, sinh, cos and sin."""
    left, right = (derivatives(number, mpmath.mpf(x)) for x in (0, 1))
    rows = [left[i] for i in ZERO[ends[0]]] + [right[i] for i in ZERO[ends[1]]]
    return mpmath.matrix(rows)


def wave_numbers(ends: tuple[str, str], count: int) -> list[mpmath.mpf]:
    """The first positive roots of the determinant, found by looking for its signs."""

    def scaled(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.det(conditions(x, ends)) / mpmath.exp(x)

    roots: list[mpmath.mpf] = []
    step, x = mpmath.mpf("0.1"), mpmath.mpf("0.5")
    while len(roots) < count:
        if mpmath.sign(scaled(x)) != mpmath.sign(scaled(x + step)):
            roots.append(mpmath.findroot(scaled, (x, x + step), solver="anderson", tol=1e-30))
        x += step
    return roots


def shape(ends: tuple[str, str], number: mpmath.mpf) -> Shape:
    """The shape with a mean square of 1 by quadrature; its sign is free."""
    matrix = conditions(number, ends)
    # One factor is 1, that of cosh or, where this one is 0, of sin; the others by least squares.
    one = 3 if ends[0] == "pinned" else 0
    others = [i for i in range(4) if i != one]
    left = mpmath.matrix([[matrix[i, j] for j in others] for i in range(4)])
    right = mpmath.matrix([-matrix[i, one] for i in range(4)])
    solved = mpmath.lu_solve(left, right)
    factors = [mpmath.mpf(1)] * 4
    for j, value in zip(others, solved, strict=True):
        factors[j] = value

    def unscaled(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.fdot(factors, derivatives(number, x)[0])

    mean = mpmath.quad(lambda x: unscaled(x) ** 2, mpmath.linspace(0, 1, 17))
    return lambda x: unscaled(x) / mpmath.sqrt(mean)
