"""Everything a machine with a GPU is needed for, in one run of at most ten minutes.

    python -m tests.gpu_cases                 # before, where a compiler is: what the CPU computes
    python -m tests.gpu_session FOLDER        # there, beside NumPy, CuPy and pytest

In order of importance: the device, what every kernel and array method gives against the CPU, the
speeds, and what fewer registers would give (more threads at once, against spills). Everything is
written into FOLDER as soon as it is there: session.log, bits.txt, gpu-DEVICE.json, registers.json.
What costs a process its GPU costs no other test or figure: the rest goes on in another process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from sweep.backends import gpu as backend_module
from sweep.backends.compiler import find_compiler
from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend
from sweep.errors import CompileError, MachineError
from tests.benchmarks import gpu_works
from tests.gpu_cases import not_carried

TOTAL = 570  # s, less than the ten minutes by what it takes to end
LIMITS = {"bits": 240, "speeds": 240}  # s
ENDING = 10  # s, to say what is known after an interrupt
PROCESSES = 5  # for one part, at most
LONGEST = 30  # s: compiling one kernel and timing it
REGISTERS = (None, 168, 128, 96, 80)
REPEATS = 3

PYTHON = [sys.executable, "-m"]
# A warning of another NumPy or CuPy says nothing of bits.
BITS = [*PYTHON, "pytest", "-v", "-m", "gpu", "--require-gpu", "-W", "default"]
BEGUN = re.compile(r"^(tests/\S+::\S+) ", re.MULTILINE)  # a test, as `pytest -v` tells of it
OVER = (0, 1, 3, 124)  # what ends otherwise has lost its GPU, or crashed


def main() -> int:
    end = time.monotonic() + TOTAL
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _see_that_bits_can_be_compared()
        device = find_gpu()
    except MachineError as error:
        print(f"nothing is done: {error}", file=sys.stderr)
        return 3
    device.try_kernel()
    print(device.facts, flush=True)
    differ = _bits(folder / "bits.txt", end)
    slow = _speeds(folder, end)
    _registers(folder / "registers.json", end)
    return differ or slow


def _see_that_bits_can_be_compared() -> None:
    """MachineError where the CPU's are neither carried nor can be computed."""
    if not (missing := not_carried()):
        return
    told = f"the CPU's bits of {missing[0]} and {len(missing) - 1} more are not in .gpu_cases"
    try:
        find_compiler()
    except CompileError as error:
        raise MachineError(
            f"{told}, and {error}; `python -m tests.gpu_cases` writes them where a compiler is"
        ) from error
    print(f"{told}: they are computed here, in the time that comparing has", flush=True)


def _bits(log: Path, end: float) -> int:
    """Every test once."""
    log.unlink(missing_ok=True)
    end = min(end, time.monotonic() + LIMITS["bits"])
    begun: list[str] = []
    statuses: list[int] = []
    for _ in range(PROCESSES):
        left_out = [f"--deselect={test}" for test in begun]
        statuses.append(run("bits", [*BITS, "-p", "no:cacheprovider", *left_out], log, end))
        before, begun = begun, BEGUN.findall(log.read_text())
        if statuses[-1] in OVER or begun == before:
            break
    return max(statuses, key=abs)


def _speeds(folder: Path, end: float) -> int:
    """Every figure once."""
    log = folder / "session.log"
    log.unlink(missing_ok=True)
    end = min(end, time.monotonic() + LIMITS["speeds"])
    command = [*PYTHON, "tests.benchmarks.gpu", str(folder)]
    status = run("speeds", command, log, end)
    for _ in range(PROCESSES - 1):
        if status in OVER:
            break
        status = run("speeds", [*command, "--go-on"], log, end)
    return status


def run(what: str, command: list[str], log: Path, end: float) -> int:
    """One command until `end` at most, 124 where that ends it; its words go into `log`.

    It is interrupted before it is killed, so that it can say what it knows.
    """
    began = time.monotonic()
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}  # so that what is ended has told all
    with (
        log.open("a") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment) as process,
    ):
        try:
            status = process.wait(max(end - began - ENDING, 1))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            status = 124
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
    said = log.read_text().splitlines()[-30:]
    print(*said, f"{what}: status {status}, {time.monotonic() - began:.0f} s", sep="\n")
    sys.stdout.flush()
    return status


def _registers(path: Path, end: float) -> None:
    """Speeds of the kernels that take most registers, with fewer of them, as time allows."""
    options, found = backend_module.OPTIONS, {}
    for most in REGISTERS:
        backend_module.OPTIONS = (*options, *([f"--maxrregcount={most}"] if most else []))
        backend: GpuBackend | None = None
        for work in _works():
            if time.monotonic() + LONGEST > end:
                print(f"{work.name:52} at most {most} registers, and further: no time left")
                return
            try:
                backend = backend or GpuBackend(find_gpu())  # which compiles anew
                seconds = [_kernel_seconds(backend, work) for _ in range(REPEATS + 1)][1:]
            except Exception as error:  # of one kernel: others may go well
                print(f"{work.name:52} at most {most} registers: {type(error).__name__}: {error}")
                continue
            speed = (work.steps or work.points.n_points) / median(seconds)
            found.setdefault(work.name, {})[str(most)] = speed
            print(f"{work.name:52} at most {most} registers: {speed:.3g} a second", flush=True)
            path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _works() -> Iterator[gpu_works.Work]:
    yield gpu_works.sdnd104(1024)
    yield gpu_works.stepping("euler", 2**20, 5000)
    yield gpu_works.contacts(1024)
    for method in ("time_stepping", "time_stepping_2"):
        yield gpu_works.springs(method, 2**14)


def _kernel_seconds(backend: GpuBackend, work: Any) -> float:
    return backend.compute(work.sweep, work.points).kernel_seconds


if __name__ == "__main__":
    sys.exit(main())
