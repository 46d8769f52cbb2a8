"""Workers of a scheduler that is not ours: commands of Dask's, with one thread each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from distributed import Client, LocalCluster

from tests.command import environment

COMMAND = (sys.executable, "-m", "distributed.cli.dask_worker")
OPTIONS = ("--nthreads", "1", "--no-dashboard", "--memory-limit", "0")


class DaskWorkers:
    """The workers that were started, by name."""

    def __init__(self, folder: Path, cluster: LocalCluster) -> None:
        self.address: str = cluster.scheduler_address
        self.folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *options: str, **changes: str) -> None:
        """A worker with these options and changes of its environment."""
        self.running[name] = subprocess.Popen(
            [*COMMAND, self.address, *OPTIONS, "--name", name, *options],
            cwd=self.folder,
            env=environment(**changes),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait(self) -> None:
        """Wait until all have joined."""
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(len(self.running))

    def end(self) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.wait()
