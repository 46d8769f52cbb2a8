"""`sweep compile`: the kernels of a sweep, compiled in advance."""

from __future__ import annotations

from typing import Unpack

from sweep.cli.app import command
from sweep.cli.parameters import ConfigPath, Json, Overrides, takes_run_options
from sweep.request.options import RunKeywords


@command("sweep compile wear_power", "sweep compile my.toml --set method=moreau", name="compile")
@takes_run_options("chunk_points")
def compile_kernels(
    config: ConfigPath,
    overrides: Overrides = None,
    *,
    as_json: Json = False,
    **options: Unpack[RunKeywords],
) -> None:
    """Compile every kernel that a sweep needs into the cache.

    Later runs use them, also on machines without a compiler: for example, nodes of a cluster that
    share the cache folder and have the same type of processor.
    """
    from sweep.cli.actions.compile_action import print_compiled

    print_compiled(config, overrides or (), options, as_json=as_json)
