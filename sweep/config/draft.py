"""A sweep file that is being read: its tables, the model it names, and who may be given where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from sweep.config.model_file import known_models, read_model
from sweep.config.schema import TOP_LEVEL
from sweep.config.substitutes import replaced_by_options
from sweep.config.sweep_file import TABLES, TOP_LEVEL_KEYS, Document, Entries, has_several, is_table
from sweep.errors import ConfigError
from sweep.reader import Faults, Table
from sweep.request import POINT, Axis
from sweep.spec import Excitation, Method, Model, Output, Parameter, every_parameter
from sweep.wording import listed, nearest, written

FORMAT = 1  # of sweep files


@dataclass(frozen=True)
class Draft:
    """The tables of a sweep file, beside the model that it names.

    Without a model, which is then faulty, its tables are checked as far as that is possible.
    """

    document: Document
    top: Table
    values: Mapping[str, Any]  # of the top level, by key
    model: Model | None
    method: Method | None
    known: Mapping[str, Parameter] | None  # every parameter that may occur, in any set
    parameters: Table
    axes: Table
    derived: Table
    sample: Table | None
    reduce: Table | None

    @property
    def excitation(self) -> Excitation | None:
        """The model's excitation, if its parameter is a table over time; not if it is an axis."""
        excitation = self.model.excitation if self.model else None
        raw = self.parameters.mapping.get(excitation.parameter) if excitation else None
        is_axis = bool(raw) and is_table(raw) and {*raw} <= {"linspace", "geomspace", "values"}
        return excitation if is_table(raw) and not is_axis else None

    @property
    def single(self) -> list[str]:
        """The entries of [parameters], except an excitation that is a table over time."""
        over_time = self.excitation.parameter if self.excitation else None
        return [name for name in self.parameters.mapping if name != over_time]

    @property
    def on_axes(self) -> list[str]:
        """The parameters that are along axes, in the order of the file."""
        return [
            parameter
            for name, raw in self.axes.mapping.items()
            for parameter in (raw if self.is_group(raw, name) else [name])
        ]

    @property
    def dimensions(self) -> list[str]:
        """The names of all axes, correct or not."""
        return [*self.axes.mapping, *([] if self.sample is None else [POINT])]

    @property
    def known_outputs(self) -> tuple[Output, ...]:
        """The requested outputs that the model has; all of them if none is requested."""
        requested, outputs = self.values["outputs"], self.model.outputs if self.model else ()
        chosen = tuple(output for output in outputs if output.name in (requested or ()))
        return chosen or outputs

    def is_group(self, raw: object, name: str) -> TypeGuard[Entries]:
        """Whether an entry of [axes] is a table of several parameters along one dimension."""
        return has_several(raw) or (raw == {} and name not in (self.known or {}))

    def table_of(self, name: str) -> Table:
        """The table in which a parameter is given."""
        groups = [each for each, raw in self.axes.mapping.items() if is_table(raw) and name in raw]
        tables = [each for each in (self.parameters, self.axes) if name in each.mapping]
        tables += [table_in(self.axes, each) for each in groups]
        tables += [each for each in (self.derived, self.sample) if each and name in each.mapping]
        return tables[0] if tables else self.sample or self.parameters

    def known_ones(self, table: Table, names: Iterable[str], keys: Sequence[str] = ()) -> list[str]:
        """The names that are parameters; each of the others is a fault. `keys` are choices, too."""
        if self.known is None:
            return [*names]
        found: list[str] = []
        for name in names:
            if name in self.known:
                found.append(name)
            else:
                self._add_unknown(table, name, (*self.known, *keys))
        return found

    def _add_unknown(self, table: Table, name: str, choices: Sequence[str]) -> None:
        methods = self.model.methods if self.model else ()
        owners = [m.name for m in methods if name in {p.name for p in m.parameters}]
        if name in TOP_LEVEL_KEYS:
            cure = f"{name} belongs at the top of the file, before any [table]"
            table.fault(name, "not a parameter", cure)
        elif owners:
            what = f"belongs to another method ({listed(owners)})"
            table.fault(name, what, "choose that one, or remove it")
        else:
            model = self.model.name if self.model else ""
            table.unknown(name, f"{model} has no such parameter", choices)


