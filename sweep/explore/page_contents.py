"""What the page of an explorer contains, apart from the stored map."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep import __version__
from sweep.analysis.refined import axes_of, is_refined, on_grid
from sweep.analysis.slices import flag_names, is_flag
from sweep.backends.wasm import module_bytes as bytes_of_module
from sweep.backends.wasm import modules_of, whole_kernel
from sweep.equations.derived import CONSTANTS, derivation, in_order, whole_power
from sweep.equations.expressions import Call, Expression, Name, Number
from sweep.explore.packing import every, packed, packed_values, plain
from sweep.explore.theory_borders import segments
from sweep.plan import model_in
from sweep.source import kernel_of
from sweep.spec import POINT, Axis, LongValues, Model, Output, Status, Sweep, is_array, planes
from sweep.summary import coordinates

MAX_AXIS_VALUES = 4096  # of an axis in the page
MAX_SAMPLE = 2**14  # points of a sample that is not run
NO_KERNEL = "These points cannot be computed in the page, so only the stored map is shown: "


@dataclass(frozen=True, eq=False)
class Subject:
    """What is explored: a store, or a sweep that has not been run."""

    name: str
    command: str  # `sweep trace` of it, without the point
    sweep: Sweep | None  # None: this version does not know the model
    stored: xr.Dataset | None  # None: not run
    outputs: tuple[str, ...]
    grid: xr.Dataset | None = field(init=False)  # the stored points; refined ones as a grid

    def __post_init__(self) -> None:
        grid = self.stored
        if grid is not None and is_refined(grid) and len(axes_of(grid)) > 0:
            grid = on_grid(grid.load())
        if grid is not None:
            inner = {str(d) for name in grid.data_vars for d in grid[name].dims} - set(_dims(grid))
            along = [d for d in map(str, grid.dims) if d in grid.coords and d not in inner]
            grid = grid.sortby([d for d in along if grid[d].dtype.kind in "iuf"])
            grid = grid.isel({d: every(grid.sizes[d], MAX_AXIS_VALUES) for d in along})
        object.__setattr__(self, "grid", grid)

    @property
    def is_sample(self) -> bool:
        """Whether its points form no grid."""
        dims = self.dimensions
        return list(dims) == [POINT] and POINT not in dims[POINT]

    @property
    def dimensions(self) -> dict[str, dict[str, NDArray[np.float64]]]:
        """The values of every parameter along each dimension."""
        if self.grid is None:
            assert self.sweep is not None
            return {
                axis.name: {name: _thinned(axis, v) for name, v in axis.columns.items()}
                for axis in self.sweep.axes
            }
        derived = list(self.sweep.derived) if self.sweep else []
        return {
            dim: {
                str(name): self.grid[name].values.astype(np.float64)
                for name in self.grid.coords
                if self.grid[name].dims == (dim,)
                and self.grid[name].dtype.kind in "iuf"
                and name not in derived
            }
            for dim in _dims(self.grid)
        }


def _thinned(axis: Axis, values: LongValues) -> NDArray[np.float64]:
    """The values along an axis that is not run; MAX_AXIS_VALUES of a long one, or the first."""
    if is_array(values) and axis.name != POINT:
        return np.asarray(values[:], np.float64)[every(len(values), MAX_AXIS_VALUES)]
    return np.asarray(values[: MAX_SAMPLE if axis.name == POINT else MAX_AXIS_VALUES], np.float64)


def _dims(dataset: xr.Dataset) -> list[str]:
    """The dimensions of the points."""
    first = "status" if "status" in dataset else next(iter(dataset.data_vars))
    return [str(dim) for dim in dataset[first].dims]


def contents(subject: Subject) -> dict[str, Any]:
    """The contents of the page in JSON's types, without the stored map."""
    model, sweep, grid = _model(subject), subject.sweep, subject.grid
    attributes: Mapping[str, Any] = {} if grid is None else grid.attrs
    kernel, why = _kernel(subject)
    return {
        "name": subject.name,
        "title": model.title if model else str(attributes.get("title", "")),
        "source": model.source if model else str(attributes.get("references", "")),
        "model": model.name if model else str(attributes.get("model", "")),
        "method": sweep.method.name if sweep else str(attributes.get("method", "")),
        "version": __version__,
        "fingerprint": str(attributes.get("fingerprint", "")),
        "command": subject.command,
        "toml": _toml(sweep) if sweep else None,
        "parameters": _parameters(subject),
        "derived": _derived(sweep) if sweep else {},
        "dimensions": [_dimension(subject, name) for name in subject.dimensions],
        "sample": subject.is_sample,
        "outputs": _outputs(subject),
        "kernel": kernel,
        "why": why,
        "observables": [_described(each) for each in model.observables if not each.per_item]
        if model
        else [],
        "clock": _described(model.clock) if model else None,
        "samples": model.samples if model else 0,
        "loop": model.loop if model else None,
        "sentences": _sentences(model),
        "borders": segments(subject.dimensions, _single(subject), sweep) if sweep else [],
        "notes": _notes(subject),
        "planes": [],
    }


