"""Everything a machine with a GPU is needed for, in one run of at most ten minutes.

    python -m tests.gpu_cases                 # before, where a compiler is: the CPU's bits
    python -m tests.gpu_session FOLDER        # there, beside NumPy, CuPy and pytest

In order of importance: the device, the bits of every kernel against the CPU's, the speeds, and what
fewer registers would give (more threads at once, against spills). Everything is written into FOLDER
as soon as it is there: session.log, bits.txt, gpu-DEVICE.json, registers.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from sweep.backends import gpu as backend_module
from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend
from tests.benchmarks import gpu as benchmark

LIMITS = {"bits": 240, "speeds": 240}  # s
REGISTERS = (None, 168, 128, 96, 80)
REPEATS = 3


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    device = find_gpu()
    device.try_kernel()
    print(device.facts, flush=True)
    python = [sys.executable, "-m"]
    bits = [*python, "pytest", "-q", "-m", "gpu", "--require-gpu", "-p", "no:cacheprovider"]
    differ = _run("bits", bits, folder / "bits.txt")
    slow = _run("speeds", [*python, "tests.benchmarks.gpu", str(folder)], folder / "session.log")
    _registers(folder / "registers.json")
    return differ or slow


def _run(what: str, command: list[str], log: Path) -> int:
    """One command within its time; its words go into `log`, their end to the screen."""
    began = time.perf_counter()
    with log.open("w") as out:
        try:
            status = subprocess.run(
                command, stdout=out, stderr=subprocess.STDOUT, timeout=LIMITS[what]
            ).returncode
        except subprocess.TimeoutExpired:
            status = 124
    said = log.read_text().splitlines()[-30:]
    print(*said, f"{what}: status {status}, {time.perf_counter() - began:.0f} s", sep="\n")
    sys.stdout.flush()
    return status


def _registers(path: Path) -> None:
    """Speeds of the kernels that take most registers, with fewer of them."""
    works = (
        benchmark.sdnd104(1024),
        benchmark.stepping("euler", 2**20, 5000),
        *(work for work in benchmark.works() if work.name == "mdr_contact exact, sphere"),
        *(benchmark.springs(method, 2**14) for method in ("time_stepping", "time_stepping_2")),
    )
    options, found = backend_module.OPTIONS, {}
    for most in REGISTERS:
        backend_module.OPTIONS = (*options, *([f"--maxrregcount={most}"] if most else []))
        backend = GpuBackend(find_gpu())  # it compiles anew
        for work in works:
            seconds = [_kernel_seconds(backend, work) for _ in range(REPEATS + 1)][1:]
            speed = (work.steps or work.points.n_points) / median(seconds)
            found.setdefault(work.name, {})[str(most)] = speed
            print(f"{work.name:52} at most {most} registers: {speed:.3g} a second", flush=True)
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    backend_module.OPTIONS = options


def _kernel_seconds(backend: GpuBackend, work: Any) -> float:
    return backend.compute(work.sweep, work.points).kernel_seconds


if __name__ == "__main__":
    sys.exit(main())
