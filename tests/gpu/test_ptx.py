"""The PTX of every kernel gives the bits of the CPU, without a GPU.

The PTX that NVRTC makes runs on the processor (ptx.py), with the batches and launches of the
backend. So nothing that the compiler does between C++ and PTX changes a bit: it fuses, reorders and
selects operations only as the text says. ptxas and the GPU follow; `pytest -m gpu` tests them.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.backends.compiler import compile_library, find_compiler
from sweep.backends.cpu import CpuBackend
from sweep.backends.gpu import GpuBackend, options_for
from sweep.backends.library import load_library
from sweep.errors import CompileError
from sweep.source import Kernel, kernel_of, kernel_text
from tests.gpu import kernels as gpu_kernels
from tests.gpu import nvrtc
from tests.gpu.kernels import ptx_of
from tests.gpu.ptx import processor_text
from tests.gpu.test_gpu import CASES, FEW
from tests.gpu.twin import TwinDevice
from tests.points import differing

QUICK = [each for each in FEW if each != "friction_oscillator-rk32"]  # whose PTX takes four seconds

ARCHITECTURES = (90, 100)  # NVRTC writes one kind of PTX up to 90 and another from 100 on
MODULE = re.compile(r"_[0-9a-f]{8}_\d+_kernel_cu_[0-9a-f]+")  # in internal names
PRODUCT = re.compile(r"(fd\d+) = mul_rn_f64\((.*)\);")
SUM = re.compile(r"(fd\d+) = add_rn_f64\((fd\d+), (.*)\);")


@functools.cache
def old_text(kernel: Kernel) -> str:
    return processor_text(ptx_of(kernel, ARCHITECTURES[0]))


def new_text(kernel: Kernel) -> str:
    return processor_text(ptx_of(kernel, ARCHITECTURES[1]))


def fused_text(kernel: Kernel) -> str:
    """As old_text(), with each product that enters a sum fused with it."""
    made = old_text(kernel)
    factors = dict(PRODUCT.findall(made))

    def fuse(match: re.Match[str]) -> str:
        into, product, other = match.groups()
        if product not in factors:
            return match[0]
        return f"{into} = fma_rn_f64({factors[product]}, {other});"

    return SUM.sub(fuse, made)


@pytest.mark.parametrize("text_of", [old_text, pytest.param(new_text, marks=pytest.mark.broad)])
@pytest.mark.parametrize(
    "name",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.broad) for each in CASES],
)
def test_the_ptx_gives_the_bits_of_the_cpu(name: str, text_of: Callable[[Kernel], str]) -> None:
    case = CASES[name]
    expected = dict(CpuBackend().compute(case.sweep, case.points).arrays)
    twin = TwinDevice(text_of=text_of)
    outputs = dict(GpuBackend(twin).compute(case.sweep, case.points).arrays)
    assert differing(expected, outputs) == []
    assert np.count_nonzero(expected["status"] == 0) > len(expected["status"]) / 2


def test_every_architecture_has_one_of_two_kinds_of_ptx() -> None:
    kernel = kernel_of(CASES["impact_oscillator-exact"].sweep)
    made = {
        each: MODULE.sub("", ptx_of(kernel, each)).replace(f"sm_{each}", "")
        for each in gpu_kernels.ARCHITECTURES
    }
    assert made.keys() > set(ARCHITECTURES)
    old, new = (made[each] for each in ARCHITECTURES)
    assert old != new
    assert all(made[each] == (old if each < 100 else new) for each in made)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_machine_code_of_a_gpu_is_made_from_this_ptx(architecture: int) -> None:
    """CuPy requests machine code, which NVRTC makes from PTX."""
    kernel = kernel_of(CASES["impact_oscillator-exact"].sweep)
    intermediate, direct = (ptx_of(kernel, architecture, on_the_way=each) for each in (True, False))
    assert MODULE.sub("", intermediate) == MODULE.sub("", direct)


def test_fused_operations_are_detected() -> None:
    case = CASES["friction_oscillator-exact"]
    expected = dict(CpuBackend().compute(case.sweep, case.points).arrays)
    twin = TwinDevice(text_of=fused_text)
    outputs = dict(GpuBackend(twin).compute(case.sweep, case.points).arrays)
    assert differing(expected, outputs) != []


def test_ptxas_has_nothing_to_fuse() -> None:
    """Because of --fmad=false: otherwise operations lack .rn, and are unknown here."""
    kernel = kernel_of(CASES["impact_oscillator-newmark"].sweep)
    text = kernel_text(kernel, "gpu")
    options = tuple(option for option in options_for(kernel) if "fmad" not in option)
    assert len(options) == len(options_for(kernel)) - 1
    made = nvrtc.ptx(text, ARCHITECTURES[0], options)
    assert re.search(r"\bmul\.f64", made)
    with pytest.raises(CompileError, match=r"mul_f64.* was not declared"):
        compile_library(processor_text(made), find_compiler())


def run_ptx(ptx: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The array of doubles after one thread of the entry tribosweep_trial."""
    library = load_library(compile_library(processor_text(ptx), find_compiler()))
    a = values.copy()
    library.twin_trial(ctypes.c_void_p(a.ctypes.data), ctypes.c_int64(1), ctypes.c_uint32(1))
    return a


