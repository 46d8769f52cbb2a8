"""The kernels of a session on a GPU, compiled on all processors: `python -m tests.gpu_compiling`.

They are left in CuPy's cache, where the tests and the measurements find them. One after another
they would take a minute and a half.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from sweep.backends import gpu as backend_module
from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend
from sweep.request import Sweep
from sweep.source import Kernel, kernel_of
from sweep.work import Points
from tests.benchmarks import gpu_works
from tests.points import cases

REGISTERS = (None, 128, 96, 80, 64)  # at most, for one thread
OPTIONS = backend_module.OPTIONS


def options(most: int | None) -> tuple[str, ...]:
    """The options of all kernels, with a limit of registers."""
    return (*OPTIONS, *([f"--maxrregcount={most}"] if most else []))


def tried() -> Iterator[gpu_works.Work]:
    """Works that are measured with fewer registers, too."""
    yield gpu_works.sdnd104(1024)
    yield gpu_works.stepping("euler", 2**20, 5000)
    yield gpu_works.contacts(1024)
    for method in ("time_stepping", "time_stepping_2"):
        yield gpu_works.springs(method, 2**14)


@functools.cache
def jobs() -> list[tuple[int | None, Sweep, Points]]:
    """The kernels of the tests and of the measurements, then those with fewer registers."""
    few = 64  # the points do not matter
    every = [*cases(few), *gpu_works.works(few, few)]
    found: dict[tuple[int | None, Kernel], tuple[int | None, Sweep, Points]] = {}
    for most, works in ((None, every), *((most, tried()) for most in REGISTERS[1:])):
        for each in works:
            if each.sweep.method.kind == "kernel":
                kernel = kernel_of(each.sweep, each.points.variants)
                found.setdefault((most, kernel), (most, each.sweep, each.points))
    return list(found.values())


def compiled(number: int) -> str:
    """Compile a job, by its number; what went wrong, or nothing."""
    most, sweep, points = jobs()[number]
    backend_module.OPTIONS = options(most)
    try:
        GpuBackend(find_gpu()).prepare(sweep, points)  # a device keeps kernels by their text alone
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
