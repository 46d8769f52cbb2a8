"""A sweep file or a mapping, read against its model's table: a Request, or all faults at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sweep.config.assembly import sweep_of
from sweep.config.draft import Draft, plain, read
from sweep.config.quantities import UnreadableError, seconds
from sweep.config.refinement import refinement_of
from sweep.config.schema import Document, RunTable, SlurmTable, checked
from sweep.errors import ConfigError, SweepError
from sweep.spec import Request, RunOptions
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


def checked_options(given: Mapping[str, object]) -> dict[str, object]:
    """Options of a run that no file has given; SweepError unless [run] would take them."""
    own = {name: plain(value) for name, value in given.items() if name in RunTable.model_fields}
    _, wrong = checked(RunTable, own)
    if wrong:
        raise SweepError("; ".join(f"{name}={sentence}" for name, sentence in wrong.items()))
    return {**given, **own}


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
    table, wrong = checked(RunTable, raw)
    time_limit = None
    try:
        time_limit = None if table.time_limit is None else seconds(table.time_limit)
    except UnreadableError as error:
        wrong["time_limit"] = str(error)
    draft.note("run", wrong)
    slurm, wrong = checked(SlurmTable, table.slurm)
    draft.note("run.slurm", wrong)
    return RunOptions(
        backend=table.backend,
        workers=table.workers,
        chunk_points=table.chunk_points,
        accept_revision=table.accept_revision,
        time_limit=time_limit,
        durable=table.durable,
        fail_fast=table.fail_fast,
        cluster=table.cluster,
        gpus=table.gpus,
        slurm=slurm.model_dump(exclude_none=True),
    )
