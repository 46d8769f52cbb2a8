"""The GPU benchmark and the GPU session, as far as they can be tested without a GPU."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import requires
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sweep.backends.base import Computed
from sweep.backends.cpu import CpuBackend
from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend, options_for
from sweep.errors import LostDeviceError
from sweep.models import models
from sweep.request import Sweep
from sweep.source import kernel_of, kernel_text
from sweep.work import Points
from tests import gpu_aims, gpu_cases, gpu_compiling, gpu_one, gpu_session
from tests.backends.cupy_twin import Gpu, install
from tests.benchmarks import ceilings, gpu, gpu_works, sass
from tests.benchmarks.gpu_works import Work
from tests.gpu.test_sass import CODE
from tests.gpu.twin import TwinDevice
from tests.points import Case, array_cases, cases, differing
from tests.points.files import file_cases

ROOT = Path(__file__).parents[2]
# The dependencies of the program, and CuPy. A machine with a GPU needs only CuPy of these.
MISSING = """cupy xarray zarr numcodecs dask distributed pydantic pint typer rich matplotlib scipy
    filelock fsspec h5netcdf h5py hypothesis psutil"""


@pytest.fixture
def harmonic_balance() -> Work:
    """A method that needs no compiler."""
    (case,) = [case for case in array_cases(8) if case.sweep.method.name == "harmonic_balance"]
    return Work("harmonic balance", case.sweep, case.points)


def quickest_cases(count: int) -> list[Case]:
    """The cases whose kernels have the shortest texts, and so compile fastest."""
    return sorted(cases(8), key=lambda case: len(kernel_text(kernel_of(case.sweep))))[:count]


# Measurements.


def test_every_method_is_measured_and_maps_early() -> None:
    no_device: Any = None  # the list of measurements needs none
    measured = list(gpu.measurements(no_device, no_device, gpu_works.works(64, 64)))
    sections = [section for section, _, _ in measured]
    assert sections[5:19] == [*4 * ["kernels"], *8 * ["maps"], *2 * ["kernels"]]
    assert {*sections[:5]} == {"ceilings"}
    assert [name.partition(",")[0] for _, name, _ in measured[5 : 5 + gpu_works.MAIN]] == [
        "friction_oscillator exact",
        "friction_oscillator euler",
        "mdr_contact exact",
        "mdr_contact time_stepping",
    ]
    assert sections[gpu.FIRST - 1 : gpu.FIRST + 1] == ["kernels", "maps"]
    names = [name for _, name, _ in measured]
    assert len({*names}) == len(names)
    for model in models().values():
        for method in model.methods:
            assert any(f"{model.name} {method.name}" in name for name in names)
    assert {gpu.BILLION, gpu.SAMPLES, "lorenz rk4, final x"} < {*names}
    on_core = gpu.of_one_core(gpu_works.works(64, 64))
    kernels = [name for section, name, _ in measured if section == "kernels"]
    assert [name for _, name, _ in on_core] == kernels


def test_a_failure_replaces_its_figures_and_the_others_follow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gpu.json"

    def fails() -> Any:
        raise RuntimeError("an illegal address")

    def measurements() -> Iterator[gpu.Measurement]:
        yield "kernels", "first", lambda: {"kernel_points_per_second": 2.0}
        assert json.loads(path.read_text())["kernels"].keys() == {"first"}  # stored at once
        yield "maps", "second", fails
        yield "kernels", "third", lambda: {"points": 3}

    assert gpu.record(path, {"date": "today"}, measurements()) == 1
    assert json.loads(path.read_text()) == {
        "date": "today",
        "ceilings": {},
        "kernels": {"first": {"kernel_points_per_second": 2.0}, "third": {"points": 3}},
        "maps": {"second": {"error": "RuntimeError: an illegal address"}},
        "one_core": {},
    }
    assert "second" + 50 * " " + " failed: RuntimeError: an illegal" in capsys.readouterr().out


def test_a_measurement_that_loses_the_gpu_costs_no_other(tmp_path: Path) -> None:
    """The next process takes the remaining measurements, without those that ended a process."""
    path, done = tmp_path / "gpu.json", []

    def lost() -> Any:
        raise LostDeviceError("the GPU is lost")

    def killed() -> Any:
        raise KeyboardInterrupt

    def measurements() -> Iterator[gpu.Measurement]:
        yield "kernels", "first", lambda: done.append("first") or {"points": 1}
        yield "kernels", "second", lost
        yield "maps", "third", killed
        yield "maps", "fourth", lambda: done.append("fourth") or {"points": 4}

    for ends in (LostDeviceError, KeyboardInterrupt):
        with pytest.raises(ends):
            gpu.record(path, {"date": "today"}, measurements())
    assert gpu.record(path, {"date": "tomorrow"}, measurements()) == 0
    assert done == ["first", "fourth"]
    kept = json.loads(path.read_text())
    assert kept["date"] == "today"
    assert kept["kernels"]["second"] == {"error": "LostDeviceError: the GPU is lost"}
    assert kept["maps"] == {
        "third": {"error": "the process ended before it did"},
        "fourth": {"points": 4},
    }


def test_ceilings_are_measured_through_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Gpu())
    monkeypatch.setattr(ceilings, "CLOCK", ("no-nvidia-smi",))
    device = find_gpu()
    figures = ceilings.doubles(device, seconds=0.01)
    assert figures["doubles_per_second"] > 1e6
    assert "no-nvidia-smi" in figures["clock_and_power"]
    copies = ceilings.copies(device, n_bytes=1 << 16)
    assert len(copies) == 4
    assert min(copies.values()) > 1e6
    assert ceilings.files(2, n_bytes=1 << 10, count=4)["bytes_per_second"] > 0


def test_the_figures_of_a_method_come_from_its_points(harmonic_balance: Work) -> None:
    figures = gpu.measured(harmonic_balance, CpuBackend())
    # The others: no motion, too small, too hard.
    assert (figures["points"], figures["ok"]) == (8, 5)
    assert figures["kernel_points_per_second"] > 0 < figures["call_points_per_second"]
    assert gpu.on_one_core(harmonic_balance)["points_per_second"] > 0


def test_points_that_are_sorted_are_measured_as_they_come_too() -> None:
    case = next(each for each in cases(40) if each.name == "friction_oscillator-exact")
    backend = GpuBackend(TwinDevice())
    figures = gpu.measured(Work("exact", case.sweep, case.points), backend)
    assert figures["unsorted_kernel_points_per_second"] > 0
    assert figures["unsorted_call_points_per_second"] > 0
    whole = gpu_works.as_they_come(Work("exact", case.sweep, case.points))
    assert not [each for each in gpu.measured(whole, backend) if "unsorted" in each]


def test_without_a_compiler_the_cpu_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CXX", "no-such-compiler")
    assert "no-such-compiler" in gpu.on_one_core(gpu_works.sdnd104(16))["not_measured"]


@pytest.mark.parametrize(("threads", "points", "done"), [(1, 20, 24), (2, 20, 24), (2, 1, 8)])
def test_a_map_has_whole_chunks(
    harmonic_balance: Work, threads: int, points: int, done: int
) -> None:
    figures = gpu.whole_map(CpuBackend(), harmonic_balance, threads, points)
    assert figures["points"] == done
    assert 0 < figures["kernel_seconds"] < threads * figures["seconds"]


def test_a_map_ends_in_time(harmonic_balance: Work) -> None:
    assert gpu.whole_map(CpuBackend(), harmonic_balance, 2, 10**9, limit=0.3)["points"] < 1e5


def test_a_map_is_run_by_the_engine_if_its_dependencies_are_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figures = gpu.stored_map(side=32, backend="cpu", workers=2)
    assert figures["points"] == 1024
    assert figures["stored_bytes"] > 1024
    assert figures["seconds_of_all"] == pytest.approx(figures["seconds"])
    monkeypatch.setitem(sys.modules, "zarr", None)
    assert "zarr" in gpu.stored_map(side=32, backend="cpu")["not_measured"]


def test_samples_are_extrapolated_from_those_done_in_time() -> None:
    points, seconds = 10**9, 1.0
    figures = gpu.samples(points, 2**16, seconds, backend="cpu")
    assert 2**16 <= figures["points"] < points
    assert figures["points"] % 2**16 == 0
    assert figures["seconds"] > seconds
    all_seconds = figures["seconds"] * points / figures["points"]
    assert figures["seconds_of_all"] == pytest.approx(all_seconds)


@dataclass
class Facts:
    name: str = "NVIDIA H200"
    driver: str = "580.159.03"
    double_rate: float = 132 * 64 * 1.98e9  # multiprocessors, operations per clock, clock


def test_the_record_has_device_driver_and_date() -> None:
    device: Any = SimpleNamespace(facts=Facts())  # all that is used of it
    about = gpu.machine(device)
    assert about["device"]["name"] == "NVIDIA H200"
    assert about["device"]["driver"] == "580.159.03"
    assert about["date"][:2] == "20"


# The fraction of the peak rate of operations on doubles.


def test_the_fraction_is_the_rate_of_the_steps_over_the_peak_rate() -> None:
    """49 operations in two steps: 24.5 × 3e11 steps/s, of 1.67e13 operations/s."""
    figures = gpu.issue(sass.time_loops(CODE), 1, 3e11, Facts().double_rate)
    assert figures["doubles_per_step"] == 24.5
    assert figures["fraction_of_double_rate"] == pytest.approx(0.4394, abs=1e-4)
    assert figures["time_loops"][0]["counted"] == 2


def test_the_operations_per_step_of_four_springs_are_the_mean_of_their_loops() -> None:
    (loop,) = sass.time_loops(CODE)
    twice = sass.Loop(**{**loop.__dict__, "fewest_on_doubles": 98})
    figures = gpu.issue([loop, twice], 4, 1e12, 0.0)
    assert figures["doubles_per_step"] == (24.5 + 49) / 2 / 4
    assert "fraction_of_double_rate" not in figures  # the rate is unknown


def test_there_is_no_fraction_if_steps_are_not_counted() -> None:
    (loop,) = sass.time_loops(CODE)
    unknown = sass.Loop(**{**loop.__dict__, "counted": None})
    assert "doubles_per_step" not in gpu.issue([loop, unknown], 1, 1e12, 1e13)
    assert "doubles_per_step" not in gpu.issue([], 1, 1e12, 1e13)


def test_the_fraction_is_added_to_speeds_in_steps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To those that are recorded, by whichever process."""
    no_device: Any = None
    euler, exact = gpu_works.stepping("euler", 64, 100), gpu_works.sdnd104(8)
    speeds = {euler.name: {"kernel_steps_per_second": 3.0}, exact.name: {"points": 64}}
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps({"kernels": speeds}))
    monkeypatch.setattr(sass, "available", lambda: True)
    monkeypatch.setattr(gpu, "_issue", lambda _work, _device, speed: {"doubles_per_step": speed})
    gpu.add_issue(path, no_device, [euler, exact, gpu_works.contacts(8)])
    speeds[euler.name]["doubles_per_step"] = 3.0
    assert json.loads(path.read_text()) == {"kernels": speeds}


