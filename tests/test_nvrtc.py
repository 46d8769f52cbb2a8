"""Every GPU kernel compiles with NVRTC, for every architecture, from the text the backend sends.

No driver is needed. What a kernel takes of a thread is what ptxas reports; it is no measurement.
"""

from __future__ import annotations

import json

import pytest

from sweep.backends.gpu import OPTIONS, options_for
from sweep.shipped import kernels_folder
from sweep.source import flat_text, kernel_text
from tests import nvrtc
from tests.benchmarks import sass
from tests.gpu_kernels import (
    ARCHITECTURES,
    OF_CUPY,
    RECORD,
    SIZES,
    compiled,
    constant_step,
    kernels,
)

KERNELS = dict(kernels())
# With all variants the kernels are smaller, and one architecture tells whether they compile.
PLACES = [
    pytest.param(name, architecture, id=f"{name} sm_{architecture}")
    for name, kernel in KERNELS.items()
    for architecture in ARCHITECTURES
    if not kernel.variants or architecture == 90
]


@pytest.mark.parametrize(("name", "architecture"), PLACES)
def test_it_compiles_and_a_constant_step_spills_nothing(name: str, architecture: int) -> None:
    kernel = KERNELS[name]
    made = compiled(kernel, architecture)
    assert made.ok, made.log
    assert "warning" not in made.log
    assert made.cubin[:4] == b"\x7fELF"
    items = bool(kernel.method.items)
    names = {"tribosweep_run", SIZES} | (
        {"tribosweep_sum", "tribosweep_finish"} if items else set()
    )
    assert made.usage.keys() == names
    for usage in made.usage.values():
        assert 0 < usage.registers <= 255
        if constant_step(kernel):
            assert usage.spill_stores == usage.spill_loads == 0


def test_the_record_has_every_kernel_and_architecture() -> None:
    """Of the compiler named there; `python -m tests.gpu_kernels` writes it anew."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert record["kernels"].keys() == KERNELS.keys()
    for name, by_architecture in record["kernels"].items():
        assert by_architecture.keys() == {f"sm_{each}" for each in ARCHITECTURES}
        for entries in by_architecture.values():
            run = entries["tribosweep_run"]
            assert run["registers"] > 0
            assert not (constant_step(KERNELS[name]) and run["spill_stores"])


def test_the_kernels_of_a_constant_step_are_told_apart() -> None:
    told = {name for name, kernel in KERNELS.items() if constant_step(kernel)}
    assert {
        "friction_oscillator euler",
        "friction_oscillator moreau",
        "friction_oscillator rk54 (all variants)",
        "impact_oscillator newmark",
        "mdr_contact time_stepping",
    } <= told
    assert not {"friction_oscillator exact", "friction_oscillator rk54"} & told


@pytest.mark.parametrize("name", [name for name, k in KERNELS.items() if constant_step(k)])
def test_a_constant_step_writes_nothing_before_it_is_done(name: str) -> None:
    """No loop writes to memory, local memory included, and the innermost ones read none of that."""
    code = sass.listings(compiled(KERNELS[name], 90).cubin)["tribosweep_run"]
    computing = [loop for loop in sass.loops(code) if loop.on_doubles]
    assert [loop.writes for loop in computing] == [0] * len(computing)
    innermost = [loop for loop in computing if loop.innermost]
    assert innermost
    assert not any(loop.local_memory for loop in innermost)
    if "friction" in name:  # every lane's steps of one stretch
        assert len(sass.time_loops(code)) == 1
    # Results and states are written, and nothing by what is called, which stands behind.
    done = max(at for at, text in code if "EXIT" in text)
    assert 0 < sass.writes(code) == sass.writes([(at, text) for at, text in code if at <= done])


def _trial(body: str) -> nvrtc.Compiled:
    """A kernel around `body`, which may use `a`, an array of doubles."""
    text = flat_text("elementary.h") + 'extern "C" __global__ void trial(double* a) {\n'
    return nvrtc.compiled(f"{text}{body}\n}}\n", 90, OPTIONS)


def test_a_fault_is_reported_at_the_line_of_its_header() -> None:
    header = kernels_folder() / "elementary.h"
    lines = header.read_text(encoding="utf-8").splitlines()
    number = 1 + next(i for i, line in enumerate(lines) if "return base + (root" in line)
    text = flat_text("elementary.h").replace("return base + (root", "return base + (roof")
    made = nvrtc.compiled(text, 90, OPTIONS)
    assert not made.ok
    assert made.cubin == b""
    assert f'kernels/elementary.h({number}): error: identifier "roof" is undefined' in made.log


def test_local_memory_and_spills_are_read_from_the_report() -> None:
    """An array with a computed index lies in local memory; its bytes are what it has."""
    made = _trial("double b[64]; for (int i = 0; i < 64; ++i) b[i] = a[i];\na[0] = b[(int)a[1]];")
    assert made.usage["trial"].stack == 64 * 8
    assert made.usage["trial"].spill_stores == 0
    assert _trial("a[0] = lane(exp(real(a[1])), 0);").usage["trial"].stack == 0


@pytest.mark.parametrize(
    ("body", "writes", "local"),
    [
        ("for (int i = 0; i < (int)a[1]; ++i) a[i] = a[i] * a[i] + 1.0;", 1, False),
        ("double b[64];\nfor (int i = 0; i < 64; ++i) b[i] = a[i];\n#pragma unroll 1\n"
         "for (int i = 0; i < (int)a[1]; ++i) b[(int)a[i]] += a[i] * 3.0;\na[0] = b[3];", 1, True),
        ("double b = a[0];\nfor (int i = 0; i < (int)a[1]; ++i) b = b * b + 1.0;\na[0] = b;",
         0, False),
    ],
)  # fmt: skip
def test_a_loop_that_writes_is_found(body: str, writes: int, local: bool) -> None:
    code = sass.listings(_trial(body).cubin)["trial"]
    computing = [loop for loop in sass.loops(code) if loop.on_doubles]
    assert any(loop.writes for loop in computing) == bool(writes)
    assert any(loop.local_memory for loop in computing) == local
    assert sass.writes(code)


@pytest.mark.parametrize("steps", [2, 3])
def test_the_steps_of_a_turn_of_the_time_loop_are_counted(steps: int) -> None:
    """As many as it is told to be unrolled by, and so many times the work."""
    kernel = KERNELS["friction_oscillator moreau (all variants)"]
    text, loop = kernel_text(kernel, "gpu"), "for (int64 i = 0; i < run; ++i) {"
    assert text.count(loop) == 1
    unrolled = text.replace(loop, f'_Pragma("unroll {steps}") {loop}')
    made = nvrtc.compiled(unrolled, 90, (*options_for(kernel, text), *OF_CUPY))
    (found,) = sass.time_loops(sass.listings(made.cubin)["tribosweep_run"])
    assert found.counted == steps
    assert found.on_doubles == pytest.approx(27 * steps, rel=0.1)


def test_nothing_is_fused_but_where_it_is_written() -> None:
    """The two texts differ in code exactly if the compiler tells a b + c from fma(a, b, c)."""
    apart = _trial("a[0] = a[1] * a[2] + a[3];").cubin
    fused = _trial("a[0] = fma(a[1], a[2], a[3]);").cubin
    assert apart != fused
