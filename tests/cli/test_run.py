"""`sweep run` computes, stops, resumes, and reports how it ended."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import termios
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import xarray as xr

from sweep.cli import main
from sweep.model.shipped import configs_folder
from sweep.store import Store, open_results
from tests.command import MODULE, Run, Terminal, environment, json_lines
from tests.forked import CHECKOUT, PIPE, Forked, run_python

SMOKE = str(configs_folder() / "smoke" / "wear_power.toml")

# About 1 s on one core, in 32 chunks.
LONG = (
    "run", "wear_power", "-o", "long.zarr", "--workers", "1", "--chunk-points", "256",
    "--set", "friction={ geomspace = [0.01, 1, 32] }",
    "--set", "base_acceleration={ linspace = [0.5, 15, 256] }",
    "--set", "window_end=4000",
)  # fmt: skip
ENDLESS = (*LONG, "--set", "window_end=1e9")  # no chunk of it ends within a test


@contextmanager
def running(arguments: Sequence[str], folder: Path, **changes: str) -> Iterator[Forked]:
    """A command running in a process group of its own, killed at the end."""
    process = Forked(
        ["-m", "sweep", *arguments],
        cwd=folder,
        env=environment(**changes),
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: Forked, is_it: Callable[[dict[str, object]], bool]) -> None:
    """Read JSON lines up to the first one that satisfies a condition."""
    assert process.stdout is not None
    assert any(is_it(json.loads(line)) for line in process.stdout)


def test_a_run_ends_with_a_summary_and_the_next_command(run: Run, tmp_path: Path) -> None:
    status, out, err = run("run", SMOKE)
    dataset = open_results("results/wear_power.zarr")
    power = dataset["wear_power"].values
    assert status == 0
    assert out.startswith("results/wear_power.zarr: 35 points, 35 of them now, in ")
    figures = f"{power.min():.6g} +{power.mean():.6g} +{power.max():.6g}"
    assert re.search(rf"^wear_power +{figures} +W ", out, re.MULTILINE)
    stick = f"{100 * np.mean(dataset['regime'].values == 0):.1f} %"
    assert f"regime: stick {stick}" in out
    assert "outside_validity" not in out
    assert out.endswith("next: sweep plot results/wear_power.zarr\n")
    assert "0 of 35 points" in err
    assert run("plot", "results/wear_power.zarr")[0] == 0


def test_a_second_run_has_nothing_to_do_and_needs_no_compiler(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, first, _ = run("run", SMOKE, "-o", "a.zarr")
    monkeypatch.setenv("TRIBOSWEEP_CXX", "/nowhere/g++")
    status, out, err = run("run", SMOKE, "-o", "a.zarr")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "a.zarr: nothing to do, all 35 points are there"
    assert out.splitlines()[1:] == first.splitlines()[1:]


def test_json_lines_end_with_the_summary(run: Run) -> None:
    status, out, err = run("run", SMOKE, "-o", "a.zarr", "--json")
    *reports, summary = json_lines(out)
    assert (status, err) == (0, "")
    assert reports
    for report in reports:
        assert report["event"] == "progress"
        assert {"points_done", "points_total", "points_per_second", "seconds_left"} <= set(report)
    assert summary["event"] == "summary"
    assert (summary["store"], summary["points"], summary["stopped"]) == ("a.zarr", 35, "")
    assert summary["counts"] == {"ok": 35}
    assert summary["status"]["ok"]["points"] == 35
    assert [output["name"] for output in summary["outputs"]] == ["wear_power", "regime"]
    assert summary["next"] == "sweep plot a.zarr"


def test_options_reach_the_run_and_the_store(run: Run) -> None:
    options = (
        "--workers", "1", "--chunk-points", "7", "--backend", "cpu", "--set", "mass=2.0",
        "--durable", "--accept-revision",
    )  # fmt: skip
    _, out, _ = run("run", SMOKE, "-o", "a b.zarr", *options, "--json")
    store = Store.open("a b.zarr")
    assert (store.n_chunks, store.sweep.constants["mass"]) == (5, 2.0)
    summary = json_lines(out)[-1]
    assert summary["workers"] == 1
    assert summary["next"] == "sweep plot 'a b.zarr'"


@pytest.mark.broad
@pytest.mark.parametrize(
    ("command", "written"), [("plot", "a.png"), ("explore", "a.html"), ("fit", "a_fit/fit_xi.py")]
)
def test_the_working_folder_may_be_the_store(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, written: str
) -> None:
    config = configs_folder() / "smoke" / "hanisch_fig3.toml"
    assert run("run", str(config), "-o", "a.zarr")[0] == 0
    monkeypatch.chdir("a.zarr")
    status, out, _ = run(command, ".")
    assert (status, f"{tmp_path / written}\n" in out) == (0, True)
    assert (tmp_path / written).is_file()


def test_points_that_are_not_ok_are_reported_with_their_sentence(run: Run) -> None:
    empty = "window_end={ values = [4.0] }"  # as a constant it would be a fault of the file
    status, out, _ = run("run", SMOKE, "-o", "a.zarr", "--set", empty)
    sentence = "the window is empty: window_start must be below window_end"
    assert status == 1
    assert "no point could be computed:" in out
    assert f"35 of 35 points outside_validity: {sentence}" in out
    assert "next: sweep show" in out


def test_without_a_terminal_there_are_plain_lines(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    status, _, err = run("run", SMOKE, "-o", "a.zarr")
    assert status == 0
    assert re.fullmatch(r"0 of 35 points, 0\.0 %\n", err)
    for command in (["run", SMOKE, "-o", "a.zarr"], ["show", "a.zarr"], ["status", "a.zarr"]):
        assert "\x1b" not in run(*command)[1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, str]:
    """The results of an undisturbed run of LONG, and what it shows on a terminal."""
    path = tmp_path_factory.mktemp("whole") / "whole.zarr"
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(Terminal()) as terminal:
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "100")
        assert main([*LONG[:3], str(path), *LONG[4:]]) == 0
    return open_results(path).load(), terminal.getvalue()


def test_on_a_terminal_there_is_a_bar(whole: tuple[xr.Dataset, str]) -> None:
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", whole[1])
    assert re.search(r"computing ━+.* \d+\.\d %, [\d,]+ points/s, .* left", text)


@pytest.mark.parametrize(
    ("number", "status", "name"), [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM")]
)
def test_a_stopped_run_resumes_to_the_same_results(
    run: Run, tmp_path: Path, whole: tuple[xr.Dataset, str], number: int, status: int, name: str
) -> None:
    with running([*LONG, "--json"], tmp_path) as process:
        read_until(process, lambda report: int(str(report["points_done"])) > 0)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == status
    summary = json_lines(out)[-1]
    assert (summary["event"], summary["stopped"]) == ("summary", "asked")
    store = Store.open("long.zarr")
    kept = 8_192 - sum(chunk.n_points for chunk in store.pending())
    assert 0 < kept < 8_192
    assert summary["points_done"] == kept
    assert f"stopped by {name}: {kept:,} of 8,192 points are kept in long.zarr" in err
    assert "Traceback" not in err
    again = re.search(r"^resume with: sweep (.*)$", err, re.MULTILINE)
    assert again is not None
    status, out, _ = run(*shlex.split(again[1]))
    assert (status, json_lines(out)[-1]["points"]) == (0, 8_192 - kept)
    xr.testing.assert_identical(open_results("long.zarr").load(), whole[0])


# What a process does, its exit status, and what it prints and reports.
SIGNALS: dict[str, tuple[str, int, str, str]] = {
    "a second Ctrl-C ends at once": ("""