def run(body: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The array `a` of doubles after one thread of a kernel with this body."""
    text = f'extern "C" __global__ void tribosweep_trial(double* a) {{ {body} }}'
    ptx = [nvrtc.ptx(text, architecture, ("--fmad=false",)) for architecture in ARCHITECTURES]
    old, new = (run_ptx(each, values) for each in ptx)
    assert old.tobytes() == new.tobytes()
    return new


# What is done to a[0], its value before and after.
INSTRUCTIONS = [
    ("a[0] = (double)(long long)a[0];", np.nan, -(2.0**63)),
    ("a[0] = (double)(long long)a[0];", np.inf, 2.0**63),  # 2^63 - 1, as a double has it
    ("a[0] = (double)(long long)a[0];", -1e30, -(2.0**63)),
    ("a[0] = (double)(long long)a[0];", -1.75, -1.0),
    ("a[0] = (double)(int)a[0];", 1e10, 2.0**31 - 1),
    ("a[0] = (double)(unsigned int)a[0];", -1.0, 0.0),
    ("a[0] = (double)(1LL << (int)a[0]);", 62.0, 2.0**62),
    ("a[0] = (double)(1LL << (int)a[0]);", 64.0, 0.0),
    ("a[0] = (double)(-8LL >> (int)a[0]);", 99.0, -1.0),
    ("a[0] = (double)((long long)a[0] / -3);", 7.0, -2.0),
    ("a[0] = (double)((long long)a[0] % 3);", -7.0, -1.0),
    ("a[0] = (double)__byte_perm((unsigned int)a[0], 0xaabb, 0x5041);", 0x1122, 0xAA22BB11),
    ("a[0] = fmax(a[0], 2.0);", np.nan, 2.0),
    ("a[0] = fmin(a[0], 2.0);", 1.0, 1.0),
    ("a[0] = 1.0 / fmin(a[0], 0.0);", -0.0, -np.inf),
    ("a[0] = a[0] > 1.0 ? 3.0 : 4.0;", np.nan, 4.0),
    ("a[0] = !(a[0] <= 1.0) ? 3.0 : 4.0;", np.nan, 3.0),
    ("a[0] = sqrt(a[0]);", 2.0, np.sqrt(2.0)),
    ("a[0] = floor(a[0]);", -1.5, -2.0),
]


@pytest.fixture(scope="module")
def executed() -> NDArray[np.float64]:
    """The value after each of INSTRUCTIONS, all of them in one kernel."""
    bodies = (f"{{ double* a = all + {i}; {body} }}" for i, (body, *_) in enumerate(INSTRUCTIONS))
    inputs = np.array([values for _, values, _ in INSTRUCTIONS])
    return run(f"double* all = a; {' '.join(bodies)}", inputs)


@pytest.mark.parametrize("i", range(len(INSTRUCTIONS)), ids=lambda i: INSTRUCTIONS[i][0])
def test_an_instruction_does_what_ptx_says(i: int, executed: NDArray[np.float64]) -> None:
    _, _, expected = INSTRUCTIONS[i]
    assert executed[i] == expected


def test_arithmetic_makes_the_nan_of_a_gpu() -> None:
    (nan,) = run("a[0] = a[0] - a[0];", np.array([np.inf]))
    assert nan.view(np.uint64) == 0x7FFFFFFFFFFFFFFF


def test_local_memory_and_loops_work() -> None:
    body = """double b[8]; for (int i = 0; i < 8; ++i) b[i] = a[i];
    for (int i = 0; i < 8; ++i) a[i] = b[(int)b[i]] + i;"""
    numbers = np.array([3.0, 1, 4, 1, 5, 2, 6, 5])
    np.testing.assert_array_equal(run(body, numbers), numbers[numbers.astype(int)] + np.arange(8))


ENTRY = ".visible .entry tribosweep_trial(\n.param .u64 p\n)\n{\n%s\n}"


def test_a_vector_is_loaded_and_stored_by_one_instruction() -> None:
    """A predicate holds for the whole vector, whose address the instruction may overwrite."""
    swap = """.reg .pred %p<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, %rd1;
    setp.ne.s64 %p1, %rd1, %rd2;
    @%p1 st.global.v2.u64 [%rd1+16], {%rd1, %rd2};
    @!%p1 ld.global.v2.u64 {%rd1, %rd3}, [%rd1];
    @%p1 ld.global.v2.u64 {%rd1, %rd3}, [%rd2+16];
    st.global.v2.u64 [%rd2], {%rd3, %rd1};
    ret;"""
    memory = run_ptx(ENTRY % swap, np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(memory, [2.0, 1.0, 3.0, 4.0])


def test_bit_fields_are_extracted() -> None:
    """By an instruction that NVRTC 13.0 uses and later versions do not."""
    fields = {(8, 8): 0x12, (0, 32): 0xABCD1234, (28, 8): 0xA, (40, 8): 0, (256, 4): 4, (4, 0): 0}
    each = """bfe.u32 %r2, %r1, {}, {};
    cvt.rn.f64.u32 %fd1, %r2;
    st.global.f64 [%rd1+{}], %fd1;
    """
    lines = [each.format(*field, 8 * i) for i, field in enumerate(fields)]
    start = """.reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .reg .f64 %fd<2>;
    ld.param.u64 %rd1, [p];
    mov.b32 %r1, 0xABCD1234;
    """
    memory = run_ptx(ENTRY % "".join([start, *lines, "ret;"]), np.full(len(fields), np.nan))
    np.testing.assert_array_equal(memory, list(fields.values()))


def test_unknown_ptx_is_an_error() -> None:
    assert "return;" in processor_text(ENTRY % "ret;")
    for line in ("bar.sync 0;", "ld.shared.f64 %fd1, [%rd1];", ".shared .align 8 .b8 s[8];"):
        with pytest.raises(ValueError, match="not understood"):
            processor_text(ENTRY % line)
    with pytest.raises(ValueError, match="beside entries"):
        processor_text(".func (.param .b64 r) helper()\n{\nret;\n}")
