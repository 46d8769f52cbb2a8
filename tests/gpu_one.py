r"""One of the works that are measured on a GPU, alone, for profilers, sanitizers and repeats.

    python -m tests.gpu_one NAME [POINTS [REPEATS [whole] [plain]]]

NAME is how the work's name begins (`gpu_works.py`); POINTS random ones of its points are computed,
or all for 0, REPEATS times, and each time the bits must be those of the first. With `whole` each
call has one launch: under a profiler all of them seem long, and would be short ones. With `plain`
each allocation is one of CUDA, not a piece of CuPy's pool, so that a sanitizer sees where it ends.

What takes the time of the three main kernels, from the third call (before the first one there is a
launch without points):

    for name in "friction_oscillator exact" "friction_oscillator euler" "mdr_contact exact"; do
        ncu --set full --clock-control none -k regex:tribosweep_run -s 3 -c 1 \
            -o "$OUT/${name// /-}" python3 -m tests.gpu_one "$name" 0 4 whole
    done

Memory that is read out of bounds or before it is written, on 64 points; both exit with 9 if any is:

    compute-sanitizer --tool memcheck --error-exitcode 9 \
        python3 -m tests.gpu_one "friction_oscillator exact" 64 1 plain
    compute-sanitizer --tool initcheck --error-exitcode 9 \
        python3 -m tests.gpu_one "friction_oscillator exact" 64 1 plain

Twenty times the same bits, of all points:

    python3 -m tests.gpu_one "friction_oscillator exact" 0 20
"""

from __future__ import annotations

import sys

from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend
from tests.benchmarks.gpu_works import random_part, works

WHOLE = 1 << 60  # units of work: more than a point needs


def main(name: str, points: str = "0", repeats: str = "1", *options: str) -> int:
    """Compute the work; 1 if a repeat gives other bits."""
    work = next(each for each in works() if each.name.startswith(name))
    if int(points):
        work = random_part(work, int(points), 1)
    device = find_gpu()
    if "plain" in options:
        device.library.cuda.set_allocator(None)
        device.library.cuda.set_pinned_memory_allocator(None)
    backend = GpuBackend(device, WHOLE if "whole" in options else None)
    distinct = {
        tuple(
            values.tobytes() for values in backend.compute(work.sweep, work.points).arrays.values()
        )
        for _ in range(int(repeats))
    }
    print(f"{work.name}: {work.points.n_points} points, {len(distinct)} results of {repeats} calls")
    return int(len(distinct) > 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
