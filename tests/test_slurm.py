"""Workers as SLURM jobs: what a job asks for, and the run that waits for them.

There is no SLURM here: dask-jobqueue's own script is looked at where it is installed, and a run is
made with processes in place of jobs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from distributed import LocalCluster

from sweep.config import load
from sweep.engine import run, slurm
from sweep.errors import MachineError
from sweep.spec import RunOptions
from sweep.store import MemoryResults
from tests.test_engine import SWEEP, bits_of, create
from tests.test_faults import REQUEST, ROW

TABLE = {
    "queue": "batch",
    "account": "tribology",
    "walltime": "00:30:00",
    "cores": 8,
    "memory": "16 GB",
    "jobs": 2,
    "extra": ["--constraint=avx512"],
    "prologue": ["module load gcc"],
}


class ProcessesForJobs(LocalCluster):
    """Takes what SLURMCluster takes; its jobs are processes of this machine."""

    asked: ClassVar[dict[str, Any]] = {}

    def __init__(self, **asked: Any) -> None:
        type(self).asked = asked
        super().__init__(n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0")

    def scale(self, jobs: int) -> Any:
        return super().scale(jobs)


def test_a_run_waits_for_its_jobs_and_computes_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobqueue: Any = ModuleType("dask_jobqueue")
    jobqueue.SLURMCluster = ProcessesForJobs
    monkeypatch.setitem(sys.modules, "dask_jobqueue", jobqueue)
    threads = MemoryResults(SWEEP)
    run(threads)
    store = create(tmp_path / "map.zarr", SWEEP, ROW)
    summary = run(store, RunOptions(cluster="slurm", slurm=TABLE))
    assert (summary.workers, summary.backend, summary.points) == (2, "SLURM jobs", 108)
    assert bits_of(store.dataset()) == bits_of(threads.dataset())
    asked = ProcessesForJobs.asked
    assert (asked["queue"], asked["cores"], asked["processes"]) == ("batch", 8, 1)


def test_the_script_of_a_job_says_what_was_asked() -> None:
    pytest.importorskip("dask_jobqueue")
    lines = slurm.job_script(RunOptions(slurm=TABLE)).splitlines()
    for line in (
        "#SBATCH -p batch",
        "#SBATCH -A tribology",
        "#SBATCH -t 00:30:00",
        "#SBATCH --cpus-per-task=8",
        "#SBATCH --constraint=avx512",
        "module load gcc",
    ):
        assert line in lines


def test_without_dask_jobqueue_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    store = create(tmp_path / "map.zarr", SWEEP, ROW)
    with pytest.raises(MachineError, match=r"tribosweep\[slurm\].*--shard i/N"):
        run(store, RunOptions(cluster="slurm"))


def test_a_sweep_file_says_what_a_job_asks_for() -> None:
    request = load({**REQUEST, "run": {"cluster": "slurm", "slurm": {"queue": "batch"}}})
    assert (request.options.cluster, request.options.slurm) == ("slurm", {"queue": "batch"})
    assert slurm.arguments(request.options.slurm)["walltime"] == "01:00:00"
