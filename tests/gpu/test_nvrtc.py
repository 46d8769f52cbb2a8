"""Every GPU kernel compiles with NVRTC, from the text of the backend.

No driver is needed. Registers and memory are those that ptxas reports, not measurements.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sweep.kernel.forcing import forcings_of
from sweep.kernel.gpu import OPTIONS, options_for
from sweep.kernel.random_points import drawing_text
from sweep.kernel.reducing import reduction_text
from sweep.kernel.source import Kernel, flat_text, kernel_of, kernel_text
from sweep.model.shipped import shipped_models
from sweep.model.tables import models
from tests.cases.files import forced_case
from tests.gpu import nvrtc
from tests.gpu.kernels import (
    RECORD,
    SIZES,
    WITH_SIDES,
    code_digest,
    compiled,
    constant_step,
    digest_of,
    kernels,
    spill_faults,
    usage,
)
from tests.kernel.kernel_probe import Entry, compile_probe

KERNELS = dict(kernels())
QUICK = (
    "friction_oscillator euler (cycles, all variants)",
    "impact_oscillator exact",
    "mdr_contact time_stepping",
)
every_kernel = pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.broad) for name in KERNELS],
)
LIMITED = {
    "friction_oscillator exact (cycles, all variants)": 88,
    "friction_oscillator euler (cycles, all variants)": 88,
    "friction_oscillator devogelaere (cycles, all variants)": 112,
    "friction_oscillator moreau (cycles, all variants)": 64,
    "friction_oscillator rk54 (cycles, all variants)": 120,
    **{f"mdr_contact exact{each}": 96 for each in ("", " (sphere)", " (profile)")},
    **{f"mdr_contact time_stepping_2{each}": 96 for each in ("", " (sphere)", " (profile)")},
    **{f"{model} rk54": 128 if model in WITH_SIDES else 168 for model in shipped_models()},
}  # registers of a thread
KEPT = json.loads(RECORD.read_text(encoding="utf-8"))


def recorded(name: str) -> dict[str, Any]:
    """The usage of a kernel's entries."""
    return {entry: used for entry, used in KEPT["kernels"][name].items() if entry != "code"}


@every_kernel
def test_it_compiles_within_its_registers(name: str) -> None:
    """A constant step spills nothing, unless its kernel is in MAX_SPILLED, which says why."""
    kernel = KERNELS[name]
    made = compiled(kernel)
    assert made.ok, made.log
    assert "warning" not in made.log
    assert made.code[:4] == b"\x7fELF"
    items = bool(kernel.method.items)
    names = {"tribosweep_run", SIZES} | (
        {"tribosweep_sum", "tribosweep_finish"} if items else set()
    )
    if forcings_of(kernel.model):  # tables of signals by draw
        names.add("tribosweep_forcing")
    assert made.usage.keys() == names
    for taken in made.usage.values():
        assert 0 < taken.registers <= LIMITED.get(name, 255)
    assert spill_faults(name, kernel, made.usage) == []
    if KEPT["nvrtc"] == nvrtc.version():  # another NVRTC may give other figures
        assert recorded(name) == usage(made), "it has changed: run python -m tests.gpu.kernels"


def test_the_record_is_of_these_kernels_and_within_their_limits() -> None:
    """`python -m tests.gpu.kernels` writes it, also of kernels compiled by broad tests alone."""
    assert KEPT["architecture"] == nvrtc.ARCHITECTURE
    assert KEPT["kernels"].keys() == KERNELS.keys(), "run python -m tests.gpu.kernels"
    outdated, spilling = [], list[str]()
    for name, kernel in KERNELS.items():
        if KEPT["kernels"][name]["code"] != code_digest(kernel):
            outdated.append(name)
        usages = {entry: nvrtc.Usage(**figures) for entry, figures in recorded(name).items()}
        assert "tribosweep_run" in usages
        spilling += [f"{name}: {fault}" for fault in spill_faults(name, kernel, usages)]
    assert outdated == [], "these have changed: run python -m tests.gpu.kernels"
    assert spilling == []


@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_the_tables_of_signals_by_draw_compile(method: str) -> None:
    made = compiled(kernel_of(forced_case(1, method).sweep))
    assert made.ok, made.log
    assert "warning" not in made.log
    assert made.usage.keys() == {"tribosweep_run", "tribosweep_forcing", SIZES}
    assert made.usage["tribosweep_forcing"].spill_stores == 0


def test_every_method_is_compiled_for_all_parameter_sets_and_variants() -> None:
    for model in models().values():
        for method in model.methods:
            ours = [k for k in KERNELS.values() if (k.model, k.method) == (model, method)]
            assert not all(k.variants for k in ours)
            assert {k.parameter_set for k in ours} == set(model.parameter_sets)
            assert {name for k in ours for name in k.variants} == {v.name for v in method.variants}


