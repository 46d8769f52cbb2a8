"""Several GPUs, without having one: which are found, what each process sees, how faults end.

`nvidia-smi` is a script that lists GPUs; the processes are real and compute on the processor.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sweep import api
from sweep.engine import ledger
from sweep.engine.gpus import MAX_FAULTS
from sweep.engine.ledger import ATTEMPTS, Summary
from sweep.engine.loop import crew_for, run
from sweep.engine.workers import threads_of_gpu
from sweep.errors import DeviceError, LostDeviceError, MachineError, SweepError
from sweep.file import load
from sweep.kernel import gpu_discovery
from sweep.kernel.backend import Backend, Computed, Stopped, Then
from sweep.kernel.gpu_discovery import VARIABLE, Gpu, find_gpus, visible_gpus
from sweep.kernel.opening import open_backend
from sweep.model.table import Status
from sweep.request.chunk import Points
from sweep.request.options import RunOptions
from sweep.request.sweeps import Sweep
from sweep.store import Arrays, Store
from tests.command import CHECKOUT, Run
from tests.engine.faulty import FullDisk, check_hung
from tests.engine.strangers import Strangers, ports_of_family
from tests.engine.test_engine import FRICTIONS, ROW, SWEEP, bits_of, create
from tests.engine.test_worker_faults import REQUEST
from tests.kernel.wrapped import WrappedBackend

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no shell scripts, no SIGKILL")

A, B = Gpu("GPU-5d5ba0d6-d33d-2b2c", "NVIDIA H200"), Gpu("GPU-77310de4-1f0e-ac65", "NVIDIA H200")
TWO = f"GPU 0: {A.name} (UUID: {A.identifier})\nGPU 1: {B.name} (UUID: {B.identifier})\n"
PARTS = [Gpu(f"MIG-c6d4f1ef-42e4-5de{i}", f"MIG {size}") for i, size in enumerate(("1g", "2g"))]
# As the MIG user guide of NVIDIA shows it.
DIVIDED = f"""GPU 0: {A.name} (UUID: {A.identifier})
  MIG 1g      Device  0: (UUID: {PARTS[0].identifier})
  MIG 2g      Device  1: (UUID: {PARTS[1].identifier})
