"""Workers as SLURM jobs, by dask-jobqueue: what [run.slurm] asks for, and the script of a job."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from sweep.errors import MachineError
from sweep.options import RunOptions

# Of [run.slurm]: what a job is asked, and what it is if nobody says so.
DEFAULTS: Mapping[str, object] = {
    "queue": None,
    "account": None,
    "walltime": "01:00:00",
    "cores": 1,  # a job is one process with so many threads
    "memory": "4 GB",
    "jobs": 1,
    "extra": [],  # more #SBATCH lines: "--constraint=avx512"
    "prologue": [],  # lines of shell before the worker starts: "module load gcc"
    "interface": None,  # network of scheduler and workers: "ib0"
}


def jobs_and_cores(options: RunOptions) -> tuple[int, int]:
    """How many jobs a run submits, as [run.slurm] or else `workers` says, and the cores of each."""
    workers = {} if options.workers is None else {"jobs": options.workers}
    table = {**DEFAULTS, **workers, **options.slurm}
    return int(str(table["jobs"])), int(str(table["cores"]))


def slurm_cluster(options: RunOptions) -> Any:
    """A scheduler in this process whose workers are jobs, as many as jobs_and_cores says.

    MachineError where dask-jobqueue is not installed or jobs cannot be submitted.
    """
    cluster = _cluster(options.slurm)
    try:
        cluster.sync(_submit, cluster, jobs_and_cores(options)[0])
    except (OSError, RuntimeError, ValueError) as error:
        cluster.close()
        why = " ".join(str(error).split())
        raise MachineError(
            f"cannot submit jobs to SLURM: {why}. Run this where `sbatch` works, see to "
            "[run.slurm] (--dry-run prints the script), or use job arrays: --shard i/N"
        ) from error
    return cluster


async def _submit(cluster: Any, jobs: int) -> None:
    """As cluster.scale(jobs=jobs), which does not wait, and tells nobody of its errors."""
    while len(cluster.worker_spec) < jobs:
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster._correct_state()
    finally:
        for name in [name for name, job in cluster.workers.items() if job.job_id is None]:
            del cluster.worker_spec[name]  # or closing would wait for jobs that are none
            cluster._created.discard(cluster.workers.pop(name))


def job_script(options: RunOptions) -> str:
    """The script that each job is submitted with; nothing is submitted.

    MachineError where dask-jobqueue is not installed.
    """
    cluster = _cluster(options.slurm)
    try:
        return str(cluster.job_script())
    finally:
        cluster.close()


def arguments(table: Mapping[str, object]) -> dict[str, Any]:
    """What SLURMCluster is given for a [run.slurm] table."""
    asked = {**DEFAULTS, **table}
    given = {name: asked[name] for name in ("queue", "account", "walltime", "cores", "memory")}
    lines = {
        "job_extra_directives": asked["extra"],
        "job_script_prologue": asked["prologue"],
    }
    return {**given, **lines, "processes": 1, "interface": asked["interface"]}


def _cluster(table: Mapping[str, object]) -> Any:
    given = arguments(table)
    try:
        jobqueue: Any = importlib.import_module("dask_jobqueue")
    except ImportError as error:
        raise MachineError(
            "--cluster slurm needs dask-jobqueue, which is not installed; install the extra: "
            "pip install 'tribosweep[slurm]', or use job arrays: sweep run CONFIG --shard i/N"
        ) from error
    return jobqueue.SLURMCluster(**given)
