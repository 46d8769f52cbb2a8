"""The benchmark of GPUs and what else runs on such a machine, as far as it goes without one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sweep.backends.cpu import CpuBackend
from sweep.errors import LostDeviceError
from sweep.models import models
from sweep.source import kernel_of, kernel_text
from tests import gpu_cases, gpu_session
from tests.benchmarks import gpu, gpu_works, sass
from tests.benchmarks.gpu_works import Work
from tests.gpu.test_sass import CODE
from tests.points import Case, array_cases, cases, differing

ROOT = Path(__file__).parents[2]
# All that the program needs, and CuPy: of these a machine with a GPU need have CuPy alone.
NOT_THERE = """cupy xarray zarr numcodecs dask distributed pydantic pint typer rich matplotlib scipy
    filelock fsspec h5netcdf h5py hypothesis psutil"""


@pytest.fixture
def harmonic_balance() -> Work:
    """Which needs no compiler."""
    (case,) = [case for case in array_cases(8) if case.sweep.method.name == "harmonic_balance"]
    return Work("harmonic balance", case.sweep, case.points)


def quickest_cases(count: int) -> list[Case]:
    """Those whose kernels have the shortest texts, and so are soonest compiled."""
    return sorted(cases(8), key=lambda case: len(kernel_text(kernel_of(case.sweep))))[:count]


# What is measured.


def test_every_method_is_measured_the_map_right_after_the_first_and_the_cpu_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compiling for the CPU takes longer than all that is of the GPU, whose time is short."""
    monkeypatch.setattr(gpu_works, "cases", lambda _: cases(64))
    monkeypatch.setattr(gpu_works, "array_cases", lambda _: array_cases(64))
    no_device: Any = None  # what is to be measured is told without one
    measured = list(gpu.measurements(no_device, no_device))
    sections = [section for section, _, _ in measured]
    assert sections[:5] == ["kernels", *3 * ["maps"], "kernels"]
    found = [each for each in measured if each[0] != "one_core"]
    assert "one_core" not in sections[: len(found)]
    kernels, one_core = (
        [name for section, name, _ in measured if section == of] for of in ("kernels", "one_core")
    )
    assert one_core == kernels
    assert len({name for _, name, _ in found}) == len(found)
    for model in models().values():
        for method in model.methods:
            assert any(f"{model.name} {method.name}" in name for _, name, _ in found)


def test_a_failure_is_told_in_place_of_its_figures_and_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gpu.json"

    def fails() -> Any:
        raise RuntimeError("an illegal address")

    def given() -> Iterator[gpu.Measurement]:
        yield "kernels", "first", lambda: {"kernel_points_per_second": 2.0}
        assert json.loads(path.read_text())["kernels"].keys() == {"first"}  # kept at once
        yield "maps", "second", fails
        yield "kernels", "third", lambda: {"points": 3}

    assert gpu.record(path, {"date": "today"}, given()) == 1
    assert json.loads(path.read_text()) == {
        "date": "today",
        "kernels": {"first": {"kernel_points_per_second": 2.0}, "third": {"points": 3}},
        "maps": {"second": {"error": "RuntimeError: an illegal address"}},
        "one_core": {},
    }
    assert "second" + 50 * " " + " failed: RuntimeError: an illegal" in capsys.readouterr().out


def test_a_measurement_that_costs_the_gpu_costs_no_other(tmp_path: Path) -> None:
    """A process after it measures what is left, and not again what has ended a process."""
    path, done = tmp_path / "gpu.json", []

    def lost() -> Any:
        raise LostDeviceError("the GPU is lost")

    def killed() -> Any:
        raise KeyboardInterrupt

    def given() -> Iterator[gpu.Measurement]:
        yield "kernels", "first", lambda: done.append("first") or {"points": 1}
        yield "kernels", "second", lost
        yield "maps", "third", killed
        yield "maps", "fourth", lambda: done.append("fourth") or {"points": 4}

    for ends in (LostDeviceError, KeyboardInterrupt):
        with pytest.raises(ends):
            gpu.record(path, {"date": "today"}, given())
    assert gpu.record(path, {"date": "tomorrow"}, given()) == 0
    assert done == ["first", "fourth"]
    kept = json.loads(path.read_text())
    assert kept["date"] == "today"
    assert kept["kernels"]["second"] == {"error": "LostDeviceError: the GPU is lost"}
    assert kept["maps"] == {
        "third": {"error": "the process ended before it did"},
        "fourth": {"points": 4},
    }


