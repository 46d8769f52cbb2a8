"""Runs on a GPU, which the stand-in device of twin.py replaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sweep
from sweep.cli.doctor import examine
from sweep.engine.loop import run
from sweep.engine.workers import threads_of_gpu
from sweep.errors import DeviceError, LostDeviceError
from sweep.file import load
from sweep.kernel.backend import Computed
from sweep.kernel.gpu import GpuBackend
from sweep.request.chunk import Points
from sweep.request.options import RunOptions
from sweep.request.sweeps import Sweep
from sweep.store import Arrays, Store
from tests.engine.test_worker_faults import REQUEST
from tests.gpu.test_gpu import Faulty
from tests.gpu.twin import TwinDevice

SHORT = {**REQUEST, "parameters": {**REQUEST["parameters"], "window_end": 20.0}}


@pytest.fixture
def find(monkeypatch: pytest.MonkeyPatch) -> Callable[[TwinDevice], None]:
    """A function that has this device found, where CuPy is installed."""

    def find(device: TwinDevice) -> None:
        monkeypatch.setattr("sweep.kernel.opening.has_cupy", lambda: True)
        monkeypatch.setattr("sweep.kernel.cupy_device.find_gpu", lambda: device)

    return find


def test_auto_uses_the_gpu_and_receipts_name_it(
    find: Callable[[TwinDevice], None], tmp_path: Path
) -> None:
    find(TwinDevice())
    expected = sweep.run(SHORT, store=None, backend="cpu")
    dataset = sweep.run(SHORT, store=tmp_path / "a.zarr", workers=1)
    for name, values in expected.data_vars.items():
        assert values.values.tobytes() == dataset[name].values.tobytes()
    devices = {receipt["device"] for receipt in Store.open(tmp_path / "a.zarr").receipts.read()}
    assert devices == {"twin"}


def test_a_run_on_a_lost_gpu_keeps_its_finished_chunks(
    find: Callable[[TwinDevice], None], tmp_path: Path
) -> None:
    path = tmp_path / "a.zarr"
    find(Faulty(lost=True))  # the first chunk takes three launches
    options = {"chunk_points": 16, "workers": 1}
    with pytest.raises(LostDeviceError, match="Finished chunks are kept"):
        sweep.run({**SHORT, "run": options}, store=path, backend="gpu")
    store = Store.open(path)
    done = store.n_chunks - len(store.pending())
    assert 0 < done < store.n_chunks
    assert store.failed() == []
    sweep.run(SHORT, store=path, backend="cpu")
    assert Store.open(path).pending() == []


@pytest.mark.parametrize(
    ("chunk_points", "exact"),
    [(96, False), (20, False), (100, True)],
    ids=["cells", "parts", "exact"],
)
def test_chunks_of_a_reduced_sweep_are_computed_together(
    chunk_points: int,
    exact: bool,
    find: Callable[[TwinDevice], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Adjacent cells, or parts of them, of which every file has the bytes that the CPU writes."""
    statistics = ["mean", "minimum", "quantile 0.5", "share above 1", "histogram 5"]
    document = {
        **SHORT,
        "outputs": ["wear_power"],
        "axes": {"base_acceleration": {"linspace": [1.0, 15.0, 12]}},
        "sample": {"method": "sobol", "points": 48, "seed": 1, "friction": {"uniform": [0.1, 0.9]}},
        "reduce": {"wear_power": statistics, "exact_quantiles": exact},
        "run": {"chunk_points": chunk_points, "workers": 1},
    }
    compute, calls = GpuBackend.compute, list[int]()

    def counted(self: GpuBackend, sweep: Sweep, points: Points, *further: Any) -> Computed:
        calls.append(points.n_points)
        return compute(self, sweep, points, *further)

    find(TwinDevice())
    monkeypatch.setattr(GpuBackend, "compute", counted)
    files: list[dict[str, bytes]] = []
    for backend in ("cpu", "gpu"):
        sweep.run(document, store=tmp_path / backend, backend=backend)
        paths = sorted((tmp_path / backend / "status").rglob("*"))
        paths += sorted((tmp_path / backend).glob("wear_power*/c/*"))
        root = tmp_path / backend
        files.append({str(p.relative_to(root)): p.read_bytes() for p in paths if p.is_file()})
    assert files[0] == files[1]
    assert len(files[0]) > 12
    assert sum(calls) == 12 * 48
    assert max(calls) > 2 * chunk_points


def test_a_process_leaves_two_processors_to_others(
    find: Callable[[TwinDevice], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread keeps the GPU busy while another copies; the others write."""
    find(TwinDevice())
    monkeypatch.setattr("sweep.engine.workers.usable_processors", lambda: 16)
    chosen = load({**SHORT, "run": {"chunk_points": 16}}).sweep
    workers = [
        run(Arrays(chosen, chunk_points=16), RunOptions(backend="gpu", workers=n)).workers
        for n in (None, 5)
    ]
    assert workers == [threads_of_gpu(1), 5] == [14, 5]
    assert [threads_of_gpu(n) for n in (2, 8)] == [7, 2]


@dataclass
class Described:
    """A device of which the doctor asks nothing but its facts."""

    facts: str


@pytest.mark.usefixtures("installed_once")
@pytest.mark.parametrize("count", [1, 2])
def test_the_doctor_tries_every_gpu(
    count: int, nvidia_smi: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(number: int) -> Described:
        if number:
            raise DeviceError("GPU 1 cannot be used: uncorrectable ECC error encountered")
        return Described("an H200")

    monkeypatch.setattr("sweep.cli.doctor.count_gpus", lambda: count)
    monkeypatch.setattr("sweep.cli.doctor.find_gpu", found)
    nvidia_smi(
        "GPU 0: H200 (UUID: GPU-0)\nGPU 1: H200 (UUID: GPU-1)\n  MIG 1g Device 0: (UUID: MIG-1)"
    )
    findings = {each.subject: each for each in examine()}
    first = findings["GPU" if count == 1 else "GPU 0"]
    assert first.found == "an H200; compiles and runs a trial kernel"
    assert first.problem == ""
    if count == 2:
        assert findings["GPU 1"].found == "not usable"
        assert "ECC" in findings["GPU 1"].problem
    assert findings["all GPUs"].found == "2: H200 (GPU-0), MIG 1g (MIG-1)"
