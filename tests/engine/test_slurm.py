"""Workers as SLURM jobs through dask-jobqueue, whose `sbatch` here runs a job at once.

There is no SLURM: on the PATH are two small scripts in place of its commands. Everything else is
as on a cluster, dask-jobqueue's own script included.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest

from sweep.config import load
from sweep.engine import run as run_engine
from sweep.engine import slurm
from sweep.errors import MachineError
from sweep.options import RunOptions
from sweep.store import Store
from tests.command import Run, environment, outliving, sweep_command
from tests.engine.slow import Slow
from tests.engine.test_engine import SWEEP, create
from tests.engine.test_faults import REQUEST, ROW
from tests.store.test_faults import CONFIG
from tests.store.test_store import tree

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="no such shell"),
    # Of dask-jobqueue's own scheduler, where another has the usual port of a dashboard.
    pytest.mark.filterwarnings("ignore:Port 8787 is already in use:UserWarning"),
]

TABLE = {
    "queue": "batch",
    "account": "tribology",
    "walltime": "00:30:00",
    "cores": 1,
    "memory": "1 GB",
    "jobs": 2,
    "extra": ["--constraint=avx512"],
    "prologue": ["export SOME_MODULE=loaded"],
}

# A job is a session of its own; its folder keeps NUMBER.sh, NUMBER.out and NUMBER.session.
SBATCH = """#!/bin/sh
job="$(dirname "$0")/jobs/$$"
cp "$1" "$job.sh"
setsid sh -c 'echo $$ > "$0.session"; exec sh "$0.sh"' "$job" > "$job.out" 2>&1 < /dev/null &
echo "Submitted batch job $$"
"""
SCANCEL = """#!/bin/sh
kill -- "-$(cat "$(dirname "$0")/jobs/$1.session")"
"""
REFUSING = """#!/bin/sh
echo 'sbatch: error: invalid partition specified: batch' >&2
exit 1
"""


class Jobs:
    """What `sbatch` has been given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "jobs"
        self.folder.mkdir(parents=True)
        for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    @property
    def scripts(self) -> list[str]:
        return [script.read_text() for script in sorted(self.folder.glob("*.sh"))]

    @property
    def sessions(self) -> list[int]:
        return [int(file.read_text()) for file in self.folder.glob("*.session")]

    def end(self, by: signal.Signals = signal.SIGKILL) -> None:
        for session in self.sessions:
            if psutil.pid_exists(session):
                os.killpg(session, by)


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    made = Jobs(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    yield made
    made.end()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A sweep file with TABLE in it."""
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in TABLE.items())
    path = tmp_path / "map.toml"
    path.write_text(CONFIG.replace("workers = 2\n", "") + "[run.slurm]\n" + "".join(lines))
    return path


def test_a_sweep_runs_in_jobs_to_the_bytes_of_threads(
    jobs: Jobs, config: Path, tmp_path: Path
) -> None:
    options = ("-o", "map.zarr", "--cluster", "slurm")
    done = sweep_command("run", config.name, *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "24 points, 24 of them now" in done.stdout
    assert re.search("[12] workers? on SLURM jobs", done.stdout)  # as many as have come by then
    without = "" if find_spec("bokeh") else " (shows nothing without bokeh: pip install bokeh)"
    dashboard = rf"^Dask dashboard: http://[\d.]+:\d+/status{re.escape(without)}$"
    assert re.search(dashboard, done.stderr, re.MULTILINE)
    assert len(jobs.scripts) == 2
    for script in jobs.scripts:
        check_script(script)
    sessions = [psutil.Process(pid) for pid in jobs.sessions if psutil.pid_exists(pid)]
    assert outliving(sessions) == []  # scancel has ended them
    run_engine(create_like(config, tmp_path / "threads.zarr"))
    assert tree(tmp_path / "map.zarr") == tree(tmp_path / "threads.zarr")


def create_like(config: Path, path: Path) -> Store:
    from sweep import api

    return api.open_store(load(config), path)


def check_script(script: str) -> None:
    """It has every line that TABLE asks for."""
    for line in (
        "#SBATCH -p batch",
        "#SBATCH -A tribology",
        "#SBATCH -t 00:30:00",
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --mem=954M",  # 10^9 bytes
        "#SBATCH --constraint=avx512",
        "export SOME_MODULE=loaded",
    ):
        assert line in script.splitlines()


def test_a_dry_run_prints_the_script_of_dask_jobqueue(
    jobs: Jobs, config: Path, tmp_path: Path
) -> None:
    from dask_jobqueue import SLURMCluster

    with SLURMCluster(
        queue="batch", account="tribology", walltime="00:30:00", cores=1, processes=1,
        memory="1 GB", job_extra_directives=["--constraint=avx512"],
        job_script_prologue=["export SOME_MODULE=loaded"],
    ) as cluster:  # fmt: skip
        own = cluster.job_script()
    done = sweep_command("run", config.name, "--cluster", "slurm", "--dry-run", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 jobs with 1 core each are submitted with this script:\n\n#!" in done.stdout
    assert without_address(own).strip() in without_address(done.stdout)
    assert jobs.scripts == []  # and nothing was submitted
    assert not (tmp_path / "results").exists()


def without_address(script: str) -> str:
    return re.sub(r"tcp://[\d.]+:\d+", "ADDRESS", script)


def test_a_dry_run_as_json_has_the_script_too(jobs: Jobs, config: Path, run: Run) -> None:
    options = ("--cluster", "slurm", "--dry-run", "--json", "--workers", "3")
    told = json.loads(run("run", config.name, *options)[1])
    assert (told["jobs"], told["cores"], told["points_pending"]) == (3, 1, 24)
    check_script(told["job_script"])


@pytest.mark.parametrize(
    ("workers", "jobs_asked", "option", "expected"),
    [
        (2, None, (), 2),  # of workers there are as many as are asked for, wherever they are
        (2, 3, (), 3),  # the nearer word
        (2, 3, ("--workers", "4"), 4),  # the last word
        (None, None, (), 1),
    ],
)
def test_of_workers_and_jobs_the_table_and_then_the_command_has_the_last_word(
    jobs: Jobs,
    run: Run,
    tmp_path: Path,
    workers: int | None,
    jobs_asked: int | None,
    option: tuple[str, ...],
    expected: int,
) -> None:
    asked = "" if workers is None else f"workers = {workers}\n"
    table = "" if jobs_asked is None else f"[run.slurm]\njobs = {jobs_asked}\n"
    (tmp_path / "map.toml").write_text(CONFIG.replace("workers = 2\n", asked) + table)
    status, out, _ = run("run", "map.toml", "--cluster", "slurm", "--dry-run", "--json", *option)
    assert (status, json.loads(out)["jobs"]) == (0, expected)


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_that_ends_before_the_run_is_submitted_again(
    by: signal.Signals, jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at its walltime, or preempted: SLURM sends one signal, and then, if need be, the other.

    Dask's patience with lost ones is cut from 15 s.
    """
    notes = tmp_path / "notes"
    notes.mkdir()
    slow = Slow(notes, 0.2)
    monkeypatch.setattr("sweep.engine.clusters.LOOK_SECONDS", 0.1)
    store = create(tmp_path / "map.zarr", SWEEP, ROW)
    said: list[str] = []

    def end_the_only_job() -> None:
        while not any(notes.iterdir()):
            time.sleep(0.02)
        jobs.end(by)

    ending = threading.Thread(target=end_the_only_job)
    ending.start()
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "0.2s"}):
        options = RunOptions(cluster="slurm", slurm=TABLE | {"jobs": 1})
        summary = run_engine(store, options, notify=said.append, open_backend=slow)
    ending.join()
    assert (summary.points, summary.stopped) == (108, "")
    assert len(jobs.scripts) == 2
    assert said[-1] == "no worker is there; waiting for one"
    assert len(slow.begun) == 12
    assert slow.begun.total() <= 12 + 1  # no more than the one that was at work
    monkeypatch.undo()
    undisturbed = create(tmp_path / "undisturbed.zarr", SWEEP, ROW)
    run_engine(undisturbed)
    assert tree(store.path) == tree(undisturbed.path)