def test_a_methods_figures_are_of_its_points(harmonic_balance: Work) -> None:
    no_device: Any = None  # an array method has no kernel to be looked into
    found = gpu.measured(harmonic_balance, no_device, CpuBackend())
    assert (found["points"], found["ok"]) == (8, 5)  # one each of no motion, too small, too hard
    assert found["kernel_points_per_second"] > 0 < found["call_points_per_second"]
    assert gpu.on_one_core(harmonic_balance)["points_per_second"] > 0


def test_without_a_compiler_the_cpu_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CXX", "no-such-compiler")
    assert "no-such-compiler" in gpu.on_one_core(gpu_works.sdnd104(16))["not_measured"]


@pytest.mark.parametrize(("threads", "points", "done"), [(1, 20, 24), (2, 20, 24), (2, 1, 8)])
def test_a_map_is_so_many_chunks(
    harmonic_balance: Work, threads: int, points: int, done: int
) -> None:
    found = gpu.whole_map(CpuBackend(), harmonic_balance, threads, points)
    assert found["points"] == done
    assert 0 < found["kernel_seconds"] < threads * found["seconds"]


def test_a_map_ends_in_time(harmonic_balance: Work) -> None:
    assert gpu.whole_map(CpuBackend(), harmonic_balance, 2, 10**9, limit=0.3)["points"] < 1e5


def test_a_map_goes_through_the_engine_where_all_that_takes_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = gpu.stored_map(side=32, backend="cpu")
    assert found["points"] == 1024
    assert found["stored_bytes"] > 1024
    monkeypatch.setitem(sys.modules, "zarr", None)
    assert "zarr" in gpu.stored_map(side=32, backend="cpu")["not_measured"]


@dataclass
class Facts:
    name: str = "NVIDIA H200"
    driver: str = "580.159.03"
    double_rate: float = 132 * 64 * 1.98e9  # multiprocessors, a clock of each, clock


def test_the_record_tells_device_driver_and_date() -> None:
    device: Any = SimpleNamespace(facts=Facts())  # all that is asked of it
    about = gpu.machine(device)
    assert about["device"]["name"] == "NVIDIA H200"
    assert about["device"]["driver"] == "580.159.03"
    assert about["date"][:2] == "20"


# Which fraction of the rate of operations on doubles is used.


def test_the_fraction_is_what_steps_take_of_what_the_device_can() -> None:
    """49 operations in two steps: 24.5 × 3e11 steps/s, of 1.67e13 operations/s."""
    found = gpu.issue(sass.time_loops(CODE), 1, 3e11, Facts().double_rate)
    assert found["doubles_per_step"] == 24.5
    assert found["fraction_of_double_rate"] == pytest.approx(0.4394, abs=1e-4)
    assert found["time_loops"][0]["counted"] == 2


def test_a_thread_of_four_springs_takes_the_mean_of_its_loops() -> None:
    (loop,) = sass.time_loops(CODE)
    twice = sass.Loop(**{**loop.__dict__, "on_doubles": 98})
    found = gpu.issue([loop, twice], 4, 1e12, 0.0)
    assert found["doubles_per_step"] == (24.5 + 49) / 2 / 4
    assert "fraction_of_double_rate" not in found  # of an unknown rate


def test_there_is_no_fraction_where_steps_are_not_counted() -> None:
    (loop,) = sass.time_loops(CODE)
    unknown = sass.Loop(**{**loop.__dict__, "counted": None})
    assert "doubles_per_step" not in gpu.issue([loop, unknown], 1, 1e12, 1e13)
    assert "doubles_per_step" not in gpu.issue([], 1, 1e12, 1e13)


# The session on a machine with a GPU.


def test_what_is_carried_is_known_by_its_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few = quickest_cases(2)
    monkeypatch.setattr(gpu_cases, "cases", lambda _: few)
    names = [case.name for case in (*few, *array_cases(8))]
    assert gpu_cases.not_carried(tmp_path) == names
    gpu_cases.write(tmp_path, n_array_points=8)
    assert gpu_cases.not_carried(tmp_path) == []
    points, bits = gpu_cases.expected(few[0], tmp_path)
    assert differing(bits, dict(CpuBackend().compute(few[0].sweep, points).arrays)) == []
    real = gpu_cases.kernel_text
    monkeypatch.setattr(gpu_cases, "kernel_text", lambda kernel: f"{real(kernel)}// changed")
    assert gpu_cases.not_carried(tmp_path) == names


