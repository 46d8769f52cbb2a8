"""Workers as SLURM jobs by dask-jobqueue: the [run.slurm] table, and the script of a job."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from distributed import Security

from sweep.engine.schedulers import security_in_files
from sweep.errors import MachineError
from sweep.options import RunOptions
from sweep.wording import install

# The keys of [run.slurm] and their defaults.
DEFAULTS: Mapping[str, object] = {
    "queue": None,
    "account": None,
    "walltime": "01:00:00",
    "cores": 1,  # threads; a job is one process
    "memory": "4 GB",
    "jobs": 1,
    "extra": [],  # more #SBATCH lines, such as "--constraint=avx512"
    "prologue": [],  # shell lines to run before the worker starts, such as "module load gcc"
    "interface": None,  # the network of scheduler and workers, such as "ib0"
}


def jobs_and_cores(options: RunOptions) -> tuple[int, int]:
    """How many jobs a run submits, from [run.slurm] or else `workers`, and the cores of each."""
    workers = {} if options.workers is None else {"jobs": options.workers}
    table = {**DEFAULTS, **workers, **options.slurm}
    return int(str(table["jobs"])), int(str(table["cores"]))


def slurm_cluster(options: RunOptions, security: Security) -> Any:
    """A scheduler in this process whose workers are jobs, as many as jobs_and_cores returns.

    MachineError if dask-jobqueue is not installed, or if jobs cannot be submitted.
    """
    cluster = _cluster(options.slurm, security)
    try:
        cluster.sync(_submit, cluster, jobs_and_cores(options)[0])
    except (OSError, RuntimeError, ValueError) as error:
        cluster.close()
        why = " ".join(str(error).split())
        raise MachineError(
            f"cannot submit jobs to SLURM: {why}. Run this where `sbatch` works, correct "
            "[run.slurm] (--dry-run prints the script), or use a job array: --shard i/N"
        ) from error
    return cluster


async def _submit(cluster: Any, jobs: int) -> None:
    """Do what cluster.scale(jobs=jobs) does, but wait for it and let its errors through."""
    while len(cluster.worker_spec) < jobs:
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster._correct_state()
    finally:
        for name in [name for name, job in cluster.workers.items() if job.job_id is None]:
            del cluster.worker_spec[name]  # otherwise closing would wait for jobs that do not exist
            cluster._created.discard(cluster.workers.pop(name))


def job_script(options: RunOptions) -> str:
    """The script that each job would be submitted with; MachineError without dask-jobqueue."""
    with security_in_files(Path(gettempdir())) as security:
        cluster = _cluster(options.slurm, security)
        try:
            return str(cluster.job_script())
        finally:
            cluster.close()


def arguments(table: Mapping[str, object]) -> dict[str, Any]:
    """The arguments of SLURMCluster for a [run.slurm] table."""
    settings = {**DEFAULTS, **table}
    same_names = ("queue", "account", "walltime", "cores", "memory", "interface")
    return {
        **{name: settings[name] for name in same_names},
        "job_extra_directives": settings["extra"],
        "job_script_prologue": settings["prologue"],
        "processes": 1,
    }


def _cluster(table: Mapping[str, object], security: Security) -> Any:
    try:
        jobqueue: Any = importlib.import_module("dask_jobqueue")
    except ImportError as error:
        raise MachineError(
            "--cluster slurm needs dask-jobqueue, which is not installed: "
            f"{install('slurm')}, or use a job array: sweep run CONFIG --shard i/N"
        ) from error
    return jobqueue.SLURMCluster(**arguments(table), security=security)
