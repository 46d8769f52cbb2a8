"""The device between the backend and CuPy, on a CuPy stand-in that computes on the processor."""

from __future__ import annotations

import inspect
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep
from sweep.backends import open_backend
from sweep.backends.alike import Sorting
from sweep.backends.cpu import CpuBackend
from sweep.backends.cupy_device import find_gpu
from sweep.backends.gpu import GpuBackend
from sweep.config import load
from sweep.doctor import examine
from sweep.engine.crews import threads_of_gpu
from sweep.engine.loop import run
from sweep.errors import DeviceError, LostDeviceError, MachineError
from sweep.options import RunOptions
from sweep.plan.chunking import chunk_at
from sweep.plan.point_columns import points
from sweep.store import MemoryResults, Store
from sweep.work import Chunk
from tests.backends import cupy_twin
from tests.backends.cupy_twin import MULTIPROCESSORS, THREADS_OF_ONE, Gpu, install
from tests.engine.test_worker_faults import REQUEST
from tests.gpu.test_gpu import CASES, FEW, REAL_CUPY, ROOT
from tests.gpu.test_random_points import SAMPLED
from tests.points import differing

BUDGET = 5
SHORT = {**REQUEST, "parameters": {**REQUEST["parameters"], "window_end": 20.0}}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    return install(monkeypatch, Gpu())


def on_cpu(name: str) -> dict[str, Any]:
    return dict(CpuBackend().compute(CASES[name].sweep, CASES[name].points).arrays)


@pytest.mark.parametrize("name", FEW)
def test_the_bits_are_those_of_the_cpu(gpu: Gpu, name: str) -> None:
    case, backend = CASES[name], open_backend("gpu")
    backend.prepare(case.sweep, case.points)
    for _ in range(2):
        gpu.pinned = gpu.launches = 0
        result = backend.compute(case.sweep, case.points)
        assert differing(on_cpu(name), dict(result.arrays)) == []
        assert result.kernel_seconds > 0
        # Outputs, the status, all parameters together, and the argument of each launch.
        assert gpu.pinned == len(case.sweep.outputs) + 2 + gpu.launches


def test_threads_share_the_device(gpu: Gpu) -> None:
    """More threads than streams, with different kernels at the same time."""
    backend = GpuBackend(find_gpu(), BUDGET)
    names = FEW * 2
    expected = {name: on_cpu(name) for name in FEW}
    with ThreadPoolExecutor(len(names)) as pool:
        jobs = [pool.submit(backend.compute, CASES[n].sweep, CASES[n].points) for n in names]
        for name, job in zip(names, jobs, strict=True):
            assert differing(expected[name], dict(job.result().arrays)) == []
    assert gpu.launches > 2 * len(names)


@pytest.mark.parametrize("memory", [3_000, 300_000])
@pytest.mark.parametrize("name", FEW)
def test_batches_are_halved_if_the_pool_has_too_little_memory(
    monkeypatch: pytest.MonkeyPatch, name: str, memory: int
) -> None:
    gpu = install(monkeypatch, Gpu())
    device = find_gpu()
    backend = GpuBackend(device)
    gpu.memory = memory  # less than it reported
    case = CASES[name]
    assert differing(on_cpu(name), dict(backend.compute(case.sweep, case.points).arrays)) == []
    gpu.memory = 20
    with pytest.raises(MachineError, match="too little memory for a single point"):
        backend.compute(case.sweep, case.points)


def test_launches_of_several_threads_take_turns(gpu: Gpu) -> None:
    """So the measured time of each is its own: budgets are learnt from it."""
    backend = GpuBackend(find_gpu(), BUDGET)
    case = CASES["friction_oscillator-rk32"]
    backend.prepare(case.sweep, case.points)
    gpu.spans.clear()
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(backend.compute, case.sweep, case.points) for _ in range(4)]
    assert all(job.result().kernel_seconds > 0 for job in jobs)
    spans = sorted(gpu.spans)
    assert len(spans) > 20
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


