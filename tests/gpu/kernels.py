"""Registers and memory of the GPU's kernels: `python -m tests.gpu.kernels` writes the record.

NVRTC compiles every method, with every further parameter set and all variants too, and of
each shipped model file the first method. ptxas reports registers, local memory and spills of each
entry. No figure is measured on a GPU.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sweep.file.model_file import read_model
from sweep.kernel.gpu import options_for
from sweep.kernel.source import Kernel, kernel_text
from sweep.model.shipped import shipped_models
from sweep.model.table import Method, Model
from sweep.model.tables import models
from tests.gpu import nvrtc

SIZES = "tribosweep_sizes"
RECORD = Path(__file__).parents[2] / "results" / "benchmarks" / "kernels.json"
# Bytes that a thread may spill, stores and loads together: recorded numbers, rounded up. With a
# limit of registers more threads run at once, and a kernel spills; with events and many outputs,
# models from files need more than 255.
WITH_SIDES = ("bouc_wen", "lugre")  # shipped models with relations in derivatives
MAX_SPILLED = {
    "friction_oscillator exact (cycles, all variants)": 900,
    "friction_oscillator devogelaere (cycles, all variants)": 2050,
    "friction_oscillator euler (cycles, all variants)": 1650,
    "friction_oscillator moreau (cycles, all variants)": 1600,
    "friction_oscillator rk54 (cycles, all variants)": 1750,
    "mdr_contact exact": 1400,
    "mdr_contact exact (sphere)": 950,
    "mdr_contact exact (profile)": 1350,
    "mdr_contact time_stepping_2": 2000,
    "mdr_contact time_stepping_2 (sphere)": 1850,
    "mdr_contact time_stepping_2 (profile)": 1900,
    "belt rk54": 600,
    "belt rk4": 300,
    "belt rodas4": 500,
    "relief_valve rk54": 100,
    **{f"bouc_wen {method}": 2400 for method in ("rk54", "rk4", "rodas4")},
    **{f"lugre {method}": 1300 for method in ("rk54", "rk4", "rodas4")},
    "forced_impact rk54": 1450,
    "forced_impact rk4": 1600,
    "forced_impact rodas4": 2000,
    "forced_impact dop853": 600,
    "vibro_impact dop853": 100,
    "gear rk54": 450,
    "gear rk4": 350,
    "gear rodas4": 900,
    "gear dop853": 700,
    "tube rk54": 2450,
    "drill_string rk54": 1550,
    "drill_string rk4": 1150,
    "drill_string rodas4": 1650,
    "drill_string dop853": 450,
    "spring_slider rk54": 200,
    "lorenz rk54": 60,
    "lorenz rodas4": 20,
    "spring_slider rk4": 50,
    "spring_slider rodas4": 450,
}
NO_CODE = re.compile(r"//.*|^#line.*$", re.MULTILINE)


def kernels() -> Iterator[tuple[str, Kernel]]:
    """Every method with all outputs, and the first of each model file, by name.

    Each has the model's first parameter set and no variants. A second kernel per further parameter
    set, or one with the first set if there is no other, has all variants of the method.
    """
    for model in models().values():
        for method in model.methods:
            yield from _kernels(model, method)
    for name in shipped_models():
        model = read_model(name, Path())
        yield next(_kernels(model, model.methods[0]))


def _kernels(model: Model, method: Method) -> Iterator[tuple[str, Kernel]]:
    first, *further = model.parameter_sets
    variants = tuple(variant.name for variant in method.variants)
    chosen = [(first, ()), *((each, variants) for each in further or [first])]
    for parameter_set, enabled in dict.fromkeys(chosen):
        words = [parameter_set.name] * (parameter_set != first) + ["all variants"] * bool(enabled)
        kernel = Kernel(
            model=model,
            method=method,
            parameter_set=parameter_set,
            outputs=model.outputs,
            variants=enabled,
        )
        suffix = f" ({', '.join(words)})" if words else ""
        yield f"{model.name} {method.name}{suffix}", kernel


def constant_step(kernel: Kernel) -> bool:
    """Whether all steps have constant length, so that a spill would be in the time loop."""
    method = kernel.method
    chosen = [variant.name for variant in method.variants]
    if method.name == "exact":
        return False
    return "constant_step" not in chosen or "constant_step" in kernel.variants


@functools.cache
def compiled(kernel: Kernel) -> nvrtc.Compiled:
    """The text compiled with the options of the backend."""
    return nvrtc.compiled(kernel_text(kernel, "gpu"), (*options_for(kernel), *nvrtc.OF_CUPY))


def spill_faults(name: str, kernel: Kernel, usages: Mapping[str, nvrtc.Usage]) -> list[str]:
    """The entries that spill more than MAX_SPILLED; with a constant step, by default anything."""
    if not constant_step(kernel) and name not in MAX_SPILLED:
        return []
    spilled = {entry: used.spill_stores + used.spill_loads for entry, used in usages.items()}
    most = MAX_SPILLED.get(name, 0)
    return [f"{entry}: {n_bytes} B" for entry, n_bytes in spilled.items() if n_bytes > most]


def usage(made: nvrtc.Compiled) -> dict[str, Any]:
    """The usage of the entries that compute, as in the record."""
    usages = made.usage
    return {entry: asdict(usages[entry]) for entry in sorted(usages) if entry != SIZES}


def code_digest(kernel: Kernel) -> str:
    """A digest of the text without comments and #line, and of the options."""
    return digest_of(kernel_text(kernel, "gpu"), options_for(kernel))


def digest_of(text: str, options: tuple[str, ...]) -> str:
    code = [*NO_CODE.sub("", text).split(), *options]
    return hashlib.sha256("".join(code).encode()).hexdigest()[:16]


def main() -> int:
    kept = json.loads(RECORD.read_text(encoding="utf-8"))
    about = {"nvrtc": nvrtc.version(), "architecture": nvrtc.ARCHITECTURE}
    known = kept["kernels"] if about.items() <= kept.items() else {}
    records: dict[str, dict[str, Any]] = {}
    for name, kernel in kernels():
        code = code_digest(kernel)
        if name in known and known[name]["code"] == code:
            records[name] = known[name]  # the same text: compiling them all takes minutes
            continue
        made = compiled(kernel)
        if not made.ok:
            print(f"{name}:\n{made.log}", file=sys.stderr)
            return 1
        records[name] = {"code": code, **usage(made)}
        run = made.usage["tribosweep_run"]
        print(
            f"{name:48} {run.registers:4} registers {run.stack:5} B local "
            f"{run.spill_stores:5} B spilled  {made.seconds:.2f} s"
        )
    text = json.dumps({**about, "kernels": records}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
