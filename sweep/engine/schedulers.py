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
from typing import Any, cast

from distributed import Client, LocalCluster, Security
from distributed.core import rpc
from distributed.utils import get_mp_context

from sweep.engine.crews import GUARD
from sweep.errors import MachineError, SweepError

CONNECT_SECONDS = 10.0
PRELOADED = ["distributed", "sweep.engine.clusters"]
FORKS = sys.platform == "linux"  # whether a process can start as a fork
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"} if FORKS else {}


def local_cluster(n: int) -> LocalCluster:
    """`n` worker processes on this machine; SweepError and MachineError as of `starting`."""
    _preload()
    with starting():
        return LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            env=dict(os.environ),  # the fork server keeps the one it was started with
        )


@contextmanager
def starting() -> Generator[None]:
    """Raise SweepError if a process of this machine ends while it starts.

    MachineError if the cause is a folder or a port.
    """
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


def _preload() -> None:
    """Have workers fork from a process that has imported what they need, if forks exist.

    Otherwise each would spend about a second on imports, whenever it starts.
    """
    if FORKS:
        get_mp_context()  # sets Dask's own list, which must not replace ours later
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)


def connected(cluster: LocalCluster | str) -> Client:
    """A client of a scheduler, ours or the one at an address; MachineError without an answer."""
    try:
        if isinstance(cluster, str):
            _check_answer(cluster)
        return Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MachineError(
            f"no Dask scheduler answers at {cluster!r} ({error or 'nothing came back'}); start one "
            "(`dask scheduler`, and `dask worker ADDRESS` for each worker) and give its address"
        ) from error


def _check_answer(address: str) -> None:
    """Raise ValueError, OSError or TimeoutError if no scheduler answers.

    A Client without a scheduler cannot be closed, and would complain when it is collected.
    """
    with ThreadPoolExecutor(1) as thread:  # in a notebook, this thread already runs an event loop
        identity = thread.submit(asyncio.run, _identity(address)).result()
    if identity.get("type") != "Scheduler":
        raise ValueError(f"a Dask {identity.get('type')} does")


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