@dataclass(frozen=True)
class Sample:
    """The parameters that [sample] names, and its axis unless there are faults."""

    names: tuple[str, ...] = ()
    axis: Axis | None = None
    is_complete: bool = True  # False: more parameters may be in a file that cannot be read


def draft_of(document: Document, faults: Faults) -> Draft:
    """The tables of a document, with its model if that can be read."""
    top = document.table(faults)
    values = top.values(TOP_LEVEL)
    _check_top_level(document, top, values)
    model = _model(document, top, values["model"])
    method = _method(top, model, values["method"])
    known = None
    if model is not None:
        methods = None if method is None else [method]
        known = {each.name: each for each in every_parameter(model, methods)}
    replaced = replaced_by_options(document, model) if model else set[str]()
    tables = {name: table_in(top, name, values[name] or {}) for name in TABLES}
    return Draft(
        document=document,
        top=top,
        values=values,
        model=model,
        method=method,
        known=known,
        parameters=tables["parameters"].without(replaced),
        axes=tables["axes"].without(replaced),
        derived=tables["derived"].without(replaced),
        sample=None if values["sample"] is None else tables["sample"],
        reduce=None if values["reduce"] is None else tables["reduce"],
    )


def table_in(table: Table, key: str, raw: object = None) -> Table:
    """The table at a key: `[axes.case]`; `raw` is what it has if that is known."""
    name = f"{table.name}.{key}" if table.name else key
    raw = table.mapping.get(key) if raw is None else raw
    return table.child(raw, name, table.position_of(key))


def check_names(
    table: Table,
    key: str,
    names: Sequence[str],
    known: Sequence[str] | None,
    wrong: Mapping[str, tuple[str, str]],
    unknown: str = "unknown",
) -> None:
    """Add a fault for each of the names at a key that is listed twice or must not be there.

    `wrong` has what is wrong with some of them and the cure; of the others, those not in `known`
    are `unknown`. Without known ones, any name may be right.
    """
    for name in dict.fromkeys(names):
        if name in wrong:
            table.fault(key, *wrong[name])
        elif known is not None and name not in known:
            table.fault(key, f"{written(name)} is {unknown}", nearest(name, known))
        elif (count := names.count(name)) > 1:
            table.fault(key, f"{name!r} is listed {count} times", "list it once")


def _check_top_level(document: Document, top: Table, values: Mapping[str, Any]) -> None:
    """Check the format, and that there is nothing but the known keys and tables."""
    for key, value in top.mapping.items():
        if key not in TOP_LEVEL:
            kind, choices = ("table", TABLES) if is_table(value) else ("key", TOP_LEVEL_KEYS)
            place = "" if is_table(value) else " (parameters go under [parameters])"
            top.unknown(key, f"there is no such {kind}{place}", choices)
    if "format" not in document.tables and document.name is not None:
        top.fault("format", "missing", f"write format = {FORMAT}")
    elif values["format"] not in (None, FORMAT):
        top.fault(
            "format", f"{written(values['format'])} is unknown", f"this version reads {FORMAT}"
        )


def _model(
    document: Document, top: Table, source: str | Mapping[str, object] | None
) -> Model | None:
    if source is None:
        if document.tables.get("model") is None and "model" not in top.faults.meant:
            top.fault("model", "missing", f"choose one of {listed(known_models())}")
        return None
    try:
        return read_model(source, document.folder)
    except ConfigError as error:
        for fault in error.faults:
            where = f"{fault.where}: " if fault.where else ""
            top.fault("model", f"{where}{fault.what}", fault.cure)
    return None


def _method(top: Table, model: Model | None, name: str | None) -> Method | None:
    if model is None:
        return None
    if name is None:
        return None if top.mapping.get("method") is not None else model.methods[0]
    methods = {method.name: method for method in model.methods}
    if name not in methods:
        what = f"{written(name)} is not a method of {model.name}"
        top.fault("method", what, nearest(name, methods))
    return methods.get(name)
