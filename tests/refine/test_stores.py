"""Refined sweeps in stores: kills, stops, retries, refusals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import fsspec
import numpy as np
import pytest
import xarray as xr

import sweep
from sweep import api
from sweep.backends import Backend, Computed, open_backend
from sweep.config import load
from sweep.engine.ledger import Progress, Summary
from sweep.errors import StoreError
from sweep.options import RunOptions
from sweep.refine.passes import Account
from sweep.request import Sweep
from sweep.spec import Status
from sweep.store import PassFolder, Store
from sweep.store.upkeep import failed
from sweep.work import Points
from tests.backends.wrapped import WrappedBackend
from tests.command import Run, environment
from tests.conftest import BUCKET
from tests.forked import CHECKOUT, run_python
from tests.refine.test_refine import AXES, PARAMETERS, REFINE, TOML, document, plain, same_bits
from tests.store.test_remote import objects
from tests.store.test_store import tree

LAST = 2  # pass

SLOW: Mapping[str, Any] = {
    "model": "friction_oscillator",
    "outputs": ["wear_power", "slip_phases", "regime"],
    "parameters": {**PARAMETERS, "window_start": 0.0, "window_end": 4000.0},
    "axes": {
        "friction": {"linspace": [0.05, 0.5, 5]},
        "base_acceleration": {"geomspace": [1.0, 15.0, 7]},
    },
    "refine": {"output": "regime", "levels": LAST},
    "run": {"workers": 2, "chunk_points": 20},
}

# Kills its own process when it is about to write the n-th chunk of a certain store.
RUNNER = """
import json, os, signal, sys, sweep
from sweep.store import Store
write, left = Store.write, int(sys.argv[3])
def counted(store, *arguments):
    global left
    left -= store.location.endswith(sys.argv[4])
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    write(store, *arguments)
Store.write = counted
sweep.run(json.loads(sys.argv[2]), store=sys.argv[1])
"""


SMALL = {"output": "regime", "levels": 1}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of the store of an undisturbed run."""
    path = tmp_path_factory.mktemp("whole") / "a.zarr"
    sweep.run(SLOW, store=path)
    return tree(path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the refined sweep of test_refine."""
    path = tmp_path_factory.mktemp("kept") / "a.zarr"
    sweep.run(document(), store=path)
    return path


def run_in_part(path: Path) -> tuple[xr.Dataset, list[Progress]]:
    """Stop SLOW in its second pass: the results until then, and what was reported."""
    stop, reports = Event(), list[Progress]()

    def report(progress: Progress) -> None:
        reports.append(progress)
        if progress.points_done > 30:
            stop.set()

    return sweep.run(SLOW, store=path, report=report, stop=stop), reports


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_in_its_passes_and_run_again_it_is_the_same_store(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    """In the last pass, and while the points of all passes are assembled."""
    path = tmp_path / "a.zarr"
    for write, store in ((2, f"{LAST}.zarr"), (2, f"{tmp_path.name}/a.zarr")):
        command = ["-c", RUNNER, str(path), json.dumps(SLOW), str(write), store]
        killed = run_python(command, cwd=CHECKOUT, env=environment())
        assert killed.returncode == -signal.SIGKILL
        if store == f"{LAST}.zarr":
            left = [len(Store.open(PassFolder(path)[i]).pending()) for i in range(LAST + 1)]
            assert left[:-1] == [0] * LAST
            assert left[-1] > 0
    assert 0 < len(Store.open(path).pending()) < Store.open(path).n_chunks
    api.compute(load(SLOW), path, open_backend=no_backend)
    assert tree(path) == whole
    assert names(tmp_path) == {"a.zarr", "a.zarr.lock", "a.zarr.log"}


@pytest.mark.broad
@pytest.mark.usefixtures("s3")
def test_one_cluster_computes_all_passes_and_leaves_nothing_of_them(tmp_path: Path) -> None:
    """SLURM jobs would queue again for every pass. At a URL processes hold receipts back."""
    url = f"s3://{BUCKET}/refined/a.zarr"
    notes: list[str] = []
    run = {"workers": 2, "chunk_points": 3}
    axes = {"friction": {"linspace": [0.05, 0.5, 3]}}
    parameters = {**SLOW["parameters"], "base_acceleration": 3.0, "window_end": 12.0}
    small = {"parameters": parameters, "axes": axes, "outputs": ["regime", "wear_power"]}
    requested = load({**SLOW, **small, "refine": SMALL, "run": run})
    api.compute(requested, tmp_path / "a.zarr")
    by_processes = api.with_options(requested, cluster="local")
    _, summary = api.compute(by_processes, url, notify=notes.append)
    assert summary.stopped == ""
    assert objects(url) == tree(tmp_path / "a.zarr")
    assert [line.partition(":")[0] for line in notes] == ["Dask dashboard"]
    keys = fsspec.filesystem("s3").find(f"{BUCKET}/refined")
    assert {key.split("/")[2] for key in keys} == {"a.zarr"}


def test_passes_left_by_a_kill_at_the_end_are_removed_by_the_next_run(tmp_path: Path) -> None:
    path, passes, kept = (tmp_path / name for name in ("a.zarr", "a.zarr.passes", "kept"))

    def keep(progress: Progress) -> None:
        if progress.points_done == progress.points_total:
            shutil.copytree(passes, kept, dirs_exist_ok=True)

    sweep.run(document(SMALL), store=path, report=keep)
    assert names(kept) >= {"0.zarr", "1.zarr"}
    kept.rename(passes)
    api.compute(load(document(SMALL)), path, open_backend=no_backend)
    assert names(tmp_path) == {"a.zarr", "a.zarr.lock", "a.zarr.log"}


@pytest.mark.parametrize("left", [1, *(pytest.param(n, marks=pytest.mark.broad) for n in (2, 3))])
def test_passes_at_a_url_whose_removal_was_killed_are_removed_by_the_next_run(
    left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as one file of them is left, the next run finds it."""
    url = f"memory://refined-{os.getpid()}-{left}/a.zarr"
    system = fsspec.filesystem("memory")
    remove = type(system).rm_file

    def killed(self: Any, path: str) -> None:
        if ".passes/" in path and len(system.find(f"{url}.passes")) == left:
            raise KeyboardInterrupt
        remove(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(type(system), "rm_file", killed)
        with pytest.raises(KeyboardInterrupt):
            sweep.run(document(SMALL), store=url)
    assert len(system.find(f"{url}.passes")) == left
    assert same_bits(sweep.run(document(SMALL), store=url), sweep.run(document(SMALL), store=None))
    assert not system.find(f"{url}.passes")


def no_backend(name: str) -> Backend:
    """Where nothing is left to compute, none is opened."""
    raise AssertionError(name)


def test_a_stopped_sweep_shows_its_pass_and_resumes(
    run: Run, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    path = tmp_path / "a.zarr"
    part, reports = run_in_part(path)
    assert part["status"].dims == ("point",)
    assert int(part["level"].max()) == 1
    assert [p.points_done for p in reports] == sorted(p.points_done for p in reports)
    with pytest.raises(StoreError, match=r"being refined.*sweep status .*a\.zarr\.passes/\d\.zarr"):
        Store.open(path)
    with pytest.raises(StoreError, match=r"being refined.*sweep run FILE -o .*a\.zarr"):
        sweep.run(path)
    _, out, _ = run("status", PassFolder(path)[1])
    assert f"next: sweep run FILE -o {path} with the same sweep file" in out
    sweep.run(SLOW, store=path)
    assert tree(path) == whole


def test_a_sweep_stopped_in_memory_has_the_points_of_the_pass() -> None:
    stop = Event()
    stop.set()
    dataset = sweep.run(document(), store=None, stop=stop)
    assert (dataset["status"].values == Status.pending).all()
    assert dataset.sizes == {"friction": 5, "base_acceleration": 9}


def test_the_time_limit_is_for_all_passes_together(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    status, _, err = run("run", "a.toml", "-o", "a.zarr", "--time-limit", "0.0000001")
    assert status == 143
    assert "0 of 15 points are kept in" in err
    assert str(Path("a.zarr.passes", "0.zarr")) in err
    assert run("status", "a.zarr")[0] == 2
    assert run("status", str(Path("a.zarr.passes", "0.zarr")))[0] == 0
    assert run("run", "a.toml", "-o", "a.zarr")[0] == 0
    account = Account(RunOptions(time_limit=5.0), None)
    account.enter(Summary(1, 1, {}, 2.0, 1.0, 1, "cpu", ""), 1)
    account.enter(Summary(1, 1, {}, 1.5, 1.0, 1, "cpu", ""), 1)
    assert account.options().time_limit == 1.5


def test_a_sweep_stopped_in_a_later_pass_counts_the_passes_before(run: Run, tmp_path: Path) -> None:
    """The counts agree with the stores of the passes."""
    path, stop = tmp_path / "a.zarr", Event()
    (tmp_path / "a.toml").write_text(TOML)

    def report(progress: Progress) -> None:
        if progress.points_total > 15:  # the second pass begins
            stop.set()

    request = api.with_options(load(tmp_path / "a.toml"), chunk_points=4)
    last, summary = api.compute(request, path, report, stop)
    assert summary.stopped
    stores = [Store.open(each) for each in sorted((tmp_path / "a.zarr.passes").glob("[0-9].zarr"))]
    assert (len(stores), stores[-1].location) == (2, last.location)
    total = sum(each.sweep.n_points for each in stores)
    done = sum(int((each.dataset()["status"] != Status.pending).sum()) for each in stores)
    assert 15 <= done < total
    again = ("run", "a.toml", "-o", "a.zarr", "--time-limit", "0.0000001")
    status, out, err = run(*again, "--json")
    printed = json.loads(out.splitlines()[-1])
    assert (status, printed["points_done"], printed["points_total"]) == (143, done, total)
    assert f"{done} of {total} points of all passes are kept, those of the last one in" in err


def test_values_are_those_of_the_machine_that_started(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy's geomspace gives other last bits on other processors."""
    path = tmp_path / "a.zarr"
    run_in_part(path)
    assert not path.exists()
    geomspace = np.geomspace
    monkeypatch.setattr(np, "geomspace", lambda *requested: geomspace(*requested) * (1 + 2**-52))
    sweep.run(SLOW, store=path)
    assert tree(path) == whole
    sweep.run(SLOW, store=path)  # the finished store keeps them too


class Failing(WrappedBackend):
    """A backend that fails at points of low friction."""

    def compute(self, requested: Sweep, points: Points, stop: Event | None = None) -> Computed:
        if (points.columns["friction"].values < 0.1).any():
            raise ValueError("a fault")
        return self.real.compute(requested, points, stop)


def test_failed_points_are_a_class_and_are_tried_again(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    path = tmp_path / "a.zarr"
    store, _ = api.compute(load(SLOW), path, open_backend=lambda name: Failing(open_backend(name)))
    part = store.dataset()
    lost = part["status"].values == Status.failed
    assert lost.any()
    assert not lost.all()
    assert "a.zarr.passes" in names(tmp_path)
    requested = api.with_options(load(SLOW), retry_failed=True)
    plain, _ = api.compute(load(SLOW), path)
    assert failed(plain)  # without retry_failed, failed points stay
    kept, summary = api.compute(requested, path)
    assert summary.stopped == ""
    assert not failed(kept)
    assert tree(path) == whole
    assert names(tmp_path) == {"a.zarr", "a.zarr.lock", "a.zarr.log"}


def test_a_second_driver_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    with (
        PassFolder(path).lock(),
        pytest.raises(StoreError, match=r"a\.zarr' is held by another run in this process"),
    ):
        sweep.run(document(), store=path)


def test_a_damaged_chunk_is_computed_again(tmp_path: Path, whole: dict[str, bytes]) -> None:
    path = tmp_path / "a.zarr"
    sweep.run(SLOW, store=path)
    (path / "regime" / "c" / "2").unlink()
    sweep.run(SLOW, store=path)
    assert tree(path) == whole


def test_a_refined_sweep_can_be_stored_at_a_url() -> None:
    url = f"memory://refined-{os.getpid()}/a.zarr"
    stop = Event()
    sweep.run(document(SMALL), store=url, stop=stop, report=lambda _progress: stop.set())
    with pytest.raises(StoreError, match=r"being refined.*a\.zarr\.passes/\d\.zarr"):
        sweep.open_results(url)
    dataset = sweep.run(document(SMALL), store=url)
    assert same_bits(dataset, sweep.run(document(SMALL), store=None))
    paths = fsspec.filesystem("memory").ls(url.rpartition("/")[0], detail=False)
    assert paths == [f"/refined-{os.getpid()}/a.zarr"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"refine": {"output": "regime", "levels": 2}}, "axis point: refine = .*'levels': 3"),
        ({"refine": {**REFINE, "output": ["regime", "wear_power"], "tolerance": 0.5}}, "refine ="),
        ({"parameters": {**PARAMETERS, "mass": 2}}, "mass: 1.0 kg in the store, 2.0 kg"),
        ({"axes": {**AXES, "friction": {"geomspace": [0.01, 1.0, 6]}}}, "axis point: axes = "),
        ({"axes": {"friction": AXES["friction"]}, "parameters": {**PARAMETERS,
          "base_acceleration": 3}}, "axis point: base_acceleration, friction in the store"),
    ],
)  # fmt: skip
def test_another_sweep_is_refused(kept: Path, changed: Mapping[str, object], message: str) -> None:
    before = tree(kept)
    with pytest.raises(StoreError, match=message):
        sweep.run({**document(), **changed}, store=kept)
    assert tree(kept) == before


def test_another_tolerance_is_another_sweep(tmp_path: Path) -> None:
    refine = {"output": "wear_power", "levels": 1}
    sweep.run(document({**refine, "tolerance": 0.5}), store=tmp_path / "a.zarr")
    with pytest.raises(StoreError, match=r"axis point: refine = .*'tolerance': 0\.5\b.* in the st"):
        sweep.run(document({**refine, "tolerance": 0.4}), store=tmp_path / "a.zarr")


def test_a_plain_grid_and_a_refined_one_are_two_sweeps(kept: Path, tmp_path: Path) -> None:
    grid = plain(document())
    sweep.run(grid, store=tmp_path / "grid.zarr")
    with pytest.raises(StoreError, match="dimensions: friction, base_acceleration in the store"):
        sweep.run(document(), store=tmp_path / "grid.zarr")
    with pytest.raises(StoreError, match="dimensions: point in the store"):
        sweep.run(grid, store=kept)
    with pytest.raises(StoreError, match="a refined store cannot be extended"):
        Store.extend(kept, load(grid).sweep)


def test_results_open_without_a_warning_in_plain_xarray(kept: Path) -> None:
    opened = xr.open_zarr(kept)
    assert opened["regime"].dims == ("point",)
    assert {"level", "friction", "base_acceleration"} <= set(opened.coords)
