"""The units that files may use, SI with a few others, and those that people read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from sweep.errors import FaultError
from sweep.text.wording import listed, written

# SI base units in the order in which they are written. The radian is one of them, so that "50 Hz"
# is no angular frequency and "0.1 rad" no friction coefficient.
BASES = ("kg", "m", "s", "A", "K", "mol", "rad")
Dimensions = tuple[Fraction, ...]  # the exponent of each base unit

# The names of each prefix, of which the second is printed and the last is on every keyboard.
PREFIXES = {
    ("nano", "n"): "1e-9",
    ("micro", "µ", "μ", "u"): "1e-6",
    ("milli", "m"): "1e-3",
    ("centi", "c"): "1e-2",
    ("kilo", "k"): "1e3",
    ("mega", "M"): "1e6",
    ("giga", "G"): "1e9",
}
KEYBOARD = [names[-1] for names in PREFIXES]

# The short name of each unit, its other names, and what it is: SI brochure, 9th ed.
UNITS = {
    "m": ("metre meter", "1 m"),
    "g": ("gram", "1/1000 kg"),
    "s": ("second", "1 s"),
    "rad": ("radian", "1 rad"),
    "in": ("inch", "0.0254 m"),
    "lb": ("pound", "0.45359237 kg"),
    "t": ("tonne", "1000 kg"),
    "min": ("minute", "60 s"),
    "h": ("hour", "3600 s"),
    "d": ("day", "24 h"),
    "year": ("", "365 d"),  # as in [wear]
    "turn": ("revolution cycle", "6.283185307179586476925286766559 rad"),
    "deg": ("degree °", "1/360 turn"),
    "rpm": ("revolution_per_minute", "1 turn/min"),
    "Hz": ("hertz", "1 /s"),
    "N": ("newton", "1 kg m/s^2"),
    "Pa": ("pascal", "1 N/m^2"),
    "bar": ("", "1e5 Pa"),
    "J": ("joule", "1 N m"),
    "W": ("watt", "1 J/s"),
    "A": ("ampere", "1 A"),
    "V": ("volt", "1 W/A"),
    "K": ("kelvin", "1 K"),
    "mol": ("mole", "1 mol"),
    "g_n": ("standard_gravity g_0", "9.80665 m/s^2"),
    "%": ("percent", "0.01 1"),
}
NAMED_UNITS = ("N", "Pa", "J", "W", "V")  # with which units are written in messages

# From large to small, with the unit itself; hundredths are usual in few units.
_SIZES = {1.0: "", **{float(size): p[1] for p, size in PREFIXES.items() if p[0] != "centi"}}
_BY_SIZE = tuple(sorted(_SIZES.items(), reverse=True))
_PREFIXED = re.compile(r"(m|s|g|N|J|W|Pa|Hz)(?=$|[ /])")  # the first unit of a product
_MICRO = [rf"{name}\b" for name in ("m", "s", "g", "N", "J", "W", "Pa", "Hz", "rad", "V", "A")]
READABLE = 1e-2, 1e4  # the largest number of a label or an axis lies between these
# For small lengths and volumes, from the finest: the unit, and how many of them make one in SI.
FINE_UNITS = {
    "m": (("µm", 1e6), ("mm", 1e3)),
    "m^3": (("mm³", 1e9), ("cm³", 1e6)),
}
MAX_FINE = 1e3  # the largest number in a fine unit

MAX_LENGTH = 80  # of a unit: the patterns below take quadratic time
_NAME, _EXPONENT = r"[^\W\d_]\w*|°|%|1", r"-?[1-9][0-9]?"
_FACTOR = rf"(?:{_NAME})(?:\s*(?:\^|\*\*)\s*{_EXPONENT})?"  # a unit, perhaps to a power
UNIT_PATTERN = rf"/?\s*{_FACTOR}(?:(?:\s*[*/·]\s*|\s+){_FACTOR})*"
_BROKEN_EXPONENT = re.compile(r"(\^|\*\*) *(-?[0-9]*\.[0-9]|\(-?[0-9]+/)")
_PARTS = re.compile(rf"(/?)\s*({_NAME})(?:\s*(?:\^|\*\*)\s*({_EXPONENT}))?")
SUPERSCRIPTS = str.maketrans({sign: f"^{i}" for i, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
AMOUNT = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_QUANTITY = re.compile(rf"{AMOUNT}\s*(?:{UNIT_PATTERN})?")


# What people write for units of the table, and what units are that the table does not have.
SYNONYMS = {
    "sec": "s", "secs": "s", "hr": "h", "hrs": "h", "rev": "turn", "revs": "turn", "Nm": "N m",
}  # fmt: skip
FOREIGN = {
    "ft": "0.3048 m", "foot": "0.3048 m", "feet": "0.3048 m", "psi": "6894.757 Pa",
    "lbf": "4.448222 N", "kgf": "9.80665 N",
}  # fmt: skip


def _cure(name: str) -> str:
    """What to write in place of a name that is no unit."""
    if name in FOREIGN:
        return f"1 {name} is {FOREIGN[name]}"
    alike = [each for each in _units() if each.lower() == name.lower()]
    if near := [SYNONYMS[name]] if name in SYNONYMS else alike:
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"known units are {listed(UNITS)}, with the prefixes {listed(KEYBOARD)}"


def rewritten(text: str) -> str:
    """A quantity with a decimal comma or with brackets in its unit, as it can be read; else ""."""
    plain = re.sub(r"(?<=[0-9]),(?=[0-9])", ".", text)
    plain = re.sub(r"/ *\(([^()/]*)\)", _divided, plain)
    plain = re.sub(r"\(([^()]*)\)$", r"\1", plain)
    return plain if plain != text and _QUANTITY.fullmatch(plain) else ""


def _divided(product: re.Match[str]) -> str:
    """Division by each factor of a product in brackets."""
    return "".join(f"/{factor}" for factor in re.split(r"[\s*·]+", product[1].strip()))


@dataclass(frozen=True)
class Unit:
    """How many coherent SI units a unit is, exactly, and the exponents of the base units in it."""

    factor: Fraction
    dimensions: Dimensions

    def times(self, other: Unit, exponent: int = 1) -> Unit:
        """The product with another unit to a power."""
        factor = self.factor * other.factor**exponent
        return Unit(factor, product(self.dimensions, other.dimensions, exponent))


def dimensions(exponents: Mapping[str, Fraction | int]) -> Dimensions:
    """The dimensions of a product of base units with exponents."""
    return tuple(Fraction(exponents.get(base, 0)) for base in BASES)


def product(a: Dimensions, b: Dimensions, b_exponent: Fraction | int = 1) -> Dimensions:
    """The dimensions of a times b to a power."""
    return tuple(x + y * b_exponent for x, y in zip(a, b, strict=True))


NO_DIMENSION = dimensions({})


@lru_cache(maxsize=256)
def read_unit(text: str) -> Unit:
    """The unit that a text stands for: `kg m/s^2`; FaultError if it stands for none."""
    if len(text) <= MAX_LENGTH and _BROKEN_EXPONENT.search(text):
        cure = "raise a ratio to the power, as in (x/length)**1.5"
        raise FaultError(f"{written(text)}: exponents have to be whole numbers", cure)
    plain = text.translate(SUPERSCRIPTS)
    if len(plain) > MAX_LENGTH or not re.fullmatch(UNIT_PATTERN, plain):
        raise FaultError(f"{written(text)} is not a unit", 'write one such as "kg m/s^2", or "1"')
    try:
        return _product(plain, _units())
    except KeyError as error:
        (name,) = error.args
        raise FaultError(f"{written(text)} has the unknown unit {name!r}", _cure(name)) from None


def _product(text: str, units: Mapping[str, Unit]) -> Unit:
    unit = units["1"]
    for slash, name, exponent in _PARTS.findall(text):
        unit = unit.times(units[name], int(exponent or 1) * (-1 if slash else 1))
    return unit


@cache
def _units() -> Mapping[str, Unit]:
    """The units by all of their names, with prefixes and in the plural."""
    units = {base: Unit(Fraction(1), dimensions({base: 1})) for base in ("1", *BASES)}
    for short, (others, amount) in UNITS.items():
        number, _, text = amount.partition(" ")
        unit = _product(text, units)
        for name in (short, *others.split()):
            units[name] = Unit(Fraction(number) * unit.factor, unit.dimensions)
    names = [each for each in units if each not in ("1", "kg")]
    units |= {f"{name}s": units[name] for name in names if len(name) > 1}
    names = [each for each in units if each not in ("1", "kg")]
    prefixes = {each: Fraction(size) for names, size in PREFIXES.items() for each in names}
    for prefix, factor in prefixes.items():
        for name in names:
            unit = Unit(factor * units[name].factor, units[name].dimensions)
            units.setdefault(prefix + name, unit)
    return units


def unit_text(unit_dimensions: Dimensions) -> str:
    """A coherent unit of these dimensions, in few words: `N/m`."""
    candidates = [_text([], unit_dimensions)]
    for name in NAMED_UNITS:
        rest = product(unit_dimensions, read_unit(name).dimensions, -1)
        if rest[0] == 0:  # a named unit replaces all of the mass
            candidates.append(_text([(name, Fraction(1))], rest))
    return min(candidates)[-1]


def _text(first: list[tuple[str, Fraction]], rest: Dimensions) -> tuple[Fraction, int, str]:
    """The sum of the exponents' magnitudes, the number of factors, and the unit's text."""
    factors = [*first, *zip(BASES, rest, strict=True)]
    above = " ".join(_factor(name, exponent) for name, exponent in factors if exponent > 0)
    below = "".join(f"/{_factor(name, -exponent)}" for name, exponent in factors if exponent < 0)
    total = sum((abs(exponent) for _, exponent in factors), Fraction(0))
    return total, sum(exponent != 0 for _, exponent in factors), (above or "1") + below


def _factor(name: str, exponent: Fraction) -> str:
    if exponent == 1:
        return name
    return f"{name}^{exponent}" if exponent.denominator == 1 else f"{name}^({exponent})"


def scaled(amount: str, factor: Fraction) -> float:
    """A decimal number times a factor, rounded once: "5" of a millionth is 5e-06."""
    nearest = float(amount)
    if nearest == 0 or math.isinf(nearest):
        return nearest  # its exponent may be beyond any memory
    try:
        return float(Fraction(amount) * factor)
    except OverflowError:
        return math.copysign(math.inf, nearest)


def factor(unit: str, other: str) -> float:
    """How many of another unit one is; FaultError if they measure different things."""
    source, target = read_unit(unit), read_unit(other)
    if source.dimensions != target.dimensions:
        own = "has no unit" if unit == "1" else f"is in {unit}"
        cure = "leave it out, or give another unit"
        raise FaultError(f"it {own} and cannot be shown in {other!r}", cure)
    return float(source.factor / target.factor)


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
    """A unit as printed, "" for "1": "um" becomes "µm", and "N m s/rad^2" "N·m·s/rad²"."""
    text = re.sub(r"\s*\*\s*(?!\*)|\s+", "·", unit.strip().replace("**", "^"))
    text = re.sub(rf"\b[uμ](?={'|'.join(_MICRO)})", "µ", superscripts(text))
    return "" if unit == "1" else text.replace("·/·", "/").replace("·/", "/").replace("/·", "/")


def superscripts(text: str) -> str:
    """A text with its whole exponents raised: "m^-2" becomes "m⁻²"."""
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return re.sub(r"\^(-?[0-9]+)", lambda match: match[1].translate(raised), text)