GPU 1: {B.name} (UUID: {B.identifier})
"""
UNLIKE = TWO.replace(f"1: {B.name}", "1: Quadro T1000") + "GPU 2: NVIDIA A2 (UUID: GPU-99)\n"

List = Callable[[str], None]


# Finding GPUs.


@pytest.mark.parametrize(
    ("text", "variable", "gpus"),
    [
        (TWO, None, [A, B]),
        (DIVIDED, None, [*PARTS, B]),  # a GPU that is divided computes nothing itself
        ("No devices found\n", None, []),
        (TWO, "1", [Gpu("1", A.name)]),
        (TWO, "1,0", [Gpu("1", A.name), Gpu("0", A.name)]),
        (TWO, " 0 , 1 ", [Gpu("0", A.name), Gpu("1", A.name)]),
        (TWO, "0,0,1", [Gpu("0", A.name), Gpu("1", A.name)]),
        (UNLIKE, "0,2,-1,1", [Gpu("0"), Gpu("2")]),  # the example of the CUDA guide
        (TWO, "0,5,1", [Gpu("0", A.name)]),
        (TWO, "", []),
        (TWO, "NoDevFiles", []),
        (TWO, B.identifier, [B]),
        (TWO, "GPU-77", [B]),  # a unique prefix
        (TWO, "GPU-1", []),
        (TWO, "GPU-", []),  # ambiguous
        (DIVIDED, f"{PARTS[1].identifier},1", [PARTS[1], Gpu("1", A.name)]),
        (DIVIDED, f"MIG-{A.identifier}/1/0", [Gpu(f"MIG-{A.identifier}/1/0")]),  # the older form
    ],
)
def test_gpus_are_those_that_cuda_would_see(
    nvidia_smi: List,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    variable: str | None,
    gpus: list[Gpu],
) -> None:
    nvidia_smi(text)
    if variable is not None:
        monkeypatch.setenv(VARIABLE, variable)
    assert list(visible_gpus()) == gpus


@pytest.mark.broad
def test_without_nvidia_smi_the_variable_counts_and_then_cupy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv(VARIABLE, "2,GPU-1")
    assert visible_gpus() == (Gpu("2"), Gpu("GPU-1"))
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{CHECKOUT}")
    cupy = tmp_path / "cupy.py"
    cupy.write_text("class cuda:\n class runtime:\n  getDeviceCount = lambda: 3\n")
    assert visible_gpus() == (Gpu("0"), Gpu("1"), Gpu("2"))
    cupy.write_text("raise ImportError")
    assert visible_gpus() == ()


def test_the_requested_number_is_used_and_more_than_there_are_is_refused(
    nvidia_smi: List, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvidia_smi(TWO)
    assert find_gpus() == find_gpus(2) == (A, B)
    assert find_gpus(1) == (A,)
    with pytest.raises(SweepError, match=r"gpus=3: 2 GPUs are here \(NVIDIA H200 \(GPU-5d5b.*\)"):
        find_gpus(3)
    monkeypatch.setenv(VARIABLE, "0")
    with pytest.raises(SweepError, match=r"gpus=2: 1 GPU is here \(NVIDIA H200 \(0\)\); ask for"):
        find_gpus(2)
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(DeviceError, match=r"CUDA_VISIBLE_DEVICES='' names none.*'cupy-cuda"):
        find_gpus()


MODULES = {  # the first lines of /proc/driver/nvidia/version as NVIDIA's two modules write them
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue Jul  1 17:07:04 UTC 2025\n"
    "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n": "580.159.03",
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n": "570.86.15",
    "NVRM version: unheard of\nGCC version:  gcc version 12.2.0\n": None,
}


@pytest.fixture
def kernel_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the driver's kernel module would write; it does not exist."""
    monkeypatch.setattr(gpu_discovery, "KERNEL_MODULE", tmp_path / "version")
    return tmp_path / "version"


@pytest.mark.parametrize(("text", "version"), MODULES.items())
def test_the_drivers_version_is_read_from_its_kernel_module(
    kernel_module: Path, text: str, version: str | None
) -> None:
    kernel_module.write_text(text)
    assert gpu_discovery.driver_version() == version


