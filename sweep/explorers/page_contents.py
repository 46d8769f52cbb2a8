"""What the page of an explorer contains, apart from the stored map."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
import xarray as xr

from sweep.equations.derived import CONSTANTS, CONVERSIONS, derivation, in_order
from sweep.equations.expressions import Call, Expression, Name, Number, walk, whole_power
from sweep.explorers.packing import packed, packed_values, plain, shuffled
from sweep.explorers.subject import Columns, Subject
from sweep.explorers.theory_borders import MAX_SLICES, TheoryBorders, theory_borders
from sweep.explorers.unit_choices import unit_choices
from sweep.kernel.forcing import forcings_of
from sweep.kernel.source import kernel_digest, kernel_of
from sweep.kernel.wasm import module_bytes as bytes_of_module
from sweep.kernel.wasm import modules_of, whole_kernel
from sweep.model.table import Model, Output, Status, index_name, planes
from sweep.pictures import colours
from sweep.points.recipes import model_in
from sweep.request.sweeps import POINT, Sweep
from sweep.results.refined import is_refined
from sweep.results.summary import coordinates, flag_names, is_flag
from sweep.statistics.outputs import POINTS_BY_STATUS
from sweep.store.layout import is_count
from sweep.text.wording import listed
from sweep.version import __version__

NO_KERNEL = "These points cannot be computed in the page, so"


def contents(subject: Subject, room_of_borders: int) -> dict[str, Any]:
    """The contents of the page in JSON's types, without the stored map.

    The borders known from theory take at most `room_of_borders` bytes.
    """
    sweep, grid = subject.sweep, subject.grid
    attributes: Mapping[str, Any] = {} if grid is None else grid.attrs
    model = sweep.model if sweep else model_in(attributes)
    kernel, why = _kernel(subject)
    theory = TheoryBorders()
    if sweep:
        theory = theory_borders(subject.dimensions, sweep, room_of_borders)
    page: dict[str, Any] = {
        "name": subject.name,
        "title": model.title if model else str(attributes.get("title", "")),
        "source": model.source if model else str(attributes.get("references", "")),
        "model": model.name if model else str(attributes.get("model", "")),
        "method": sweep.method.name if sweep else str(attributes.get("method", "")),
        "version": __version__,
        "fingerprint": str(attributes.get("fingerprint", "")),
        "command": subject.command,
        "toml": _toml(sweep) if sweep and not sweep.table else None,
        "parameters": _parameters(subject),
        "derived": _derived(sweep) if sweep else {},
        "dimensions": [_dimension(subject, *each) for each in subject.dimensions.items()],
        "behind": [_dimension(subject, *each) for each in subject.behind.items()],
        "sample": subject.is_sample,
        "outputs": _outputs(subject),
        "kernel": kernel,
        "why": why,
        "observables": _observables(model) if model else [],
        "clock": _described(model.clock) if model else None,
        "samples": model.samples if model else 0,
        "loop": model.loop if model else None,
        "sentences": _sentences(model),
        "borders": theory.borders,
        "notes": [*_notes(subject, has_kernel=kernel is not None), *_left_out(theory)],
        "planes": [],
        "colours": {"lines": colours.LINES, "theory": colours.THEORY},
    }
    page["units"] = unit_choices(_units(page))
    return page


def _units(entries: Any) -> set[str]:
    """Every unit in the contents of a page."""
    if isinstance(entries, list):
        return {unit for each in cast(list[Any], entries) for unit in _units(each)}
    if not isinstance(entries, dict):
        return set()
    table = cast(dict[str, Any], entries)
    own = {str(table["unit"])} if "unit" in table else set[str]()
    return own.union(*map(_units, table.values()))


def _parameters(subject: Subject) -> list[dict[str, Any]]:
    """Those of the kernel and of wear, then those given in place of some of them.

    Without a value if it is along a dimension or derived.
    """
    sweep = subject.sweep
    if sweep is None:
        return _parameters_of_another(subject)
    single = sweep.constants
    names = {*single, *(name for axis in sweep.axes for name in axis.columns)}
    others = [p for p in sweep.inputs if p not in sweep.parameters and p.name in names]
    return [
        {
            "name": p.name,
            "unit": p.unit,
            "meaning": p.meaning,
            "value": plain(single[p.name]) if p.name in single else None,
            "neutral": p.neutral and single.get(p.name) == p.default,
            "derived": p.derived,
            "least": p.minimum if math.isfinite(p.minimum) else None,
            "greatest": p.maximum if math.isfinite(p.maximum) else None,
            "whole": p.whole,
        }
        for p in (*sweep.parameters, *others)
    ]


def _parameters_of_another(subject: Subject) -> list[dict[str, Any]]:
    """The same where only the store knows them."""
    assert subject.grid is not None
    along, single = coordinates(subject.grid)
    return [
        {
            "name": name,
            "unit": _unit(values),
            "meaning": str(values.attrs.get("long_name", "")),
            "value": None if name in along else plain(float(values)),
        }
        for name, values in {**along, **single}.items()
        if values.dtype.kind in "iuf" and values.ndim < 2
    ]


def _dimension(subject: Subject, name: str, columns: Columns) -> dict[str, Any]:
    table = {p.name: p for p in subject.sweep.inputs} if subject.sweep else {}
    parameter, grid, size = table.get(name), subject.grid, subject.size(name)
    unit, meaning = (parameter.unit, parameter.meaning) if parameter else ("1", "")
    if parameter is None and grid is not None and name in grid.coords:
        unit, meaning = _unit(grid[name]), str(grid[name].attrs.get("long_name", ""))
    whole = subject.whole_size(name)
    if subject.reduced and name == POINT and name in subject.behind:
        whole //= subject.reduced.row
    return {
        "name": name,
        "unit": unit,
        "meaning": meaning,
        "size": whole,
        "continuous": list(columns) == [name] and not (parameter and parameter.whole),
        "kept": size,
        "columns": {}
        if subject.is_sample
        else {each: packed_values(values) for each, values in columns.items()},
    }


def _outputs(subject: Subject) -> list[dict[str, Any]]:
    """Those that are stored, then those that only the kernel computes."""
    grid, sweep = subject.grid, subject.sweep
    known = [] if grid is None else [grid[name] for name in subject.outputs if name in grid]
    stored = [_stored_output(each, subject.dimensions) for each in known]
    if sweep is None:
        return stored
    first = subject.outputs or tuple(output.name for output in sweep.outputs)
    names = [each["name"] for each in stored]
    computed = [o for o in whole_kernel(kernel_of(sweep)).outputs if o.name not in names]
    order = {name: place for place, name in enumerate(first)}
    computed.sort(key=lambda output: order.get(output.name, len(order)))
    return [*stored, *map(_computed_output, computed)]


def _stored_output(variable: xr.DataArray, dimensions: Collection[str]) -> dict[str, Any]:
    flags = list(flag_names(variable).values()) if is_flag(variable) else []
    is_whole = is_count(variable) or variable.dtype.kind in "iu"
    inner = [str(dim) for dim in variable.dims if str(dim) not in dimensions]
    return {
        "name": str(variable.name),
        "unit": _unit(variable),
        "long_name": str(variable.attrs.get("long_name", "")),
        "kind": "flag" if flags else "count" if is_whole else "real",
        "flags": flags,
        "stored": True,
        "inner": [{"name": dim, **_labels(variable, dim)} for dim in inner],
    }


def _computed_output(output: Output) -> dict[str, Any]:
    inner = [{"name": e.name, "values": [*e.values], "unit": e.unit} for e in output.over]
    if output.values:
        name = index_name(output.name)
        inner.append({"name": name, "values": [*range(output.values)], "unit": "1"})
    return _described(output) | {"kind": output.kind, "stored": False, "inner": inner}


def _labels(variable: xr.DataArray, dim: str) -> dict[str, Any]:
    """The values along a dimension that only some outputs have, and their unit."""
    if dim not in variable.coords:
        return {"values": list(range(variable.sizes[dim])), "unit": "1"}
    if dim == "time" and "years" in variable.coords:
        return {"values": variable["years"].values.tolist(), "unit": "years"}
    along = variable[dim]
    is_number = along.dtype.kind in "iuf"
    values = [plain(each) if is_number else str(each) for each in along.values.tolist()]
    return {"values": values, "unit": _unit(along)}


def _unit(variable: xr.DataArray) -> str:
    return str(variable.attrs.get("units", "1"))


def _observables(model: Model) -> list[dict[str, Any]]:
    """What a trace in the page records, element by element; `of` is what elements belong to."""
    return [
        _described(each) | {"name": name, "of": each.name if each.elements else ""}
        for each in model.observables_of(items=False)
        for name in each.recorded
    ]


def _described(quantity: Any) -> dict[str, Any]:
    return {
        "name": quantity.name,
        "unit": quantity.unit,
        "long_name": quantity.long_name,
        "flags": list(quantity.flags),
    }


def _kernel(subject: Subject) -> tuple[dict[str, Any] | None, str]:
    """The modules and what they are called with; or why there is none."""
    sweep, obstacle = subject.sweep, _obstacle(subject)
    if sweep is None or obstacle:
        shown = "only the stored map is shown" if subject.request is None else "run the sweep first"
        return None, f"{NO_KERNEL} {shown}: {obstacle}."
    kernel = whole_kernel(kernel_of(sweep))
    modules = {
        f"{each.entry}_{'relaxed' if each.relaxed else 'plain'}": packed(bytes_of_module(each))
        for each in modules_of(kernel)
    }
    why = "" if sweep.method.traced else f"Method {sweep.method.name!r} cannot show a motion."
    return {
        "digest": kernel_digest(replace(sweep, outputs=kernel.outputs)),
        "columns": [sweep.parameters.index(each) for each in sweep.of_kernel.parameters],
        "modules": modules,
        "items": sweep.method.items,
        "outputs": [{"name": o.name, "kind": o.kind} for o in planes(kernel.outputs)],
        "forcings": _forcings(sweep),
    }, why


def _forcings(sweep: Sweep) -> list[dict[str, Any]]:
    """What the page fills the tables of signals by draw with: see forcing.h."""
    parameters = sweep.of_kernel.parameters
    places = {parameter.name: place for place, parameter in enumerate(parameters)}
    entries: list[dict[str, Any]] = []
    for each in forcings_of(sweep.model):
        request = each.request(0)
        fields = ("samples", "harmonics", "elements", "signal", "seed", "normal")
        numbers = {name: int(getattr(request, name)) for name in fields}
        arrays = {"factor": np.empty(0), **each.constants()}
        texts = {name: packed(shuffled(values)) for name, values in arrays.items()}
        draw = {"draw": places[each.signal.draw], "bytes": each.signal.table_bytes}
        entries.append({**draw, **numbers, **texts})
    return entries


def _obstacle(subject: Subject) -> str:
    """Why the page cannot compute points, "" if it can."""
    sweep = subject.sweep
    if sweep is None and subject.command:
        return "this version of the program does not have their model"
    if sweep is None and subject.stored is not None and POINTS_BY_STATUS in subject.stored:
        return "a Dataset of statistics lacks the points behind them; explore its store"
    if sweep is None:
        return "they follow from the results of another store"
    if converted := _converted(sweep):
        return f"{listed(converted)} follows from a function that runs in Python"
    return "" if sweep.table is None else "the excitation is a table over time"


def _converted(sweep: Sweep) -> list[str]:
    """The derived parameters that the page cannot compute."""
    return [
        name
        for name, text in sweep.derived.items()
        if any(isinstance(e, Call) and e.function in CONVERSIONS for e in walk(derivation(text)))
    ]


def _sentences(model: Model | None) -> dict[str, list[str]]:
    sentences: Mapping[Status, str] = model.sentences if model else {}
    return {str(s.value): [s.name, sentences.get(s, "")] for s in Status}


def _left_out(theory: TheoryBorders) -> list[str]:
    reasons = {
        f"the other axes have more than {MAX_SLICES} places.": theory.of_many_places,
        "the page has no room for them.": theory.without_room,
    }
    return [
        f"Borders known from theory are left out over {listed(pairs)}: {reason}"
        for reason, pairs in reasons.items()
        if pairs
    ]


def _notes(subject: Subject, *, has_kernel: bool) -> list[str]:
    notes: list[str] = []
    if subject.stored is not None and is_refined(subject.stored):
        notes.append(
            f"A refined sweep of {subject.stored.sizes[POINT]:,} points, shown as a grid; between "
            "them the map is interpolated."
        )
    if subject.request and (refinement := subject.request.refinement):
        notes.append(
            f"The sweep file refines this grid at changes of {listed(refinement.outputs)}; the "
            "page does not. Run the sweep to see the refined map."
        )
    if subject.reduced is not None:
        number = subject.reduced.size // subject.reduced.row
        what = "Run the sweep to see" if subject.request else "The stored values are"
        notes.append(f"{what} statistics of {number:,} points in each cell.")
        if has_kernel:
            notes[-1] += (
                " The page computes single points of a cell, which the sliders choose, but no "
                "statistics."
            )
    if has_kernel and subject.sweep and subject.sweep.model.stage is not None:
        notes.append("Of a point, the page computes the motion and its powers, but not the wear.")
    if subject.request and subject.request.wear:
        notes.append("The page does not compute the wear over years of the sweep file.")
    if subject.other_code and has_kernel:
        notes.append(
            f"Points that the page computes may differ from the stored map: {subject.other_code}."
        )
    for name in subject.dimensions:
        kept, size = subject.size(name), subject.whole_size(name)
        if kept < size and not subject.is_sample:
            notes.append(f"The page has {kept:,} of the {size:,} values along {name}.")
    if subject.is_sample:
        notes.append(
            "These points form no grid, so a part of the map cannot be computed anew; any point "
            "can be."
        )
    return notes


def _derived(sweep: Sweep) -> dict[str, Any]:
    """The expressions of derived parameters as lists: an operation, then its arguments."""
    return {name: _tree(derivation(sweep.derived[name])) for name in in_order(sweep.derived)}


def _tree(expression: Expression) -> Any:
    match expression:
        case Number(value):
            return value
        case Name(name):
            return CONSTANTS.get(name, name)
        case Call("**", (base, exponent)):
            return ["**", _tree(base), whole_power(exponent)]
        case Call(function, arguments):
            return [function, *map(_tree, arguments)]


def _toml(sweep: Sweep) -> dict[str, str]:
    """The parts of a sweep file before and after its parameters and axes."""
    outputs = json.dumps([output.name for output in sweep.outputs])
    head = ["format = 1", f"method = {json.dumps(sweep.method.name)}", f"outputs = {outputs}"]
    rows = [f"{name} = {json.dumps(text)}" for name, text in sweep.own_derived.items()]
    derived = "\n".join(["[derived]", *rows]) if rows else ""
    if not sweep.model.text:
        head.insert(1, f"model = {json.dumps(sweep.model.name)}")
        return {"head": "\n".join(head), "derived": derived, "tail": ""}
    lines = re.sub(r"^(\[+)", r"\1model.", sweep.model.text, flags=re.MULTILINE)
    return {"head": "\n".join(head), "derived": derived, "tail": f"[model]\n{lines}"}
