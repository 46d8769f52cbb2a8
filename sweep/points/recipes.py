"""The recipe of a sweep, its fingerprint, and the way back to the sweep."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, SupportsFloat, TypeVar, cast

import numpy as np

from sweep.equations.model import model_of_text
from sweep.errors import SweepError
from sweep.model.installed import installed_model
from sweep.model.table import Model, Output
from sweep.model.tables import models
from sweep.model.time_series import TimeSeries
from sweep.points.wear_stage import worn
from sweep.request.sweeps import LEVEL, AnySweep, Axis, LongValues, Reduced, Sweep
from sweep.statistics.outputs import reduced

Recipe = dict[str, Any]  # JSON-able, floats as float.hex()
Named = TypeVar("Named")
RECIPE_FORMAT = 1


def recipe(sweep: AnySweep) -> Recipe:
    """A canonical description of what a sweep computes, JSON-able; equal for equivalent sweeps.

    Numbers are float.hex(). Neutral defaults are omitted, so that a parameter added by a later
    version changes no fingerprint. The revision of the method is omitted too; it is compared
    separately.
    """
    points = sweep.points
    neutral = {p.name: p.default for p in points.parameters if p.neutral}
    constants = {n: v for n, v in sorted(points.constants.items()) if neutral.get(n) != v}
    requested = {output.name for output in points.outputs}
    optional: Recipe = {"equations": points.model.text, "derived": dict(points.derived)}
    if points.model.stage is not None:
        optional["wear"] = canonical(points.model.stage.recipe)
    if (table := points.table) is not None:
        columns = {"times": _packed(table.times), "values": _packed(table.values)}
        optional["table"] = {"interpolation": table.interpolation, **columns}
    if isinstance(sweep, Reduced):
        optional["reduce"] = {
            "axes": _axis_recipes(sweep.over),
            "statistics": canonical(sweep.statistics),
            "exact_quantiles": sweep.exact_quantiles,
            **({"quantile_bits": sweep.quantile_bits} if sweep.quantile_bits else {}),
        }
    return {
        "format": RECIPE_FORMAT,
        "model": points.model.name,
        "method": points.method.name,
        "parameter_set": points.parameter_set.name,
        "constants": canonical(constants),
        "axes": _axis_recipes(sweep.grid.axes),
        "outputs": [output.name for output in points.model.outputs if output.name in requested],
        "dtype": points.dtype,
        **{key: value for key, value in optional.items() if value},
    }


def fingerprint(recipe: Mapping[str, Any]) -> str:
    """The SHA-256 of a recipe, in hexadecimal."""
    text = json.dumps(recipe, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def from_recipe(recipe: Mapping[str, Any], axis_columns: Mapping[str, LongValues]) -> AnySweep:
    """The sweep of a recipe, from the values of the parameters that `along_axes` names.

    The method is that of the current table, whatever its revision. Raises SweepError if this
    version cannot compute the recipe.
    """
    if recipe.get("format") != RECIPE_FORMAT:
        raise SweepError(
            f"the recipe has format {recipe.get('format')!r}, this version reads format "
            f"{RECIPE_FORMAT}; use the version that wrote it"
        )
    model = model_of(recipe)
    method = _called("method", recipe["method"], {m.name: m for m in model.methods})
    sets = {s.name: s for s in model.parameter_sets}
    reduce = recipe.get("reduce", {"axes": ()})
    outputs = {output.name: output for output in model.outputs}
    points = Sweep(
        model=model,
        method=method,
        parameter_set=_called("parameter set", recipe["parameter_set"], sets),
        constants={},
        axes=tuple(_axis(axis, axis_columns) for axis in (*recipe["axes"], *reduce["axes"])),
        outputs=tuple(_called("output", name, outputs) for name in recipe["outputs"]),
        dtype=recipe["dtype"],
        derived=recipe.get("derived", {}),
        table=table_of(recipe),
    )
    points = replace(points, constants=_constants(points, plain(recipe["constants"])))
    if "reduce" not in recipe:
        return points
    return reduced(
        points,
        len(reduce["axes"]),
        {name: tuple(texts) for name, texts in reduce["statistics"].items()},
        exact_quantiles=reduce["exact_quantiles"],
        quantile_bits=reduce.get("quantile_bits"),
    )


def model_of(recipe: Mapping[str, Any]) -> Model:
    """The model of a recipe: shipped, installed, or of its equations, with its stage.

    SweepError if it is unknown.
    """
    model = _without_stage(recipe)
    return worn(model, plain(recipe["wear"])) if "wear" in recipe else model


def _without_stage(recipe: Mapping[str, Any]) -> Model:
    if text := recipe.get("equations"):
        return model_of_text(text)
    name = recipe["model"]
    if name not in models() and (model := installed_model(name)):
        return model
    return _called("model", name, models(), "; if it is that of a package, install the package")


def model_in(attributes: Mapping[str, Any]) -> Model | None:
    """The model that a Dataset's attributes name; None if this version does not have it."""
    recipe = json.loads(str(attributes.get("recipe", "{}")))
    equations = {"equations": attributes["equations"]} if "equations" in attributes else {}
    try:
        return model_of({"model": str(attributes.get("model")), **recipe, **equations})
    except SweepError:
        return None