def test_a_session_that_could_compare_no_bits_ends_before_a_gpu_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_session, "not_carried", lambda: ["friction_oscillator-exact"])
    monkeypatch.setattr(sys, "argv", ["gpu_session", str(tmp_path / "out")])
    monkeypatch.setenv("TRIBOSWEEP_CXX", "no-such-compiler")
    assert gpu_session.main() == 3
    told = capsys.readouterr().err
    assert "friction_oscillator-exact" in told
    assert "python -m tests.gpu_cases" in told
    assert "CuPy" not in told


def test_what_outlasts_its_time_is_ended_and_has_told_all(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-c", "print('here'); import time; time.sleep(60)"]
    began = time.monotonic()
    assert gpu_session.run("bits", command, log, began + gpu_session.ENDING + 3) == 124
    assert time.monotonic() - began < 20
    assert log.read_text().startswith("here\n")
    assert "KeyboardInterrupt" in log.read_text()  # pytest then tells of what has failed


# A GPU that is lost with its twelfth launch, in every process.
ON_FAULTY_TWIN = """
import sys
import pytest
from tests.backends.cupy_twin import Gpu
sys.modules.update(Gpu(fails_from=12).modules())
sys.exit(pytest.main(sys.argv[1:]))
"""


def test_tests_after_one_that_costs_the_gpu_are_run_in_another_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    quickest = {case.name for case in quickest_cases(3)}
    few = f"(those_of_the_cpu and ({' or '.join(quickest)})) or tells_of_itself"
    command = [sys.executable, "-c", ON_FAULTY_TWIN, *gpu_session.BITS[3:], "-k", few]
    monkeypatch.setattr(gpu_session, "BITS", command)
    log = tmp_path / "bits.txt"
    assert gpu_session._bits(log, time.monotonic() + 200) != 0
    told = re.findall(
        r"^tests/gpu/test_on_gpu.py::(\S+) (PASSED|FAILED|ERROR)", log.read_text(), re.M
    )
    asked = [case.name for case in cases(8) if any(name in case.name for name in quickest)]
    assert [name for name, _ in told] == [
        *(f"test_the_bits_are_those_of_the_cpu[{name}]" for name in asked),
        "test_the_device_tells_of_itself",
    ]
    assert {verdict for _, verdict in told} == {"PASSED", "FAILED"}
    assert log.read_text().count("the GPU is lost to this process") > 1


def test_registers_are_left_out_where_no_time_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before a GPU is looked for."""
    gpu_session._registers(tmp_path / "registers.json", end=time.monotonic() + 5)
    assert "no time left" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def without(packages: str, *command: str) -> subprocess.CompletedProcess[str]:
    """A module as a program, in a process in which none of these packages can be imported.

    Pytest comes without plugins.
    """
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


ON_GPU = ("pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "-k", "tells or array or harmonic")


def test_without_a_gpu_its_tests_are_skipped_and_one_that_is_required_fails_them() -> None:
    skipped = without(NOT_THERE, *ON_GPU)
    assert skipped.returncode == 0, skipped.stdout + skipped.stderr
    assert "2 skipped" in skipped.stdout
    failed = without(NOT_THERE, *ON_GPU, "--require-gpu", "-W", "default")
    assert failed.returncode == 1
    assert "2 errors" in failed.stdout
    for told in (skipped, failed):
        assert "no GPU can be used: CuPy is not installed. pip install" in told.stdout
        assert "passed" not in told.stdout


@pytest.mark.parametrize("module", ["tests.benchmarks.gpu", "tests.gpu_session"])
def test_without_cupy_nothing_is_measured_and_that_is_said(module: str, tmp_path: Path) -> None:
    told = without(NOT_THERE, module, str(tmp_path))
    assert told.returncode == 3
    assert "CuPy is not installed. pip install 'tribosweep[cuda12]'" in told.stderr
    assert "Traceback" not in told.stderr
    assert list(tmp_path.iterdir()) == []