def test_nothing_is_added_when_no_time_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    no_device: Any = None
    path = tmp_path / "gpu.json"
    path.write_text('{"kernels": {}}')
    monkeypatch.setattr(sass, "available", lambda: True)
    gpu.add_issue(path, no_device, [gpu_works.sdnd104(8)], end=time.monotonic() + 1)
    assert "no time left" in capsys.readouterr().out


def test_speeds_are_printed_beside_their_aims_and_limits() -> None:
    """On half of that GPU the limits are half as high, and the aims remain."""
    limit = {"of": "steps", "aim": 4e11, "most_per_second": 1e12}
    record = {"rate": 2e13, "limits": {"euler": limit, "other": {**limit, "aim": None}}}
    speeds = {"euler": {"kernel_steps_per_second": 1e11}}
    all_samples = {"seconds_of_all": 250.0, "points": 1e10, "points_per_second": 4e8}
    maps = {gpu.BILLION: {"error": "a fault"}, gpu.SAMPLES: all_samples}
    figures = {"device": {"double_rate": 1e13}, "kernels": speeds, "maps": maps}
    _, euler, billion, sampled = gpu_aims.rows(figures, record)
    assert euler.split()[1:] == ["4.00e+11", "1.00e+11", "25%", "5.00e+11", "20%"]
    assert "a fault" in billion
    assert "250 s for all, from 1.00e+10 points" in sampled


