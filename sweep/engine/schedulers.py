"""Dask schedulers: one started here with processes of this machine, or one found at an address."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from distributed import Client, LocalCluster, Security
from distributed.core import rpc
from distributed.utils import get_mp_context

from sweep.engine.crews import GUARD
from sweep.errors import MachineError, SweepError

CONNECT_SECONDS = 10.0
FILES, FILES_PER_WORKER = 48, 16  # 25 and 12 are open in this process while a sweep runs
PRELOADED = ["distributed", "sweep.engine.clusters"]
FORKS = sys.platform == "linux"  # whether a process can start as a fork
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"} if FORKS else {}


def local_cluster(n: int) -> LocalCluster:
    """`n` worker processes on this machine; SweepError and MachineError as of `starting`."""
    with starting(n):
        return LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            security=Security.temporary(),  # no other process can talk to it
            env=dict(os.environ),  # the fork server keeps the one it was started with
        )


@contextmanager
def security_in_files(folder: Path) -> Generator[Security]:
    """Temporary TLS whose key is in a file, readable by this user alone, for processes elsewhere.

    The file is in a new folder inside `folder`, which is removed in the end.
    """
    made: Any = Security.temporary()
    with TemporaryDirectory(prefix=".tribosweep-keys-", dir=folder) as inside:
        key, certificate = Path(inside, "key.pem"), Path(inside, "certificate.pem")
        key.write_text(made.tls_worker_key, encoding="ascii")
        certificate.write_text(made.tls_worker_cert, encoding="ascii")
        roles = ("scheduler", "worker", "client")
        yield Security(
            require_encryption=True,
            tls_ca_file=str(certificate),
            **{f"tls_{role}_key": str(key) for role in roles},
            **{f"tls_{role}_cert": str(certificate) for role in roles},
        )


@contextmanager
def starting(n: int) -> Generator[None]:
    """Raise SweepError if one of `n` processes of this machine ends while it starts.

    MachineError if the cause is a folder, a port, or the limit of open files.
    """
    _check_open_files(n)
    if FORKS:
        # Each process would spend about a second on imports, if the one it is forked from had not.
        get_mp_context()  # sets Dask's own list, which must not replace ours later
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    try:
        yield
    except RuntimeError as error:  # Dask's report of it
        if isinstance(error.__cause__, OSError):
            raise MachineError(
                f"Dask cannot start worker processes ({error.__cause__}): remove that cause (a "
                "folder may come from Dask's setting temporary-directory), or compute on threads, "
                "without --cluster and --gpus"
            ) from error
        raise SweepError(f"worker processes did not start ({error}): {GUARD}") from error


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
            f"(`ulimit -n {n_files}`), use fewer workers (--workers), or compute on threads, "
            "without --cluster and --gpus"
        )


def connected(cluster: LocalCluster | str) -> Client:
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


def dashboard(client: Client, cluster: LocalCluster | str) -> str:
    """The address of Dask's dashboard, and what to install if it would be empty."""
    link = str(cast("str | None", client.dashboard_link))
    if not isinstance(cluster, str) and find_spec("bokeh") is None:  # the scheduler runs here
        return f"{link} (shows nothing without bokeh: pip install bokeh)"
    return link
