"""Limits of kernels by a GPU's rate of doubles: `python -m tests.gpu.limits` writes the record.

For the kernels that are measured on a GPU, the PTX of some warps runs on the processor. Operations
on doubles are counted per point or step, for lanes at work and for lanes that wait for others of
their warp, and so are all instructions. With the data sheet of an H200 this gives an upper limit of
the speed: the rate of doubles or that of issuing instructions, whichever is met first. No figure is
measured on a GPU.

Warps are those of points in the order in which the backend computes them. Where it sorts them, the
record also has the figures of points as they come.

A division or root counts as the operations in its machine code for usual numbers. Instructions are
those of PTX without moves; of a step, those of the machine code's time loop.
"""

from __future__ import annotations

import ctypes
import functools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sweep.backends.gpu import ITEMS_OF_A_THREAD, GpuBackend
from sweep.source import Kernel, kernel_of
from tests.benchmarks import sass
from tests.benchmarks.gpu_works import Work, as_they_come, in_order, random_part, works
from tests.gpu import nvrtc
from tests.gpu.kernels import code_digest, compiled, ptx_of
from tests.gpu.ptx import counting_text, stretches
from tests.gpu.twin import TwinDevice, TwinProgram

ARCHITECTURE = 90
WARP = 32  # threads
RECORD = Path(__file__).parents[2] / "results" / "benchmarks" / "gpu_limits.json"

# NVIDIA's data sheet: 34e12 operations on doubles a second, a fused multiply-add being two.
DEVICE, RATE = "H200", 17e12
ISSUES = (
    3.35e13  # instructions a second of all lanes: 132 multiprocessors, 4 x 32 a clock, 1.98 GHz
)
CONVERTED = 4  # a conversion from or to a double takes the time of so many (16 a clock, not 64)

# The speeds aimed at on that GPU, in points or steps per second.
AIMS = {
    "friction_oscillator exact, wear power of SDND104": 1.2e9,
    "friction_oscillator euler, one clock": 5.4e11,  # 60 % of the limit when it was set
    "mdr_contact exact, sphere": 4e8,
    "mdr_contact time_stepping, 1024 springs": 1.2e12,
    "lorenz rk4, final x": 2.07e11,  # 60 % of its limit
    "mdr_contact time_stepping_2, 1024 springs": 1.2e12,
}

# Works of which the points of a single warp take a minute to count.
LONG = ("relief_valve rk54, last maxima",)


@dataclass(frozen=True)
class Limit:
    """The limit of a kernel, per point or, where steps are counted, per step."""

    of: str
    on_doubles: float  # operations of lanes at work
    lanes_at_work: float  # the share of them, the others wait
    instructions: float  # of lanes at work and those that wait
    most_per_second: float  # at the data sheet's rates
    met_first: str  # "doubles" or "instructions"
    aim: float | None
    share_of_aim: float | None  # of the limit, that the aim takes
    code: str  # digest of the kernel's text
    unsorted: dict[str, float] | None = None  # share of lanes and limit of points as they come


def limit(work: Work) -> Limit:
    """The limit of a kernel, from some random warps of points as the backend sorts them."""
    ordered = in_order(work)
    unsorted = _limit(work)
    if ordered is None:
        return unsorted
    kept = {name: getattr(unsorted, name) for name in ("lanes_at_work", "most_per_second")}
    return replace(_limit(ordered), unsorted=kept)


def _limit(work: Work) -> Limit:
    """As limit(), of points that are computed as they come."""
    warps = 1 if work.name in LONG else 2 if work.sweep.method.items or work.steps else 256
    chosen = as_they_come(sampled(work, warps))
    device = TwinDevice(memory=1 << 26, text_of=counted_text)
    backend = GpuBackend(device, budget=1 << 60)
    kernel = kernel_of(chosen.sweep, chosen.points.variants)
    program = device.load(kernel)
    before = counts(program)
    backend.compute(chosen.sweep, chosen.points)
    after = counts(program)
    by_threads = by_warps = instructions = 0.0
    for entry, of_entry in stretches(ptx_of(kernel, ARCHITECTURE)).items():
        threads, most = (after[entry][i] - before[entry][i] for i in (0, 1))
        doubles = np.array([on_doubles(stretch) for stretch in of_entry])
        by_threads += float(threads @ doubles)
        by_warps += float(most @ doubles) * WARP
        instructions += float(most @ np.array([plain(stretch) for stretch in of_entry])) * WARP
    n = chosen.steps or float(chosen.points.n_points)
    if chosen.steps:
        instructions = n * instructions_of_a_step(kernel)
    bounds = {"doubles": RATE / (by_warps / n), "instructions": ISSUES / (instructions / n)}
    met_first = min(bounds, key=bounds.__getitem__)
    most_per_second, aim = bounds[met_first], AIMS.get(work.name)
    return Limit(
        of="steps" if chosen.steps else "points",
        on_doubles=by_threads / n,
        lanes_at_work=by_threads / by_warps,
        instructions=instructions / n,
        most_per_second=most_per_second,
        met_first=met_first,
        aim=aim,
        share_of_aim=aim / most_per_second if aim else None,
        code=code_digest(kernel),
    )


