"""The units in which a page shows a quantity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sweep.text.units import FINE_UNITS, factor, printed, with_prefix

MAGNITUDES = range(-12, 13)  # powers of ten of the numbers for which a prefix is looked for
OTHER_UNITS = {
    "s": ("min", "h"),
    "rad": ("deg", "turn"),
    "rad/s": ("rpm", "turn/s"),
    "m": ("in",),
    "m/s^2": ("g_n",),
    "Pa": ("bar",),
}  # never automatic


def unit_choices(units: Iterable[str]) -> dict[str, list[list[Any]]]:
    """For each unit, its choices: [printed unit, factor from the unit, whether it is automatic].

    The unit itself is first. One that the program does not know has no other choice.
    """
    return {unit: _choices(unit) for unit in sorted({*units})}


def _choices(unit: str) -> list[list[Any]]:
    automatic = {unit: 1.0}
    for power in MAGNITUDES:
        name, share = with_prefix(unit, 10.0**power)
        automatic.setdefault(name, float(f"{share:.12g}"))
    automatic |= dict(FINE_UNITS.get(unit, ()))
    others = {name: factor(unit, name) for name in OTHER_UNITS.get(unit, ())}
    return [
        [printed(name), share, name in automatic] for name, share in {**automatic, **others}.items()
    ]
