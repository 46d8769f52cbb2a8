"""SLURM jobs as Dask workers: what [run.slurm] requests, and the script of a job."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dask.utils import parse_bytes

from sweep.request.options import RunOptions
from sweep.store import is_url

SECONDS_TO_FIND_SCHEDULER = 60  # after which a job ends
KEYS = ".tribosweep-keys-"  # the start of the name of a folder with keys
KEY, CERTIFICATE = "key.pem", "certificate.pem"
# The keys of [run.slurm] and their defaults; and the name of the sweep.
SLURM_DEFAULTS: Mapping[str, Any] = {
    "name": "tribosweep",
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


def named(options: RunOptions, name: str) -> RunOptions:
    """The options for a sweep of this name, of which jobs keep what shells take as it is."""
    safe = re.sub(r"[^A-Za-z0-9_.=+-]+", "-", name).strip("-") or SLURM_DEFAULTS["name"]
    return replace(options, slurm={**options.slurm, "name": safe})


def requested(options: RunOptions) -> dict[str, Any]:
    """The [run.slurm] table with its defaults; the number of jobs is there, or else `workers`."""
    workers = {} if options.workers is None else {"jobs": options.workers}
    return {**SLURM_DEFAULTS, **workers, **options.slurm}


def jobs_and_cores(options: RunOptions) -> tuple[int, int]:
    """How many jobs a run submits, and the cores of each."""
    table = requested(options)
    return table["jobs"], table["cores"]


def folder_of_keys(store: str | Path) -> Path:
    """A folder that jobs see: that of the store; for a URL, the home directory."""
    return Path.home() if is_url(store) else Path(store).absolute().parent


def job_script(options: RunOptions, worker: str, scheduler: str, keys: Path) -> str:
    """The script of the job of a worker, which finds its TLS keys in the folder `keys`."""
    table = requested(options)
    n_bytes = parse_bytes(table["memory"])
    directives = {
        "job-name": table["name"],
        "partition": table["queue"],
        "account": table["account"],
        "ntasks": 1,
        "cpus-per-task": table["cores"],
        "mem": f"{-(-n_bytes // 2**20)}M",  # M is 2^20 bytes
        "time": table["walltime"],
    }
    given = [f"--{name}={value}" for name, value in directives.items() if value is not None]
    certificate = keys / CERTIFICATE
    words = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--name", worker]
    words += ["--nthreads", table["cores"], "--memory-limit", n_bytes, "--nanny"]
    words += ["--death-timeout", SECONDS_TO_FIND_SCHEDULER, "--protocol", "tls://"]
    words += ["--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", keys / KEY]
    if table["interface"] is not None:
        words += ["--interface", table["interface"]]
    lines = ["#!/usr/bin/env bash", *(f"#SBATCH {each}" for each in (*given, *table["extra"]))]
    return "\n".join([*lines, "", *table["prologue"], shlex.join(map(str, words)), ""])
