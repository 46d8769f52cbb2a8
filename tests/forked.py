"""Python processes forked from one that has imported what commands need.

Importing xarray, zarr and Dask takes a second or two; a fork takes milliseconds. What
depends on how a process starts is tested with `subprocess`: imports, settings that libraries read
when they are imported, and standard streams that are closed. Only Linux forks; elsewhere `Forked`
starts a new interpreter.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import time
import types
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

CHECKOUT = Path(__file__).parents[1]
PRELOADED = (
    "sweep.api", "sweep.cli", "sweep.cli.doctor", "sweep.results.exporting",
    "sweep.results.forecast", "sweep.results.summary",
    "sweep.pictures.plots", "sweep.engine.clusters", "tests.engine.slow", "tests.engine.faulty",
    "dask.array", "distributed.nanny", "h5netcdf", "matplotlib.backends.backend_agg",
)  # fmt: skip
MAX_REQUEST = 2**17  # bytes
PIPE, DEVNULL, TimeoutExpired = subprocess.PIPE, subprocess.DEVNULL, subprocess.TimeoutExpired


class _Forked:
    """Like `subprocess.Popen([sys.executable, *arguments], stdin=DEVNULL, text=True)`.

    The arguments are `-m MODULE ...` or `-c CODE ...`. It is no child of this process, so resources
    that it uses are not counted among those of children.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdout: int = DEVNULL,
        stderr: int = DEVNULL,
        start_new_session: bool = False,
    ) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self.stdout, out = _stream(stdout)
        self.stderr, err = _stream(stderr)
        reading, writing = os.pipe()
        request = [arguments, str(cwd), dict(env), start_new_session]
        socket.send_fds(_server(), [json.dumps(request).encode()], [out, err, writing])
        for descriptor in (out, err, writing):
            os.close(descriptor)
        self._status = os.fdopen(reading)
        self.pid = int(self._status.readline())

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            with self._status:
                self.returncode = os.waitstatus_to_exitcode(int(self._status.readline()))
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise TimeoutExpired(self.args, timeout or 0.0)
        status = self.poll()
        assert status is not None
        return status

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end, and return what was left of its output and its messages."""
        end = None if timeout is None else time.monotonic() + timeout
        with ThreadPoolExecutor(2) as pool:
            texts = [pool.submit(each.read) if each else None for each in self._streams]
            try:
                self.wait(timeout)
                out, err = ("" if text is None else text.result(_left(end)) for text in texts)
            except (TimeoutExpired, TimeoutError):
                self.kill()
                raise
        self._close()
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    @property
    def _streams(self) -> tuple[IO[str] | None, IO[str] | None]:
        return self.stdout, self.stderr

    def _close(self) -> None:
        for stream in self._streams:
            if stream:
                stream.close()

    def __enter__(self) -> _Forked:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()
        self.wait()


class _Started(subprocess.Popen[str]):
    """The same without a fork."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        stdout: int = DEVNULL,
        stderr: int = DEVNULL,
        **options: Any,
    ) -> None:
        command = [sys.executable, *arguments]
        streams = {"stdin": DEVNULL, "stdout": stdout, "stderr": stderr}
        super().__init__(command, text=True, **streams, **options)


Forked = _Forked if sys.platform == "linux" else _Started


def run_python(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Like `subprocess.run` with captured output."""
    with Forked(arguments, cwd=cwd, env=env, stdout=PIPE, stderr=PIPE) as process:
        out, err = process.communicate(timeout)
    assert process.returncode is not None
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def _left(end: float | None) -> float | None:
    return None if end is None else max(0.0, end - time.monotonic())


def _stream(where: int) -> tuple[IO[str] | None, int]:
    """The end that is read here, and the descriptor that the process writes to."""
    if where == PIPE:
        reading, writing = os.pipe()
        return os.fdopen(reading), writing
    return None, os.open(os.devnull, os.O_WRONLY) if where == DEVNULL else os.dup(where)


# The server: it has one thread, so that a fork of it is a whole process.


@functools.cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    single["JE_ARROW_MALLOC_CONF"] = (
        "background_thread:false"  # pandas imports pyarrow if it is there
    )
    code = f"from tests.forked import serve; serve({theirs.fileno()})"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        env={**os.environ, **single},
        stdin=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(descriptor: int) -> None:
    """Start the processes that are requested through a socket, until it is closed."""
    for name in PRELOADED:
        importlib.import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1
    gc.freeze()  # otherwise each process copies most memory when it ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=descriptor) as requests:
        while True:
            message, descriptors, *_ = socket.recv_fds(requests, MAX_REQUEST, 3)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not message:
                os._exit(0)
            if os.fork() == 0:
                break
            for each in descriptors:
                os.close(each)
    _start(json.loads(message), *descriptors)


def _start(request: Any, out: int, err: int, status: int) -> None:
    """Become the process, having left a parent that reports its number and how it ends."""
    if process := os.fork():
        os.close(out)
        os.close(err)
        os.write(status, f"{process}\n".encode())
        os.write(status, f"{os.waitpid(process, 0)[1]}\n".encode())
        os._exit(0)
    os.close(status)
    for descriptor, target in ((out, 1), (err, 2)):
        os.dup2(descriptor, target)
        os.close(descriptor)
    arguments, cwd, environment, new_session = request
    if new_session:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(
        2, "w", buffering=1, errors="backslashreplace", closefd=False
    )
    _execute(*arguments)


def _execute(option: str, program: str, *arguments: str) -> None:
    sys.path[0] = "" if option == "-c" else str(Path.cwd())
    sys.argv = [option, *arguments]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = main = types.ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), main.__dict__)
