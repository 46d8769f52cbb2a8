"""The table [wear]: which law of wear, which scar and which times; also options and arguments."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from sweep.errors import FaultError, warn
from sweep.file.keys import WEAR
from sweep.file.margins import read_margin
from sweep.file.quantities import amount, as_written, refuse_outside
from sweep.model.table import Output, Parameter
from sweep.points.wear_stage import COEFFICIENTS, CYCLIC, SIZES, TIMES, UNITS
from sweep.request.sweeps import Wear
from sweep.sampling.distributions import DISTRIBUTIONS
from sweep.text.reader import Table
from sweep.text.wording import listed, nearest, written
from sweep.theory.wear import GEOMETRIES, LAWS, Geometry, Law, inclination_warning
from sweep.theory.wear.geometries import SMALL

LEVELS = (0.05, 0.5, 0.95)  # of quantiles, unless others are given
FINEST_LEVEL = 1e-9  # how close to 0 and 1 a level may be
MAX_TIMES = 1000
POWER = "wear_power"
CARRIED = ("quantile", "minimum", "maximum")  # statistics of powers that wear has, too
SHARES = ("share_above", "share_below")  # of points beyond a threshold, to which a wear belongs
DIMENSIONS = ("radius", "length", "angle", "hole_radius")  # of scars
EXAMPLE = ', or as text with a unit such as "1e-13 1/Pa"'

Row = TypeVar("Row")  # of a table of laws or geometries
Spread = dict[float, float]  # of an uncertain coefficient: its quantiles by level


def wear_of(table: Table, results: Sequence[Output] | None = None) -> Wear | None:
    """What the table asks for; None if there is no law. `results` are the outputs that it follows.

    They may be unknown.
    """
    given = table.values(WEAR.keys)
    law = law_in(table, given)
    levels = _levels(table, given["quantiles"])
    coefficients, spread = _coefficients(table, law, levels)
    duration = duration_in(table, law)
    times = times_in(table, duration, given[duration])
    geometry = geometry_in(table, given)
    size = amounts(table, geometry.dimensions if geometry else {})
    sizes = amounts(table, {n: SIZES[n] for n in SIZES if geometry and table.has(n)})
    check_sizes(table, {**size, **sizes})
    table.close()
    powers = given["power"] or [POWER]
    units = {output.name: output.unit for output in results or ()}
    for power in [powers] if isinstance(powers, str) else powers:
        if units and (
            found := power_fault(power, units, duration, is_uncertain=spread is not None)
        ):
            key, error = found
            table.fault(key, error.what, error.cure)
    if law is None:
        return None
    return Wear(
        law=law.name,
        coefficients=coefficients,
        times=tuple(each * TIMES[duration][1] for each in times),
        duration=duration,
        powers=(powers,) if isinstance(powers, str) else tuple(powers),
        coefficient_at=spread,
        geometry=geometry.name if geometry else None,
        size=size,
        small=bool(given["small"]),
        limit=sizes.get("limit"),
        wall=sizes.get("wall"),
    )


def law_in(table: Table, given: Mapping[str, Any]) -> Law | None:
    """The law of wear, if nothing is wrong with its name; coefficients of others are faults."""
    law = _chosen(table, "law", "a law", given["law"], LAWS)
    if not table.has("law"):
        table.missing("law", f"choose one of {listed(LAWS)}")
    for name in COEFFICIENTS:
        if law is not None and table.has(name) and name not in law.coefficients:
            what = f"{law.name} has no such coefficient"
            table.fault(name, what, "remove it, or choose another law")
    return law


def duration_in(table: Table, law: Law | None, varied: Collection[str] = ()) -> str:
    """Whether wear is over years or cycles; `varied` are keys that are parameters elsewhere."""
    has = {key: table.has(key) or key in varied for key in TIMES}
    if all(has.values()):
        table.fault("cycles", "years are given, too", "keep one of the two")
    if has["cycles"] and law is not None and law.name != CYCLIC:
        what = f"{law.name} is a law of the time in service"
        table.fault("cycles", what, f"give years, or choose {CYCLIC}")
    return "cycles" if has["cycles"] and not has["years"] else "years"


def _chosen(
    table: Table, key: str, kind: str, name: str | None, rows: Mapping[str, Row]
) -> Row | None:
    """The law or geometry with this name."""
    if name is not None and name not in rows:
        table.fault(key, f"{written(name)} is not {kind} of wear", nearest(name, rows))
    return None if name is None else rows.get(name)


def amounts(
    table: Table, parameters: Mapping[str, Parameter], example: str = ""
) -> dict[str, float]:
    """The values of these parameters that are given; one without a default must be."""
    amounts: dict[str, float] = {}
    for name, parameter in parameters.items():
        if table.has(name):
            value = table.read(name, amount, table.mapping[name], parameter)
            if value is not None:
                amounts[name] = value
        elif parameter.default is None:
            cure = f"give it in {parameter.unit}{example}"
            table.missing(name, f"{cure} ({parameter.meaning})")
    return amounts


def _coefficients(
    table: Table, law: Law | None, levels: tuple[float, ...]
) -> tuple[dict[str, float], Spread | None]:
    """The coefficients that are given, and the quantiles of `coefficient` if it is uncertain."""
    if law is None:
        return {}, None
    parameters = dict(law.coefficients)
    spread: Spread | None = None
    distribution = distribution_in(table.get("coefficient"))
    if distribution is not None:
        uncertain = parameters.pop("coefficient")
        spread = table.read("coefficient", _quantiles, distribution, uncertain, levels)
    coefficients = amounts(table, parameters, EXAMPLE)
    if distribution is None and table.has("quantiles"):
        what = "only for an uncertain coefficient, such as coefficient = { lognormal = [...] }"
        table.fault("quantiles", what, "remove it")
    return coefficients, spread


def distribution_in(value: object) -> Mapping[str, object] | None:
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


def _levels(table: Table, entry: list[float] | float | str | None) -> tuple[float, ...]:
    levels = None if entry is None else table.read("quantiles", _numbers, entry)
    if levels and all(FINEST_LEVEL <= level <= 1 - FINEST_LEVEL for level in levels):
        return tuple(sorted(set(levels)))
    if levels:
        table.fault("quantiles", written(list(levels)), "each has to be above 0 and below 1")
    return LEVELS


def times_in(
    table: Table, duration: str, entry: list[float] | float | str | None
) -> tuple[float, ...]:
    """The times in service, in years or cycles."""
    if not table.has(duration):
        table.missing(duration, "give the times in service: [1, 2, 5, 10]")
    times = (() if entry is None else table.read(duration, _numbers, entry)) or ()
    if not all(0 < time < math.inf for time in times):
        table.fault(duration, written(list(times)), "each has to be above 0 and finite")
    elif list(times) != sorted(set(times)):
        table.fault(duration, written(list(times)), "they have to ascend")
    elif len(times) > MAX_TIMES:
        table.fault(duration, f"{len(times):,} times are too many", f"give at most {MAX_TIMES:,}")
    return times


def _numbers(entry: list[float] | float | str) -> tuple[float, ...]:
    """The numbers in a list, or in text that commas divide."""
    parts = entry.split(",") if isinstance(entry, str) else entry
    try:
        numbers = tuple(float(part) for part in (parts if isinstance(parts, list) else [parts]))
    except ValueError:
        raise FaultError(f"{written(entry)} is not a list of numbers", "write 1,2,5") from None
    if not numbers:
        raise FaultError("empty", "give at least one number")
    return numbers


def geometry_in(table: Table, given: Mapping[str, Any]) -> Geometry | None:
    """The kind of scar, if there is one; dimensions that it does not have are faults."""
    geometry = _chosen(table, "geometry", "a geometry", given["geometry"], GEOMETRIES)
    if geometry is None:
        for name in (*DIMENSIONS, "small", *SIZES):
            if table.has(name) and not table.has("geometry"):
                table.fault(name, "needs a geometry", f"choose one of {listed(GEOMETRIES)}")
        return None
    if given["small"] and geometry.name not in SMALL:
        table.fault("small", f"{geometry.name} has no formula for shallow scars", "remove it")
    for name in ("angle", "hole_radius"):
        if table.has(name) and name not in geometry.dimensions:
            owner = next(each.name for each in GEOMETRIES.values() if name in each.dimensions)
            table.fault(name, f"{geometry.name} has none", f"remove it, or use {owner}")
    return geometry


def check_sizes(table: Table, size: Mapping[str, float]) -> None:
    """Check the dimensions and depths that are constant against each other."""
    radius = size.get("radius", math.inf)
    if (hole := size.get("hole_radius", math.inf)) < radius:
        what = f"{hole!r} m is less than the radius of the tube, {radius!r} m, which has to fit"
        table.fault("hole_radius", what, "give a larger one")
    for name in SIZES:
        if (depth := size.get(name, 0.0)) > 2 * radius:
            what = f"{depth!r} m is more than the diameter of the tube, {2 * radius!r} m"
            table.fault(name, what, "give a smaller one")
    if (limit := size.get("limit", 0.0)) > (wall := size.get("wall", math.inf)):
        what = f"{limit!r} m is more than the wall, {wall!r} m, which is worn through before"
        table.fault("limit", what, "give a smaller one")
    if warning := inclination_warning(size.get("angle", 0.0)):
        warn(warning)


def power_fault(
    power: str, units: Mapping[str, str], duration: str = "years", *, is_uncertain: bool
) -> tuple[str, FaultError] | None:
    """The key and the fault if outputs with these units have no power that wear carries.

    Over cycles, it is an energy per cycle.
    """
    unit = UNITS[duration]
    kind = "a wear power" if duration == "years" else "what wears in each of so many cycles"
    carried = [each for each in (*CARRIED, *SHARES) if f"{power}_{each}" in units]
    if power in units:
        wrong = FaultError(f"{power} is in {units[power]}", f"{kind} has to be in {unit}")
        return None if units[power] == unit else ("power", wrong)
    if carried and is_uncertain:
        what = (
            f"the coefficient is uncertain, too, and [reduce] keeps statistics of {power}: their "
            "quantiles do not determine those of the wear"
        )
        cure = "draw it in [sample] and reduce wear_depth, give one value, or keep the points"
        return "coefficient", FaultError(what, cure)
    if carried:
        return None
    if lost := [name for name in units if name.startswith(f"{power}_")]:
        what = f"the wear of {listed(lost)} is unknown: depths are not proportional to powers"
        cure = (
            "under [reduce], ask for a quantile, the minimum, the maximum or a share above a limit"
        )
        return "power", FaultError(what, cure)
    fitting = [name for name, each in units.items() if each == unit]
    cure = f"name one of {listed(fitting)} as `power`" if fitting else f"add an output in {unit}"
    return "power", FaultError(f"{power} is not among the outputs", cure)