def _model(subject: Subject) -> Model | None:
    return subject.sweep.model if subject.sweep else model_in(subject.stored.attrs)  # pyright: ignore[reportOptionalMemberAccess]


def _single(subject: Subject) -> dict[str, float]:
    if subject.sweep is not None:
        return dict(subject.sweep.constants)
    assert subject.grid is not None
    single = coordinates(subject.grid)[1]
    return {name: float(value) for name, value in single.items()}


def _parameters(subject: Subject) -> list[dict[str, Any]]:
    """In the order of the kernel's columns; without a value if it is along a dimension."""
    single = _single(subject)
    table = subject.sweep.parameters if subject.sweep else ()
    if not table:
        return [
            {"name": n, "unit": "1", "meaning": "", "value": plain(v)} for n, v in single.items()
        ]
    return [
        {
            "name": p.name,
            "unit": p.unit,
            "meaning": p.meaning,
            "value": plain(single[p.name]) if p.name in single else None,
            "neutral": p.neutral and single.get(p.name) == p.default,
            "derived": p.derived,
        }
        for p in table
    ]


def _dimension(subject: Subject, name: str) -> dict[str, Any]:
    columns = subject.dimensions[name]
    size = len(next(iter(columns.values()))) if columns else subject.grid.sizes[name]  # pyright: ignore[reportOptionalMemberAccess]
    table = {p.name: p for p in subject.sweep.parameters} if subject.sweep else {}
    parameter = table.get(name)
    labels = (name, parameter.unit, parameter.meaning) if parameter else (name, "1", "")
    if parameter is None and subject.grid is not None and name in subject.grid.coords:
        described = subject.grid[name].attrs
        labels = (name, str(described.get("units", "1")), str(described.get("long_name", "")))
    return {
        "name": name,
        "unit": labels[1],
        "meaning": labels[2],
        "size": whole_size(subject, name),
        "continuous": list(columns) == [name] and not (parameter and parameter.whole),
        "kept": size,
        "columns": {}
        if subject.is_sample
        else {each: packed_values(values) for each, values in columns.items()},
    }


def whole_size(subject: Subject, name: str) -> int:
    """The number of values along a dimension before long ones are thinned."""
    if subject.stored is not None and name in subject.stored.sizes:
        return subject.stored.sizes[name]
    axes = subject.sweep.axes if subject.sweep else ()
    sizes = {axis.name: axis.size for axis in axes}
    columns = subject.dimensions[name]
    return sizes.get(name) or len(next(iter(columns.values())))


