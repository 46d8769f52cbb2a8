"""Workers as SLURM jobs, with an `sbatch` that starts a job at once.

There is no SLURM here: two small scripts on the PATH replace its commands. All else is as on a
cluster.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import psutil
import pytest

from sweep import api
from sweep.engine.driver import open_store
from sweep.engine.ledger import Progress
from sweep.engine.loop import run as run_engine
from sweep.engine.slurm import job_script, jobs_and_cores, named, requested
from sweep.errors import MachineError
from sweep.file import load
from sweep.request.options import RunOptions
from sweep.store import Store
from tests.command import Run, environment, outliving, sweep_command
from tests.engine.slow import Slow
from tests.engine.strangers import Strangers, listening_ports
from tests.engine.test_unfit_workers import Choosy
from tests.engine.test_worker_faults import REQUEST
from tests.store.test_storage_faults import CONFIG
from tests.store.test_store import tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such shell")

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

# Each job is a session; the folder `jobs` holds its NUMBER.sh, NUMBER.out and NUMBER.session.
SBATCH = """#!/bin/sh
job="$(dirname "$0")/jobs/$$"
cat > "$job.sh"
setsid sh -c 'echo $$ > "$0.session"; exec sh "$0.sh"' "$job" > "$job.out" 2>&1 < /dev/null &
echo "Submitted batch job $$"
"""
SCANCEL = """#!/bin/sh
kill -- "-$(cat "$(dirname "$0")/jobs/$1.session")"
"""
REFUSING = """#!/bin/sh
cat > "$(dirname "$0")/jobs/refused.sh"
echo 'sbatch: error: invalid partition specified: batch' >&2
exit 1
"""


class Jobs:
    """The jobs that `sbatch` has received."""

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
    slurm_jobs = Jobs(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    yield slurm_jobs
    slurm_jobs.end()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A sweep file that contains TABLE."""
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in TABLE.items())
    path = tmp_path / "map.toml"
    path.write_text(CONFIG.replace("workers = 2\n", "") + "[run.slurm]\n" + "".join(lines))
    return path


