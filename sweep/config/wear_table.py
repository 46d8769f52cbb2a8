"""The table [wear]: which law of wear, which scar and which times; also options and arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

import numpy as np

from sweep.config.problems import Check, Problem, in_table, readable
from sweep.config.quantities import amount, as_written, refuse_outside
from sweep.config.sample import read_margin
from sweep.config.schema import WearTable, checked
from sweep.errors import FaultError, warn
from sweep.request import Sweep, Wear
from sweep.sampling.distributions import DISTRIBUTIONS
from sweep.spec import Parameter
from sweep.theory.wear import GEOMETRIES, LAWS, YEAR, Geometry, Law, inclination_warning
from sweep.theory.wear.geometries import SMALL
from sweep.wording import listed, nearest, shown

LEVELS = (0.05, 0.5, 0.95)  # of quantiles, unless others are given
FINEST_LEVEL = 1e-9  # how close to 0 and 1 a level may be
MAX_TIMES = 1000
POWER = "wear_power"
CARRIED = ("quantile", "minimum", "maximum")  # statistics of powers that wear has, too
SHARES = ("share_above", "share_below")  # of points beyond a threshold, to which a wear belongs
LIMIT = Parameter(
    name="limit", symbol="h", unit="m", minimum=0, open_minimum=True, meaning="depth of the scar"
)

Row = TypeVar("Row")  # of a table of laws or geometries
Spread = dict[float, float]  # of an uncertain coefficient: its quantiles by level


def wear_of(raw: Mapping[str, object], sweep: Sweep | None = None) -> Check[Wear | None]:
    """What the table asks for; None if there are problems. `sweep` is the one that it follows."""
    table, wrong = checked(WearTable, raw)
    yield from in_table("wear", wrong)
    law = yield from _chosen("law", "a law", table.law, LAWS)
    if raw.get("law") is None:
        yield Problem("wear", "law", f"missing; choose one of {listed(LAWS)}")
    coefficients, spread = yield from _coefficients(table, law)
    seconds = yield from _seconds(table, raw)
    geometry = yield from _chosen("geometry", "a geometry", table.geometry, GEOMETRIES)
    size = yield from _size(table, raw, geometry)
    limit = yield from _limit(table, geometry, size)
    units = {output.name: output.unit for output in sweep.outputs} if sweep else {}
    power = table.power or POWER
    if units and (fault := power_fault(power, units, is_uncertain=spread is not None)):
        yield Problem("wear", *fault)
    if law is None:
        return None
    return Wear(
        law=law.name,
        coefficients=coefficients,
        seconds=seconds,
        power=power,
        coefficient_at=spread,
        geometry=geometry.name if geometry else None,
        size=size,
        small=bool(table.small),
        limit=limit,
    )


def _chosen(key: str, kind: str, name: str | None, rows: Mapping[str, Row]) -> Check[Row | None]:
    """The law or geometry with this name."""
    if name is not None and name not in rows:
        message = f"{shown(name)} is not {kind} of wear; {nearest(name, rows)}"
        yield Problem("wear", key, message)
    return None if name is None else rows.get(name)


def _amounts(
    table: WearTable, parameters: Mapping[str, Parameter], example: str = ""
) -> Check[dict[str, float]]:
    """The values of these parameters that are given; one without a default must be."""
    amounts: dict[str, float] = {}
    for name, parameter in parameters.items():
        if name in table.model_fields_set:
            value = yield from readable("wear", name, amount, getattr(table, name), parameter)
            if value is not None:
                amounts[name] = value
        elif parameter.default is None:
            message = f"missing ({parameter.meaning}); give it in {parameter.unit}{example}"
            yield Problem("wear", name, message)
    return amounts


def _coefficients(
    table: WearTable, law: Law | None
) -> Check[tuple[dict[str, float], Spread | None]]:
    """The coefficients that are given, and the quantiles of `coefficient` if it is uncertain."""
    levels = yield from _levels(table)
    if law is None:
        return {}, None
    for name in dict.fromkeys(name for each in LAWS.values() for name in each.coefficients):
        if name in table.model_fields_set and name not in law.coefficients:
            message = f"{law.name} has no such coefficient; remove it, or choose another law"
            yield Problem("wear", name, message)
    parameters = dict(law.coefficients)
    spread: Spread | None = None
    distribution = _distribution(table.coefficient)
    if distribution is not None:
        uncertain = parameters.pop("coefficient")
        reading = readable("wear", "coefficient", _quantiles, distribution, uncertain, levels)
        spread = yield from reading
    example = ', or as text with a unit such as "1e-13 1/Pa"'
    coefficients = yield from _amounts(table, parameters, example)
    if distribution is None and table.quantiles is not None:
        message = "only for an uncertain coefficient, such as coefficient = { lognormal = [...] }"
        yield Problem("wear", "quantiles", f"{message}; remove it")
    return coefficients, spread


def _distribution(value: object) -> Mapping[str, object] | None:
    """The table of a distribution, from a table or from text such as "lognormal 1.2e-13 0.5 1/Pa".

    None for anything else. In text, the unit at the end is that of every argument that has one.
    """
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    words = value.split() if isinstance(value, str) else []
    if not words or not words[0].replace("_", "").isalpha():
        return None
    form, *rest = words
    roles = list(DISTRIBUTIONS[form].arguments.values()) if form in DISTRIBUTIONS else []
    arguments, unit = rest[: len(roles)], " ".join(rest[len(roles) :])
    with_units = [
        argument if role == "plain" or not unit else f"{argument} {unit}"
        for argument, role in zip(arguments, roles, strict=False)
    ]
    return {form: [as_written(text) for text in with_units]}


def _quantiles(raw: Mapping[str, object], parameter: Parameter, levels: Sequence[float]) -> Spread:
    margin = read_margin(raw, parameter)
    values = margin.values(np.array(levels), FINEST_LEVEL)
    refuse_outside(
        values,
        parameter,
        lambda i: f"at the quantile {levels[i]!r} it would be {float(values[i])!r}",
    )
    return dict(zip(levels, values.tolist(), strict=True))


def _levels(table: WearTable) -> Check[tuple[float, ...]]:
    if table.quantiles is None:
        return LEVELS
    levels = yield from readable("wear", "quantiles", _numbers, table.quantiles)
    if levels and all(FINEST_LEVEL <= level <= 1 - FINEST_LEVEL for level in levels):
        return tuple(sorted(set(levels)))
    if levels:
        message = f"{shown(list(levels))}: each has to be above 0 and below 1"
        yield Problem("wear", "quantiles", message)
    return LEVELS


def _seconds(table: WearTable, raw: Mapping[str, object]) -> Check[tuple[float, ...]]:
    if raw.get("years") is None:
        yield Problem("wear", "years", "missing; give the times in service: [1, 2, 5, 10]")
    if table.years is None:
        return ()
    years = (yield from readable("wear", "years", _numbers, table.years)) or ()
    if not all(0 < year < math.inf for year in years):
        yield Problem("wear", "years", f"{shown(list(years))}: each has to be above 0 and finite")
    elif list(years) != sorted(set(years)):
        yield Problem("wear", "years", f"{shown(list(years))}: they have to ascend")
    elif len(years) > MAX_TIMES:
        message = f"{len(years):,} times are too many; give at most {MAX_TIMES:,}"
        yield Problem("wear", "years", message)
    return tuple(year * YEAR for year in years)


def _numbers(entry: list[float] | float | str) -> tuple[float, ...]:
    """The numbers in a list, or in text that commas divide."""
    parts = entry.split(",") if isinstance(entry, str) else entry
    try:
        numbers = tuple(float(part) for part in (parts if isinstance(parts, list) else [parts]))
    except ValueError:
        raise FaultError(f"{shown(entry)} is not a list of numbers, such as 1,2,5") from None
    if not numbers:
        raise FaultError("empty; give at least one number")
    return numbers


def _size(
    table: WearTable, raw: Mapping[str, object], geometry: Geometry | None
) -> Check[dict[str, float]]:
    """The dimensions of the scar."""
    if geometry is None:
        for name in ("radius", "length", "angle", "hole_radius", "small", "limit"):
            if name in raw and "geometry" not in raw:
                message = f"needs a geometry; choose one of {listed(GEOMETRIES)}"
                yield Problem("wear", name, message)
        return {}
    if table.small and geometry.name not in SMALL:
        message = f"{geometry.name} has no formula for shallow scars; remove it"
        yield Problem("wear", "small", message)
    for name in ("angle", "hole_radius"):
        if name in raw and name not in geometry.dimensions:
            owner = next(each.name for each in GEOMETRIES.values() if name in each.dimensions)
            yield Problem("wear", name, f"{geometry.name} has none; remove it, or use {owner}")
    size = yield from _amounts(table, geometry.dimensions)
    radius, hole = size.get("radius"), size.get("hole_radius")
    if radius is not None and hole is not None and hole < radius:
        message = f"{hole!r} m is less than the radius of the tube, {radius!r} m, which has to fit"
        yield Problem("wear", "hole_radius", message)
    if warning := inclination_warning(size.get("angle", 0.0)):
        warn(warning)
    return size


def _limit(
    table: WearTable, geometry: Geometry | None, size: Mapping[str, float]
) -> Check[float | None]:
    if table.limit is None or geometry is None:
        return None
    limit = yield from readable("wear", "limit", amount, table.limit, LIMIT)
    radius = size.get("radius")
    if limit is not None and radius is not None and limit > 2 * radius:
        message = f"{limit!r} m is more than the diameter of the tube, {2 * radius!r} m"
        yield Problem("wear", "limit", message)
    return limit


def power_fault(
    power: str, units: Mapping[str, str], *, is_uncertain: bool
) -> tuple[str, str] | None:
    """The key and the message if outputs with these units have no power that wear carries."""
    carried = [each for each in (*CARRIED, *SHARES) if f"{power}_{each}" in units]
    if power in units:
        wrong = f"{power} is in {units[power]}, and a wear power has to be in W"
        return None if units[power] == "W" else ("power", wrong)
    if carried and is_uncertain:
        return "coefficient", (
            f"the coefficient is uncertain, too, and [reduce] keeps statistics of {power}: their "
            "quantiles do not determine those of the wear; give one value, or keep the points"
        )
    if carried:
        return None
    if lost := [name for name in units if name.startswith(f"{power}_")]:
        return "power", (
            f"the wear of {listed(lost)} is unknown, because depths are not proportional to "
            "powers: under [reduce], ask for a quantile, the minimum, the maximum or a share above "
            "a limit"
        )
    watts = [name for name, unit in units.items() if unit == "W"]
    cure = f"name one of {listed(watts)} with --power" if watts else "add an output in W"
    return "power", f"{power} is not among the outputs; {cure}"