def instructions_of_a_step(kernel: Kernel) -> float:
    """The fewest by any way through a time loop of the machine code, per step or spring."""
    code = compiled(kernel, ARCHITECTURE).code
    loops = sass.time_loops(sass.listings(code)["tribosweep_run"])
    lanes = ITEMS_OF_A_THREAD if kernel.method.items else 1
    return min(loop.fewest_instructions / (loop.counted * lanes) for loop in loops if loop.counted)


def sampled(work: Work, warps: int) -> Work:
    """That many warps of the work's threads, or all of them if there are fewer.

    They are random, since evenly spread ones may all lie in the same columns of a grid. Points with
    items are taken one by one, since each has warps of its own.
    """
    size = 1 if work.sweep.method.items else WARP
    return random_part(work, warps, size)


def counted_text(kernel: Kernel) -> str:
    return counting_text(ptx_of(kernel, ARCHITECTURE))


def counts(program: TwinProgram) -> dict[str, tuple[Any, Any]]:
    """By entry, how often each stretch ran: in threads, and in warps."""
    by_entry: dict[str, tuple[Any, Any]] = {}
    for entry, of_entry in stretches(ptx_of(program.kernel, ARCHITECTURE)).items():
        kind = ctypes.c_uint64 * len(of_entry)
        both = (kind.in_dll(program.library, f"{what}_{entry}") for what in ("threads", "warps"))
        threads, warps = (np.array(each, np.float64) for each in both)
        by_entry[entry] = (threads, warps)
    return by_entry


def on_doubles(stretch: Counter[str]) -> float:
    """The operations on doubles of a stretch."""
    return sum(n * _on_doubles(name) for name, n in stretch.items())


def plain(stretch: Counter[str]) -> float:
    """Instructions of a stretch without moves, which registers make unnecessary."""
    return float(sum(n for name, n in stretch.items() if not name.startswith("mov.")))


def _on_doubles(name: str) -> float:
    base, *rest = name.split(".")
    if "f64" not in rest or base in ("mov", "ld", "st", "selp", "neg", "abs"):
        return 0.0  # moved, selected, or a sign of an operand
    if base == "cvt":
        return CONVERTED
    if base in ("div", "rcp", "sqrt"):
        return expanded(base)
    if base in ("add", "sub", "mul", "fma", "setp", "min", "max"):
        return 1.0
    raise ValueError(f"PTX not counted: {name}")


@functools.cache
def expanded(base: str) -> float:
    """Operations on doubles of a division or root in machine code, for usual numbers."""
    quotient = {"div": "a[0] / a[1]", "rcp": "1.0 / a[0]", "sqrt": "sqrt(a[0])"}[base]
    text = f'extern "C" __global__ void trial(double* a) {{ a[2] = {quotient}; }}'
    made = nvrtc.compiled(text, ARCHITECTURE, ("--fmad=false",))
    code = sass.listings(made.code)["trial"]
    ends = next(i for i, (_, instruction) in enumerate(code) if "EXIT" in instruction)
    return float(sum(bool(sass.ON_DOUBLES.search(each)) for _, each in code[:ends]))


def counted_works() -> Iterator[Work]:
    """All kernels that are measured on a GPU."""
    yield from (work for work in works() if work.sweep.method.kind == "kernel")


def main() -> int:
    limits: dict[str, Any] = {}
    for work in counted_works():
        each = limit(work)
        limits[work.name] = asdict(each)
        aim = f", aim {each.share_of_aim:.0%} of it" if each.share_of_aim else ""
        before = each.unsorted or {}
        suffix = ", {lanes_at_work:.0%} and {most_per_second:.2e} unsorted" if before else ""
        print(
            f"{work.name:50} {each.on_doubles:9.1f} on doubles, {each.lanes_at_work:4.0%} of lanes,"
            f" limit {each.most_per_second:.2e} {each.of}/s by {each.met_first}{aim}"
            f"{suffix.format(**before)}",
            flush=True,
        )
    record = {
        "nvrtc": nvrtc.version(),
        "device": DEVICE,
        "rate": RATE,
        "issues": ISSUES,
        "limits": limits,
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
