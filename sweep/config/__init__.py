"""Sweep files: from a TOML file or a mapping to a Request, or all of its faults at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sweep.config.assembly import sweep_of
from sweep.config.grid import at_numbers
from sweep.config.overrides import Changes, overridden
from sweep.config.problems import Check, Problem, finished, in_table
from sweep.config.reduce_table import reduced
from sweep.config.refinement import refinement_of
from sweep.config.schema import SlurmTable, TopLevel, checked
from sweep.config.sweep_file import Document, is_table, plain, read
from sweep.errors import ConfigError, Fault, SweepError
from sweep.options import RunOptions
from sweep.options import read as read_options
from sweep.request import Refinement, Request, Sweep, Wear
from sweep.wording import shown

__all__ = ["Request", "checked_options", "load", "load_wear"]

FORMAT = 1  # of sweep files


def load(
    source: str | Path | Mapping[str, object],
    overrides: Changes = (),
    *,
    at: Changes = (),
) -> Request:
    """The request in a TOML file, a shipped one given by name, or a mapping of the same shape.

    `overrides` are `name=value` texts as of `--set`, or a mapping: the value of a parameter, or a
    table for its axis; `method=...` and the like; `run.workers=2`. `at` are those of `--at`, which
    give parameters one value each, so that nothing is refined. Raises ConfigError with every fault.
    """
    document, faults = overridden(read(source), overrides, at)
    (sweep, options, refinement, wear), problems = finished(_contents(document, is_point=bool(at)))
    faults += map(document.fault, problems)
    if faults or sweep is None:
        raise ConfigError(document.source, faults)
    name, wear_table = document.name or sweep.model.name, document.tables.get("wear")
    written = wear_table if is_table(wear_table) else None
    return Request(sweep, options, name, refinement, wear, written)


def checked_options(options: Mapping[str, object]) -> dict[str, Any]:
    """Run options from Python, as RunOptions has them; SweepError that names all faulty ones."""
    values = {name: plain(value) for name, value in options.items()}
    correct, problems = finished(_options(values, in_file=False))
    if problems:
        raise SweepError("; ".join(f"{name}: {message}" for _, name, message in problems))
    return correct


def load_wear(table: Mapping[str, object], source: str, place: Callable[[str], str] = str) -> Wear:
    """What a table with the keys of [wear] asks for; `source` is how messages refer to it.

    `place` gives the location of a key. Raises ConfigError with every fault.
    """
    from sweep.config.wear_table import wear_of

    wear, problems = finished(wear_of({key: plain(value) for key, value in table.items()}))
    if problems or wear is None:
        raise ConfigError(source, [Fault(place(each.key), each.message) for each in problems])
    return wear


def _contents(
    document: Document, *, is_point: bool
) -> Check[tuple[Sweep | None, RunOptions, Refinement | None, Wear | None]]:
    top, wrong = checked(TopLevel, document.tables)
    for key, message in wrong.items():
        if key not in TopLevel.model_fields and not is_table(document.tables[key]):
            message += "; parameters go under [parameters]"
        yield Problem("", key, message)
    if "format" not in document.tables and document.name is not None:
        yield Problem("", "format", f"missing; write format = {FORMAT}")
    elif top.format not in (None, FORMAT):
        message = f"{shown(top.format)} is unknown; this version reads {FORMAT}"
        yield Problem("", "format", message)
    options = yield from _options(top.run, in_file=True)
    sweep, problems = finished(sweep_of(document, top))
    yield from problems
    refinement = None
    if sweep is not None and is_point:
        sweep = yield from at_numbers(sweep, document.numbers)
    elif not is_point:
        has_axes = not any(each.table.split(".")[0] in ("axes", "sample") for each in problems)
        sweep = yield from reduced(top, sweep, has_axes=has_axes)
        refinement = yield from refinement_of(top, sweep)
    wear = None
    if top.wear is not None:
        from sweep.config.wear_table import wear_of

        wear = yield from wear_of(top.wear, sweep)
    return sweep, RunOptions(**options), refinement, wear


def _options(raw: Mapping[str, object], *, in_file: bool) -> Check[dict[str, Any]]:
    """The run options that are correct, as RunOptions has them."""
    options, wrong = read_options(raw, in_file=in_file)
    yield from in_table("run", wrong)
    if "slurm" in options:
        slurm, wrong = checked(SlurmTable, options["slurm"])
        yield from in_table("run.slurm", wrong)
        options["slurm"] = slurm.model_dump(exclude_none=True)
    return options