import os, signal, time
from sweep.cli.stopping import StopRequest
with StopRequest() as asked:
    asked.computing = True
    os.kill(os.getpid(), signal.SIGINT)
    print("goes on", asked.event.is_set(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
    print("never")
""", 130, "goes on True\n", "stopping soon"),
    # timeout(1) sends SIGTERM to the process and to its group.
    "a second SIGTERM changes nothing": ("""
import os, signal
from sweep.cli.stopping import StopRequest
with StopRequest() as asked:
    os.kill(os.getpid(), signal.SIGTERM)
    print("never")
os.kill(os.getpid(), signal.SIGTERM)
print(asked.exit_status)
""", 0, "143\n", ""),
    # Python drops the exceptions of a signal in callbacks of compiled code.
    "a command that ends despite a signal says nothing else": ("""
import signal
from sweep.cli.stopping import interruptible
with interruptible("nothing was written"):
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        pass
print("written")
""", 0, "written\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("what", SIGNALS)
def test_a_signal_that_comes_late_or_again(what: str) -> None:
    script, status, printed, reported = SIGNALS[what]
    done = run_python(["-c", script], cwd=CHECKOUT, env=environment())
    assert (done.returncode, done.stdout) == (status, printed)
    assert reported in done.stderr if reported else done.stderr == ""


@pytest.mark.parametrize("is_compiler_present", [False, True])
def test_ctrl_c_does_not_wait_for_a_compiler(
    run: Run, tmp_path: Path, is_compiler_present: bool
) -> None:
    if is_compiler_present:
        assert run(*ENDLESS, "--time-limit", "0.1")[0] == 143
    compiler = tmp_path / "g++"
    compiler.write_text(
        "#!/bin/sh\ntrap '' INT\ncase $1 in --version) echo slow;; *) exec sleep 60;; esac\n"
    )
    compiler.chmod(0o755)
    cache = tmp_path / "cache"
    changes = {"TRIBOSWEEP_CXX": str(compiler), "TRIBOSWEEP_CACHE_DIR": str(cache)}
    with running(ENDLESS, tmp_path, **changes) as process:
        wait_for(lambda: any(cache.glob("*/*.cpp")))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130  # the compiler takes 60 s
        assert process.stderr is not None
        assert "nothing was computed" in process.stderr.read()
    assert list(cache.iterdir()) == []
    assert (tmp_path / "long.zarr").exists() == is_compiler_present


def test_ctrl_c_while_compiling_is_not_reported_as_a_compiler_error(tmp_path: Path) -> None:
    """A terminal sends it to the compiler, too."""
    cache = tmp_path / "cache"
    with running(ENDLESS, tmp_path, TRIBOSWEEP_CACHE_DIR=str(cache)) as process:
        wait_for(lambda: any(cache.glob("*/*.cpp")))
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped by Ctrl-C: nothing was computed\nresume with: sweep run wear_power" in err
    assert "does not compile" not in err
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes among files")
def test_results_of_a_piped_sweep_file_are_named_after_the_model(run: Run) -> None:
    """The name of the pipe is a number, which differs each time."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write(Path(SMOKE).read_text())
    status, out, _ = run("run", f"/dev/fd/{reading}")
    os.close(reading)
    assert status == 0
    assert out.startswith(f"{Path('results', 'friction_oscillator.zarr')}: 35 points, ")


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.broad
@pytest.mark.skipif(sys.platform == "win32", reason="no FIFO")
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_anything_is_computed_ends_at_once(
    tmp_path: Path, signal_number: signal.Signals
) -> None:
    """A pipe whose writer is slow acts as a disk that does not respond."""
    command = [*MODULE, "run", "/dev/stdin"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdin=PIPE, stderr=PIPE
    ) as waiting:
        assert waiting.stdin is not None
        waiting.stdin.write(b"#")
        waiting.stdin.flush()
        wait_for(lambda: not unread(waiting.stdin))
        time.sleep(0.3)  # a signal just before read() would have no effect in CPython
        reader = psutil.Process(waiting.pid)
        wait_for(lambda: reader.status() == psutil.STATUS_SLEEPING)
        waiting.send_signal(signal_number)
        assert waiting.stderr is not None
        message = waiting.stderr.read().decode()
    assert waiting.returncode == 128 + signal_number
    assert "nothing was computed" in message
    assert "Traceback" not in message


def unread(pipe: Any) -> int:
    """How many bytes wait in a pipe for its reader."""
    count = array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, count)
    return count[0]


WHERE_A_FILE_IS_EXPECTED = [
    "run special",
    "run special.toml",
    "run map.zarr -o special",
    "extend map.zarr special.toml",
    "trace special.toml",
    "compile special.toml",
    "bench special.toml",
    "models ./special.toml",
    "explore special -o a.html",
    "plot special -o a.png",
    "plot map.zarr -o special.png",
    "export map.zarr -o special.csv",
    "show special",
    "status special --watch",
    "fit special.csv -o a",
    "run map.toml",
]


@pytest.mark.skipif(sys.platform == "win32", reason="no FIFO")
def test_where_a_file_is_expected_nothing_waits_for_a_fifo(run: Run, tmp_path: Path) -> None:
    text = Path(SMOKE).read_text()
    (tmp_path / "map.toml").write_text(text)
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    axis = 'friction = { file = "special.csv", column = "a" }'
    (tmp_path / "map.toml").write_text(re.sub(r"friction +=.*", axis, text))
    for ending in ("", ".toml", ".png", ".csv"):
        os.mkfifo(tmp_path / f"special{ending}")
    for command in WHERE_A_FILE_IS_EXPECTED:
        status, _, err = run(*command.split())
        assert (status, "special" in err) == (2, True), command
        assert re.search("is a FIFO|is not a file|is a file, not a store", err), command
    assert all(stat.S_ISFIFO(path.stat().st_mode) for path in tmp_path.glob("special*"))


@pytest.mark.broad
@pytest.mark.skipif(sys.platform == "win32", reason="no shell")
def test_a_fifo_that_the_shell_has_opened_is_read(tmp_path: Path) -> None:
    """Its writer may have ended, for which opening it again would wait."""
    os.mkfifo(tmp_path / "fifo")
    writing = threading.Thread(
        target=(tmp_path / "fifo").write_bytes, args=(Path(SMOKE).read_bytes(),)
    )
    writing.start()
    with (tmp_path / "fifo").open("rb") as fifo:
        writing.join()
        done = subprocess.run(
            [*MODULE, "run", "/dev/stdin", "--dry-run"],
            cwd=tmp_path,
            env=environment(),
            stdin=fifo,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert "35 points" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("arguments", [("models", "--json"), ("run", SMOKE, "-o", "a", "--json")])
def test_an_output_that_cannot_be_written_is_status_3(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    with open("/dev/full", "w") as full:
        command = ("-m", "sweep", *arguments)
        process = Forked(
            command, cwd=tmp_path, env=environment(), stdout=full.fileno(), stderr=PIPE
        )
        _, err = process.communicate()
    assert process.returncode == 3
    assert "cannot write to standard output: No space left on device" in err
    assert "Traceback" not in err


@pytest.fixture(params=["/dev/full", "a pipe nobody reads"])
def unwritable(request: pytest.FixtureRequest) -> Iterator[int]:
    """A file descriptor that nothing can be written to."""
    if request.param != "/dev/full":
        reading, writing = os.pipe()
        os.close(reading)
    elif Path(request.param).exists():
        writing = os.open(request.param, os.O_WRONLY)
    else:
        pytest.skip("/dev/full exists only on Linux")  # the pipe is tested regardless
    yield writing
    os.close(writing)


@pytest.mark.broad
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("run", SMOKE, "-o", "a.zarr"), 0),
        pytest.param(
            ("run", SMOKE, "-o", "a.zarr", "--cluster", "local"), 0, marks=pytest.mark.broad
        ),
        (("status", "nope.zarr"), 2),
        (("run", SMOKE, "--wrokers", "2"), 2),  # refused by typer
    ],
)
def test_messages_that_cannot_be_written_do_not_change_the_exit_status(
    tmp_path: Path, unwritable: int, arguments: tuple[str, ...], expected: int
) -> None:
    command = ("-m", "sweep", *arguments)
    process = Forked(command, cwd=tmp_path, env=environment(), stdout=PIPE, stderr=unwritable)
    out, _ = process.communicate()
    assert process.returncode == expected
    if expected == 0:
        assert "a.zarr: 35 points" in out
        assert not Store.open(tmp_path / "a.zarr").pending()


