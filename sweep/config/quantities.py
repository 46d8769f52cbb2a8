"""Numbers in sweep files: in SI units, or text with a unit."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from sweep.spec import Parameter, Values
from sweep.wording import listed, shown


class UnreadableError(ValueError):
    """A value that cannot be used; its text is the message of a fault."""


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
standard_gravity = 9.80665 * metre / second ** 2 = g_n = g_0
percent = 0.01 = %
""".strip().splitlines()

MAX_TEXT_LENGTH = 80  # of a quantity: the patterns below take quadratic time
_AMOUNT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_FACTOR = r"(?:[^\W\d_]\w*|°|%|1)(?:\s*(?:\^|\*\*)\s*-?[0-9]{1,2})?"  # a unit, perhaps to a power
_QUANTITY = re.compile(rf"({_AMOUNT})\s*(/?\s*{_FACTOR}(?:(?:\s*[*/·]\s*|\s+){_FACTOR})*)?")


def number(value: object, parameter: Parameter) -> float:
    """The value of a parameter as a number in SI units.

    It is finite, or inf if the parameter allows that; UnreadableError otherwise. A negative zero
    is returned as zero, so that equal sweeps have equal bits.
    """
    if isinstance(value, str) and parameter.infinite and value.strip() == "inf":
        amount = math.inf  # `--set name=inf` in a shell
    elif isinstance(value, str):
        amount = _in_si(value.strip(), parameter)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        amount = _rounded(value)
    else:
        raise UnreadableError(f"{shown(value)} is not a number; {_expected(parameter)}")
    if not (math.isfinite(amount) or (parameter.infinite and amount == math.inf)):
        raise UnreadableError(f"{shown(value)} is not a finite number; {_expected(parameter)}")
    return amount + 0.0


def first_outside(values: Values, parameter: Parameter) -> int | None:
    """Index of the first value outside the parameter's range; None if there is none."""
    above = values > parameter.minimum if parameter.open_minimum else values >= parameter.minimum
    below = values < parameter.maximum if parameter.open_maximum else values <= parameter.maximum
    allowed = np.isfinite(values) & above & below
    if parameter.whole:
        allowed &= values == np.floor(values)
    allowed |= parameter.infinite & (values == np.inf)
    outside = np.flatnonzero(~allowed)
    return int(outside[0]) if outside.size else None


def requirement(parameter: Parameter) -> str:
    """The parameter's range in words: `above 0 and at most 1`."""
    unit = "" if parameter.unit == "1" else f" {parameter.unit}"
    words: list[str] = ["a whole number"] if parameter.whole else []
    if math.isfinite(parameter.minimum):
        relation = "above" if parameter.open_minimum else "at least"
        words.append(f"{relation} {parameter.minimum:g}{unit}")
    if math.isfinite(parameter.maximum):
        relation = "below" if parameter.open_maximum else "at most"
        words.append(f"{relation} {parameter.maximum:g}{unit}")
    if parameter.infinite:
        words.append("inf is allowed" if parameter.minimum < math.inf else "inf")
    return " and ".join(words) or "finite"


def _rounded(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _expected(parameter: Parameter) -> str:
    if parameter.unit == "1":
        return "write a plain number"
    unit = parameter.unit
    return f'write a number in {unit}, or text with a unit such as "2 {unit}"'


def _in_si(text: str, parameter: Parameter) -> float:
    match = _QUANTITY.fullmatch(text) if len(text) <= MAX_TEXT_LENGTH else None
    if match is None:
        raise UnreadableError(f"{shown(text)} is not a number with a unit; {_expected(parameter)}")
    amount, unit = match[1], (match[2] or "").replace("·", "*")
    return _converted(text, amount, f"1{unit}" if unit.startswith("/") else unit, parameter)


def _converted(text: str, amount: str, unit: str, parameter: Parameter) -> float:
    import pint

    units = _registry()
    try:
        quantity = units.Quantity(Decimal(amount), units.parse_units(unit))
        target = units.parse_units("" if parameter.unit == "1" else parameter.unit)
        if quantity.dimensionality != target.dimensionality:
            raise UnreadableError(_wrong_kind(text, quantity, target, parameter))
        return float(quantity.to(target).magnitude)
    except pint.UndefinedUnitError as error:
        name = error.unit_names if isinstance(error.unit_names, str) else listed(error.unit_names)
        cure = f"known units are {listed(_unit_names())}, with the prefixes n, u, m, c, k, M, G"
        raise UnreadableError(f"{shown(text)} has the unknown unit {name!r}; {cure}") from None
    except UnreadableError:
        raise
    except Exception as error:  # pint's parser raises TypeError, ValueError, errors of tokenize
        message = f"{shown(text)} cannot be evaluated; {_expected(parameter)}"
        raise UnreadableError(message) from error


def _wrong_kind(text: str, quantity: Any, target: Any, parameter: Parameter) -> str:
    turned = quantity * _registry().radian
    if turned.dimensionality != target.dimensionality:
        return f"{shown(text)} has the wrong dimension; {_expected(parameter)}"
    amount = f"{float(turned.to(target).magnitude):.12g}"
    return (
        f"{shown(text)} may mean turns or radians: write "
        f'"{amount} {parameter.unit.replace("rad", "turn")}" (2 pi times larger) '
        f'or "{amount} {parameter.unit}"'
    )


@cache
def _registry() -> Any:  # pint's generic classes have no complete types
    import pint

    empty: Any = pint.UnitRegistry
    registry = empty(None, non_int_type=Decimal)  # decimal: "5 um" is 5e-06 to the last bit
    registry.load_definitions(UNITS)
    return registry


def _unit_names() -> list[str]:
    """The short name of each unit: the third field of its definition, or else the first."""
    lines = [[field.strip() for field in line.split("=")] for line in UNITS if "- =" not in line]
    return [fields[2] if len(fields) > 2 and fields[2] != "_" else fields[0] for fields in lines]
