"""The kernels of a session on a GPU, compiled on all processors: `python -m tests.gpu_compiling`.

They are left in CuPy's cache, where the tests and the measurements find them. One after another
they would take a minute and a half. CuPy's own kernels, of array methods, sorting and statistics,
are compiled when they are first used: these points are computed.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend
from sweep.request import Sweep
from sweep.source import Kernel, kernel_of
from sweep.work import Points
from tests.benchmarks import gpu_works
from tests.gpu_cases import N_ARRAY_POINTS, N_POINTS, REDUCED, reduced_case
from tests.points import array_cases, cases
from tests.points.files import file_cases

REGISTERS = (None, 128, 96, 80, 64)  # at most, for one thread


def tried() -> Iterator[tuple[gpu_works.Work, int | None]]:
    """Works that are measured with each limit of registers, in place of that of their methods."""
    works = (
        gpu_works.sdnd104(1024),
        gpu_works.stepping("euler", 2**20, 5000),
        gpu_works.contacts(1024),
        *(gpu_works.springs(name, 2**14) for name in ("time_stepping", "time_stepping_2")),
    )
    for most in REGISTERS:
        yield from ((gpu_works.with_registers(work, most), most) for work in works)


@functools.cache
def jobs() -> list[tuple[Sweep, Points]]:
    """What is computed, which takes longest, then all further kernels."""
    few = 64  # where the points do not matter
    # As many points as in the tests: CuPy compiles some kernels for several sizes.
    reduced = [case for case in cases(N_POINTS) if case.name in REDUCED]
    computed = [
        *array_cases(N_ARRAY_POINTS),
        *(reduced_case(c, c.points, exact=exact) for c in reduced for exact in (False, True)),
    ]
    works = (*gpu_works.works(few, few), *(work for work, _ in tried()))
    found: dict[Kernel, tuple[Sweep, Points]] = {}
    for each in (*cases(few), *file_cases(few), *works):
        if each.sweep.method.kind == "kernel":
            kernel = kernel_of(each.sweep, each.points.variants)
            found.setdefault(kernel, (each.sweep, each.points))
    return [*((each.sweep, each.points) for each in computed), *found.values()]


@functools.cache
def backend() -> GpuBackend:
    """The backend of this process, which opens the GPU once."""
    return GpuBackend(find_gpu())


def compiled(number: int) -> str:
    """Compile a job, by its number; what went wrong, or nothing."""
    sweep, points = jobs()[number]
    try:
        if sweep.method.kind == "array" or sweep.reduction is not None:
            backend().compute(sweep, points)
        else:
            backend().prepare(sweep, points)
    except Exception as error:  # of one kernel, which whoever needs it reports
        return f"{sweep.model.name} {sweep.method.name}: {type(error).__name__}: {error}"
    return ""


def main() -> int:
    """Compile every job; the number of those that failed."""
    from tests.gpu_compiling import compiled  # by this name in other processes, too

    began, n_jobs = time.monotonic(), len(jobs())
    processes = max(len(os.sched_getaffinity(0)) - 2, 1)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        faults = [fault for fault in pool.map(compiled, range(n_jobs)) if fault]
    seconds = time.monotonic() - began
    print(*faults, f"{n_jobs} kernels by {processes} processes, {seconds:.0f} s", sep="\n")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main())