@pytest.mark.usefixtures("kernel_module")
def test_the_drivers_version_is_else_that_of_nvidia_smi_or_unknown(
    nvidia_smi: List, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nvidia-smi prints a line for each GPU."""
    nvidia_smi("")
    script = tmp_path / "bin" / "nvidia-smi"
    query = "--query-gpu=driver_version --format=csv,noheader"
    script.write_text(f'#!/bin/sh\n[ "$*" = "{query}" ] && printf "580.159.03\\n580.159.03\\n"\n')
    assert gpu_discovery.driver_version() == "580.159.03"
    script.write_text("#!/bin/sh\nexit 9\n")
    assert gpu_discovery.driver_version() is None
    monkeypatch.setenv("PATH", "/nowhere")
    assert gpu_discovery.driver_version() is None


# Options that exclude each other.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "cpu"}, "needs the backend 'gpu', not 'cpu'"),
        ({"workers": 4}, "one process per GPU.* workers=4"),
        ({"cluster": "slurm"}, "combined with cluster='slurm'.*--gpus=1.* .gpus. with .shard."),
        ({"cluster": "local"}, "combined with cluster='local'"),
    ],
)
def test_options_that_exclude_each_other_are_refused_and_leave_no_store(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(SweepError, match=message):
        api.run({**REQUEST, "run": {}}, store=tmp_path / "a.zarr", **{"gpus": "all", **options})
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SweepError, match=message):
        run(Arrays(SWEEP), RunOptions(**{"gpus": "all", **options}))


def test_gpus_is_an_option_of_files_and_of_the_command_line(run: Run, nvidia_smi: List) -> None:
    assert load({**REQUEST, "run": {"gpus": "all"}}).options.gpus == "all"
    assert load({**REQUEST, "run": {"gpus": 2}}).options.gpus == 2
    for wrong in (0, "two", True):
        with pytest.raises(SweepError, match=r'gpus: .* is not "all" or a whole number from 1'):
            load({**REQUEST, "run": {"gpus": wrong}})
    nvidia_smi(TWO)
    status, _, message = run("run", "wear_power", "--gpus", "3")
    assert (status, "2 GPUs are here" in message) == (2, True)
    status, _, message = run("run", "wear_power", "--gpus", "some")
    assert (status, "'some' is not \"all\"" in message) == (2, True)
    nvidia_smi("")
    status, _, message = run("run", "wear_power", "--gpus", "all", "--dry-run")
    assert (status, "nvidia-smi lists none" in message) == (3, True)
    status, _, message = run("run", "wear_power", "--gpus", "all")
    assert (status, "pip install 'cupy-cuda12x" in message) == (3, True)
    assert not Path("results").exists()


def test_without_cupy_the_extras_are_named(
    nvidia_smi: List, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvidia_smi(TWO)
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(DeviceError, match=r"CuPy is not installed\. pip install 'cupy-cuda12x"):
        find_gpus()


def test_results_in_memory_are_refused(nvidia_smi: List) -> None:
    nvidia_smi(TWO)
    with pytest.raises(SweepError, match=r"gpus='all' .* name a store on a disk"):
        run(Arrays(SWEEP), RunOptions(gpus="all"))


# Processes.


def test_one_faulty_gpu_cannot_fail_a_chunk() -> None:
    """The GPU is given up before it can use up all attempts at a chunk."""
    assert MAX_FAULTS < ATTEMPTS


@dataclass(frozen=True)
class OnProcessor:
    """Opens backends that compute on the processor, and fail on some GPUs.

    In `folder` it notes what each process sees when it opens its backend, and each failure.
    """

    folder: Path
    faults: tuple[tuple[str, str], ...] = ()  # (GPU's identifier, kind of fault)
    poison: int = -1  # a row that fails on every GPU
    endless: bool = False  # that row hangs instead of raising
    deadly: bool = False  # that row costs the process its GPU

    def __call__(self, name: str) -> Backend:
        gpu = os.environ[VARIABLE]
        record = {"name": name, "gpu": gpu, "pid": os.getpid(), "cupy": "cupy" in sys.modules}
        self.note("open", json.dumps(record))
        fault = dict(self.faults).get(gpu, "")
        if fault == "shut" or (fault == "lost" and self.noted(f"fault {gpu}")):
            raise DeviceError(f"no GPU answers: {gpu}")
        return _Backend(open_backend("cpu"), self, gpu, fault)

    def note(self, what: str, text: str = "") -> None:
        (self.folder / f"{what}.{uuid.uuid4().hex}").write_text(text)

    def noted(self, what: str) -> list[str]:
        return [path.read_text() for path in sorted(self.folder.glob(f"{what}.*"))]


class _Backend(WrappedBackend):
    name = "gpu"
    description = "the processor"

    def __init__(self, real: Backend, opener: OnProcessor, gpu: str, fault: str) -> None:
        super().__init__(real)
        self._opener, self._gpu, self._fault = opener, gpu, fault

    def compute(
        self,
        sweep: Sweep,
        points: Points,
        stop: threading.Event | None = None,
        then: Then | None = None,
    ) -> Computed:
        rows = [FRICTIONS.index(each) for each in points.columns["friction"].values.tolist()]
        once = not self._opener.noted(f"fault {self._gpu}")
        if self._fault:
            self._opener.note(f"fault {self._gpu}")
            if self._fault == "killed" and once:
                os.kill(os.getpid(), signal.SIGKILL)
            if self._fault == "full":
                raise MachineError("the disk is full")
            if self._fault == "spoilt":
                raise LostDeviceError("the GPU is lost to this process: CUDA_ERROR_ILLEGAL_ADDRESS")
            raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")
        self._wait_for_others()
        self._opener.note("call", str(len(rows)))
        if self._opener.poison in rows:
            self._opener.note("poison", str(os.getpid()))
            while self._opener.endless:
                assert stop is not None
                if stop.is_set():
                    raise Stopped
                time.sleep(0.01)
            error = LostDeviceError if self._opener.deadly else RuntimeError
            raise error("CUDA_ERROR_LAUNCH_FAILED")
        return self.real.compute(sweep, points, stop, then)

    def _wait_for_others(self) -> None:
        """Leave the process of a faulty GPU time to be replaced."""
        ignored = ("shut", "full", self._fault)
        faulty = [gpu for gpu, fault in self._opener.faults if fault not in ignored]
        end = time.monotonic() + 60
        while faulty and time.monotonic() < end:
            opened = [json.loads(text)["gpu"] for text in self._opener.noted("open")]
            if all(opened.count(gpu) >= 2 for gpu in faulty):
                break
            time.sleep(0.02)


@dataclass
class Ran:
    store: Store
    opener: OnProcessor
    notes: list[str]
    summary: Summary

    @property
    def opened(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self.opener.noted("open")]


@pytest.fixture
def start(store: Store, tmp_path: Path, nvidia_smi: List) -> Iterator[Callable[..., Ran]]:
    nvidia_smi(TWO)

    def start(
        poison: int = -1,
        gpus: int = 2,
        endless: bool = False,
        deadly: bool = False,
        **faults: str,
    ) -> Ran:
        by_gpu = tuple(({"a": A, "b": B}[name].identifier, what) for name, what in faults.items())
        opener = OnProcessor(tmp_path / "notes", by_gpu, poison, endless, deadly)
        opener.folder.mkdir()
        options, notes = RunOptions(gpus=gpus, time_limit=60.0), list[str]()
        summary = run(store, options, notify=notes.append, open_backend=opener)
        return Ran(store, opener, notes, summary)

    yield start
    assert VARIABLE not in os.environ
    assert "cupy" not in sys.modules


@pytest.mark.broad
def test_each_gpu_has_a_process_that_sees_it_alone_and_answers_no_stranger(
    nvidia_smi: List, tmp_path: Path, expected: dict[str, bytes]
) -> None:
    """They compute one store after the other."""
    nvidia_smi(TWO)
    opener, strangers = OnProcessor(tmp_path / "notes"), Strangers()
    opener.folder.mkdir()
    notes: list[str] = []
    options = RunOptions(gpus="all")
    stores = [create(tmp_path / f"{name}.zarr", SWEEP, ROW) for name in ("one", "other")]
    with crew_for(options, opener, notes.append) as crew:
        for store in stores:
            summary = run(store, options, lambda _: strangers.ask(ports_of_family()), crew=crew)
            assert summary.counts == {Status.ok: 12 * ROW}
            assert summary.backend == "2 GPUs (NVIDIA H200)"
            assert summary.workers == 2 * threads_of_gpu(2)
            assert bits_of(store.dataset()) == expected
    strangers.check_refused(3)  # of the scheduler and of each worker, at least
    assert len(notes) == 1
    assert max(map(int, opener.noted("call"))) > 1  # chunks
    opened = [json.loads(text) for text in opener.noted("open")]
    assert {each["gpu"] for each in opened} == {A.identifier, B.identifier}
    assert {each["name"] for each in opened} == {"gpu"}
    # The variable must be set before CuPy is imported.
    assert not any(each["cupy"] for each in opened)
    processes = {each["pid"]: each["gpu"] for each in opened}
    assert len(processes) == 2
    for receipt in (each for store in stores for each in store.receipts.read()):
        assert receipt["device"] == f"the processor ({processes[receipt['pid']]})"


def abandonment_notes(ran: Ran) -> list[str]:
    return [line for line in ran.notes if "given up" in line]


@pytest.mark.broad
@pytest.mark.parametrize("fault", ["killed", "spoilt"])
def test_a_gpu_that_fails_costs_no_chunk(
    start: Callable[..., Ran], expected: dict[str, bytes], fault: str
) -> None:
    """Its process is killed or loses the GPU, and everything fails in the next process too."""
    ran = start(a=fault)
    assert bits_of(ran.store.dataset()) == expected
    assert ran.store.failed() == []
    opened = [each["pid"] for each in ran.opened if each["gpu"] == A.identifier]
    assert len(set(opened)) == 2  # replaced once, with the same GPU
    (line,) = abandonment_notes(ran)
    assert line.startswith(f"GPU {A} is given up, 1 left: 2 tasks in a row failed there")


@pytest.mark.broad
def test_a_gpu_whose_process_cannot_compute_is_given_up_at_once(
    start: Callable[..., Ran], expected: dict[str, bytes]
) -> None:
    """For example because what it compiles cannot be kept."""
    ran = start(a="full")
    assert bits_of(ran.store.dataset()) == expected
    assert abandonment_notes(ran) == [f"GPU {A} is given up, 1 left: the disk is full"]


@pytest.mark.broad
def test_a_full_disk_under_the_store_is_blamed_on_no_gpu(nvidia_smi: List, store: Store) -> None:
    nvidia_smi(TWO)
    notes: list[str] = []
    full = FullDisk(f"{store.path}/status/c/5/")
    with pytest.raises(MachineError, match=r"^cannot write to '.*map.zarr': the disk is full"):
        run(store, RunOptions(gpus="all"), notify=notes.append, open_backend=full)
    assert not any("given up" in line for line in notes)


@pytest.mark.broad
@pytest.mark.parametrize("deadly", [False, True])
def test_a_chunk_that_fails_everywhere_is_abandoned_and_the_gpu_is_not(
    start: Callable[..., Ran],
    monkeypatch: pytest.MonkeyPatch,
    expected: dict[str, bytes],
    deadly: bool,
) -> None:
    """The only GPU is not given up. The chunk is computed with others, and then alone."""
    monkeypatch.setattr(ledger, "ATTEMPTS", 2)  # each needs a new process
    ran = start(poison=5, gpus=1, deadly=deadly)
    assert abandonment_notes(ran) == []
    assert ran.summary.counts == {Status.ok: 11 * ROW, Status.failed: ROW}
    assert [chunk.index for chunk in ran.store.failed()] == [(5, 0)]
    assert len(set(ran.opener.noted("poison"))) == 2
    assert max(map(int, ran.opener.noted("call"))) > 1
    for name, found in bits_of(ran.store.dataset()).items():
        row = len(found) // 12
        assert [found[: 5 * row], found[6 * row :]] == [
            expected[name][: 5 * row],
            expected[name][6 * row :],
        ]


@pytest.mark.broad
@pytest.mark.usefixtures("short_limits")
def test_a_chunk_that_hangs_before_any_is_done_is_abandoned_and_the_gpu_is_not(
    start: Callable[..., Ran],
) -> None:
    ran = start(poison=0, gpus=1, endless=True)
    assert ran.summary.counts == {Status.ok: 11 * ROW, Status.failed: ROW}
    check_hung(ran.store, 0.8, 0.2)
    assert abandonment_notes(ran) == []


def test_a_run_ends_when_no_gpu_is_left(start: Callable[..., Ran], tmp_path: Path) -> None:
    """One GPU cannot be opened; the other cannot be opened again after a kernel has failed."""
    with pytest.raises(DeviceError, match="no GPU is left") as caught:
        start(a="shut", b="lost")
    for gpu in (A, B):
        assert f"  GPU {gpu}: no GPU answers: {gpu.identifier}\n" in str(caught.value)
    assert "run the same sweep again to resume" in str(caught.value)
    notes = [json.loads(path.read_text()) for path in (tmp_path / "notes").glob("open.*")]
    assert len({each["pid"] for each in notes if each["gpu"] == B.identifier}) == 2
    assert len(Store.open(tmp_path / "map.zarr").pending()) == 12
