"""`sweep compile`: the kernels of a sweep, compiled in advance."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from sweep.cli.app import ConfigPath, Json, Overrides, app, examples
from sweep.cli.printing import counted, duration, print_json
from sweep.cli.run_options import takes_run_options
from sweep.cli.stopping import Interruptible
from sweep.options import RunKeywords

if TYPE_CHECKING:
    from sweep.request import Request


@app.command(
    "compile",
    epilog=examples("sweep compile wear_power", "sweep compile my.toml --set method=moreau"),
)
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
    from sweep.api import with_options
    from sweep.config import load
    from sweep.engine.driver import compile_kernels as compile_all

    with Interruptible():
        request = with_options(load(config, overrides or ()), **options)
        began = time.perf_counter()
        variants = compile_all(request)
        _print_kernels(request, variants, time.perf_counter() - began, as_json=as_json)


def _print_kernels(
    request: Request, variants: Sequence[Sequence[str]], seconds: float, *, as_json: bool
) -> None:
    from sweep.backends.cache import cache_folder

    sweep, folder = request.sweep, str(cache_folder())
    what = f"{sweep.model.name}, method {sweep.method.name}"
    if as_json:
        kernels = [{"variants": list(names)} for names in variants]
        names = {"model": sweep.model.name, "method": sweep.method.name}
        print_json({**names, "kernels": kernels, "seconds": seconds, "cache": folder})
    elif not variants:
        print(f"{what}: this method needs no compiled kernel")
    else:
        print(f"{what}: {counted(len(variants), 'kernel')} in {folder} ({duration(seconds)})")
        for names in variants:
            print(f"  {', '.join(names) or 'general'}")
