"""The units that files may use, SI with a few others, and those that people read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from sweep.errors import FaultError
from sweep.wording import listed


@dataclass(frozen=True)
class Prefix:
    """A prefix of units."""

    name: str
    factor: str  # decimal
    symbols: tuple[str, ...]  # the first is printed, the last is on every keyboard

    @property
    def definition(self) -> str:
        """The line that defines it for pint."""
        return " = ".join([f"{self.name}-", self.factor, *(f"{each}-" for each in self.symbols)])


SI_PREFIXES = (
    Prefix("nano", "1e-9", ("n",)),
    Prefix("micro", "1e-6", ("µ", "μ", "u")),
    Prefix("milli", "1e-3", ("m",)),
    Prefix("centi", "1e-2", ("c",)),
    Prefix("kilo", "1e3", ("k",)),
    Prefix("mega", "1e6", ("M",)),
    Prefix("giga", "1e9", ("G",)),
)

# From large to small, with the unit itself; hundredths are usual in few units.
_SIZES = {1.0: "", **{float(p.factor): p.symbols[0] for p in SI_PREFIXES if p.name != "centi"}}
_BY_SIZE = tuple(sorted(_SIZES.items(), reverse=True))
_PREFIXED = re.compile(r"(m|s|g|N|J|W|Pa|Hz)(?=$|[ /])")  # the first unit of a product
READABLE = 1e-2, 1e4  # the largest number of a label or an axis lies between these
# For small lengths and volumes, from the finest: the unit, and how many of them make one in SI.
FINE_UNITS = {
    "m": (("µm", 1e6), ("mm", 1e3)),
    "m^3": (("mm³", 1e9), ("cm³", 1e6)),
}
MAX_FINE = 1e3  # the largest number in a fine unit

# Pint's own table takes the radian for a bare number, so that it reads "50 Hz" as 50 rad/s and
# "0.1 rad" as a friction coefficient; here an angle is a dimension. Factors: SI brochure, 9th ed.
UNITS = """
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
AMOUNT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_QUANTITY = re.compile(rf"{AMOUNT}\s*(?:{UNIT_PATTERN})?")
PREFIXES = ", ".join(prefix.symbols[-1] for prefix in SI_PREFIXES)


# What people write for units of the table, and what units are that the table does not have.
SYNONYMS = {
    "sec": "s", "secs": "s", "mins": "min", "hr": "h", "hrs": "h", "rev": "turn", "revs": "turn",
    "degrees": "deg", "lbs": "lb", "Nm": "N m",
}  # fmt: skip
FOREIGN = {
    "ft": "0.3048 m", "foot": "0.3048 m", "feet": "0.3048 m", "psi": "6894.757 Pa",
    "lbf": "4.448222 N", "kgf": "9.80665 N",
}  # fmt: skip


def _cure(name: str) -> str:
    """What to write in place of a name that is no unit."""
    if name in FOREIGN:
        return f"1 {name} is {FOREIGN[name]}"
    alike = [each for each in _with_prefixes() if each.lower() == name.lower()]
    if meant := [SYNONYMS[name]] if name in SYNONYMS else alike:
        return f"did you mean {' or '.join(map(repr, meant))}?"
    return f"known units are {listed(_unit_names())}, with the prefixes {PREFIXES}"


def _with_prefixes() -> list[str]:
    """The short names of all units, without and with a prefix."""
    names, symbols = _unit_names(), [prefix.symbols[-1] for prefix in SI_PREFIXES]
    return [*names, *(symbol + name for symbol in symbols for name in names)]


def rewritten(text: str) -> str:
    """A quantity with a decimal comma or with brackets in its unit, as it can be read; else ""."""
    plain = re.sub(r"(?<=[0-9]),(?=[0-9])", ".", text)
    plain = re.sub(r"/ *\(([^()/]*)\)", _divided, plain)
    plain = re.sub(r"\(([^()]*)\)$", r"\1", plain)
    return plain if plain != text and _QUANTITY.fullmatch(plain) else ""


def _divided(product: re.Match[str]) -> str:
    """Division by each factor of a product in brackets."""
    return "".join(f"/{factor}" for factor in re.split(r"[\s*·]+", product[1].strip()))


@cache
def registry() -> Any:  # pint's generic classes have no complete types
    """The pint registry of these units alone; its numbers are of type Decimal."""
    from decimal import Decimal

    import pint

    empty: Any = pint.UnitRegistry
    units = empty(None, non_int_type=Decimal)  # decimal: "5 um" is 5e-06 to the last bit
    units.load_definitions([*(prefix.definition for prefix in SI_PREFIXES), *UNITS])
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
        raise FaultError(f"unknown unit {unknown!r}", _cure(unknown)) from None


def _unit_names() -> list[str]:
    """The short name of each unit: the third field of its definition, or else the first."""
    lines = [[field.strip() for field in line.split("=")] for line in UNITS]
    return [fields[2] if len(fields) > 2 and fields[2] != "_" else fields[0] for fields in lines]


def with_prefix(unit: str, largest: float) -> tuple[str, float]:
    """The unit in which a number is easy to read, and the factor that converts values to it.

    A prefix is chosen if the number is far from 1, but not for many seconds or kilograms.
    """
    base, weight = ("g" + unit[2:], 1e3) if unit.startswith("kg") else (unit, 1.0)
    low, high = READABLE
    if not _PREFIXED.match(base) or not largest or low <= largest < high:
        return unit, 1.0
    if base[0] in "sg" and largest >= high:
        return unit, 1.0
    fitting = (each for each in _BY_SIZE if each[0] <= largest * weight * (1 + 1e-9))
    size, prefix = next(fitting, _BY_SIZE[-1])
    return f"{prefix}{base}", weight / size


def fine_unit(unit: str, largest: float) -> tuple[str, float]:
    """The finest unit of a length or volume in which a number is readable, and its factor."""
    units = FINE_UNITS[unit]
    return next((each for each in units if largest * each[1] <= MAX_FINE), units[-1])


def printed(unit: str) -> str:
    """A unit as printed, "" for "1": "m/s^2" becomes "m/s²"."""
    return "" if unit == "1" else unit.replace("^2", "²").replace("^3", "³")
