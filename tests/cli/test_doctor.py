"""The doctor finds each problem that keeps a machine from computing, and its cure."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sweep.cli.doctor import Finding, examine, versions
from sweep.kernel.compiler import find_compiler

pytestmark = pytest.mark.usefixtures("installed_once")


def findings() -> dict[str, Finding]:
    return {finding.subject: finding for finding in examine()}


def test_a_machine_that_can_compute_has_no_problem_that_stops(tmp_path: Path) -> None:
    by_subject = findings()
    assert not [finding for finding in by_subject.values() if finding.stops]
    assert find_compiler().version in by_subject["compiler"].found
    assert f"{len(os.sched_getaffinity(0))} cores" in by_subject["processor"].found
    assert "doubles per vector" in by_subject["trial kernel"].found


def test_the_trial_kernel_leaves_nothing_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path / "cache"))
    assert not findings()["trial kernel"].stops
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.suffix == ".so"]


def test_a_missing_compiler_stops_and_both_cures_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CXX", "/nowhere/g++")
    by_subject = findings()
    for subject in ("compiler", "trial kernel"):
        finding = by_subject[subject]
        assert finding.stops
        assert "apt install g++" in finding.problem
        assert "pip install 'ziglang" in finding.problem


def test_a_compiler_that_cannot_compile_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CXX", sys.executable)  # has --version, and no -std=c++17
    by_subject = findings()
    assert not by_subject["compiler"].stops
    assert by_subject["trial kernel"].stops
    assert "does not compile" in by_subject["trial kernel"].problem


def test_a_cache_that_others_can_write_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path))
    finding = findings()["kernel cache"]
    assert finding.stops
    assert "can be written by others" in finding.problem


def test_another_package_with_the_same_module_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "sweep_solver-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sweep-solver\nVersion: 1.2\n")
    (metadata / "RECORD").write_text("sweep/__init__.py,,\n")
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    finding = findings()["module sweep"]
    assert finding.found == "sweep-solver 1.2"
    assert "pip uninstall sweep-solver" in finding.problem
    assert not finding.stops


def test_versions_are_of_the_imported_libraries() -> None:
    import numpy
    import zarr

    library_versions = versions()
    assert library_versions["numpy"] == numpy.__version__
    assert library_versions["zarr"] == zarr.__version__
    assert library_versions["python"] == sys.version.split()[0]


@pytest.mark.parametrize("driver", [False, True])
def test_without_cupy_its_installation_is_named_and_a_driver_makes_it_a_problem(
    driver: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr("sweep.cli.doctor.KERNEL_MODULE", tmp_path / "none")
    nvidia_smi = tmp_path / "nvidia-smi"
    if driver:
        nvidia_smi.touch(mode=0o755)
    monkeypatch.setenv("TRIBOSWEEP_CXX", find_compiler().command[0])
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = findings()["GPU"]
    assert ("no NVIDIA driver" in finding.found) == (not driver)
    assert "CuPy is not installed" in finding.found
    cure = finding.problem if driver else finding.found
    assert "pip install 'cupy-cuda12x" in cure
    assert "pip install 'cupy-cuda13x" in cure
    assert bool(finding.problem) == driver
    assert not finding.stops
