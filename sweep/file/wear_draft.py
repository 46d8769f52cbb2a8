"""[wear] of a sweep file as a part of the sweep: what a law depends on is a parameter.

So it is where a coefficient, a dimension or the duration is given in a table of parameters, or
where the file asks for an output such as wear_depth. Otherwise wear follows from finished results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from sweep.errors import FaultError
from sweep.file.keys import WEAR
from sweep.file.quantities import amount
from sweep.file.sweep_file import is_table
from sweep.file.wear_table import (
    DIMENSIONS,
    EXAMPLE,
    POWER,
    check_sizes,
    distribution_in,
    duration_in,
    geometry_in,
    law_in,
    power_fault,
    times_in,
)
from sweep.model.table import Model, Output, Parameter
from sweep.points.wear_stage import (
    COEFFICIENTS,
    DURATIONS,
    SIZES,
    TIMES,
    WEAR_OUTPUTS,
    WearStage,
    taken_by,
    with_stage,
)
from sweep.points.wear_stage import POWER as POWERS
from sweep.text.reader import Table
from sweep.text.toml_text import assignments
from sweep.text.wording import listed
from sweep.theory.wear import GEOMETRIES, LAWS
from sweep.theory.wear.geometries import SMALL

OF_PARAMETERS = ("parameters", "axes", "sample", "derived")
ALL: Mapping[str, Parameter] = {
    **{key: each for law in LAWS.values() for key, each in law.coefficients.items()},
    **{key: each for scar in GEOMETRIES.values() for key, each in scar.dimensions.items()},
    **SIZES,
    **DURATIONS,
}  # by key: what may be a parameter


@dataclass(frozen=True)
class WearDraft:
    """The table [wear], whose values are constants of the sweep, and its parameters by key."""

    table: Table
    by_key: Mapping[str, Parameter]
    others: tuple[Parameter, ...] = ()  # given elsewhere, which is a fault

    @property
    def names(self) -> list[str]:
        """The parameters that the table gives."""
        return [each.name for key, each in self.by_key.items() if self.table.has(key)]

    def constants(self) -> dict[str, float]:
        """The correct ones of the values, in SI units."""
        constants: dict[str, float] = {}
        for key, parameter in self.by_key.items():
            if self.table.has(key):
                value = self.table.read(key, _constant, key, self.table.mapping[key], parameter)
                constants |= {} if value is None else {parameter.name: value}
        return constants

    def missing(self, name: str) -> None:
        """Add the fault of a parameter that is given nowhere."""
        key = next(key for key, each in self.by_key.items() if each.name == name)
        parameter, example = self.by_key[key], EXAMPLE if key in COEFFICIENTS else ""
        cure = f"give it in {parameter.unit}{example}, or as {name} under [sample] or [axes]"
        self.table.fault(key, f"missing ({parameter.meaning})", cure)

    def check(self, constants: Mapping[str, float]) -> None:
        """Check the sizes that are constant against each other."""
        known = {k: constants[p.name] for k, p in self.by_key.items() if p.name in constants}
        check_sizes(self.table, known)


def with_wear(top: Table, model: Model | None) -> tuple[Model | None, WearDraft | None]:
    """The model with the outputs of its wear, and [wear], if that is a part of the sweep.

    Without a model, which is then faulty, the table is checked as far as that is possible.
    """
    taken = taken_by(model) if model else frozenset[str]()
    own = {output.name for output in model.outputs} if model else set[str]()
    given, asked = {*_parameters(top.mapping)}, {*_outputs(top.mapping)} & {*WEAR_OUTPUTS} - own
    varied = {key for key in ALL if (f"wear_{key}" if key in taken else key) in given}
    if not is_table(top.mapping.get("wear")) or not (varied or asked):
        return model, None
    table = top.table("wear")
    stage = replace(_stage(table, model, varied, asked), taken=taken)
    if clash := sorted(own & {output.name for output in stage.outputs}):
        what = f"the model has an output {clash[0]} of its own"
        table.fault("", what, "rename that, or keep [wear] for finished results")
        return model, None
    others = [ALL[key] for key in sorted(varied - stage.by_key.keys())]
    names = tuple(replace(each, name=stage.name_of(each.name)) for each in others)
    draft = WearDraft(table, stage.by_key, names)
    return with_stage(model, stage) if model else None, draft


def _stage(table: Table, model: Model | None, varied: set[str], asked: set[str]) -> WearStage:
    """The stage that the table describes; others stand for parts of it that are faulty."""
    read = table.values(WEAR.keys)
    law, geometry = law_in(table, read), geometry_in(table, read)
    duration = duration_in(table, law, varied)
    times: tuple[float, ...] | None = None
    if table.has(duration) or duration not in varied:
        times = times_in(table, duration, read[duration]) or (1.0,)
    if times is not None and duration in varied:
        table.fault(duration, "also a parameter elsewhere", "keep one of the two")
    if table.has("quantiles"):
        what = "only for a coefficient that is uncertain here"
        table.fault("quantiles", what, "name quantiles under [reduce]")
    sizes = [key for key in SIZES if key in varied or table.has(key)]
    limited = [name for name in asked if name.endswith("_to_limit")]
    scarred = sorted({"wear_depth", *limited} & {*asked} | varied & {*SIZES, *DIMENSIONS})
    if scarred and not table.has("geometry"):
        cure = f"choose one of {listed(GEOMETRIES)}"
        table.fault("geometry", f"missing, for {listed(scarred)}", cure)
    if limited and "limit" not in sizes:  # which is missing then
        sizes = ["limit", *sizes]
    own = {*(law.coefficients if law else ()), *(geometry.dimensions if geometry else ())}
    for row, column in ((law, COEFFICIENTS), (geometry, DIMENSIONS)):
        for key in sorted(varied & {*column} - own):
            if row is not None:
                what = f"a parameter elsewhere, and {row.name} has none"
                table.fault(key, what, "remove it there")
    powers = _powers(table, model, read["power"], duration) if model else ()
    table.close()
    used = varied | {key for key in ALL if table.has(key)}
    law = law or max(LAWS.values(), key=lambda each: len(used & each.coefficients.keys()))
    if geometry is None and (table.has("geometry") or scarred):
        geometry = max(GEOMETRIES.values(), key=lambda each: len(used & each.dimensions.keys()))
    return WearStage(
        law=law.name,
        powers=powers,
        duration=duration,
        times=times,
        geometry=geometry.name if geometry else None,
        small=bool(read["small"]) and geometry is not None and geometry.name in SMALL,
        sizes=tuple(sizes) if geometry else (),
    )


def _powers(
    table: Table, model: Model, entry: list[str] | str | None, duration: str
) -> tuple[Output, ...]:
    """The outputs that wear; the correct ones of them."""
    names = [entry] if isinstance(entry, str) else entry or [POWER]
    outputs = {output.name: output for output in model.outputs}
    units = {output.name: output.unit for output in model.outputs}
    powers: dict[str, Output] = {}
    for name in names:
        known = {name: units[name]} if name in units else units
        indices = [each.name for each in outputs[name].over] if name in outputs else []
        taken = sorted({*indices} & {POWERS, *(row[0] for row in TIMES.values())})
        if found := power_fault(name, known, duration, is_uncertain=False):
            table.fault("power", found[1].what, found[1].cure)
        elif name in powers:
            table.fault("power", f"{name} is listed more than once", "list it once")
        elif name not in outputs or outputs[name].values:
            table.fault("power", f"{name} is not one value at each point", "name another output")
        elif taken:
            what = f"{name} is over {taken[0]}, which is a dimension of wear"
            table.fault("power", what, "rename the index in the model file")
        else:
            powers[name] = outputs[name]
    first = next(iter(powers.values()), None)
    for name, output in powers.items():
        if first is not None and (output.over, output.parameter_sets) != (
            first.over,
            first.parameter_sets,
        ):
            what = f"{name} has other indices than {first.name}"
            table.fault("power", what, "name outputs over the same index")
            return (first,)
    return tuple(powers.values())


def _constant(key: str, value: object, parameter: Parameter) -> float:
    """A value of [wear] in SI units; FaultError if it is a distribution or no number."""
    if distribution := distribution_in(value):
        (line,) = assignments({parameter.name: dict(distribution)})
        what = f"uncertain, and the sweep has {key} as a parameter of each point"
        raise FaultError(what, f"draw it under [sample]: {line}")
    return amount(value, parameter)


def _parameters(tables: Mapping[str, object]) -> Iterator[str]:
    """The names that the tables of parameters have, also those of several along an axis."""
    for name in OF_PARAMETERS:
        entries = tables.get(name)
        for key, value in entries.items() if is_table(entries) else ():
            yield key
            if name == "axes" and is_table(value):
                yield from value
            if name == "sample" and key == "columns":
                yield from _texts(value)


def _outputs(tables: Mapping[str, object]) -> Iterator[str]:
    """The outputs that the file names."""
    reduce, refine = tables.get("reduce"), tables.get("refine")
    yield from reduce if is_table(reduce) else ()
    yield from _texts(tables.get("outputs"))
    yield from _texts(refine.get("output") if is_table(refine) else None)


def _texts(value: object) -> list[str]:
    """The texts in a list, or the one that there is."""
    entries = cast("list[object]", value) if isinstance(value, list) else [value]
    return [each for each in entries if isinstance(each, str)]
