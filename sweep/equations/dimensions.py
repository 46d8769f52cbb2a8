"""Products and powers of SI base units, and the text of the unit that they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

Dimensions = frozenset[tuple[str, Fraction]]  # (base unit, its exponent, which is not 0)

NO_DIMENSION: Dimensions = frozenset()


def dimensions(exponents: Mapping[str, Fraction]) -> Dimensions:
    """Those of base units with exponents, of which some may be 0."""
    return frozenset((base, exponent) for base, exponent in exponents.items() if exponent)


def product(a: Dimensions, b: Dimensions, b_exponent: Fraction | int = 1) -> Dimensions:
    """Of a times b to a power."""
    exponents = dict(a)
    for base, exponent in b:
        exponents[base] = exponents.get(base, Fraction(0)) + exponent * b_exponent
    return dimensions(exponents)


def power(a: Dimensions, exponent: Fraction) -> Dimensions:
    """Of a to a power."""
    return product(NO_DIMENSION, a, exponent)


def _of(**exponents: int) -> Dimensions:
    return dimensions({base: Fraction(exponent) for base, exponent in exponents.items()})


BASES = ("kg", "m", "s", "A", "K", "mol", "rad")  # in the order in which they are written
NAMED_UNITS = {
    "N": _of(kg=1, m=1, s=-2),
    "Pa": _of(kg=1, m=-1, s=-2),
    "J": _of(kg=1, m=2, s=-2),
    "W": _of(kg=1, m=2, s=-3),
    "V": _of(kg=1, m=2, s=-3, A=-1),
}

UNIT_DIMENSIONS = {
    **NAMED_UNITS,
    **{base: _of(**{base: 1}) for base in BASES},
    "rad": NO_DIMENSION,
    "1": NO_DIMENSION,
}
FACTOR = re.compile(r"(\s*[*·/]\s*|\s+|^)([A-Za-z]+|1)(?:(?:\^|\*\*)(-?[0-9]{1,2}))?")


def plain(text: str) -> Dimensions | None:
    """Of a product of SI units without prefixes; None if there is anything else in the text.

    This saves the half second that loading pint takes, which reads everything else.
    """
    dimensions_of_text, position = NO_DIMENSION, 0
    while position < len(text):
        factor = FACTOR.match(text, position)
        if factor is None or factor[2] not in UNIT_DIMENSIONS:
            return None
        exponent = int(factor[3] or 1) * (-1 if "/" in factor[1] else 1)
        dimensions_of_text = product(dimensions_of_text, UNIT_DIMENSIONS[factor[2]], exponent)
        position = factor.end()
    return dimensions_of_text if text else None


def unit_text(unit_dimensions: Dimensions) -> str:
    """A coherent unit of these dimensions, in few words: `N/m`."""
    candidates = [_text([], unit_dimensions)]
    for name, named_dimensions in NAMED_UNITS.items():
        rest = product(unit_dimensions, named_dimensions, -1)
        if "kg" not in dict(rest):  # a named unit replaces all of the mass
            candidates.append(_text([(name, Fraction(1))], rest))
    return min(candidates)[-1]


def _text(first: list[tuple[str, Fraction]], rest: Dimensions) -> tuple[Fraction, int, str]:
    """The sum of the exponents' magnitudes, the number of factors, and the unit's text."""
    factors = [*first, *sorted(rest, key=lambda factor: BASES.index(factor[0]))]
    above = " ".join(_factor(name, exponent) for name, exponent in factors if exponent > 0)
    below = "".join(f"/{_factor(name, -exponent)}" for name, exponent in factors if exponent < 0)
    total = sum((abs(exponent) for _, exponent in factors), Fraction(0))
    return total, len(factors), (above or "1") + below


def _factor(name: str, exponent: Fraction) -> str:
    if exponent == 1:
        return name
    return f"{name}^{exponent}" if exponent.denominator == 1 else f"{name}^({exponent})"