@pytest.mark.broad
def test_a_sweep_runs_in_jobs_to_the_bytes_of_threads(
    jobs: Jobs, config: Path, tmp_path: Path
) -> None:
    options = ("-o", "map.zarr", "--cluster", "slurm")
    done = sweep_command("run", config.name, *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "24 points, 24 of them now" in done.stdout
    assert re.search("[12] workers? on SLURM jobs", done.stdout)  # those that had started by then
    dashboard = r"^Dask dashboard: http://[\d.]+:\d+/status$"
    assert re.search(dashboard, done.stderr, re.MULTILINE)
    assert len(jobs.scripts) == 2
    golden = [script(f"map-{i}", "tls://", f"{tmp_path}/.tribosweep-keys-") for i in (0, 1)]
    assert sorted(map(printed_form, jobs.scripts)) == golden
    sessions = [psutil.Process(pid) for pid in jobs.sessions if psutil.pid_exists(pid)]
    assert outliving(sessions) == []  # ended by scancel
    run_engine(open_store(load(config), tmp_path / "threads.zarr"))
    assert tree(tmp_path / "map.zarr") == tree(tmp_path / "threads.zarr")


def script(worker: str, scheduler: str, keys: str) -> str:
    """The script of TABLE for a sweep called `map`; SLURM's M is 2^20 bytes."""
    return f"""#!/usr/bin/env bash
#SBATCH --job-name=map
#SBATCH --partition=batch
#SBATCH --account=tribology
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=954M
#SBATCH --time=00:30:00
#SBATCH --constraint=avx512

export SOME_MODULE=loaded
{sys.executable} -m distributed.cli.dask_worker {scheduler} --name {worker} --nthreads 1 \
--memory-limit 1000000000 --nanny --death-timeout 60 --protocol tls:// \
--tls-ca-file {keys}/certificate.pem --tls-cert {keys}/certificate.pem --tls-key {keys}/key.pem
"""


def printed_form(text: str) -> str:
    """A submitted script with placeholders for what differs from run to run."""
    return re.sub(r"(tls://)[\d.]+:\d+|(\.tribosweep-keys-)\w+", r"\1\2", text)


@pytest.mark.usefixtures("quick_probe")
def test_a_dry_run_prints_the_script_of_a_job_and_submits_none(
    jobs: Jobs, config: Path, run: Run, tmp_path: Path
) -> None:
    status, out, err = run("run", config.name, "--cluster", "slurm", "--dry-run")
    assert (status, err) == (0, "")
    assert f"store    {tmp_path}/results/map.zarr\n" in out
    keys = f"{tmp_path}/results/.tribosweep-keys-XXXXXXXX"
    golden = script("map-0", "tls://HOST:PORT", keys)
    assert out.endswith(f"\n2 jobs with 1 core each are submitted with this script:\n\n{golden}")
    options = ("--cluster", "slurm", "--dry-run", "--json", "--workers", "3")
    forecast = json.loads(run("run", config.name, *options)[1])
    assert (forecast["jobs"], forecast["cores"], forecast["points_pending"]) == (3, 1, 24)
    assert forecast["job_script"] == golden
    assert jobs.scripts == []
    assert not Path("results").exists()


def test_the_words_of_a_script_survive_a_shell(tmp_path: Path) -> None:
    options = named(RunOptions(slurm={"memory": "2 GiB", "interface": "ib0"}), "a b; $(rm) ölfilm/")
    assert options.slurm["name"] == "a-b-rm-lfilm"
    folder = tmp_path / "it's here"
    *_, empty, command = job_script(options, "w-0", "tls://a:1", folder).splitlines()
    assert empty == ""
    words = shlex.split(command)
    assert words[words.index("--tls-key") + 1] == f"{folder}/key.pem"
    assert words[-2:] == ["--interface", "ib0"]
    assert "#SBATCH --mem=2048M" in job_script(options, "w-0", "tls://a:1", folder)
    assert named(RunOptions(), "流体").slurm == {"name": "tribosweep"}


@pytest.mark.parametrize(
    ("workers", "table", "options", "jobs"),
    [
        (2, {}, {}, 2),  # the number of workers, wherever they are
        (2, {"jobs": 3}, {}, 3),
        (2, {"jobs": 3}, {"workers": 4}, 4),
        (None, {}, {}, 1),
    ],
)
def test_the_command_overrides_the_table_and_the_table_overrides_workers(
    workers: int | None, table: dict[str, object], options: dict[str, Any], jobs: int
) -> None:
    run = {"cluster": "slurm", "slurm": table} | ({} if workers is None else {"workers": workers})
    request = api.with_options(load({**REQUEST, "run": run}), **options)
    assert jobs_and_cores(request.options) == (jobs, 1)


@pytest.mark.broad
@pytest.mark.parametrize(
    "by", [pytest.param(signal.SIGTERM, marks=pytest.mark.broad), signal.SIGKILL]
)
def test_a_job_that_ends_before_the_run_is_submitted_again(
    by: signal.Signals,
    jobs: Jobs,
    store: Store,
    whole: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At its walltime or when it is preempted: SLURM sends one signal and then the other.

    Dask's wait for a lost worker is cut from 15 s.
    """
    slow = Slow(tmp_path / "notes", 0.2)
    slow.folder.mkdir()
    monkeypatch.setattr("sweep.engine.clusters.LOOK_SECONDS", 0.1)
    notes: list[str] = []

    def end_the_only_job() -> None:
        while not any(slow.folder.iterdir()):
            time.sleep(0.02)
        jobs.end(by)

    ending = threading.Thread(target=end_the_only_job)
    ending.start()
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "0.2s"}):
        options = RunOptions(cluster="slurm", slurm=TABLE | {"jobs": 1})
        summary = run_engine(store, options, notify=notes.append, open_backend=slow)
    ending.join()
    assert (summary.points, summary.stopped) == (108, "")
    assert len(jobs.scripts) == 2
    assert "no worker is there; waiting for one" in notes
    assert len(slow.begun) == 12
    assert slow.begun.total() <= 12 + 1  # at most the chunk in progress is computed twice
    assert tree(store.path) == whole


@pytest.mark.broad
def test_a_job_that_cannot_compute_is_cancelled_and_others_answer_no_stranger(
    jobs: Jobs, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweep.engine.clusters.LOOK_SECONDS", 0.1)
    slow = Slow(tmp_path / "notes", 5.0)
    slow.folder.mkdir()
    notes: list[str] = []
    cancelled: list[int] = []
    strangers = Strangers()

    def report(_: Progress) -> None:
        if not cancelled and any("given up" in line for line in notes):
            cancelled.extend(each for each in jobs.sessions if not psutil.pid_exists(each))
        if cancelled:
            own = [process for process in psutil.process_iter() if is_worker(process)]
            strangers.ask(listening_ports([psutil.Process(), *own]))
            slow.hurry()

    def is_worker(process: psutil.Process) -> bool:
        """Whether it belongs to a job of this test."""
        try:
            return str(tmp_path) in " ".join(process.cmdline())
        except psutil.Error:
            return False

    options = RunOptions(cluster="slurm", slurm=TABLE, time_limit=100.0)
    opener = Choosy(slow, 1)
    summary = run_engine(store, options, report, notify=notes.append, open_backend=opener)
    assert (summary.points, summary.stopped) == (108, "")
    assert len(cancelled) == 1
    assert len(jobs.scripts) == 2  # none was submitted again
    strangers.check_refused(2)  # of the scheduler and of the other job's worker, at least
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {"bin", "map.zarr", "map.zarr.log", "notes"}  # the keys are removed
    (line,) = (line for line in notes if line.startswith("worker tribosweep-"))
    assert " is given up, 1 left: the disk is full" in line


@pytest.mark.parametrize(
    ("sbatch", "why"), [(REFUSING, "invalid partition specified: batch"), ("", "'sbatch'")]
)
def test_what_slurm_refuses_ends_the_run_with_its_reason(
    jobs: Jobs, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sbatch: str, why: str
) -> None:
    command = tmp_path / "bin" / "sbatch"
    command.unlink()
    if sbatch:
        command.write_text(sbatch)
        command.chmod(0o755)
    else:
        monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        MachineError, match=rf"cannot submit jobs to SLURM: .*{why}.*each job computes one `shard`"
    ):
        run_engine(store, named(RunOptions(cluster="slurm", slurm=TABLE | {"jobs": 1}), "map"))
    keys = f"{tmp_path}/.tribosweep-keys-"
    expected = [script("map-0", "tls://", keys)] if sbatch else []
    assert [printed_form(each) for each in jobs.scripts] == expected
    assert len(store.pending()) == 12


def test_a_sweep_file_sets_what_a_job_requests() -> None:
    request: Any = load({**REQUEST, "run": {"cluster": "slurm", "slurm": {"queue": "batch"}}})
    assert (request.options.cluster, request.options.slurm) == ("slurm", {"queue": "batch"})
    assert requested(request.options)["walltime"] == "01:00:00"