def _outputs(subject: Subject) -> list[dict[str, Any]]:
    """Those that are stored, then those that only the kernel computes."""
    found: dict[str, dict[str, Any]] = {}
    if subject.grid is not None:
        for name in subject.outputs:
            if name not in subject.grid:
                continue
            variable = subject.grid[name]
            flags = list(flag_names(variable).values()) if is_flag(variable) else []
            kind = "flag" if flags else "count" if variable.dtype.kind in "iu" else "real"
            found[name] = {
                "name": name,
                "unit": str(variable.attrs.get("units", "1")),
                "long_name": str(variable.attrs.get("long_name", "")),
                "kind": kind,
                "flags": flags,
                "stored": True,
                "inner": [
                    {"name": str(dim), "values": _labels(variable, str(dim))}
                    for dim in variable.dims
                    if str(dim) not in subject.dimensions
                ],
            }
    computed: tuple[Output, ...] = ()
    if (
        subject.sweep is not None
        and subject.sweep.method.kind == "kernel"
        and not _is_reduced(subject)
    ):
        computed = whole_kernel(kernel_of(subject.sweep)).outputs
    order = [o.name for o in computed]
    first = subject.outputs or (
        tuple(o.name for o in subject.sweep.outputs) if subject.sweep else ()
    )
    for output in sorted(computed, key=lambda o: (o.name not in first, order.index(o.name))):
        found.setdefault(
            output.name,
            _described(output)
            | {"kind": output.kind, "stored": False}
            | {
                "inner": [{"name": f"{output.name}_index", "values": list(range(output.values))}]
                if output.values
                else []
            },
        )
    return list(found.values())


def _labels(variable: xr.DataArray, dim: str) -> list[str | float]:
    values = variable[dim].values if dim in variable.coords else np.arange(variable.sizes[dim])
    return [plain(v) if values.dtype.kind in "iuf" else str(v) for v in values.tolist()]


def _described(quantity: Any) -> dict[str, Any]:
    return {
        "name": quantity.name,
        "unit": quantity.unit,
        "long_name": quantity.long_name,
        "flags": list(quantity.flags),
    }


def _is_reduced(subject: Subject) -> bool:
    """Whether the store has statistics, so that no point of it is one of the model."""
    if subject.grid is None or subject.sweep is None:
        return False
    outputs = {output.name for output in subject.sweep.model.outputs}
    return not outputs.intersection(map(str, subject.grid.data_vars))


def _kernel(subject: Subject) -> tuple[dict[str, Any] | None, str]:
    """The modules and what they are called with; or why there is none."""
    sweep = subject.sweep
    if sweep is None:
        return None, f"{NO_KERNEL}this version of the program does not have their model."
    if sweep.method.kind != "kernel":
        return None, f"{NO_KERNEL}{sweep.method.name!r} is an array method, which runs in Python."
    if _is_reduced(subject):
        return None, f"{NO_KERNEL}they are statistics of many points."
    kernel = whole_kernel(kernel_of(sweep))
    modules = {
        f"{each.entry}_{'relaxed' if each.relaxed else 'plain'}": packed(bytes_of_module(each))
        for each in modules_of(kernel)
    }
    why = "" if sweep.method.traced else f"Method {sweep.method.name!r} cannot show a motion."
    return {
        "modules": modules,
        "items": sweep.method.items,
        "outputs": [{"name": o.name, "kind": o.kind} for o in planes(kernel.outputs)],
    }, why


def _sentences(model: Model | None) -> dict[str, list[str]]:
    sentences: Mapping[Status, str] = model.sentences if model else {}
    return {str(s.value): [s.name, sentences.get(s, "")] for s in Status}


def _notes(subject: Subject) -> list[str]:
    notes: list[str] = []
    if subject.stored is not None and subject.grid is not None and is_refined(subject.stored):
        notes.append(
            f"A refined sweep of {subject.stored.sizes[POINT]:,} points, shown as a grid; between "
            "them the map is interpolated."
        )
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
    rows = [f"{name} = {json.dumps(text)}" for name, text in sweep.derived.items()]
    derived = "\n".join(["[derived]", *rows]) if rows else ""
    if not sweep.model.text:
        head.insert(1, f"model = {json.dumps(sweep.model.name)}")
        return {"head": "\n".join(head), "derived": derived, "tail": ""}
    lines = re.sub(r"^(\[+)", r"\1model.", sweep.model.text, flags=re.MULTILINE)
    return {"head": "\n".join(head), "derived": derived, "tail": f"[model]\n{lines}"}