def test_one_work_is_computed_again_and_again_without_pools(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    twin = install(monkeypatch, Gpu())
    assert gpu_one.main("friction_oscillator exact, wear", "64", "3", "plain") == 0
    assert "64 points, 1 results of 3 calls" in capsys.readouterr().out
    assert twin.plain == [None, None]
    numbers = iter(range(3))
    other = lambda *_: Computed({"status": np.array([next(numbers)])}, 0.0)  # noqa: E731
    monkeypatch.setattr(GpuBackend, "compute", other)
    assert gpu_one.main("friction_oscillator exact, wear", "64", "3") == 1


# The session on a machine with a GPU.


def test_a_session_takes_the_main_methods_first_and_reads_machine_code_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    def run(what: str, command: list[str], log: Path, end: float) -> int:
        main = "--main" in command or gpu_session.MAIN_TESTS in command
        done.append(f"main {what}" if main else what)
        assert what == "compiling" or not figures.exists()
        log.write_text("tests/gpu/a.py::one[a-b] PASSED [ 1%]\ntests/gpu/a.py::two FAILED\n")
        if what == "speeds" and not main:
            figures.write_text("{}")
        return 124 if what == "bits" and main else 0

    device = SimpleNamespace(facts=Facts(), try_kernel=lambda: None)
    figures = tmp_path / "gpu-nvidia-h200.json"
    figures.write_text("of an earlier session")
    monkeypatch.setattr(gpu_session, "not_carried", list)
    monkeypatch.setattr(gpu_session, "find_gpu", lambda: device)
    monkeypatch.setattr(gpu_session, "run", run)
    monkeypatch.setattr(gpu_session, "works", tuple)
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "kernels"))
    for name in ("registers_tried", "add_issue", "report"):
        monkeypatch.setattr(gpu_session, name, lambda *_, name=name: done.append(name))
    assert gpu_session.main(tmp_path) == 1
    both = ["main bits", "main speeds", "bits", "speeds"]
    assert done == ["compiling", *both, "registers_tried", "add_issue", "report"]
    kept = json.loads(figures.read_text(encoding="utf-8"))
    assert kept["comparisons"] == {"one[a-b]": "PASSED", "two": "FAILED"}