@pytest.mark.broad
@pytest.mark.skipif(sys.platform == "win32", reason="no such shell")
@pytest.mark.parametrize(
    "closed",
    [pytest.param(each, marks=pytest.mark.broad) for each in (">&-", "2>&-")] + [">&- 2>&-"],
)
def test_closed_streams_are_accepted(tmp_path: Path, closed: str) -> None:
    command = f"{' '.join(MODULE)} run '{SMOKE}' -o a.zarr {closed}"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment(), text=True)
    assert done.returncode == 0
    assert not Store.open(tmp_path / "a.zarr").pending()


@pytest.mark.skipif(sys.platform == "win32", reason="no such shell")
def test_no_file_gets_the_descriptor_of_a_closed_stream(tmp_path: Path) -> None:
    """Messages would be written into it."""
    code = "import os, sweep.cli; sweep.cli.main(['example']); os._exit(os.open('a', os.O_CREAT))"
    command = f'{sys.executable} -c "{code}" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment())
    assert done.returncode > 2


@pytest.mark.skipif(sys.platform == "win32", reason="a working directory cannot be deleted")
@pytest.mark.parametrize("arguments", [("run", SMOKE, "-o", "a.zarr"), ("status", "a.zarr")])
def test_a_deleted_working_directory_is_reported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    status, _, err = run(*map(str, arguments))
    assert (status, "the working directory has been deleted" in err) == (3, True)