@pytest.mark.parametrize("name", ["impact_oscillator-newmark", "mdr_contact-time_stepping_2"])
def test_the_loading_time_of_a_first_launch_is_not_counted(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Otherwise a unit of work would seem expensive, and later batches would begin with few."""
    loading = 0.5
    install(monkeypatch, Gpu(loading=loading))
    case, backend = CASES[name], GpuBackend(find_gpu())
    assert backend.compute(case.sweep, case.points).kernel_seconds < loading


def test_the_pool_frees_its_memory_if_there_is_none_for_stacks(gpu: Gpu) -> None:
    backend, name = GpuBackend(find_gpu()), FEW[0]
    backend.prepare(CASES[name].sweep, CASES[name].points)
    gpu.is_full = True
    result = backend.compute(CASES[name].sweep, CASES[name].points)
    assert differing(on_cpu(name), dict(result.arrays)) == []


def test_the_pool_frees_its_memory_if_there_is_none_for_what_draws(gpu: Gpu) -> None:
    chunk = Chunk((0, 0), (0, 0), (1, 3000))
    request, backend = load(SAMPLED).sweep, GpuBackend(find_gpu())
    backend.prepare(request, points(request, chunk))
    gpu.is_full = True
    result = backend.compute(request, points(request, chunk)).arrays
    expected = CpuBackend().compute(request, points(request, chunk)).arrays
    assert differing(dict(expected), dict(result)) == []


@pytest.mark.usefixtures("gpu")
def test_auto_uses_the_gpu_and_receipts_name_it(tmp_path: Path) -> None:
    expected = sweep.run(SHORT, store=None, backend="cpu")
    dataset = sweep.run(SHORT, store=tmp_path / "a.zarr")
    for name, values in expected.data_vars.items():
        assert values.values.tobytes() == dataset[name].values.tobytes()
    devices = {receipt["device"] for receipt in Store.open(tmp_path / "a.zarr").receipts()}
    assert devices == {"twin of a GPU, CUDA 13.0, CuPy 14.2.0"}


def test_points_are_reduced_on_the_device(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """In sorted batches, and with as much sent to the host however many points there are."""
    sent: list[int] = []
    counts: list[int] = []

    def order(self: Sorting, queue: Any, uploaded: Any, first: int, count: int) -> Any:
        counts.append(count)
        return _order(self, queue, uploaded, first, count)

    _order = Sorting.order_on_device
    monkeypatch.setattr(Sorting, "order_on_device", order)
    for size in (256, 4096):
        drawn = {"method": "sobol", "points": size, "seed": 1, "friction": {"uniform": [0.1, 0.5]}}
        kept = {"wear_power": ["mean", "maximum", "histogram 8"]}
        tables = {"outputs": [*kept], "axes": {}, "sample": drawn, "reduce": kept}
        whole = load({**SHORT, **tables}, ["base_acceleration=12"]).sweep
        chunk = chunk_at((0,), whole.grid, whole.grid)
        expected = CpuBackend().compute(whole, points(whole, chunk)).arrays
        backend = GpuBackend(find_gpu(), BUDGET)
        backend.memory = 1 << 17
        before = gpu.sent
        computed = backend.compute(whole, points(whole, chunk)).arrays
        sent.append(gpu.sent - before)
        assert differing(dict(expected), dict(computed)) == []
    assert sent[0] == sent[1] < 1000
    assert sum(counts) > 256 + 4000
    assert len(counts) > 2


@pytest.mark.usefixtures("gpu", "installed_once")
def test_its_properties_are_reported() -> None:
    device = find_gpu()
    assert device.facts.threads == device.threads == MULTIPROCESSORS * THREADS_OF_ONE
    assert device.facts.double_rate == 64 * MULTIPROCESSORS * 1.98e9
    assert "compute capability 9.0" in str(device.facts)
    assert "CuPy 14.2.0 with CUDA 13.1" in str(device.facts)
    (finding,) = (each for each in examine() if each.subject == "GPU")
    assert finding.found.startswith("twin of a GPU")
    assert "compiles and runs a trial kernel" in finding.found
    assert finding.problem == ""


@pytest.mark.usefixtures("installed_once")
def test_the_doctor_tries_every_gpu(
    nvidia_smi: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Gpu(count=2))
    nvidia_smi(
        "GPU 0: H200 (UUID: GPU-0)\nGPU 1: H200 (UUID: GPU-1)\n  MIG 1g Device 0: (UUID: MIG-1)"
    )
    found = {each.subject: each for each in examine()}
    assert found["GPU 0"].found.startswith("twin of a GPU")
    assert found["GPU 0"].problem == ""
    assert found["GPU 1"].found == "not usable"
    assert "ECC" in found["GPU 1"].problem
    assert found["--gpus all"].found == "2: H200 (GPU-0), MIG 1g (MIG-1)"


def test_without_a_clock_the_rate_is_unknown(gpu: Gpu) -> None:
    gpu.unsupported = {13}
    facts = find_gpu().facts
    assert facts.double_rate == facts.clock == 0
    assert "FP64 unknown" in str(facts)
    gpu.unsupported = {16}
    with pytest.raises(DeviceError, match="cudaErrorNotSupported"):
        find_gpu()


@pytest.mark.parametrize(("text", "capability"), [("75", (7, 5)), ("120", (12, 0))])
def test_the_compute_capability_is_two_numbers(
    gpu: Gpu, text: str, capability: tuple[int, int]
) -> None:
    """CuPy reports it as text; it is not among the attributes."""
    gpu.capability = text
    assert find_gpu().facts.capability == capability


def test_after_a_kernels_fault_the_device_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a run ends and keeps its finished chunks, instead of failing all others."""
    gpu = install(monkeypatch, Gpu())
    device = find_gpu()
    assert device.answers()
    backend = GpuBackend(device, BUDGET)
    name = "friction_oscillator-exact"
    gpu.fails_from = gpu.launches + 3
    with pytest.raises(LostDeviceError, match=r"cudaErrorIllegal.* run the same sweep"):
        backend.compute(CASES[name].sweep, CASES[name].points)
    assert not device.answers()
    with pytest.raises(DeviceError, match=r"GPU.*cannot be used: CUDARuntimeError: .*Illegal"):
        find_gpu()


def test_a_run_on_a_lost_gpu_keeps_its_finished_chunks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.zarr"
    install(monkeypatch, Gpu(fails_from=10))  # the first chunk takes 9 launches
    options = {"chunk_points": 16, "workers": 1}
    with pytest.raises(LostDeviceError, match="Finished chunks are kept"):
        sweep.run({**SHORT, "run": options}, store=path, backend="gpu")
    store = Store.open(path)
    done = store.n_chunks - len(store.pending())
    assert 0 < done < store.n_chunks
    assert store.failed() == []
    sweep.run(SHORT, store=path, backend="cpu")
    assert Store.open(path).pending() == []


def test_pinned_memory_has_sizes_that_are_used_again(gpu: Gpu) -> None:
    """CuPy's pool keeps every size that was ever asked for."""
    device, sizes = find_gpu(), set[int]()
    for length in range(1, 3000, 7):
        array = device.host_array(length, np.float64)
        assert (array.dtype, array.shape) == (np.float64, (length,))
        assert array.base is not None
        sizes.add(array.base.nbytes)
    assert len(sizes) <= 13
    assert gpu.pinned == 429


def test_plain_memory_is_used_if_no_more_can_be_pinned(gpu: Gpu) -> None:
    gpu.can_pin = False
    name = FEW[0]
    backend = open_backend("gpu")
    pinned = backend.description
    result = backend.compute(CASES[name].sweep, CASES[name].points)
    assert differing(on_cpu(name), dict(result.arrays)) == []
    assert backend.description == f"{pinned}, without pinned memory"  # which receipts have


@pytest.mark.usefixtures("gpu")
def test_a_process_leaves_two_processors_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread keeps the GPU busy while another copies; the others write."""
    monkeypatch.setattr("sweep.engine.crews.usable_processors", lambda: 16)
    chosen = load({**SHORT, "run": {"chunk_points": 16}}).sweep
    workers = [
        run(MemoryResults(chosen, chunk_points=16), RunOptions(backend="gpu", workers=n)).workers
        for n in (None, 5)
    ]
    assert workers == [threads_of_gpu(1), 5] == [14, 5]
    assert [threads_of_gpu(n) for n in (2, 8)] == [7, 2]


# The tests that `pytest -m gpu` runs.

ON_STAND_IN = """
import sys
import pytest
from tests.backends.cupy_twin import Gpu
sys.modules.update(Gpu().modules())
sys.exit(pytest.main(sys.argv[1:]))
"""


def test_the_gpu_tests_pass_on_the_stand_in() -> None:
    """A few of them, so that faults in the tests show before they run on a GPU."""
    few = "impact or statistics or two_threads or memory_is_short or describes_itself"
    command = ["-q", "-m", "gpu", "--require-gpu", "-k", f"({few}) and not array"]
    done = subprocess.run(
        [sys.executable, "-c", ON_STAND_IN, *command, "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "11 passed" in done.stdout


# The stand-in compared with the real CuPy.

OF_CLASSES = {
    "Event": "cupy.cuda.Event",
    "Stream": "cupy.cuda.Stream",
    "RawModule": "cupy.RawModule",
    "MemoryPointer": "cupy.cuda.MemoryPointer",
    "Function": "cupy.RawKernel",
    "Device": "cupy.cuda.Device",
}
MADE_BY_CUPY = ("MemoryPointer", "Function", "Device")
ATTRIBUTES = """cupy.RawKernel.kernel cupy.cuda.Function.ptr cupy.cuda.MemoryPointer.ptr
    cupy.cuda.Device.id cupy.cuda.MemoryPool.free_all_blocks cupy.cuda.MemoryPool.set_limit
    cupy.cuda.MemoryPool.total_bytes cupy.fft.config.get_plan_cache
    cupy.fft._cache.PlanCache.clear"""
# Arguments are read from signatures, or from the first lines of docstrings.
READ_ARGUMENTS = """
import importlib, inspect, json, re, sys
def arguments(what):
    try:
        return list(inspect.signature(what).parameters)
    except (TypeError, ValueError):
        text = re.match(r"[^(]*\\(([^)]*)\\)", (what.__doc__ or "").partition("\\n")[0])
        parts = (part.partition("=")[0].split() for part in text[1].split(",")) if text else ()
        return [part[-1] for part in parts if part]
def found(path):
    module, *names = path.split(".")
    what = importlib.import_module(module)
    for name in names:
        what = getattr(what, name)
    return [each for each in arguments(what) if each not in ("self", "/", "*")]
json.dump({path: found(path) for path in sys.argv[1:]}, sys.stdout)
"""


def of_stand_in() -> Iterator[tuple[str, Callable[..., Any] | None]]:
    """Every name of the stand-in, with the function behind it; None if it is not one of its own."""
    for name, path in OF_CLASSES.items():
        for member, what in vars(getattr(cupy_twin, name)).items():
            if member == "__init__" and name not in MADE_BY_CUPY:
                yield path, what
            elif member == "__call__" or not member.startswith("_"):
                yield f"{path}.{member}", what if inspect.isfunction(what) else None
    yield from ((path, None) for path in ATTRIBUTES.split())
    for module in Gpu().modules().values():
        yield from _of_module(module.__name__, vars(module))


def _of_module(path: str, parts: Any) -> Iterator[tuple[str, Callable[..., Any] | None]]:
    for name, what in parts.items():
        if not name.startswith("_"):
            call = inspect.isfunction(what) or inspect.ismethod(what)
            yield f"{path}.{name}", what if call else None
        if name in ("cuda", "driver", "memory", "runtime"):
            yield from _of_module(f"{path}.{name}", vars(what))


def of_cupy(paths: list[str]) -> dict[str, list[str]]:
    """The arguments of CuPy's functions of these names, read in a process with the real CuPy."""
    if not (REAL_CUPY / "cupy").is_dir():
        # All other tests here use the stand-in; CI runs `make test`.
        pytest.skip(f"no CuPy in {REAL_CUPY}: `make test` installs it there")
    folders = os.pathsep.join([str(REAL_CUPY), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", READ_ARGUMENTS, *paths],
        env={**os.environ, "PYTHONPATH": folders, "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_stand_in_has_nothing_that_cupy_lacks() -> None:
    """Names, and the order of arguments; no driver is needed to read them."""
    ours = dict(of_stand_in())
    real = of_cupy(list(ours))
    n_checked = 0
    for path, call in ours.items():
        arguments = list(inspect.signature(call).parameters.values()) if call else []
        arguments = [each for each in arguments if each.name != "self"]
        by_place = [each.name for each in arguments if each.kind is not each.KEYWORD_ONLY]
        assert len(by_place) <= len(real[path]), path
        for name, theirs in zip(by_place, real[path], strict=False):
            assert name == theirs or name.startswith("_"), path  # lambdas may have other names
        assert {each.name for each in arguments} - {*by_place} <= {*real[path]}, path
        n_checked += len(arguments)
    assert n_checked > 20