def test_the_main_tests_are_of_the_main_methods() -> None:
    command = [*gpu_session.BITS[2:], "--collect-only", "-k", gpu_session.MAIN_TESTS]
    found = re.findall(r"<Function (\S+)\[(\S+)\]>", without("", *command).stdout)
    names = ("friction_oscillator-exact", "friction_oscillator-euler")
    names += ("mdr_contact-exact", "mdr_contact-time_stepping", "lorenz-rk4", "lorenz-rk54")
    assert found == [
        ("test_the_bits_are_those_of_the_cpu", case.name)
        for case in (*cases(8), *file_cases(8))
        if case.name.removesuffix("-variants") in names
    ]


def test_carried_results_belong_to_one_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, copied_kernels: Path
) -> None:
    few = quickest_cases(2)
    monkeypatch.setattr(gpu_cases, "cases", lambda _: few)
    monkeypatch.setattr(gpu_cases, "file_cases", lambda _: [])
    names = [case.name for case in (*few, *array_cases(8))]
    assert gpu_cases.not_carried(tmp_path) == names
    gpu_cases.write(tmp_path, n_array_points=8)
    assert gpu_cases.not_carried(tmp_path) == []
    points, bits = gpu_cases.expected(few[0], tmp_path)
    assert differing(bits, dict(CpuBackend().compute(few[0].sweep, points).arrays)) == []
    with (copied_kernels / "portable.h").open("a") as header:
        header.write("// changed\n")
    assert gpu_cases.not_carried(tmp_path) == [case.name for case in few]  # others are Python


