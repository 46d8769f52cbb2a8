"""`sweep extend`: make the axes of a store longer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sweep.api import with_options
from sweep.cli.actions.contents import look_command
from sweep.cli.printing import counted, print_json
from sweep.errors import SweepError
from sweep.file import load
from sweep.request.options import RunKeywords
from sweep.results.summary import state
from sweep.store import Store, remaining


def extend_store(
    store: str, config: str, overrides: Sequence[str], options: RunKeywords, *, as_json: bool
) -> None:
    """Make the axes of a store those of a sweep file, and print what is pending."""
    request = with_options(load(config, overrides), **options)
    if request.refinement is not None:
        raise SweepError(
            "a refined sweep cannot be extended, because its points depend on the whole grid; "
            "run the larger sweep in a new store"
        )
    accept_revision = request.options.accept_revision
    longer = Store.extend(store, request.sweep, accept_revision=accept_revision)
    remainder = remaining(longer)
    total, done = remainder.points_total, remainder.points_total - remainder.points_left
    changes = (word for each in overrides for word in ("--set", each))
    next_step = shlex.join(["sweep", "run", config, "-o", store, *changes])
    if done == total:
        next_step = look_command(store, longer.sweep, state(longer).counts)
    if as_json:
        own = longer.sweep.grid
        grid = {"store": store, "shape": own.shape, "dimensions": own.dimensions}
        print_json({**grid, "points_total": total, "points_done": done, "next": next_step})
        return
    axes = longer.sweep.points.axes
    lengths = " x ".join(f"{axis.name} {axis.size:,}" for axis in axes)
    print(f"{store}: {lengths or 'no axis'}; {done:,} of {counted(total, 'point')} done")
    print(f"next: {next_step}")
