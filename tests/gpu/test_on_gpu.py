"""Tests on a GPU: methods give the bits of the CPU.

They need NumPy, CuPy and pytest, and either a C++ compiler or the files of tests.gpu_cases.
Without a GPU they are skipped; with --require-gpu they fail.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.errors import MachineError
from sweep.kernel import random_points
from sweep.kernel.backend import Computed, Stopped
from sweep.kernel.cupy_device import CupyDevice, CupyMemory, CupyQueue, find_gpu
from sweep.kernel.gpu import GpuBackend
from sweep.request.chunk import Column, Points
from sweep.request.sweeps import Sweep
from tests.benchmarks.gpu_maps import map_document
from tests.cases import cases, differing, part, sweep_of
from tests.cases.drawn import FORMS, WHOLE, column_of
from tests.cases.files import file_cases
from tests.gpu_cases import N_POINTS, REDUCED, expected, in_cells

pytestmark = pytest.mark.gpu

CASES = {case.name: case for case in (*cases(N_POINTS), *file_cases(N_POINTS))}
GARBAGE = 0xA5  # a byte of memory that nothing has been written to


@pytest.fixture(scope="session")
def gpu(request: pytest.FixtureRequest) -> CupyDevice:
    try:
        return find_gpu()
    except MachineError as error:
        if request.config.getoption("--require-gpu"):
            pytest.fail(str(error))
        pytest.skip(str(error))  # only a GPU can show these; the other tests are in test_gpu.py


@pytest.fixture(autouse=True)
def end_if_the_gpu_is_lost(gpu: CupyDevice, request: pytest.FixtureRequest) -> Iterator[None]:
    """After a fault of a kernel every call fails, so later tests of this process show nothing."""
    yield
    if not gpu.answers():
        request.session.shouldstop = "the GPU is lost to this process"


@pytest.fixture(autouse=True)
def memory_full_of_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a result or a flag that is not written is not that of an earlier test."""
    empty, host_array = CupyQueue.empty, CupyDevice.host_array

    def empty_of_garbage(self: CupyQueue, n_bytes: int) -> CupyMemory:
        memory = empty(self, n_bytes)
        memory.pointer.memset_async(GARBAGE, n_bytes, self.stream)
        return memory

    def host_array_of_garbage(self: CupyDevice, length: int, dtype: Any) -> NDArray[Any]:
        array = host_array(self, length, dtype)
        array.view(np.uint8)[:] = GARBAGE
        return array

    monkeypatch.setattr(CupyQueue, "empty", empty_of_garbage)
    monkeypatch.setattr(CupyDevice, "host_array", host_array_of_garbage)


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_the_cpu(name: str, gpu: CupyDevice) -> None:
    case = CASES[name]
    points, bits = expected(case)
    assert differing(bits, dict(GpuBackend(gpu).compute(case.sweep, points).arrays)) == []


@pytest.mark.parametrize("name", CASES)
def test_the_bits_depend_on_neither_budget_nor_batch(name: str, gpu: CupyDevice) -> None:
    case = CASES[name]
    points, bits = expected(case)
    backend = GpuBackend(gpu, budget=37)
    backend.memory = 200_000
    assert differing(bits, dict(backend.compute(case.sweep, points).arrays)) == []


def test_float32_is_rounded_as_by_the_cpu(gpu: CupyDevice) -> None:
    """Wear powers below 2^-126 W, too, which CuPy's own conversion turns into 0."""
    case = CASES["friction_oscillator-exact"]
    points, _ = expected(case)
    mass = Column(points.columns["mass"].values * np.resize([1.0, 1e-38, 1e-40], points.n_points))
    points = replace(points, columns={**points.columns, "mass": mass})
    backend, single = GpuBackend(gpu), replace(case.sweep, dtype="float32")
    doubles, rounded = (dict(backend.compute(s, points).arrays) for s in (case.sweep, single))
    with np.errstate(all="ignore"):  # subnormal and infinite ones are meant
        expected_bits = {
            n: v.astype(np.float32) if v.dtype == np.float64 else v for n, v in doubles.items()
        }
    assert differing(expected_bits, rounded) == []
    power = np.abs(rounded["wear_power"])
    assert np.count_nonzero((power > 0) & (power < 2.0**-126)) > points.n_points / 20


