"""Kernels compiled without optimization, as for a debugger or a sanitizer."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sweep.file.model_file import read_model
from sweep.kernel.compiler import FLAGS, Compiler, find_compiler, zig
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.source import Kernel, kernel_text
from tests.cases import bits_of, case_of, differing, methods
from tests.cases.files import METHODS, case_of_file
from tests.kernel.same_bits import compiler_of_users, target_faults

MOST_BYTES = 2**18  # of a frame; threads have 1 MiB or more, and frames of callers are nested
N = 60
STATES = [f"s{i}" for i in range(5)]
FIVE_STATES = "\n".join([
    'format = 1', 'name = "five_states"', 'time_unit = "1"',
    "[parameters]", 'p = { unit = "1", meaning = "parameter" }',
    "[states]",
    *(f'{s} = {{ initial = "0.{i}", meaning = "state" }}' for i, s in enumerate(STATES)),
    "[derivatives]", *(f'{s} = "2*sin(p*{STATES[i - 1]} + t) - abs({s})"'
                       for i, s in enumerate(STATES)),
    "[[events]]", 'name = "hit"', 'when = "s0 - 0.6"', 'direction = "rising"',
    'set = { s0 = "0.1" }',
    "[outputs]", 'end = { final = "s4", meaning = "last value" }',
    'mean_size = { mean = "abs(s1)", meaning = "mean" }',
    'recent = { values = "s2", every = "hit", keep = 3, meaning = "last values" }',
])  # fmt: skip


def unoptimized(compiler: Compiler, width: Any = None) -> CpuTarget:
    return CpuTarget(Compiler((*compiler.command, "-O0"), compiler.version), width)


@pytest.mark.parametrize(
    "method", [pytest.param(each, marks=[pytest.mark.broad] * (each != "rk54")) for each in METHODS]
)
def test_frames_fit_the_stack_of_a_thread(method: str, tmp_path: Path) -> None:
    """With every function written out in its caller, the frame of `rk54` had 1.3 MB or more.

    A frame that is larger than the stack passes the guard page and overwrites what lies beyond.
    """
    if "Free Software Foundation" not in _banner():
        # What is written into what is the same for all compilers; CI has GCC.
        pytest.skip("only GCC reports the sizes of frames")
    model = read_model(tomllib.loads(FIVE_STATES), tmp_path)
    chosen = next(each for each in model.methods if each.name == method)
    kernel = Kernel(
        model=model, method=chosen, parameter_set=model.parameter_sets[0], outputs=model.outputs
    )
    source = tmp_path / "kernel.cpp"
    source.write_text(kernel_text(kernel))
    flags = [flag for flag in FLAGS if not flag.startswith(("-O", "-shared"))]
    command = [*compiler_of_users().command, *flags, "-O0", "-DSWEEP_PACK=1", "-fstack-usage", "-c"]
    subprocess.run([*command, "-o", tmp_path / "kernel.o", source], check=True)
    (usage,) = tmp_path.glob("*.su")
    frames = [int(line.split("\t")[1]) for line in usage.read_text().splitlines()]
    assert max(frames) < MOST_BYTES


def _banner() -> str:
    command = [*find_compiler().command, "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def cases() -> dict[str, Any]:
    kernels = {f"{model.name}-{method.name}": (model, method) for model, method in methods()}
    files = {f"{name}-{method}": (name, method) for name in ("belt", "lugre") for method in METHODS}
    return {**kernels, **files}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.broad] * (name != "belt-rk54")) for name in cases()],
)
def test_bits_are_those_of_optimized_kernels(name: str) -> None:
    model, method = cases()[name]
    case = case_of_file(model, method, N) if isinstance(model, str) else case_of(model, method, N)
    target = unoptimized(compiler_of_users())
    assert target_faults(case, bits_of(case.sweep, case.points), target) == []


def test_no_operation_is_undefined() -> None:
    """Without optimization, zig ends the process at the first one: a shift of a sign."""
    case = case_of_file("belt", "rk54", N)
    found = bits_of(case.sweep, case.points, unoptimized(zig(), 1))
    assert differing(bits_of(case.sweep, case.points), found) == []
