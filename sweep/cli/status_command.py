"""`sweep status`: the progress of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, StorePath, flag


@command("sweep status results/wear_power.zarr --verify")
def status(
    store: StorePath,
    verify: Annotated[bool, flag("--verify", "Read every chunk and list damaged files.")] = False,
    watch: Annotated[
        bool, flag("--watch", "Wait for the store, and repeat every 2 s until done or Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what is done, what is pending, and what to do next.

        The rate and the time left cover all processes that are writing now, in any shard or
    cluster; if no process is writing, they cover the last minute of writing. The exit status is 1
    if points have failed or, with --verify, chunks are damaged; the next `sweep run` computes these
    again.
    """
    from sweep.cli.actions.status_action import print_status

    raise typer.Exit(print_status(store, verify=verify, watch=watch, as_json=as_json))
