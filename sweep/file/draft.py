"""A sweep file that is being read: its tables, and the model that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sweep.errors import ConfigError
from sweep.file.element_names import with_element_names
from sweep.file.keys import TABLES, TOP_LEVEL
from sweep.file.model_file import known_models, read_model
from sweep.file.parameter_sets import replaced_by_options
from sweep.file.sweep_file import Document, has_several, is_table, sample_keys
from sweep.file.wear_draft import WearDraft, with_wear
from sweep.model.table import Excitation, Method, Model, Parameter, every_parameter
from sweep.request.sweeps import POINT, Axis
from sweep.text.reader import Faults, Table
from sweep.text.wording import listed, nearest, written

FORMAT = 1  # of sweep files


@dataclass(frozen=True)
class Draft:
    """The tables of a sweep file, beside the model that it names.

    Without a model, which is then faulty, its tables are checked as far as that is possible.
    """

    document: Document
    top: Table
    model: Model | None
    method: Method | None
    known: Mapping[str, Parameter] | None  # every parameter that may occur, in any set
    parameters: Table
    axes: Table
    along: Mapping[str, Table]  # by axis: the table of its parameters, which is `axes` for one
    derived: Table
    sample: Table | None
    reduce: Table | None
    wear: WearDraft | None  # if it is a part of the sweep

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

    def names_along(self, axis: str) -> list[str]:
        """The parameters along an axis, in the order of the file."""
        table = self.along[axis]
        return [axis] if table is self.axes else [*table.mapping]

    @property
    def groups(self) -> dict[str, Table]:
        """The tables [axes.NAME], each of several parameters along one axis."""
        return {name: table for name, table in self.along.items() if table is not self.axes}

    @property
    def dimensions(self) -> list[str]:
        """The names of all axes, correct or not."""
        return [*self.along, *([] if self.sample is None else [POINT])]

    def may_have(self, name: str) -> bool:
        """Whether a name is a parameter, or may be one of a model that cannot be read."""
        return self.known is None or name in self.known


@dataclass(frozen=True)
class Sample:
    """The parameters that [sample] names, and its axis unless there are faults."""

    names: tuple[str, ...] = ()
    axis: Axis | None = None
    is_complete: bool = True  # False: more parameters may be in a file that cannot be read


def draft_of(document: Document, faults: Faults) -> Draft:
    """The tables of a document, with its model if that can be read."""
    top = document.table(faults)
    _check_top_level(document, top)
    model = _model(document, top)
    if model is not None:
        document = with_element_names(document, model, faults)
        top = document.table(faults)
    model, wear = with_wear(top, model)
    method = _method(top, model)
    known = None
    if model is not None:
        methods = None if method is None else [method]
        others = wear.others if wear else ()
        known = {each.name: each for each in (*every_parameter(model, methods), *others)}
    replaced = replaced_by_options(document, model) if model else set[str]()
    axes = top.table("axes").without(replaced)
    draft = Draft(
        document=document,
        top=top,
        model=model,
        method=method,
        known=known,
        parameters=top.table("parameters").without(replaced),
        axes=axes,
        along={
            name: axes.table(name)
            if has_several(raw) or (raw == {} and name not in (known or {}))
            else axes
            for name, raw in axes.mapping.items()
        },
        derived=top.table("derived").without(replaced),
        sample=top.optional("sample"),
        reduce=top.optional("reduce"),
        wear=wear,
    )
    _check_names(draft)
    return draft


def _check_top_level(document: Document, top: Table) -> None:
    """Check the format, and that there is nothing but the known keys and tables."""
    for key, value in top.mapping.items():
        if key not in (*TOP_LEVEL, *TABLES):
            kind, choices = ("table", TABLES) if is_table(value) else ("key", [*TOP_LEVEL])
            place = "" if is_table(value) else " (parameters go under [parameters])"
            top.unknown(key, f"there is no such {kind}{place}", choices)
    version = top.value("format", TOP_LEVEL["format"])
    if "format" not in document.tables and document.name is not None:
        top.fault("format", "missing", f"write format = {FORMAT}")
    elif version not in (None, FORMAT):
        top.fault("format", f"{written(version)} is unknown", f"this version reads {FORMAT}")


def _model(document: Document, top: Table) -> Model | None:
    source = top.value("model", TOP_LEVEL["model"])
    if source is None:
        if not top.has("model") and "model" not in top.faults.meant:
            top.fault("model", "missing", f"choose one of {listed(known_models())}")
        return None
    try:
        return read_model(source, document.folder)
    except ConfigError as error:
        for fault in error.faults:
            where = f"{fault.where}: " if fault.where else ""
            top.fault("model", f"{where}{fault.what}", fault.cure)
    return None


def _method(top: Table, model: Model | None) -> Method | None:
    name = top.value("method", TOP_LEVEL["method"])
    if model is None:
        return None
    if name is None:
        return None if top.has("method") else model.methods[0]
    methods = {method.name: method for method in model.methods}
    if name not in methods:
        what = f"{written(name)} is not a method of {model.name}"
        top.fault("method", what, nearest(name, methods))
    return methods.get(name)


def _check_names(draft: Draft) -> None:
    """Check that what tables of parameters name are parameters."""
    one_each = [name for name, table in draft.along.items() if table is draft.axes]
    _refuse_unknown(draft, draft.parameters, draft.single)
    _refuse_unknown(draft, draft.axes, one_each)
    for table in (*draft.groups.values(), draft.derived):
        _refuse_unknown(draft, table, table.mapping)
    if draft.sample:
        keys = sample_keys(draft.sample.mapping)
        names = [name for name in draft.sample.mapping if name not in keys]
        _refuse_unknown(draft, draft.sample, names, keys)


def _refuse_unknown(
    draft: Draft, table: Table, names: Iterable[str], keys: Sequence[str] = ()
) -> None:
    """Add a fault for each of a table's names that is no parameter. `keys` are choices, too."""
    methods = draft.model.methods if draft.model else ()
    for name in [name for name in names if not draft.may_have(name)]:
        owners = [m.name for m in methods if name in {p.name for p in m.parameters}]
        if name in TOP_LEVEL:
            cure = f"{name} belongs at the top of the file, before any [table]"
            table.fault(name, "not a parameter", cure)
        elif owners:
            what = f"belongs to another method ({listed(owners)})"
            table.fault(name, what, "choose that one, or remove it")
        else:
            model = draft.model.name if draft.model else ""
            table.unknown(name, f"{model} has no such parameter", [*(draft.known or {}), *keys])