def outputs_in(attributes: Mapping[str, Any]) -> tuple[Output, ...]:
    """The outputs of a Dataset with these attributes; none if this version cannot compute them."""
    without_values = defaultdict[str, LongValues](lambda: np.empty(0))
    try:
        return from_recipe(json.loads(attributes["recipe"]), without_values).grid.outputs
    except SweepError:
        return ()


def along_axes(recipe: Mapping[str, Any]) -> list[str]:
    """The parameters along the axes of a recipe, and the levels of points."""
    names = [name for axis in recipe["axes"] for name in axis["parameters"]]
    return [*names, *(LEVEL for axis in recipe["axes"] if _has_levels(axis))]


def table_of(recipe: Mapping[str, Any]) -> TimeSeries | None:
    """The table of the excitation of a recipe's sweep, if it has one."""
    if "table" not in recipe:
        return None
    stored = recipe["table"]
    return TimeSeries(
        _unpacked(stored["times"]), _unpacked(stored["values"]), stored["interpolation"]
    )


def canonical(value: object) -> Any:
    """A value that JSON holds without loss: numbers as float.hex(), mappings sorted by key."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: canonical(entries[key]) for key in sorted(entries)}
    if isinstance(value, Iterable):
        return [canonical(item) for item in cast("Iterable[object]", value)]
    if isinstance(value, SupportsFloat):
        return float(value).hex()
    raise TypeError(f"{value!r} cannot be part of a recipe")


def plain(value: object) -> Any:
    """The inverse of `canonical`; every number becomes a float."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {key: plain(entry) for key, entry in entries.items()}
    if isinstance(value, list):
        return [plain(item) for item in cast("list[object]", value)]
    if not isinstance(value, str):
        return value
    try:
        number = float.fromhex(value)
    except ValueError:
        return value
    return number if number.hex() == value else value  # other texts may look like numbers


def _axis_recipes(axes: Iterable[Axis]) -> list[Recipe]:
    return [
        {"name": axis.name, "parameters": sorted(axis.columns), "recipe": canonical(axis.recipe)}
        for axis in axes
    ]


def _packed(numbers: Sequence[float]) -> str:
    return base64.b64encode(np.array(numbers, "<f8").tobytes()).decode("ascii")


def _unpacked(text: str) -> tuple[float, ...]:
    return tuple(np.frombuffer(base64.b64decode(text), "<f8").tolist())


def _axis(recipe: Mapping[str, Any], axis_columns: Mapping[str, LongValues]) -> Axis:
    columns = {name: axis_columns[name] for name in recipe["parameters"]}
    levels = axis_columns[LEVEL][:].astype(np.uint8) if _has_levels(recipe) else None
    return Axis(recipe["name"], columns, plain(recipe["recipe"]), levels)


def _has_levels(axis_recipe: Mapping[str, Any]) -> bool:
    return "refine" in axis_recipe["recipe"]


def _constants(sweep: Sweep, values: Mapping[str, float]) -> dict[str, float]:
    """The values with neutral defaults filled in, in the order of the inputs of the sweep.

    SweepError if a name is not known, or if a parameter has no value.
    """
    known = [parameter.name for parameter in sweep.inputs]
    others = {n for axis in sweep.axes for n in axis.columns} | sweep.derived.keys()
    for name in (*values, *others):
        _called("parameter", name, dict.fromkeys(known))
    neutral = {p.name: p.default for p in sweep.parameters if p.neutral and p.default is not None}
    constants = neutral | dict(values)
    missing = [p.name for p in sweep.parameters if p.name not in {*constants, *others}]
    if missing:
        raise SweepError(
            f"the recipe lacks {', '.join(missing)}, which this version needs; use the version "
            "that wrote it"
        )
    return {name: constants[name] for name in known if name in constants.keys() - others}


def _called(kind: str, name: str, choices: Mapping[str, Named], cure: str = "") -> Named:
    if name in choices:
        return choices[name]
    near = get_close_matches(name, choices, n=1)
    hint = f"; the nearest is {near[0]!r}" if near else ""
    raise SweepError(
        f"this version has no {kind} {name!r}{hint} (it has {', '.join(choices)}){cure}"
    )
