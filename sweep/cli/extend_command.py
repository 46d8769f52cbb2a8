"""`sweep extend`: longer axes for a store."""

from __future__ import annotations

import shlex
from typing import Annotated, Unpack

from sweep.cli.app import command
from sweep.cli.contents import look_command
from sweep.cli.parameters import Json, Overrides, StorePath, argument, takes_run_options
from sweep.cli.printing import counted, print_json
from sweep.errors import SweepError
from sweep.options import RunKeywords


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
    """Make the axes of a store longer, and keep what is computed.

    The axes and the sample in FILE may continue after their last value; nothing else may differ.
    Chunks that were incomplete at the old end are computed again. If it is interrupted, run the
    same command to resume.
    """
    from sweep.api import with_options
    from sweep.config import load
    from sweep.store import Store, remaining
    from sweep.summary import state

    request = with_options(load(config, overrides or ()), **options)
    if request.refinement is not None:
        raise SweepError(
            "a refined sweep cannot be extended, because its points depend on the whole grid; "
            "run the larger sweep in a new store"
        )
    accept_revision = request.options.accept_revision
    longer = Store.extend(store, request.sweep, accept_revision=accept_revision)
    remainder = remaining(longer)
    total, done = remainder.points_total, remainder.points_total - remainder.points_left
    changes = (word for each in overrides or () for word in ("--set", each))
    next_step = shlex.join(["sweep", "run", config, "-o", store, *changes])
    if done == total:
        next_step = look_command(store, longer.sweep, state(longer).counts)
    if as_json:
        grid = {"store": store, "shape": longer.sweep.shape, "dimensions": longer.sweep.dimensions}
        print_json({**grid, "points_total": total, "points_done": done, "next": next_step})
        return
    axes = longer.sweep.of_points.axes
    lengths = " x ".join(f"{axis.name} {axis.size:,}" for axis in axes)
    print(f"{store}: {lengths or 'no axis'}; {done:,} of {counted(total, 'point')} done")
    print(f"next: {next_step}")
