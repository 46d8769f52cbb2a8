"""Dask's schedulers: one with processes of this machine, begun here, or one met at its address."""

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
FORKS = sys.platform == "linux"  # whether a process can begin as one
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"} if FORKS else {}


def local_cluster(n: int) -> LocalCluster:
    """So many processes of this machine; SweepError and MachineError as of `starting`."""
    _preload()
    with starting():
        return LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            env=dict(os.environ),  # the server of forks has that of its own beginning
        )


@contextmanager
def starting() -> Generator[None]:
    """Within, SweepError if a process of this machine ends before it is there to work.

    MachineError where that is for want of a folder or a port.
    """
    try:
        yield
    except RuntimeError as error:  # as Dask tells of it
        if isinstance(error.__cause__, OSError):
            raise MachineError(
                f"Dask cannot start worker processes ({error.__cause__}): see to that, or to "
                "Dask's settings if it is a folder of theirs (temporary-directory); or compute on "
                "threads, without --cluster and --gpus"
            ) from error
        raise SweepError(f"worker processes did not start ({error}): {GUARD}") from error


def _preload() -> None:
    """Workers are forks of a process that has imported what they need, if there are forks.

    To import it takes each about a second of a processor, at its start as after a death.
    """
    if FORKS:
        get_mp_context()  # has Dask's own list set first, so that ours stays
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)


def connected(cluster: LocalCluster | str) -> Client:
    """A client of a scheduler, ours or the one at an address; MachineError if none answers."""
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
    """ValueError, OSError or TimeoutError if no scheduler answers.

    A Client that finds none cannot be closed, and complains of that when it is forgotten.
    """
    with ThreadPoolExecutor(1) as thread:  # this one may have a loop already, in a notebook
        found = thread.submit(asyncio.run, _identity(address)).result()
    if found.get("type") != "Scheduler":
        raise ValueError(f"a Dask {found.get('type')} does")


async def _identity(address: str) -> dict[str, Any]:
    security, called = cast("Any", Security()), cast("Any", rpc)  # their types are not complete
    given = security.get_connection_args("client")
    async with called(address, timeout=CONNECT_SECONDS, connection_args=given) as there:
        return await asyncio.wait_for(there.identity(), CONNECT_SECONDS)


def dashboard(client: Client, cluster: LocalCluster | str) -> str:
    """Where Dask shows what its workers do, and what is to be done if it shows nothing there."""
    link = str(cast("str | None", client.dashboard_link))
    if not isinstance(cluster, str) and find_spec("bokeh") is None:  # of a scheduler in here
        return f"{link} (shows nothing without bokeh: pip install bokeh)"
    return link