@pytest.mark.parametrize("whole", [False, True])
def test_random_points_are_those_that_numpy_draws(whole: bool, gpu: CupyDevice) -> None:
    count, wrong = 1_000_000, list[str]()
    for form, arguments in WHOLE if whole else FORMS:
        column = column_of({"x": {form: arguments}}, whole="x" if whole else "")
        entries = gpu.entry(random_points.drawing_text(), "draw")
        with gpu.queue() as queue:
            memory, _ = random_points.draw(queue, entries, column, 5, count)
            values = gpu.to_host(queue.array(memory, count, np.float64))
        if values.tobytes() != column[5 : 5 + count].tobytes():
            wrong.append(f"{form} {arguments}")
    assert wrong == []


@pytest.mark.parametrize("kind", ["", "exact", "indices"])
@pytest.mark.parametrize("name", REDUCED)
def test_statistics_kept_on_the_gpu_are_those_of_the_host(
    name: str, kind: str, gpu: CupyDevice
) -> None:
    points, bits = expected(CASES[name])
    exact, indices = kind == "exact", kind == "indices"
    kept, cells = in_cells(CASES[name], points, exact=exact, indices=indices)
    backend = GpuBackend(gpu)
    of_cell = cells.n_points // cells.cells
    parts = () if exact else (20, of_cell - 120, 100)
    sweep, then = CASES[name].sweep, kept.then(cells, parts)
    on_gpu = [dict(backend.compute(sweep, cells, then=then).arrays) for _ in range(2)]
    assert backend._has_room  # for what reducing takes: it was done on the device
    on_host = dict(Computed(bits, 0.0).followed(then).arrays)
    assert [differing(on_host, each) for each in on_gpu] == [[], []]


def test_the_bits_are_the_same_among_other_points(gpu: CupyDevice) -> None:
    """A hundred times as many points, which fill the device and diverge in other ways."""
    case = CASES["friction_oscillator-exact"]
    points, bits = expected(case)
    order = np.random.default_rng(1).permutation(np.arange(100 * points.n_points)) % points.n_points
    outputs = GpuBackend(gpu).compute(case.sweep, part(points, order)).arrays
    assert differing({name: values[order] for name, values in bits.items()}, dict(outputs)) == []


def test_two_threads_get_their_own_results(gpu: CupyDevice) -> None:
    chosen = [CASES["friction_oscillator-euler"], CASES["mdr_contact-time_stepping"]]
    backend = GpuBackend(gpu)

    def wrong(i: int) -> list[str]:
        case = chosen[i % 2]
        points, bits = expected(case)
        return [
            name
            for _ in range(5)
            for name in differing(bits, dict(backend.compute(case.sweep, points).arrays))
        ]

    with ThreadPoolExecutor(4) as pool:  # whose exceptions are raised here
        assert list(pool.map(wrong, range(4))) == [[], [], [], []]


def test_launches_of_several_threads_take_turns(gpu: CupyDevice) -> None:
    """So the measured time of each is its own: budgets are learnt from it."""
    case, backend = CASES["friction_oscillator-rk32"], GpuBackend(gpu, budget=37)
    points, _ = expected(case)
    backend.prepare(case.sweep, points.variants)
    began = time.perf_counter()
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(backend.compute, case.sweep, points) for _ in range(4)]
        launched = [job.result().kernel_seconds for job in jobs]
    assert min(launched) > 0
    assert sum(launched) <= time.perf_counter() - began


def test_a_stop_takes_effect_within_half_a_second_at_a_point_of_hours(gpu: CupyDevice) -> None:
    values = {"phase": 1.0, "beta": 0.5, "delta": 1.5, "springs": 1e5, "steps_per_cycle": 1e9}
    sweep = sweep_of(values, "mdr_contact", "time_stepping")
    columns = {p.name: Column(np.array([values.get(p.name, p.default)])) for p in sweep.parameters}
    backend, points, stop = GpuBackend(gpu), Points(n_points=1, columns=columns), threading.Event()
    backend.prepare(sweep)
    stopped: list[float] = []

    def request_stop() -> None:
        stopped.append(time.perf_counter())
        stop.set()

    timer = threading.Timer(3.0, request_stop)
    timer.start()
    with pytest.raises(Stopped):
        backend.compute(sweep, points, stop)
    assert time.perf_counter() - stopped[0] < 0.6  # one launch, and the work of the host
    timer.join()


