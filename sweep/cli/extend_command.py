"""`sweep extend`: longer axes for a store."""

from __future__ import annotations

from typing import Annotated, Unpack

from sweep.cli.app import command
from sweep.cli.parameters import Json, Overrides, StorePath, argument, takes_run_options
from sweep.request.options import RunKeywords


@command(
    "sweep extend results/my.zarr my.toml",
    "sweep extend a.zarr wear_power --set 'friction={ linspace = [0.1, 2, 20] }'",
)
@takes_run_options("accept_revision")
def extend(
    store: StorePath,
    config: Annotated[str, argument("FILE", "The sweep of the store with longer axes.")],
    overrides: Overrides = None,
    *,
    as_json: Json = False,
    **options: Unpack[RunKeywords],
) -> None:
    """Append values to the axes of a store, for `sweep run` to compute.

    The axes and the sample in FILE may continue after their last value; nothing else may differ.
    Computed points stay, except in chunks that were incomplete at the old end. If it is
    interrupted, run the same command to resume.
    """
    from sweep.cli.actions.extend_action import extend_store

    extend_store(store, config, overrides or (), options, as_json=as_json)
