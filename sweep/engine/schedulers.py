"""Dask schedulers: one started here, or one found at an address.

The workers of one started here are processes of this machine, or SLURM jobs.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import re
import subprocess
import sys
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from distributed import Client, Nanny, Scheduler, Security, SpecCluster, rpc
from distributed.deploy.spec import ProcessInterface
from distributed.utils import get_mp_context

from sweep.engine.slurm import CERTIFICATE, KEY, KEYS, job_script, requested
from sweep.engine.workers import GUARD
from sweep.errors import MachineError, SweepError
from sweep.request.options import RunOptions

CONNECT_SECONDS = 10.0
FILES, FILES_PER_WORKER = 48, 16  # 25 and 12 are open in this process while a sweep runs
PRELOADED = ["distributed", "sweep.engine.clusters"]
FORKS = sys.platform == "linux"  # whether a process can start as a fork
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"} if FORKS else {}


def local_cluster(
    environments: Mapping[str, Mapping[str, str]], threads_per_process: int = 1
) -> SpecCluster:
    """A worker process on this machine for each environment, which it has before any import.

    SweepError if one of them ends while it starts. MachineError if the cause is a folder, a port,
    or the limit of open files.
    """
    _check_open_files(len(environments))
    if FORKS:
        # Each process would spend about a second on imports, if the one it is forked from had not.
        get_mp_context()  # sets Dask's own list, which must not replace ours later
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    security = Security.temporary()  # no other process can talk to it
    connection = {"host": "127.0.0.1", "protocol": "tls://", "security": security}
    quiet = {"silence_logs": logging.CRITICAL, "memory_limit": 0, "dashboard": False}
    each = {**connection, **quiet, "nthreads": threads_per_process}
    scheduler = {**connection, "port": 0, "dashboard": True, "dashboard_address": "127.0.0.1:0"}
    cluster: Any = SpecCluster  # its type lacks `silence_logs` as a level
    try:
        return cluster(
            workers={
                name: {"cls": Nanny, "options": {**each, "env": environment}}
                for name, environment in environments.items()
            },
            scheduler={"cls": Scheduler, "options": scheduler},
            silence_logs=logging.CRITICAL,
            security=security,
        )
    except RuntimeError as error:  # Dask's report of it
        if isinstance(error.__cause__, OSError):
            raise MachineError(
                f"Dask cannot start worker processes ({error.__cause__}): remove that cause (a "
                "folder may come from Dask's setting temporary-directory), or compute on threads, "
                "without `cluster` and `gpus`"
            ) from error
        raise SweepError(f"worker processes did not start ({error}): {GUARD}") from error


@contextmanager
def security_in_files(folder: Path) -> Generator[Security]:
    """Temporary TLS whose key is in a file, readable by this user alone, for processes elsewhere.

    The file is in a new folder inside `folder`, which is removed in the end.
    """
    made: Any = Security.temporary()
    with TemporaryDirectory(prefix=KEYS, dir=folder) as inside:
        key, certificate = Path(inside, KEY), Path(inside, CERTIFICATE)
        key.write_text(made.tls_worker_key, encoding="ascii")
        certificate.write_text(made.tls_worker_cert, encoding="ascii")
        roles = ("scheduler", "worker", "client")
        yield Security(
            require_encryption=True,
            tls_ca_file=str(certificate),
            **{f"tls_{role}_key": str(key) for role in roles},
            **{f"tls_{role}_cert": str(certificate) for role in roles},
        )


def _check_open_files(n: int) -> None:
    """MachineError if this process may not open enough files to talk to `n` workers."""
    if sys.platform == "win32":
        return
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_files = FILES + FILES_PER_WORKER * n
    if limit < n_files and limit != resource.RLIM_INFINITY:
        raise MachineError(
            f"{n} worker processes need {n_files} open files and the limit is {limit}: raise it "
            f"(`ulimit -n {n_files}`), use fewer `workers`, or compute on threads, without "
            "`cluster` and `gpus`"
        )


def connected(cluster: SpecCluster | str) -> Client:
    """A client of a scheduler, ours or the one at an address; MachineError without an answer."""
    try:
        if isinstance(cluster, str):
            # A Client without a scheduler cannot be closed, and complains when it is collected.
            with ThreadPoolExecutor(1) as thread:  # in a notebook, this one runs an event loop
                kind = thread.submit(asyncio.run, _identity(cluster)).result().get("type")
            if kind != "Scheduler":
                raise ValueError(f"a Dask {kind} does")
        return Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MachineError(
            f"no Dask scheduler answers at {cluster!r} ({error or 'nothing came back'}); start one "
            "(`dask scheduler`, and `dask worker ADDRESS` for each worker) and give its address"
        ) from error


async def _identity(address: str) -> dict[str, Any]:
    security, connect = cast("Any", Security()), cast("Any", rpc)  # their types are not complete
    arguments = security.get_connection_args("client")
    async with connect(address, timeout=CONNECT_SECONDS, connection_args=arguments) as scheduler:
        return await asyncio.wait_for(scheduler.identity(), CONNECT_SECONDS)


class SlurmJob(ProcessInterface):
    """A worker that a job runs, from `sbatch` to `scancel`."""

    def __init__(self, scheduler: str, name: str, options: RunOptions, keys: Path) -> None:
        super().__init__(scheduler, name)
        self._script = job_script(options, name, scheduler, keys)
        self._number = ""

    async def start(self) -> None:
        """Submit the job. OSError or RuntimeError if SLURM does not take it."""
        answer = await _output_of("sbatch", text=self._script)
        number = re.search("[0-9]+", answer)
        if number is None:
            raise RuntimeError(f"sbatch names no job: {answer!r}")
        self._number = number[0]
        await super().start()

    async def close(self) -> None:
        """Cancel the job."""
        if self._number:
            with suppress(OSError, RuntimeError):  # it has ended
                await _output_of("scancel", self._number)
        await super().close()


async def _output_of(*command: str, text: str = "") -> str:
    """What a command prints that reads this text; RuntimeError, with its message, if it fails."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = await asyncio.create_subprocess_exec(*command, **pipes)
    out, err = await process.communicate(text.encode())
    if process.returncode:
        raise RuntimeError(err.decode() or f"{command[0]} ended with status {process.returncode}")
    return out.decode()


def slurm_cluster(options: RunOptions, security: Security) -> SpecCluster:
    """A scheduler in this process whose workers are jobs, as many as jobs_and_cores returns.

    MachineError if jobs cannot be submitted.
    """
    table, keys = requested(options), Path(security.tls_ca_file).parent
    scheduler = {
        "protocol": "tls://",
        "interface": table["interface"],
        "dashboard_address": ":0",
        "security": security,
    }
    made: Any = SpecCluster  # its type lacks `silence_logs` as a level
    cluster: Any = made(
        scheduler={"cls": Scheduler, "options": scheduler},
        silence_logs=logging.CRITICAL,
        security=security,
    )
    job = {"cls": SlurmJob, "options": {"options": options, "keys": keys}}
    cluster.worker_spec.update({f"{table['name']}-{i}": job for i in range(table["jobs"])})
    try:  # a cluster made with jobs that cannot be submitted would leave its scheduler open
        cluster.sync(cluster._correct_state)
    except (OSError, RuntimeError, ValueError) as error:
        cluster.close()
        why = " ".join(str(error).split())
        raise MachineError(
            f"cannot submit jobs to SLURM: {why}. Run this where `sbatch` works, correct "
            "[run.slurm] (`sweep run --dry-run` prints the script), or use a job array, in which "
            "each job computes one `shard`"
        ) from error
    return cluster
