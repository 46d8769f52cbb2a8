"""Points of every kernel, computed once: `python -m tests.cases [NAME ...]`, for sanitizers.

With clang, which compiles a kernel for them in about a minute (GCC takes ten):

    export TRIBOSWEEP_CXX="clang++ -O1 -shared-libasan -fsanitize=address,undefined"
    export LD_PRELOAD=$(clang -print-file-name=libclang_rt.asan-x86_64.so)
    ASAN_OPTIONS=detect_leaks=0 TRIBOSWEEP_CACHE_DIR=$(mktemp -d) python -m tests.cases

NAME is how a kernel's name begins; all 55 take about 50 minutes of a core. Faults are reported
as they happen.
"""

from __future__ import annotations

import sys

from sweep.kernel.cpu import CpuBackend
from tests.cases import cases
from tests.cases.files import NAMES, case_of_file, methods_of

POINTS = 200

if __name__ == "__main__":
    of_files = (case_of_file(name, method, POINTS) for name in NAMES for method in methods_of(name))
    for case in (*cases(POINTS), *of_files):
        if case.name.startswith(tuple(sys.argv[1:] or [""])):
            CpuBackend().compute(case.sweep, case.points)
            print(case.name, flush=True)
