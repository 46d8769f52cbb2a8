"""The GPU benchmark and the GPU's tests, as far as they can be tested without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sweep.errors import LostDeviceError
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.gpu import GpuBackend
from sweep.kernel.source import kernel_of, kernel_text
from sweep.model.tables import models
from tests import gpu_cases
from tests.benchmarks import gpu, gpu_works
from tests.benchmarks.gpu_works import Work
from tests.cases import cases, differing
from tests.gpu.twin import TwinDevice

ROOT = Path(__file__).parents[2]
# The dependencies of the program, and CuPy. A machine with a GPU needs only CuPy of these.
MISSING = """cupy xarray zarr numcodecs dask distributed pint typer rich matplotlib scipy
    filelock fsspec h5netcdf h5py hypothesis psutil"""


@pytest.fixture
def harmonic_balance() -> Work:
    """A method of which some of the points fail."""
    (case,) = [case for case in cases(8) if case.sweep.method.name == "harmonic_balance"]
    return Work("harmonic balance", case.sweep, case.points)


# Measurements.


def test_every_method_is_measured_and_maps_early() -> None:
    no_backend: Any = None  # the list of measurements needs none
    measured = list(gpu.measurements(no_backend, gpu_works.works(64)))
    sections = [section for section, _, _ in measured]
    assert sections[:14] == [*4 * ["kernels"], *8 * ["maps"], *2 * ["kernels"]]
    assert [name.partition(",")[0] for _, name, _ in measured[: gpu_works.MAIN]] == [
        "friction_oscillator exact",
        "friction_oscillator euler",
        "mdr_contact exact",
        "mdr_contact time_stepping",
    ]
    names = [name for _, name, _ in measured]
    assert len({*names}) == len(names)
    for model in models().values():
        for method in model.methods:
            assert any(f"{model.name} {method.name}" in name for name in names)
    assert {gpu.BILLION, gpu.SAMPLES, "lorenz rk4, final x"} < {*names}


def test_a_measurement_that_fails_or_loses_the_gpu_costs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next process takes the remaining measurements, without those that ended a process."""
    path, done = tmp_path / "gpu.json", []

    def failing(error: BaseException) -> Any:
        raise error

    def measurements() -> Iterator[gpu.Measurement]:
        yield "kernels", "first", lambda: done.append("first") or {"points": 1}
        assert "first" in json.loads(path.read_text())["kernels"]  # stored at once
        yield "kernels", "second", lambda: failing(LostDeviceError("the GPU is lost"))
        yield "maps", "third", lambda: failing(KeyboardInterrupt())
        yield "maps", "fourth", lambda: failing(RuntimeError("an illegal address"))
        yield "maps", "fifth", lambda: done.append("fifth") or {"points": 4}

    for ends in (LostDeviceError, KeyboardInterrupt):
        with pytest.raises(ends):
            gpu.record(path, {"date": "today"}, measurements())
    assert gpu.record(path, {"date": "tomorrow"}, measurements()) == 1
    assert "fourth" + 50 * " " + " error RuntimeError: an illegal" in capsys.readouterr().out
    assert done == ["first", "fifth"]
    assert json.loads(path.read_text()) == {
        "date": "today",
        "kernels": {
            "first": {"points": 1},
            "second": {"error": "LostDeviceError: the GPU is lost"},
        },
        "maps": {
            "third": {"error": "the process ended before it did"},
            "fourth": {"error": "RuntimeError: an illegal address"},
            "fifth": {"points": 4},
        },
    }


def test_the_figures_of_a_method_come_from_its_points(harmonic_balance: Work) -> None:
    figures = gpu.measured(harmonic_balance, CpuBackend())
    # The others: no motion, too small, too hard.
    assert (figures["points"], figures["ok"]) == (8, 5)
    assert figures["kernel_points_per_second"] > 0 < figures["call_points_per_second"]


def test_points_that_are_sorted_are_measured_as_they_come_too() -> None:
    case = next(each for each in cases(40) if each.name == "friction_oscillator-exact")
    backend = GpuBackend(TwinDevice())
    figures = gpu.measured(Work("exact", case.sweep, case.points), backend)
    assert figures["unsorted_kernel_points_per_second"] > 0
    assert figures["unsorted_call_points_per_second"] > 0
    whole = gpu_works.as_they_come(Work("exact", case.sweep, case.points))
    assert not [each for each in gpu.measured(whole, backend) if "unsorted" in each]


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


def test_go_on_measures_what_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    device: Any = TwinDevice()
    device.facts = Facts()
    done = list[str]()

    def measurements(*_: Any) -> Iterator[gpu.Measurement]:
        for name in ("first", "second"):
            yield "kernels", name, lambda name=name: done.append(name) or {"points": len(done)}

    monkeypatch.setattr(gpu, "find_gpu", lambda: device)
    monkeypatch.setattr(gpu, "works", tuple)
    monkeypatch.setattr(gpu, "measurements", measurements)
    path = gpu.figures_path(tmp_path, device)
    assert path.name == "gpu-nvidia-h200.json"
    for options in ([], [gpu.GO_ON], []):
        monkeypatch.setattr(sys, "argv", ["gpu", str(tmp_path), *options])
        assert gpu.main() == 0
        kept = json.loads(path.read_text())
        assert kept["device"]["driver"] == "580.159.03"
        assert kept["date"][:2] == "20"
        if not options:
            del kept["kernels"]["second"]
            path.write_text(json.dumps(kept))
    assert done == ["first", "second", "second", "first", "second"]


# The bits for a machine without a compiler, and what needs a GPU on a machine without one.


def test_carried_results_belong_to_one_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, copied_kernels: Path
) -> None:
    # Their kernels have the shortest texts, and so compile fastest.
    few = sorted(cases(8), key=lambda case: len(kernel_text(kernel_of(case.sweep))))[:2]
    monkeypatch.setattr(gpu_cases, "cases", lambda _: few)
    monkeypatch.setattr(gpu_cases, "file_cases", lambda _: [])
    gpu_cases.write(tmp_path)
    assert {gpu_cases.file_of(case, tmp_path) for case in few} == {*tmp_path.glob("*.npz")}
    points, bits = gpu_cases.expected(few[0], tmp_path)
    assert differing(bits, dict(CpuBackend().compute(few[0].sweep, points).arrays)) == []
    with (copied_kernels / "portable.h").open("a") as header:
        header.write("// changed\n")
    assert not any(gpu_cases.file_of(case, tmp_path).exists() for case in few)


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


FEW_TESTS = "describes or float32"
ON_GPU = ("pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "-k", FEW_TESTS)


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
