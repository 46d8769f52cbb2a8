"""What the GPU's kernels take of a thread: `python -m tests.gpu_kernels` writes the record.

Every kernel method, without variants and with all of them, compiled by NVRTC for each architecture:
registers, local memory and spills of each entry, as ptxas reports them. No figure is of a GPU.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sweep.backends.gpu import options_for
from sweep.models import models
from sweep.source import Kernel, kernel_text
from tests import nvrtc

OF_CUPY = ("--device-as-default-execution-space",)  # what CuPy adds
ARCHITECTURES = (75, 80, 90, 100, 120)
SIZES = "tribosweep_sizes"
RECORD = Path(__file__).parents[1] / "results" / "benchmarks" / "kernels.json"


def kernels() -> Iterator[tuple[str, Kernel]]:
    """Every kernel method for all outputs and the first parameter set, by name."""
    for model in models().values():
        for method in model.methods:
            if method.kind != "kernel":
                continue
            every = tuple(variant.name for variant in method.variants)
            for variants in dict.fromkeys(((), every)):
                kernel = Kernel(
                    model=model,
                    method=method,
                    parameter_set=model.parameter_sets[0],
                    outputs=model.outputs,
                    variants=variants,
                )
                yield f"{model.name} {method.name}{' (all variants)' if variants else ''}", kernel


def constant_step(kernel: Kernel) -> bool:
    """Whether it takes steps of constant length only, so that a spill is in its time loop."""
    method = kernel.method
    chosen = [variant.name for variant in method.variants]
    if method.name == "exact":
        return False
    return "constant_step" not in chosen or "constant_step" in kernel.variants


@functools.cache
def compiled(kernel: Kernel, architecture: int) -> nvrtc.Compiled:
    """The very text and options that the backend gives to NVRTC."""
    text = kernel_text(kernel, "gpu")
    return nvrtc.compiled(text, architecture, (*options_for(kernel, text), *OF_CUPY))


def main() -> int:
    found: dict[str, dict[str, Any]] = {}
    for name, kernel in kernels():
        found[name] = {}
        for architecture in ARCHITECTURES:
            made = compiled(kernel, architecture)
            if not made.ok:
                print(f"{name}, sm_{architecture}:\n{made.log}", file=sys.stderr)
                return 1
            usage = made.usage
            found[name][f"sm_{architecture}"] = {
                entry: asdict(usage[entry]) for entry in sorted(usage) if entry != SIZES
            }
            run = usage["tribosweep_run"]
            print(
                f"{name:48} sm_{architecture:<4} {run.registers:4} registers {run.stack:5} B local "
                f"{run.spill_stores:5} B spilled  {made.seconds:.2f} s"
            )
    text = json.dumps({"nvrtc": nvrtc.version(), "kernels": found}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
