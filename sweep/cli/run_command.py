"""`sweep run`: compute a sweep, or resume it."""

from __future__ import annotations

import shlex
from typing import Annotated, Unpack

import typer

from sweep.cli.app import command
from sweep.cli.parameters import ConfigPath, Json, Overrides, flag, output_option, takes_run_options
from sweep.cli.stopping import StopRequest
from sweep.request.options import OPTIONS, RunKeywords


@command(
    "sweep run wear_power",
    "sweep run my.toml -o results/my.zarr --workers 4 --time-limit 55m",
    "sweep run my.toml --cluster tcp://node1:8786",
    "sweep run my.toml --gpus all",
    "sweep run my.toml --shard 3/8",
    "sweep run my.toml --set friction=0.2 --set 'mass={ linspace = [1, 2, 11] }'",
)
@takes_run_options(*(name for name, option in OPTIONS.items() if option.on_command_line))
def run(
    context: typer.Context,
    config: ConfigPath,
    store: Annotated[
        str | None,
        output_option(
            "STORE",
            "Path or URL of the zarr store. Default: results/NAME.zarr, or "
            "results/NAME-friction=0.1.zarr if --set makes another sweep.",
        ),
    ] = None,
    overrides: Overrides = None,
    *,
    dry_run: Annotated[bool, flag("--dry-run", "Print an estimate and exit.")] = False,
    as_json: Json = False,
    **options: Unpack[RunKeywords],
) -> None:
    """Compute a sweep, or resume it.

    Results go into a zarr store, chunk by chunk. Finished chunks are not computed again: to resume
    an interrupted run, run the same command, or give the store as FILE. With --json, progress and
    summary are JSON lines. With --dry-run, the exit status is 3 if the disk is too small.

    Workers are threads by default. With --cluster they are Dask processes: on this machine, as
    SLURM jobs, or of a running scheduler ("tcp://HOST:PORT"). With --gpus there is one process for
    each GPU that CUDA_VISIBLE_DEVICES does not hide. Shards need no scheduler: each computes its
    own chunks of the same store, for example in a job array (--shard $SLURM_ARRAY_TASK_ID/8).
    """
    again = shlex.join(("sweep", *context.obj))
    ended = None
    with StopRequest() as stop:
        from sweep.cli.actions.run_action import print_needs, run_sweep

        if dry_run:
            print_needs(config, store, overrides or (), options, as_json=as_json)
            return
        ended = run_sweep(config, store, overrides or (), options, stop, as_json=as_json)
    from sweep.cli.actions.run_report import print_ending

    raise typer.Exit(print_ending(ended, stop, again, as_json=as_json))