@pytest.mark.parametrize(
    ("sbatch", "why"), [(REFUSING, "invalid partition specified: batch"), ("", "'sbatch'")]
)
def test_what_slurm_refuses_is_told_and_ends_the_run(
    jobs: Jobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sbatch: str, why: str
) -> None:
    command = tmp_path / "bin" / "sbatch"
    command.unlink()
    if sbatch:
        command.write_text(sbatch)
        command.chmod(0o755)
    else:
        monkeypatch.setenv("PATH", str(tmp_path))
    store = create(tmp_path / "map.zarr", SWEEP, ROW)
    with pytest.raises(MachineError, match=rf"cannot submit jobs to SLURM: .*{why}.*--shard i/N"):
        run_engine(store, RunOptions(cluster="slurm", slurm=TABLE))
    assert len(store.pending()) == 12


def test_without_dask_jobqueue_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    store = create(tmp_path / "map.zarr", SWEEP, ROW)
    with pytest.raises(MachineError, match=r"tribosweep\[slurm\].*--shard i/N"):
        run_engine(store, RunOptions(cluster="slurm"))


def test_a_sweep_file_says_what_a_job_asks_for() -> None:
    request: Any = load({**REQUEST, "run": {"cluster": "slurm", "slurm": {"queue": "batch"}}})
    assert (request.options.cluster, request.options.slurm) == ("slurm", {"queue": "batch"})
    assert slurm.arguments(request.options.slurm)["walltime"] == "01:00:00"
