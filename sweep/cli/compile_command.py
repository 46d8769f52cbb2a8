"""`sweep compile`: the kernels of a sweep, compiled in advance."""

from __future__ import annotations

import time
from typing import Unpack

from sweep.cli.app import command
from sweep.cli.parameters import ConfigPath, Json, Overrides, takes_run_options
from sweep.cli.printing import counted, print_json
from sweep.cli.stopping import interruptible
from sweep.options import RunKeywords
from sweep.wording import duration


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
    from sweep.api import with_options
    from sweep.backends.cache import cache_folder
    from sweep.config import load
    from sweep.engine.driver import compile_kernels as compile_all

    with interruptible():
        request = with_options(load(config, overrides or ()), **options)
        began = time.perf_counter()
        variants = compile_all(request)
        seconds, folder = time.perf_counter() - began, str(cache_folder())
    model, method = request.sweep.model.name, request.sweep.method.name
    if as_json:
        kernels = [{"variants": list(names)} for names in variants]
        figures = {"kernels": kernels, "seconds": seconds, "cache": folder}
        print_json({"model": model, "method": method, **figures})
    elif not variants:
        print(f"{model}, method {method}: this method needs no compiled kernel")
    else:
        kernels = f"{counted(len(variants), 'kernel')} in {folder} ({duration(seconds)})"
        print(f"{model}, method {method}: {kernels}")
        for names in variants:
            print(f"  {', '.join(names) or 'general'}")