def test_the_bits_are_the_same_if_memory_is_short(gpu: CupyDevice) -> None:
    """With a limit on CuPy's pool, allocations fail as on a full device.

    The pool holds more than is used where a piece of a larger block is: by a plan of an FFT, which
    CuPy keeps, if there was one before.
    """
    case = CASES["friction_oscillator-exact"]
    points, bits = expected(case)
    gpu.library.fft.config.get_plan_cache().clear()
    pool = gpu.library.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.total_bytes() + 400_000)
    try:
        backend = GpuBackend(gpu)
        before = backend.memory
        assert differing(bits, dict(backend.compute(case.sweep, points).arrays)) == []
        assert backend.memory < before
    finally:
        pool.set_limit(size=0)


def test_a_stored_map_has_the_bits_of_a_direct_call(
    gpu: CupyDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one call of the backend computes several chunks, each is written to its place.

    This test needs all dependencies of the program.
    """
    pytest.importorskip("zarr")
    import sweep

    compute, calls, chunk, document = GpuBackend.compute, [], 64, map_document(64)

    def counted(self: GpuBackend, sweep: Sweep, points: Points, *further: Any) -> Computed:
        calls.append(points.n_points)
        return compute(self, sweep, points, *further)

    direct = sweep.run(document, store=None, backend="gpu", chunk_points=64**2)
    monkeypatch.setattr(GpuBackend, "compute", counted)
    options: dict[str, Any] = {"backend": "gpu", "workers": 2, "chunk_points": chunk}
    stored = sweep.run(document, store=tmp_path / "a.zarr", **options)
    for name, values in direct.data_vars.items():
        assert values.values.tobytes() == stored[name].values.tobytes()
    assert sum(calls) == 64**2
    assert max(calls) > chunk


def test_every_gpu_computes_in_a_process_of_its_own(gpu: CupyDevice, tmp_path: Path) -> None:
    """Each process sees one GPU, gives the bits of this process and reports its GPU.

    This test needs all dependencies of the program.
    """
    pytest.importorskip("distributed")
    pytest.importorskip("zarr")
    import sweep
    from sweep.kernel.gpu_discovery import find_gpus
    from sweep.store import Store

    axes = {"friction": {"geomspace": [0.01, 1.0, 64]}, "base_acceleration": {"values": [2, 5, 15]}}
    constants = {"mass": 1, "gravity": 10, "angular_frequency": 6, "window_end": 12}
    request = {
        "model": "friction_oscillator",
        "parameters": {**constants, "window_start": 4},
        "axes": axes,
        "run": {"chunk_points": 3},
    }
    expected = sweep.run(request, store=None, backend="gpu")
    dataset = sweep.run(request, store=tmp_path / "a.zarr", gpus="all")
    for name, values in expected.data_vars.items():
        assert values.values.tobytes() == dataset[name].values.tobytes()
    devices = {receipt["device"] for receipt in Store.open(tmp_path / "a.zarr").receipts.read()}
    names = [f"({each.identifier})" for each in find_gpus()]
    assert all(device.endswith(tuple(names)) for device in devices)
    assert len(devices) <= len(names)


# A process whose kernel writes where there is no memory.
FAULT = """
from sweep.kernel.cupy_device import find_gpu
text = 'extern "C" __global__ void tribosweep_fault(double* nowhere) { *nowhere = 1.0; }'
device = find_gpu()
entries, before = device.entry(text, "fault"), device.answers()
try:
    with device.queue() as queue:
        entries.start("tribosweep_fault", 8, 1)
        queue.wait()
except Exception as error:
    print(before, device.answers(), error, flush=True)
"""


@pytest.mark.usefixtures("gpu")
def test_after_a_fault_of_a_kernel_the_device_does_not_answer() -> None:
    done = subprocess.run([sys.executable, "-c", FAULT], capture_output=True, text=True)
    assert done.stdout.startswith("True False"), done.stdout + done.stderr
    assert "IllegalAddress" in done.stdout or "ILLEGAL_ADDRESS" in done.stdout


def test_the_device_describes_itself(gpu: CupyDevice) -> None:
    gpu.try_kernel()
    assert gpu.facts.name in gpu.description
    assert gpu.facts.multiprocessors > 0
    assert gpu.facts.clock > 0
