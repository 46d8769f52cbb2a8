"""Kernels as WebAssembly modules, for browsers: prebuilt in a release, otherwise compiled by zig.

A module has the entries of the CPU (`entry_cpu.h`) or those of traces, and the same bits. A plain
module runs in every engine. A relaxed one uses relaxed SIMD's multiply-add and must not be used
where `tribosweep_fma(a, b, c)` rounds twice.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sweep.kernel.cache import cached, digest
from sweep.kernel.compiler import NoCompilerError, run_compiler, zig
from sweep.kernel.source import Kernel, flat_text, kernel_text, realisations
from sweep.model.shipped import modules_folder
from sweep.model.tables import models

Entry = Literal["cpu", "trace"]

FLAGS = (
    "-std=c++17",
    # Kernels need no C library, and building that of WASI takes half a minute.
    *("-target", "wasm32-freestanding", "-Wl,--no-entry"),
    "-Os",  # as fast as -O2 here, and a page is to be small
    "-ffp-contract=off",  # bits must not depend on where a compiler fuses
    "-fno-math-errno",
    "-fno-trapping-math",
    "-nostdlib++",
    "-s",
    "-Wl,-z,stack-size=1048576",
)
SCALAR_FLAGS = ("-DSWEEP_WIDTH=1", "-DSWEEP_PACK=1")
RELAXED = ("-msimd128", "-mrelaxed-simd", "-DSWEEP_WIDTH=2", "-DSWEEP_PACK=1")

COMMON_EXPORTS = ("__heap_base", "tribosweep_fma")
EXPORTS = {
    "cpu": ("tribosweep_run", "tribosweep_state_bytes", "tribosweep_request_bytes"),
    "trace": (
        "tribosweep_trace",
        "tribosweep_span",
        "tribosweep_trace_bytes",
        "tribosweep_trail_bytes",
        "tribosweep_row_size",
    ),
}
ITEM_SIZES = ("tribosweep_sum_bytes", "tribosweep_item_row_size")
FORCING = ("tribosweep_forcing", "tribosweep_forcing_bytes")  # of models with signals by draw


@dataclass(frozen=True)
class Module:
    """A WebAssembly module: what it is compiled from."""

    kernel: Kernel
    entry: Entry
    relaxed: bool = False

    @property
    def text(self) -> str:
        """The complete C++ text."""
        return flat_text("portable_wasm.h") + kernel_text(self.kernel, self.entry)

    @property
    def flags(self) -> tuple[str, ...]:
        sizes = ITEM_SIZES if self.entry == "trace" and self.kernel.method.items else ()
        forcing = FORCING if realisations(self.kernel.model) else ()
        names = (*COMMON_EXPORTS, *EXPORTS[self.entry], *sizes, *forcing)
        exports = tuple(f"-Wl,--export={name}" for name in names)
        return (*FLAGS, *(RELAXED if self.relaxed else SCALAR_FLAGS), *exports)

    @property
    def file_name(self) -> str:
        """Named after its text and flags, so that a module of an older text is never found."""
        return f"{digest(self.text, *self.flags)}.wasm"


def module_bytes(module: Module) -> bytes:
    """The module from this release or from the cache, otherwise compiled now.

    CompileError if it has to be compiled and zig is missing or fails.
    """
    prebuilt = modules_folder() / module.file_name
    path = prebuilt if prebuilt.is_file() else cached(module.file_name, lambda p: build(module, p))
    return path.read_bytes()


def build(module: Module, path: Path) -> None:
    """Compile the module into a file; CompileError as of `module_bytes`."""
    if not importlib.util.find_spec("ziglang"):
        raise NoCompilerError(
            "this kernel has to be compiled for browsers by zig, which is not installed: "
            "pip install 'tribosweep[compiler]'"
        )
    run_compiler(module.text, zig(), module.flags, path)


def whole_kernel(kernel: Kernel) -> Kernel:
    """The same kernel with every output that its parameter set defines, and without variants.

    Its bits are the same. So one prebuilt module of a method suits all sweeps.
    """
    defined = tuple(filter(kernel.parameter_set.has, kernel.model.outputs))
    return replace(kernel, outputs=defined, variants=(), table=None)


def modules_of(kernel: Kernel) -> Iterator[Module]:
    """The modules that an explorer of this kernel contains."""
    whole = whole_kernel(kernel)
    entries: tuple[Entry, ...] = ("cpu", "trace") if kernel.method.traced else ("cpu",)
    for entry in entries:
        yield Module(whole, entry)
        yield Module(whole, entry, relaxed=True)


def shipped_modules() -> Iterator[Module]:
    """The modules of every method of every shipped model, which a release contains."""
    for model in models().values():
        for method in model.methods:
            for chosen in model.parameter_sets:
                yield from modules_of(
                    Kernel(model=model, method=method, parameter_set=chosen, outputs=())
                )


def build_release() -> None:
    """Compile the modules of a release into `modules_folder()`, which the wheel contains."""
    folder = modules_folder()
    folder.mkdir(exist_ok=True)
    names = {module.file_name: module for module in shipped_modules()}
    for old in folder.glob("*.wasm"):
        if old.name not in names:
            old.unlink()

    def made(name: str) -> str:
        path, kernel = folder / name, names[name].kernel
        if not path.exists():
            build(names[name], path)
        return f"{path.stat().st_size} {name} {kernel.model.name} {kernel.method.name}"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(made, names):
            print(line)


if __name__ == "__main__":
    sys.exit(build_release())
