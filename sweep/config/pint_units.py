"""The units of units.py as pint has them."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any, cast

from sweep.errors import FaultError
from sweep.units import BASES, PREFIXES, UNITS, meant, read_unit
from sweep.wording import listed


@cache
def registry() -> Any:  # pint's generic classes have no complete types
    """The pint registry of these units alone; its numbers are of type Decimal."""
    import pint

    empty: Any = pint.UnitRegistry
    units = empty(None, non_int_type=Decimal)  # decimal: "5 um" is 5e-06 to the last bit
    for (name, *symbols), size in PREFIXES.items():
        units.define(" = ".join([f"{name}-", size, *(f"{each}-" for each in symbols)]))
    for short, (others, _) in UNITS.items():
        unit = read_unit(short)
        size = Decimal(unit.factor.numerator) / Decimal(unit.factor.denominator)
        factors = [f"{base}**{e}" for base, e in zip(BASES, unit.dimensions, strict=True) if e]
        value = (
            f"[{short}]" if short == "g" or short in BASES else " * ".join([str(size), *factors])
        )
        first, *aliases = [*others.split(), short]  # not "%"
        units.define(" = ".join([first, value, "_", *aliases]))
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
        raise FaultError(f"unknown unit {unknown!r}", meant(unknown)) from None
