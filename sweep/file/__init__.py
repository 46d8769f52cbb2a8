"""Sweep files: from a TOML file or a mapping to a Request, or all of its faults at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sweep.errors import SweepError
from sweep.file.assembly import sweep_of
from sweep.file.axes import at_numbers, axes_of
from sweep.file.derived_table import derived_of
from sweep.file.draft import Draft, draft_of
from sweep.file.keys import SLURM
from sweep.file.overrides import Changes, overridden
from sweep.file.reduce_table import reduced_of
from sweep.file.refinement_table import refinement_of
from sweep.file.sample_table import sample_of
from sweep.file.sweep_file import is_table, plain, read
from sweep.file.wear_table import wear_of
from sweep.request.options import RunOptions
from sweep.request.options import read as read_options
from sweep.request.sweeps import AnySweep, Refinement, Request, Wear
from sweep.text.reader import Faults, Table

__all__ = ["Request", "checked_options", "load", "load_wear"]


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
    faults = Faults()
    document = overridden(read(source), overrides, at, faults)
    draft = draft_of(document, faults)
    sweep, refinement, wear = _contents(draft, is_point=bool(at))
    options = _options(draft.top.table("run"), in_file=True)
    faults.raise_all(document.source)
    assert sweep is not None  # otherwise there is a fault
    name, wear_table = document.name or sweep.points.model.name, document.tables.get("wear")
    # A store keeps it, unless it is a part of the sweep.
    written = wear_table if is_table(wear_table) and draft.wear is None else None
    return Request(sweep, RunOptions(**options), name, refinement, wear, written)


def checked_options(options: Mapping[str, object]) -> dict[str, Any]:
    """Run options from Python, as RunOptions has them; SweepError that names all faulty ones."""
    faults = Faults()
    values = {name: plain(value) for name, value in options.items()}
    correct = _options(Table(values, "", faults, _key_alone), in_file=False)
    if faults.found:
        raise SweepError("; ".join(map(str, faults.in_order())))
    return correct


def load_wear(table: Mapping[str, object], source: str, place: Callable[[str], str] = str) -> Wear:
    """What a table with the keys of [wear] asks for; `source` is how messages refer to it.

    `place` gives the location of a key. Raises ConfigError with every fault.
    """
    faults = Faults()
    entries = {key: plain(value) for key, value in table.items()}
    wear = wear_of(Table(entries, "", faults, lambda _, key: place(key)))
    faults.raise_all(source)
    assert wear is not None  # otherwise there is a fault
    return wear


def _contents(
    draft: Draft, *, is_point: bool
) -> tuple[AnySweep | None, Refinement | None, Wear | None]:
    """The sweep, its refinement and the wear that follows from it, as far as they are correct."""
    sample = sample_of(draft)
    axes = axes_of(draft, sample)
    derived = derived_of(draft)
    sweep, outputs = sweep_of(draft, sample, axes, derived)
    requested = at_numbers(draft, axes, sweep) if is_point else reduced_of(draft, outputs, sweep)
    results = outputs if is_point or draft.reduce is None else None
    results = requested.grid.outputs if requested is not None else results
    refinement = None if is_point else refinement_of(draft, axes, results, requested)
    table = None if draft.wear else draft.top.optional("wear")
    wear = None if table is None else wear_of(table, results)
    return requested, refinement, wear


def _key_alone(_: str, key: str) -> str:
    return key


def _options(table: Table, *, in_file: bool) -> dict[str, Any]:
    """The run options that are correct, as RunOptions has them."""
    options = read_options(table, in_file=in_file)
    if "slurm" in options:
        slurm = table.table("slurm")
        given = slurm.values(SLURM.keys)
        slurm.close()
        options["slurm"] = {key: value for key, value in given.items() if value is not None}
    return options
