"""The units that files may use: SI with a few others."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from sweep.errors import FaultError
from sweep.wording import listed

# Pint's own table takes the radian for a bare number, so that it reads "50 Hz" as 50 rad/s and
# "0.1 rad" as a friction coefficient; here an angle is a dimension. Factors: SI brochure, 9th ed.
UNITS = """
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = μ- = u-
milli- = 1e-3 = m-
centi- = 1e-2 = c-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
metre = [length] = m = meter
gram = [mass] = g
second = [time] = s
radian = [angle] = rad
inch = 0.0254 * metre = in
pound = 0.45359237 * kilogram = lb
tonne = 1000 * kilogram = t
minute = 60 * second = min
hour = 3600 * second = h
turn = 6.283185307179586476925286766559 * radian = _ = revolution = cycle
degree = turn / 360 = deg = °
revolution_per_minute = turn / minute = rpm
hertz = 1 / second = Hz
newton = kilogram * metre / second ** 2 = N
pascal = newton / metre ** 2 = Pa
bar = 1e5 * pascal
joule = newton * metre = J
watt = joule / second = W
ampere = [current] = A
volt = watt / ampere = V
kelvin = [temperature] = K
mole = [substance] = mol
standard_gravity = 9.80665 * metre / second ** 2 = g_n = g_0
percent = 0.01 = %
""".strip().splitlines()

_FACTOR = r"(?:[^\W\d_]\w*|°|%|1)(?:\s*(?:\^|\*\*)\s*-?[0-9]{1,2})?"  # a unit, perhaps to a power
UNIT_PATTERN = rf"/?\s*{_FACTOR}(?:(?:\s*[*/·]\s*|\s+){_FACTOR})*"
PREFIXES = "n, u, m, c, k, M, G"


@cache
def registry() -> Any:  # pint's generic classes have no complete types
    """The pint registry of these units alone; its numbers are of type Decimal."""
    from decimal import Decimal

    import pint

    empty: Any = pint.UnitRegistry
    units = empty(None, non_int_type=Decimal)  # decimal: "5 um" is 5e-06 to the last bit
    units.load_definitions(UNITS)
    return units


def parse(text: str) -> Any:
    """The pint unit of a text that UNIT_PATTERN fits; FaultError, or an error of pint's."""
    import pint

    text = text.replace("·", "*")
    try:
        return registry().parse_units(f"1{text}" if text.startswith("/") else text)
    except pint.UndefinedUnitError as error:
        names = cast("str | tuple[str, ...]", error.unit_names)
        unknown = names if isinstance(names, str) else listed(names)
        cure = f"known units are {listed(_unit_names())}, with the prefixes {PREFIXES}"
        raise FaultError(f"unknown unit {unknown!r}", cure) from None


def _unit_names() -> list[str]:
    """The short name of each unit: the third field of its definition, or else the first."""
    lines = [[field.strip() for field in line.split("=")] for line in UNITS if "- =" not in line]
    return [fields[2] if len(fields) > 2 and fields[2] != "_" else fields[0] for fields in lines]