def test_packages_that_are_carried_need_no_others() -> None:
    """Of the program's dependencies and theirs, each is carried or expected on the machine."""
    named = {*gpu_cases.CARRIED, *gpu_cases.ON_THE_MACHINE}
    assert len(named) == len(gpu_cases.CARRIED) + len(gpu_cases.ON_THE_MACHINE)
    machine = {"python_version": gpu_cases.PYTHON, "extra": ""}
    needed = set[str]()
    for package in ("tribosweep", *gpu_cases.CARRIED):
        for each in map(Requirement, requires(package) or ()):
            if each.marker is None or each.marker.evaluate(machine):
                needed.add(canonicalize_name(each.name))
    assert needed <= named


def test_kernels_are_compiled_with_their_limits_of_registers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of the session, in place of their methods' too. A fault of one costs no other."""
    prepared: list[str] = []
    computed: list[tuple[str, bool]] = []  # for CuPy's own kernels

    class Backend:
        def __init__(self, device: object) -> None:
            assert device == "a device"

        def prepare(self, sweep: Sweep, points: Points) -> None:
            used = options_for(kernel_of(sweep, points.variants))
            limits = [option for option in used if "maxrregcount" in option]
            prepared.append(" ".join([sweep.model.name, sweep.method.name, *limits]))
            if limits == ["--maxrregcount=64"]:
                raise RuntimeError("ptxas")

        def compute(self, sweep: Sweep, points: Points) -> None:
            assert points.n_points
            computed.append((sweep.method.kind, sweep.reduction is not None))

    gpu_compiling.backend.cache_clear()
    monkeypatch.setattr(gpu_compiling, "find_gpu", lambda: "a device")
    monkeypatch.setattr(gpu_compiling, "GpuBackend", Backend)
    faults = [gpu_compiling.compiled(number) for number in range(len(gpu_compiling.jobs()))]
    gpu_compiling.backend.cache_clear()
    arrays = len(list(array_cases(8)))
    assert computed == [*arrays * [("array", False)], *4 * [("kernel", True)]]
    limits = [f" --maxrregcount={most}" for most in (128, 96, 80, 64)]
    tried = ["friction_oscillator exact", "friction_oscillator euler", "mdr_contact exact"]
    tried += ["mdr_contact time_stepping", "mdr_contact time_stepping_2"]
    assert {f"{name}{limit}" for name in tried for limit in ("", *limits)} <= {*prepared}
    assert "friction_oscillator rk54 --maxrregcount=120" in prepared
    assert "friction_oscillator euler: RuntimeError: ptxas" in faults
    assert (
        len(faults) - len(computed)
        == len(prepared)
        > len(list(cases(8))) + len(tried) * len(limits)
    )


