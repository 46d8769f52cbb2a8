"""The sweep file that a store was made from, written again from what the store holds."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from sweep.errors import ConfigError, Fault
from sweep.request import FOR_INDICES, POINT, Axis, Reduction, Sweep
from sweep.toml_text import assignments


def is_store(source: str | Path) -> bool:
    """Whether the path is a URL, a folder with the metadata of a store, or a .zarr that is missing.

    That one may be refined at this moment, and is no sweep file in any case. Neither is what may
    not be looked at, unless it has the ending of one.
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
    return {**tables_of(store.sweep, str(source)), **({"wear": wear} if wear else {})}


def tables_of(sweep: Sweep, source: str) -> dict[str, object]:
    """The tables of a sweep file that gives this sweep; `source` is how messages refer to it."""
    model = sweep.model
    constants = {
        name: value
        for name, value in sweep.constants.items()
        if not math.isnan(value) and name not in sweep.replaced_by_table
    }
    return {
        "format": 1,
        "model": tomllib.loads(model.text) if model.text else model.name,
        "method": sweep.method.name,
        "outputs": [output.name for output in sweep.of_points.outputs],
        "dtype": sweep.dtype,
        "parameters": {**constants, **_excitation(sweep)},
        "derived": sweep.own_derived,
        **_varied(sweep.of_points.axes, source),
        **_reduce(sweep.reduction),
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


def _reduce(reduction: Reduction | None) -> dict[str, object]:
    """[reduce], with the axes that are reduced."""
    if reduction is None:
        return {}
    over = {"over": [axis.name for axis in reduction.axes]}
    exact = {"exact_quantiles": True} if reduction.exact_quantiles else {}
    return {"reduce": {**over, **exact, **{n: [*t] for n, t in reduction.statistics.items()}}}


def _varied(axes: Iterable[Axis], source: str) -> dict[str, object]:
    """[axes], [sample] or [refine] with its axes."""
    tables: dict[str, object] = {}
    for axis in axes:
        recipe: dict[str, Any] = json.loads(json.dumps(axis.recipe), parse_float=_number)
        if any(isinstance(each.get("file"), dict) for each in _tables_in(recipe)):
            message = f"the values of {axis.name} were read from a file"
            raise ConfigError(source, [Fault("", f"{message}; name the sweep file instead")])
        if axis.is_refined:
            coarse = {each.pop("name"): each for each in recipe["axes"]}
            tables |= {"axes": coarse, "refine": recipe["refine"]}
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
