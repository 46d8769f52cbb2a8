"""`sweep compile`: compile the kernels of a sweep."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sweep.api import with_options
from sweep.cli.printing import counted, print_json
from sweep.cli.stopping import interruptible
from sweep.engine.driver import compile_kernels
from sweep.file import load
from sweep.kernel.cache import cache_folder
from sweep.request.options import RunKeywords
from sweep.text.wording import duration


def print_compiled(
    config: str, overrides: Sequence[str], options: RunKeywords, *, as_json: bool
) -> None:
    """Compile the kernels of a sweep and print their names."""
    with interruptible():
        request = with_options(load(config, overrides), **options)
        began = time.perf_counter()
        variants = compile_kernels(request)
        seconds, folder = time.perf_counter() - began, str(cache_folder())
    model, method = request.sweep.points.model.name, request.sweep.points.method.name
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
