"""A sweep file or a mapping, read against its model's table: a Request, or all faults at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sweep.config.assembly import sweep_of
from sweep.config.draft import Draft, plain, read
from sweep.config.refinement import refinement_of
from sweep.config.schema import Document, SlurmTable, checked
from sweep.errors import ConfigError, SweepError
from sweep.options import RunOptions
from sweep.options import read as read_options
from sweep.spec import Request
from sweep.wording import shown

__all__ = ["Request", "checked_options", "load"]

FORMAT = 1  # of sweep files


def load(
    source: str | Path | Mapping[str, object],
    overrides: Sequence[str] = (),
    *,
    at: Sequence[str] = (),
) -> Request:
    """The request in a TOML file, in a shipped one given by name, or in a mapping of that shape.

    `overrides` are `name=value` texts as of `--set`: a parameter's constant, or, with a table for
    a value, its axis; `method=...` and the like; `run.workers=2`. `at` are texts as of `--at`: they
    give a parameter one value. Raises ConfigError with every fault found.
    """
    draft = read(source, overrides, at)
    document, wrong = checked(Document, draft.document)
    hinted = {key: sentence + _top_level_hint(draft, key) for key, sentence in wrong.items()}
    draft.note("", hinted)
    _check_format(draft, document)
    options = _run_options(draft, document.run)
    sweep = sweep_of(draft, document)
    # A point that --at gives has no axes to be refined.
    refinement = None if at else refinement_of(draft, document, sweep)
    if draft.faults or sweep is None:
        raise ConfigError(draft.source, draft.faults)
    return Request(sweep, options, draft.name or sweep.model.name, refinement)


def checked_options(given: Mapping[str, object]) -> dict[str, Any]:
    """Run options from Python, as RunOptions has them; SweepError that names all faulty ones."""
    options, faults = _read_options({name: plain(value) for name, value in given.items()})
    if faults:
        lines = (f"{name}={message}" for (_, name), message in faults.items())
        raise SweepError("; ".join(lines))
    return options


def _top_level_hint(draft: Draft, key: str) -> str:
    is_plain = key not in Document.model_fields and not isinstance(draft.document[key], dict)
    return "; parameters stand under [parameters]" if is_plain else ""


def _check_format(draft: Draft, document: Document) -> None:
    if "format" not in draft.document and draft.name is not None:
        draft.fault("", "format", f"it is missing; write format = {FORMAT}")
    elif document.format not in (None, FORMAT):
        draft.fault(
            "", "format", f"{shown(document.format)} is unknown; this version reads {FORMAT}"
        )


def _run_options(draft: Draft, raw: Mapping[str, object]) -> RunOptions:
    options, faults = _read_options(raw, in_file=True)
    for (table, key), message in faults.items():
        draft.fault(table, key, message)
    return RunOptions(**options)


def _read_options(
    raw: Mapping[str, object], *, in_file: bool = False
) -> tuple[dict[str, Any], dict[tuple[str, str], str]]:
    """The correct options, and what is wrong with each of the others, by table and key."""
    options, wrong = read_options(raw, in_file=in_file)
    faults = {("run", key): message for key, message in wrong.items()}
    if "slurm" in options:
        slurm, wrong = checked(SlurmTable, options["slurm"])
        faults |= {("run.slurm", key): message for key, message in wrong.items()}
        options["slurm"] = slurm.model_dump(exclude_none=True)
    return options, faults
