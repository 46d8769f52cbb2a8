"""The work of a GPU's warps, counted without a GPU."""

from __future__ import annotations

import ctypes
import json
from collections import Counter

import numpy as np
import pytest

from sweep.backends.compiler import compile_library, find_compiler
from sweep.backends.cpu import CpuBackend
from sweep.backends.gpu import ITEMS_OF_A_THREAD, GpuBackend
from sweep.backends.library import load_library
from sweep.source import kernel_of
from tests.benchmarks import sass
from tests.benchmarks.gpu_works import random_part
from tests.gpu import nvrtc
from tests.gpu.kernels import code_digest, compiled
from tests.gpu.limits import (
    AIMS,
    ARCHITECTURE,
    RECORD,
    WARP,
    counted_text,
    counted_works,
    expanded,
    limit,
    on_doubles,
)
from tests.gpu.ptx import counting_text, stretches
from tests.gpu.twin import TwinDevice
from tests.points import cases, differing

WORKS = {work.name: work for work in counted_works()}
KEPT = json.loads(RECORD.read_text(encoding="utf-8"))


def test_threads_and_warps_are_counted() -> None:
    """Thread i of 64 adds i numbers, so the slowest threads of the two warps add 31 and 63."""
    text = """extern "C" __global__ void tribosweep_trial(double* a) {
        double sum = 0;
        #pragma unroll 1
        for (int i = 0; i < threadIdx.x; ++i) sum += a[i];
        a[100 + threadIdx.x] = sum;
    }"""
    ptx = nvrtc.ptx(text, ARCHITECTURE, ("--fmad=false",))
    library = load_library(compile_library(counting_text(ptx), find_compiler()))
    a = np.arange(200.0)
    library.twin_trial(ctypes.c_void_p(a.ctypes.data), ctypes.c_int64(1), ctypes.c_uint32(64))
    np.testing.assert_array_equal(a[100:164], np.cumsum(np.arange(64)) - np.arange(64))

    (trial_stretches,) = stretches(ptx).values()
    added = np.array([stretch["add.rn.f64"] for stretch in trial_stretches])
    kind = ctypes.c_uint64 * len(trial_stretches)
    for what, times in (("threads", sum(range(64))), ("warps", 31 + 63)):
        assert np.array(kind.in_dll(library, f"{what}_trial")) @ added == times


def test_counting_changes_no_bit() -> None:
    case = next(case for case in cases() if case.name == "impact_oscillator-exact")
    expected = dict(CpuBackend().compute(case.sweep, case.points).arrays)
    outputs = dict(
        GpuBackend(TwinDevice(text_of=counted_text)).compute(case.sweep, case.points).arrays
    )
    assert differing(expected, outputs) == []


def test_operations_on_doubles_are_counted() -> None:
    """Moves, selections and signs do not count; a division is an approximation and its steps."""
    each = Counter({"fma.rn.f64": 2, "setp.lt.f64": 1, "selp.f64": 5, "neg.f64": 1, "add.s64": 3})
    assert on_doubles(each) == 3
    assert on_doubles(Counter({"div.rn.f64": 1})) == expanded("div")
    assert 5 <= expanded("rcp") <= expanded("div") <= 12
    assert 5 <= expanded("sqrt") <= 12
    with pytest.raises(ValueError, match=r"not counted: ex2\.approx\.f64"):
        on_doubles(Counter({"ex2.approx.f64": 1}))


# The others take NVRTC longer, and `test_the_record_is_of_these_kernels` is of all.
QUICK = ("friction_oscillator euler, one clock", "friction_oscillator moreau, one clock")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.broad])
        for name, work in WORKS.items()
        if work.steps
    ],
)
def test_a_step_has_the_operations_of_the_machine_code(name: str) -> None:
    """There is little besides the time loop, and ptxas changes little.

    Where several steps are tried at once, a tenth of them is repeated one by one, and what comes
    between loops of short steps counts more.
    """
    kernel = kernel_of(WORKS[name].sweep, WORKS[name].points.variants)
    loops = sass.time_loops(sass.listings(compiled(kernel, ARCHITECTURE).code)["tribosweep_run"])
    lanes = ITEMS_OF_A_THREAD if kernel.method.items else 1
    steps = [(loop, loop.counted * lanes) for loop in loops if loop.counted]
    fewest = [loop.fewest_on_doubles / n for loop, n in steps]
    static = [loop.on_doubles / n for loop, n in steps]
    tried = any(loop.counted == 16 for loop in loops)
    most = 1.15 * max(static) + 100 / 64 if tried else 1.1 * max(static)
    assert 0.9 * min(fewest) < KEPT["limits"][name]["on_doubles"] < most


def test_the_record_is_of_these_kernels() -> None:
    """`python -m tests.gpu.limits` writes the record. Another NVRTC may give other figures."""
    assert KEPT["limits"].keys() == WORKS.keys() >= AIMS.keys()
    for name, work in WORKS.items():
        kept = KEPT["limits"][name]
        assert kept["code"] == code_digest(kernel_of(work.sweep, work.points.variants))
        assert kept["aim"] == AIMS.get(name)
    name = "impact_oscillator exact, random points"
    if KEPT["nvrtc"] == nvrtc.version():
        computed = limit(WORKS[name])
        assert computed.on_doubles == KEPT["limits"][name]["on_doubles"]
        assert computed.most_per_second == KEPT["limits"][name]["most_per_second"]


def test_warps_come_from_the_whole_grid() -> None:
    """Those at a constant stride may all lie in a few columns."""
    work = WORKS["friction_oscillator exact, wear power of SDND104"]
    some = random_part(work, 256, WARP)
    for name in ("friction", "base_acceleration"):
        whole, part = (np.log(each.points.columns[name].values) for each in (work, some))
        shares, _ = np.histogram(part, bins=np.quantile(whole, np.linspace(0, 1, 9)))
        assert shares.min() > 0.06 * shares.sum(), name


@pytest.mark.parametrize("name", AIMS)
def test_no_aim_is_beyond_the_limit(name: str) -> None:
    assert 0 < KEPT["limits"][name]["share_of_aim"] < 1