@pytest.mark.parametrize(
    ("missing", "message"),
    [(["a case"], r"bits of a case .*python -m tests.gpu_cases"), ([], "CuPy is not installed")],
)
def test_a_session_without_bits_to_compare_or_without_cupy_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    missing: list[str],
    message: str,
) -> None:
    """Even with a compiler: computing the bits would take the time of a GPU."""
    monkeypatch.setattr(gpu_session, "not_carried", lambda: missing)
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert gpu_session.main(tmp_path) == 3
    assert re.search(message, capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


# A process whose worker ignores interrupts.
WITH_A_WORKER = """
import subprocess, sys, time
ignoring = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
print(subprocess.Popen([sys.executable, "-c", ignoring]).pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def interrupts_ignored() -> Iterator[None]:
    """As by a shell, of what it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_ignored")
def test_a_command_that_runs_too_long_is_ended_and_its_output_kept(tmp_path: Path) -> None:
    log, end = tmp_path / "log", time.monotonic() + gpu_session.ENDING + 3
    command = [sys.executable, "-c", WITH_A_WORKER]
    assert gpu_session.run("bits", command, log, end) == 124
    assert time.monotonic() < end + 5
    worker, *_ = log.read_text().splitlines()
    assert "KeyboardInterrupt" in log.read_text()  # pytest then reports its failures
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(int(worker)).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end + 5


# A GPU that is lost at its twelfth launch, in every process.
ON_FAULTY_TWIN = """
import sys
import pytest
from tests.backends.cupy_twin import Gpu
sys.modules.update(Gpu(fails_from=12).modules())
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.broad
def test_tests_after_one_that_loses_the_gpu_run_in_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    quickest = {case.name for case in quickest_cases(3)}
    few = f"(those_of_the_cpu and ({' or '.join(quickest)})) or describes_itself"
    command = [sys.executable, "-c", ON_FAULTY_TWIN, *gpu_session.BITS[3:], "-k", few]
    log = tmp_path / "bits.txt"
    assert gpu_session.compared_bits(log, time.monotonic() + 200, command) != 0
    results = re.findall(
        r"^tests/gpu/test_on_gpu.py::(\S+) (PASSED|FAILED|ERROR)", log.read_text(), re.M
    )
    selected = [case.name for case in cases(8) if any(name in case.name for name in quickest)]
    assert [name for name, _ in results] == [
        *(f"test_the_bits_are_those_of_the_cpu[{name}]" for name in selected),
        "test_the_device_describes_itself",
    ]
    assert {verdict for _, verdict in results} == {"PASSED", "FAILED"}
    assert log.read_text().count("the GPU is lost to this process") > 1


def test_registers_are_left_out_if_no_time_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before it looks for a GPU."""
    gpu_session.registers_tried(tmp_path / "registers.json", end=time.monotonic() + 5)
    assert "no time left" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def without(packages: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a module as a program that cannot import these packages; pytest has no plugins."""
    module, *arguments = command
    text = f"""
import runpy, sys
sys.modules |= dict.fromkeys({packages!r}.split())
sys.argv = {[module, *arguments]!r}
runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
"""
    return subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )


ON_GPU = (
    "pytest",
    "-q",
    "-m",
    "gpu",
    "-p",
    "no:cacheprovider",
    "-k",
    "describes or array or harmonic",
)


def test_without_a_gpu_its_tests_are_skipped_or_fail_if_one_is_required() -> None:
    skipped = without(MISSING, *ON_GPU)
    assert skipped.returncode == 0, skipped.stdout + skipped.stderr
    assert "2 skipped" in skipped.stdout
    failed = without(MISSING, *ON_GPU, "--require-gpu", "-W", "default")
    assert failed.returncode == 1
    assert "2 errors" in failed.stdout
    for done in (skipped, failed):
        assert "no GPU can be used: CuPy is not installed. pip install" in done.stdout
        assert "passed" not in done.stdout


def test_without_cupy_nothing_is_measured_and_the_error_says_why(tmp_path: Path) -> None:
    done = without(MISSING, "tests.benchmarks.gpu", str(tmp_path))
    assert done.returncode == 3
    assert "CuPy is not installed. pip install 'cupy-cuda12x" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
