"""Everything that needs a GPU, in one run of nine minutes at most.

    python -m tests.gpu_cases                     # on a machine with a compiler: the CPU's bits
    python -m tests.gpu_session FOLDER [SECONDS]  # on the one with NumPy, CuPy and pytest

First all kernels are compiled. Then, in order of importance: of the main methods, the results
compared with the CPU and the speeds; the same of all others, and of maps; the speeds with fewer
registers (more threads at once, but spills); operations per step. At the end the speeds are printed
beside what is aimed at. Each result is written into FOLDER at once: compiling.log, bits.txt,
session.log, gpu-DEVICE.json, registers.json. If a process loses its GPU, the remaining tests and
figures are run in another process. All processes keep CuPy's kernels in one temporary folder, which
another session on the machine finds again, unless CUPY_CACHE_DIR names one.

The exit status is 0, 1 if anything failed or was not finished, 3 if nothing was done. `gpu_one`
profiles and checks one kernel.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend
from sweep.errors import MachineError
from tests.benchmarks.gpu import GO_ON, MAIN_ALONE, add_issue, figures_path
from tests.benchmarks.gpu_works import works
from tests.gpu_aims import report
from tests.gpu_cases import not_carried
from tests.gpu_compiling import tried

TOTAL = 540.0  # s: ten minutes, less the time to install packages and to end
LIMITS = {"compiling": 90, "bits": 240, "speeds": 240}  # s
ENDING = 10  # s, to report after an interrupt
PROCESSES = 5  # at most, for one part
LONGEST = 30  # s, to compile and time one kernel
REPEATS = 3

PYTHON = [sys.executable, "-m"]
# Warnings of another NumPy or CuPy do not affect bits.
BITS = [*PYTHON, "pytest", "-v", "-m", "gpu", "--require-gpu", "-W", "default"]
MAIN_TESTS = (
    "those_of_the_cpu and (friction_oscillator-exact or friction_oscillator-euler "
    "or mdr_contact-exact or mdr_contact-time_stepping] or lorenz)"
)
BEGUN = re.compile(r"^(tests/\S+::\S+) ", re.MULTILINE)  # a test, as `pytest -v` prints it
ENDED = re.compile(r"^tests/gpu/\S+::(\S+) (PASSED|FAILED|ERROR|SKIPPED)", re.MULTILINE)
OVER = (0, 1, 3, 124)  # other exit statuses: the GPU is lost, or a crash


def main(folder: Path, seconds: float = TOTAL) -> int:
    end = time.monotonic() + seconds
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("CUPY_CACHE_DIR", str(Path(tempfile.gettempdir()) / "tribosweep-cupy"))
    try:
        _require_bits()
        device = find_gpu()
    except MachineError as error:
        print(f"nothing was done: {error}", file=sys.stderr)
        return 3
    device.try_kernel()
    print(device.facts, flush=True)
    compiling = min(end, time.monotonic() + LIMITS["compiling"])
    run("compiling", [*PYTHON, "tests.gpu_compiling"], folder / "compiling.log", compiling)
    figures = figures_path(folder, device)
    for old in (folder / "bits.txt", folder / "session.log", figures):
        old.unlink(missing_ok=True)
    statuses: list[int] = []
    for tests, option in (["-k", MAIN_TESTS], [MAIN_ALONE]), ([], []):
        statuses.append(compared_bits(folder / "bits.txt", end, [*BITS, *tests]))
        statuses.append(_speeds(folder, end, option))
    registers_tried(folder / "registers.json", end)
    if figures.exists():
        add_outcomes(figures, folder / "bits.txt")
        add_issue(figures, device, works(), end)
        report(figures)
    return int(any(statuses))  # not as they are: a caller takes 124 for a timeout


def _require_bits() -> None:
    """MachineError if the CPU's bits are not in files: computing them takes the time of a GPU."""
    if missing := not_carried():
        raise MachineError(
            f"the CPU's bits of {missing[0]} and {len(missing) - 1} more are not in .gpu_cases. "
            "Run `python -m tests.gpu_cases` on a machine with a compiler and bring the folder"
        )


def compared_bits(log: Path, end: float, command: Sequence[str] = BITS) -> int:
    """Run every test that the command selects once, if the log does not have it already."""
    end = min(end, time.monotonic() + LIMITS["bits"])
    begun = BEGUN.findall(log.read_text()) if log.exists() else []
    statuses: list[int] = []
    for _ in range(PROCESSES):
        left_out = [f"--deselect={test}" for test in begun]
        statuses.append(run("bits", [*command, "-p", "no:cacheprovider", *left_out], log, end))
        before, begun = begun, BEGUN.findall(log.read_text())
        if statuses[-1] in OVER or begun == before:
            break
    return max(statuses, key=abs)


def add_outcomes(figures: Path, log: Path) -> None:
    """Add to the figures how the comparison of bits ended, by test."""
    kept = json.loads(figures.read_text(encoding="utf-8"))
    kept["comparisons"] = dict(ENDED.findall(log.read_text(encoding="utf-8")))
    figures.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _speeds(folder: Path, end: float, options: Sequence[str]) -> int:
    """Measure every figure once that is not recorded yet, of those that the options leave."""
    end = min(end, time.monotonic() + LIMITS["speeds"])
    command = [*PYTHON, "tests.benchmarks.gpu", str(folder), GO_ON, *options]
    status = 0
    for _ in range(PROCESSES):
        status = run("speeds", command, folder / "session.log", end)
        if status in OVER:
            break
    return status


def run(what: str, command: list[str], log: Path, end: float) -> int:
    """Run a command until `end` at most, with its output in `log`; its status, or 124 if ended.

    It is interrupted before it is killed, so that it can report, and so are its own processes.
    """
    began = time.monotonic()
    # A shell starts what runs in the background so that it ignores interrupts, and so do children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}  # so that no output is lost at an end
    with (
        log.open("a") as out,
        # A group of its own: its workers would live on, and use the GPU.
        subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=environment, process_group=0
        ) as process,
    ):
        try:
            status = process.wait(max(end - began - ENDING, 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            status = 124
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDING)
        finally:
            with suppress(ProcessLookupError):  # none is left
                os.killpg(process.pid, signal.SIGKILL)
    lines = log.read_text().splitlines()[-30:]
    print(*lines, f"{what}: status {status}, {time.monotonic() - began:.0f} s", sep="\n")
    sys.stdout.flush()
    return status


def registers_tried(path: Path, end: float) -> None:
    """Speeds of the main kernels with each limit of registers, as time allows."""
    speeds: dict[str, dict[str, float]] = {}
    backend: GpuBackend | None = None
    for work, most in tried():
        what = f"{work.name:52} at most {most} registers"
        if time.monotonic() + LONGEST > end:
            print(f"{what}, and further: no time left")
            return
        try:
            backend = backend or GpuBackend(find_gpu())
            seconds = [_kernel_seconds(backend, work) for _ in range(REPEATS + 1)][1:]
        except Exception as error:  # of one kernel: others may succeed
            print(f"{what}: {type(error).__name__}: {error}")
            continue
        speed = (work.steps or work.points.n_points) / median(seconds)
        speeds.setdefault(work.name, {})[str(most)] = speed
        print(f"{what}: {speed:.3g} a second", flush=True)
        path.write_text(json.dumps(speeds, indent=1) + "\n", encoding="utf-8")


def _kernel_seconds(backend: GpuBackend, work: Any) -> float:
    return backend.compute(work.sweep, work.points).kernel_seconds


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(float, sys.argv[2:])))