def test_the_code_has_the_table_of_cosines_that_cpus_have(tmp_path: Path) -> None:
    """NVRTC leaves out without a warning what the constructor of a table computes."""
    entry = Entry(1, 1, "out[0] = impact_oscillator::cosine_at((int)lane(in[0], 0));")
    header = "models/impact_oscillator/cosines.h"
    probe = compile_probe(tmp_path, header, {"cosine": entry}, width=1, pack=1)
    (table,) = probe("cosine", range(1024))
    assert table.tobytes() in compiled(KERNELS["impact_oscillator harmonic_balance"]).code


def test_comments_do_not_change_the_digest_of_the_code() -> None:
    kernel = KERNELS["impact_oscillator exact"]
    text, digest = kernel_text(kernel, "gpu"), code_digest(kernel)
    plain = (f"{text}\n// a word\n", text.replace("#line 1 ", "#line 2 "))
    for changed, same in ((plain[0], True), (plain[1], True), (f"{text}\nint n;", False)):
        assert (digest_of(changed, options_for(kernel)) == digest) == same
    assert digest_of(text, (*options_for(kernel), "--maxrregcount=64")) != digest


def test_the_kernels_of_a_constant_step_are_recognized() -> None:
    constant = {name for name, kernel in KERNELS.items() if constant_step(kernel)}
    assert {
        "friction_oscillator euler",
        "friction_oscillator moreau",
        "friction_oscillator rk54 (cycles, all variants)",
        "impact_oscillator newmark",
        "mdr_contact time_stepping",
    } <= constant
    assert not {"friction_oscillator exact", "friction_oscillator rk54"} & constant


def test_a_limit_of_registers_is_of_kernels_with_every_variant_that_has_a_value() -> None:
    """With a spring or shaking, the time loop would spill. And of models from files."""
    limits = {name: _limits(kernel) for name, kernel in KERNELS.items()}
    assert {name: each for name, each in limits.items() if each} == {
        name: [f"--maxrregcount={most}"] for name, most in LIMITED.items()
    }
    euler = KERNELS["friction_oscillator euler"]
    for variants, limited in (
        (("no_spring", "no_damping", "no_shaking"), True),
        (("no_spring", "no_damping", "shared_clock"), False),
    ):
        assert bool(_limits(replace(euler, variants=variants))) == limited


def _limits(kernel: Kernel) -> list[str]:
    return [option for option in options_for(kernel) if "maxrregcount" in option]


def _trial(body: str) -> nvrtc.Compiled:
    """A kernel with this body, which may use the array `a` of doubles."""
    text = flat_text("elementary.h") + 'extern "C" __global__ void trial(double* a) {\n'
    return nvrtc.compiled(f"{text}{body}\n}}\n", OPTIONS)


def test_local_memory_and_spills_are_read_from_the_report() -> None:
    """An array with a computed index is in local memory and takes its size there."""
    made = _trial("double b[64]; for (int i = 0; i < 64; ++i) b[i] = a[i];\na[0] = b[(int)a[1]];")
    assert made.usage["trial"].stack == 64 * 8
    assert made.usage["trial"].spill_stores == 0
    assert _trial("a[0] = lane(exp(real(a[1])), 0);").usage["trial"].stack == 0


def test_only_written_fmas_are_fused() -> None:
    """The machine code differs if and only if the compiler distinguishes a b + c from fma."""
    apart = _trial("a[0] = a[1] * a[2] + a[3];").code
    fused = _trial("a[0] = fma(a[1], a[2], a[3]);").code
    assert apart != fused


BESIDE_KERNELS = {"draw": drawing_text(), "round": flat_text("rounding_gpu.h")}


@pytest.mark.parametrize("parameters", [0, 3])
def test_reductions_compile_without_spills(parameters: int) -> None:
    """The nodes that wait for others are in local memory."""
    made = nvrtc.compiled(reduction_text(parameters), (*OPTIONS, *nvrtc.OF_CUPY))
    assert made.ok, made.log
    assert "warning" not in made.log
    usage = made.usage["tribosweep_reduce"]
    assert usage.spill_stores == usage.spill_loads == 0
    assert usage.registers <= 128


@pytest.mark.parametrize("entry", BESIDE_KERNELS)
def test_what_draws_and_rounds_does_without_local_memory(entry: str) -> None:
    made = nvrtc.compiled(BESIDE_KERNELS[entry], (*OPTIONS, *nvrtc.OF_CUPY))
    assert made.ok, made.log
    usage = made.usage[f"tribosweep_{entry}"]
    assert usage.stack == 0
    assert usage.registers <= 64
