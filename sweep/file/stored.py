"""The sweep file that a store was made from, written again from what the store holds."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from sweep.errors import ConfigError, Fault
from sweep.points.wear_stage import WearStage
from sweep.request.sweeps import FOR_INDICES, POINT, AnySweep, Axis, Reduced, Sweep
from sweep.text.toml_text import assignments


def is_store(source: str | Path) -> bool:
    """Whether the path is a URL, a folder with the metadata of a store, or a .zarr that is missing.

    That one is no sweep file in any case. Neither is what may not be looked at, unless it has the
    ending of one.
    """
    path = Path(source)
    try:
        is_missing = path.suffix == ".zarr" and not path.exists()
        return "://" in str(source) or is_missing or (path / "zarr.json").exists()
    except PermissionError:
        return path.suffix != ".toml"


def tables_of_store(source: str | Path) -> dict[str, object]:
    """The tables of a sweep file that gives the store's sweep: so its own file is not needed.

    Raises StoreError if there is no store, ConfigError if values were read from a file, which the
    store knows by its digest alone.
    """
    from sweep.store import Store
    from sweep.store.upkeep import wear_table

    store = Store.open(source)
    wear = wear_table(store)
    return {**({"wear": wear} if wear else {}), **tables_of(store.sweep, str(source))}


def tables_of(sweep: AnySweep, source: str) -> dict[str, object]:
    """The tables of a sweep file that gives this sweep; `source` is how messages refer to it."""
    points, model = sweep.points, sweep.points.model
    elements = {name for each in model.substitutes if each.yields for name in each.derived}
    defaults = {each.name: each.default for each in model.parameters if each.name in elements}
    wear = model.stage.table(points.constants) if isinstance(model.stage, WearStage) else {}
    of_stage = {parameter.name for parameter in points.of_stage}
    constants = {
        name: value
        for name, value in points.constants.items()
        if not math.isnan(value) and name not in {*points.replaced_by_table, *of_stage}
        # Of an element, so that a value for all of them replaces its default.
        if name not in elements or value != defaults[name]
    }
    return {
        "format": 1,
        "model": tomllib.loads(model.text) if model.text else model.name,
        "method": points.method.name,
        "outputs": [output.name for output in points.outputs],
        "dtype": points.dtype,
        "parameters": {**constants, **_excitation(points)},
        "derived": points.own_derived,
        **_varied(points.axes, source),
        **(_reduce(sweep) if isinstance(sweep, Reduced) else {}),
        **({"wear": wear} if wear else {}),
    }


def text_of(tables: Mapping[str, object]) -> str:
    """The tables as the text of a sweep file, without empty ones."""
    single = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    lines = [*assignments(single)]
    for name, table in tables.items():
        if isinstance(table, Mapping) and table:
            lines += ["", f"[{name}]", *assignments(cast("Mapping[str, object]", table))]
    return "\n".join(lines) + "\n"


def _excitation(sweep: Sweep) -> dict[str, object]:
    """The parameter that is a table over time."""
    if sweep.table is None or sweep.model.excitation is None:
        return {}
    times, values = [*sweep.table.times], [*sweep.table.values]
    entries = {"times": times, "values": values, "interpolation": sweep.table.interpolation}
    return {sweep.model.excitation.parameter: entries}


def _reduce(sweep: Reduced) -> dict[str, object]:
    """[reduce], with the axes that are reduced."""
    over = {"over": [axis.name for axis in sweep.over]}
    exact = {"exact_quantiles": True} if sweep.exact_quantiles else {}
    bits = {"quantile_bits": sweep.quantile_bits} if sweep.quantile_bits else {}
    statistics = {name: [*texts] for name, texts in sweep.statistics.items()}
    return {"reduce": {**over, **exact, **bits, **statistics}}


def _varied(axes: Iterable[Axis], source: str) -> dict[str, object]:
    """[axes] or [sample], or the table by which points follow from [axes]."""
    tables: dict[str, object] = {}
    for axis in axes:
        recipe: dict[str, Any] = json.loads(json.dumps(axis.recipe), parse_float=_number)
        coarse: dict[str, Any] = {each.pop("name"): each for each in recipe.pop("axes", ())}
        if any(isinstance(each.get("file"), dict) for each in _tables_in({**recipe, **coarse})):
            message = f"the values of {axis.name} were read from a file"
            raise ConfigError(source, [Fault("", f"{message}; name the sweep file instead")])
        if coarse:
            tables |= {"axes": coarse, **recipe}
        elif axis.name == POINT:
            recipe.pop(FOR_INDICES, None)  # follows from [reduce]
            tables["sample"] = recipe
        else:
            tables["axes"] = {**cast("dict[str, Any]", tables.get("axes", {})), axis.name: recipe}
    return tables


def _tables_in(recipe: dict[str, Any]) -> list[dict[str, Any]]:
    """A recipe, and those in it of parameters; values read from a file are known by its digest."""
    return [recipe, *(each for each in recipe.values() if isinstance(each, dict))]


def _number(text: str) -> float:
    """The number, an integer if it is whole: the recipe of a store has floats alone."""
    number = float(text)
    return int(number) if number.is_integer() else number
