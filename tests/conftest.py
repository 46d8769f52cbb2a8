"""What several test files share."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.precompiled import quick

if TYPE_CHECKING:
    from tests.command import Run

# The same examples each time: a failure is of what has changed. `--hypothesis-profile=default`
# looks for others.
try:  # `-m gpu` goes without
    from hypothesis import settings
except ImportError:
    pass
else:
    settings.register_profile("same", derandomize=True)
    settings.load_profile("same")

# Kernels of tests are small work, so it is their compilation that takes time. Bits do not depend on
# it, which tests/kernel/test_bits.py shows with the flags that users have.
if "TRIBOSWEEP_CXX" not in os.environ and (gxx := shutil.which("g++")):
    os.environ["TRIBOSWEEP_CXX"] = quick(gxx)

# Processes of Dask look after themselves 50 times a second, also while a test waits for others.
for setting, value in {
    "ADMIN__TICK__INTERVAL": "1s",
    "ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    "WORKER__PROFILE__ENABLED": "False",
}.items():
    os.environ.setdefault(f"DASK_DISTRIBUTED__{setting}", value)

# Nothing that is imported or collected becomes garbage, and looking for it takes seconds. Not by
# `gc.disable`: dask.array keeps for good what it finds enabled when it is imported.
THRESHOLDS = gc.get_threshold()
gc.set_threshold(0)

GPU_TESTS = "test_on_gpu.py"
BUCKET = "sweeps"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-gpu", action="store_true", help="a test that needs a GPU fails where none is"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m gpu` reads the GPU's tests alone: they need less to be installed than the others."""
    alone = config.option.markexpr == "gpu" and collection_path.suffix == ".py"
    return True if alone and collection_path.name != GPU_TESTS else None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command line run in this process and in an empty folder: status, stdout, stderr."""
    from sweep.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def quick_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forecasts measure the speed of this machine for a hundredth of a second."""
    monkeypatch.setattr("sweep.results.forecast.TIMED_SECONDS", 0.01)


@pytest.fixture
def copied_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the kernels, which this process then reads."""
    from sweep.kernel import source

    folder = tmp_path / "kernels"
    shutil.copytree(source.kernels_folder(), folder)
    monkeypatch.setattr(source, "kernels_folder", lambda: folder)
    return folder


@pytest.fixture
def block_points(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of points of results that are read at once, which is the parameter."""
    monkeypatch.setattr("sweep.results.summary.BLOCK_POINTS", request.param)
    return request.param


@functools.cache
def _installed(_path: tuple[str, ...]) -> Mapping[str, list[str]]:
    return packages_distributions()


@pytest.fixture
def installed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor looks for installed packages once for each `sys.path`, since that takes long."""
    monkeypatch.setattr(
        "sweep.cli.doctor.packages_distributions", lambda: _installed(tuple(sys.path))
    )


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that makes nvidia-smi print a list of GPUs. CuPy is installed, and unusable."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "cupy.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path / "site")

    def lists(text: str) -> None:
        (folder / "list").write_text(text)
        script = folder / "nvidia-smi"
        script.write_text(f'#!/bin/sh\n[ "$*" = -L ] && cat "{folder}/list"\n')
        script.chmod(0o755)

    return lists


@pytest.fixture(scope="session")
def s3() -> Iterator[None]:
    """A server of S3's protocol in a thread of this process, which the environment points to."""
    import fsspec
    from moto.server import ThreadedMotoServer

    with pytest.MonkeyPatch.context() as patch:
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "nobody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").mkdir(BUCKET)
        yield
        server.stop()


ROOTS = ("memory://", f"s3://{BUCKET}/")
# For tests of what does not depend on the protocol: an object of S3 takes ten times as long.
ROOTS_BROAD_ON_S3 = pytest.mark.parametrize(
    "root",
    [pytest.param(root, marks=pytest.mark.broad if root[:2] == "s3" else ()) for root in ROOTS],
    indirect=True,
)


@pytest.fixture(params=ROOTS)
def root(request: pytest.FixtureRequest) -> str:
    """A URL that nothing lies under yet."""
    if request.param.startswith("s3"):
        request.getfixturevalue("s3")
    return f"{request.param}{time.monotonic_ns()}"
