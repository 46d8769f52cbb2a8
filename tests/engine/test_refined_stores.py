"""Refined sweeps in stores: kills, stops, retries, readers, refusals."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import fsspec
import numpy as np
import pytest
import xarray as xr

import sweep
from sweep import api
from sweep.engine import driver
from sweep.engine.ledger import Progress
from sweep.errors import MachineError, StoreError
from sweep.file import load
from sweep.kernel.backend import Arrays, Backend, Computed
from sweep.kernel.opening import open_backend
from sweep.model.table import Status
from sweep.request.chunk import Points
from sweep.request.sweeps import AnySweep, Sweep
from sweep.store import Store, extension, open_results
from tests.command import Run, environment
from tests.conftest import BUCKET
from tests.engine.test_refinement import (
    AXES,
    PARAMETERS,
    REFINE,
    TOML,
    at_points,
    document,
    finest,
    plain,
    same_bits,
)
from tests.forked import CHECKOUT, run_python
from tests.kernel.wrapped import WrappedBackend
from tests.store.injected import fail_writing, stop_at, stop_objects_at
from tests.store.test_remote import objects
from tests.store.test_store import tree

SLOW: Mapping[str, Any] = {
    "model": "friction_oscillator",
    "outputs": ["wear_power", "slip_phases", "regime"],
    "parameters": {**PARAMETERS, "window_start": 0.0, "window_end": 4000.0},
    "axes": {
        "friction": {"linspace": [0.05, 0.5, 5]},
        "base_acceleration": {"geomspace": [1.0, 15.0, 7]},
    },
    "refine": {"output": "regime", "levels": 2},
    "run": {"workers": 2, "chunk_points": 20},
}
COARSE = 35  # points
SMALL = {"output": "regime", "levels": 1}
SHORT: Mapping[str, Any] = {
    **document({"output": "regime", "levels": 2}, outputs=["regime"]),
    "axes": {"base_acceleration": {"linspace": [0.5, 15.0, 4]}},
    "parameters": {**PARAMETERS, "friction": 0.3},
    "run": {"workers": 1, "chunk_points": 3},
}

# Kills its own process at the n-th call of a function of a module or a class.
RUNNER = """
import json, os, signal, sys, sweep
from sweep.store import Store, extension
owner, name = {"write": (Store, "write"), "put": (extension, "in_order")}[sys.argv[3]]
real, left = getattr(owner, name), int(sys.argv[4])
def counted(*arguments):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments)
setattr(owner, name, counted)
sweep.run(json.loads(sys.argv[2]), store=sys.argv[1])
"""


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


def run_in_part(path: Path, points: int = COARSE) -> tuple[xr.Dataset, list[Progress]]:
    """Stop SLOW once it has more points: the results until then, and what was reported."""
    stop, reports = Event(), list[Progress]()

    def report(progress: Progress) -> None:
        reports.append(progress)
        if progress.points_total > points:
            stop.set()

    return sweep.run(SLOW, store=path, report=report, stop=stop), reports


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def no_backend(name: str) -> Backend:
    """Where nothing is left to compute, none is opened."""
    raise AssertionError(name)


# Stopped at any moment.


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.broad)])
def test_stopped_at_any_step_and_run_again_it_is_the_same_store(
    tmp_path: Path, stride: int
) -> None:
    """Before a file is put in place, removed or renamed: in chunks, in extensions, at the end.

    It is resumed by its sweep and from the store alone in turn.
    """
    sweep.run(SHORT, store=tmp_path / "whole" / "a.zarr")
    whole = tree(tmp_path / "whole" / "a.zarr")
    under_way, grown = 0, set[int]()
    for step in range(0, 10_000, stride):
        path = tmp_path / f"{step}" / "a.zarr"
        stopped = stop_at(step, lambda path=path: sweep.run(SHORT, store=path), at="a.zarr")
        extending = (path.parent / ".a.zarr.extension/zarr.json").exists()
        under_way += extending
        if extending:
            with pytest.raises(StoreError, match=r"resume with `sweep run .*a\.zarr`"):
                open_results(path)
        elif path.exists():
            grown.add(Store.open(path).sweep.n_points)
        if path.exists() and step % 2:
            sweep.run(path, workers=1)
        else:
            sweep.run(SHORT, store=path)
        assert tree(path) == whole
        assert names(path.parent) == {"a.zarr", "a.zarr.lock", "a.zarr.log"}
        if not stopped:
            break
    assert not stopped
    assert step > 60
    assert under_way > 20 / stride
    assert len(grown) > 1


@pytest.mark.parametrize("stride", [11, pytest.param(2, marks=pytest.mark.broad)])
def test_stopped_at_any_step_at_a_url_it_is_the_same_store(
    stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweep.store.datasets.MAX_WAIT_SECONDS", 0.05)
    root = f"memory://stopped-{os.getpid()}-{stride}"
    sweep.run(SHORT, store=f"{root}/whole.zarr")
    whole = objects(f"{root}/whole.zarr")
    for step in range(0, 10_000, stride):
        url = f"{root}/{step}/a.zarr"
        stopped = stop_objects_at(url, step, lambda url=url: sweep.run(SHORT, store=url))
        sweep.run(SHORT, store=url)
        assert objects(url) == whole
        keys = fsspec.filesystem("memory").find(url.removesuffix("/a.zarr"))
        assert {key.split("/")[3] for key in keys} <= {"a.zarr", "a.zarr.log"}
        # The file system looks through all of its objects, so these would slow the next ones down.
        fsspec.filesystem("memory").rm(url.removesuffix("/a.zarr"), recursive=True)
        if not stopped:
            break
    assert not stopped
    assert step > 50


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_in_a_chunk_and_in_an_extension_it_is_the_same_store(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    path = tmp_path / "a.zarr"
    for call, count in (("write", 4), ("put", 1)):
        command = ["-c", RUNNER, str(path), json.dumps(SLOW), call, str(count)]
        killed = run_python(command, cwd=CHECKOUT, env=environment())
        assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / ".a.zarr.extension/zarr.json").exists()
    sweep.run(path)
    assert tree(path) == whole
    assert names(tmp_path) == {"a.zarr", "a.zarr.lock", "a.zarr.log"}


def test_scratch_of_an_extension_that_was_killed_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    run_in_part(path)
    scratch = tmp_path / f"..a.zarr.extension.{'0' * 32}.partial"
    scratch.mkdir()
    sweep.run(path)
    assert not scratch.exists()


def test_a_stopped_sweep_has_its_points_so_far_and_resumes(
    run: Run, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    path = tmp_path / "a.zarr"
    part, reports = run_in_part(path)
    assert part.sizes["point"] > COARSE
    assert (part["level"].values == 0).tolist() == [True] * COARSE + [False] * (
        part.sizes["point"] - COARSE
    )
    assert (part["status"].values == Status.pending).any()
    assert [p.points_total for p in reports] == sorted(p.points_total for p in reports)
    assert all(p.points_done <= p.points_total for p in reports)
    _, out, _ = run("status", str(path))
    assert f"next: sweep run {path} (resumes)" in out
    sweep.run(path)
    assert tree(path) == whole


def test_between_two_extensions_it_is_not_said_to_be_finished(
    run: Run, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    """All of its points are done, but others follow from them."""
    path = tmp_path / "a.zarr"
    request = driver.with_points(load(SLOW))
    driver.run_in_store(driver.open_store(request, path), request)
    assert Store.open(path).pending() == []
    _, out, _ = run("status", str(path))
    assert f"{COARSE} of {COARSE} points done" in out
    assert f"next: sweep run {path} (resumes)" in out
    assert json.loads(run("status", str(path), "--json")[1])["may_grow"] is True
    sweep.run(path)
    assert tree(path) == whole
    assert f"next: sweep plot {path}" in run("status", str(path))[1]


def test_a_sweep_stopped_in_memory_has_the_points_so_far() -> None:
    stop = Event()
    stop.set()
    dataset = sweep.run(document(), store=None, stop=stop)
    assert (dataset["status"].values == Status.pending).all()
    assert dataset.sizes == {"point": 45}


class Sleeping(WrappedBackend):
    """A backend that takes a fifth of a second."""

    def compute(
        self,
        sweep: Sweep,
        points: Points,
        stop: Event | None = None,
        then: Callable[..., Arrays] | None = None,
    ) -> Computed:
        threading.Event().wait(0.2)
        return self.real.compute(sweep, points, stop, then)


def test_the_time_limit_is_for_the_whole_run(run: Run, tmp_path: Path) -> None:
    """Each chunk, and so all that is computed between two extensions, takes less."""
    (tmp_path / "a.toml").write_text(TOML)
    status, _, err = run("run", "a.toml", "-o", "a.zarr", "--time-limit", "0.0000001")
    assert status == 143
    assert "0 of 15 points are kept in a.zarr" in err
    request = api.with_options(load(tmp_path / "a.toml"), time_limit=0.3, workers=1)
    slow = lambda name: Sleeping(open_backend(name))  # noqa: E731
    store, summary = api.compute(request, tmp_path / "a.zarr", open_backend=slow)
    assert summary.stopped == "time limit"
    assert store.sweep.n_points > 15
    assert run("run", "a.toml", "-o", "a.zarr")[0] == 0


def test_figures_count_a_chunk_that_is_computed_again_once(run: Run, tmp_path: Path) -> None:
    """All points lie in one chunk, which is computed again after each extension."""
    reports: list[Progress] = []
    (tmp_path / "a.toml").write_text(TOML)
    store, summary = api.compute(load(tmp_path / "a.toml"), tmp_path / "a.zarr", reports.append)
    total = store.sweep.n_points
    assert store.n_chunks == 1
    assert len(store.receipts.read()) > 2
    assert (summary.points, summary.chunks, summary.counts) == (total, 1, {Status.ok: total})
    assert (reports[-1].points_done, reports[-1].points_total) == (total, total)
    assert (reports[-1].chunks_done, reports[-1].chunks_total) == (1, 1)
    assert f"{total} of {total} points done" in run("status", "a.zarr")[1]
    out = run("run", "a.toml", "-o", "b.zarr")[1]
    assert f"b.zarr: {total} points, {total} of them now" in out


def test_a_resumed_run_counts_what_it_computes(tmp_path: Path) -> None:
    path, reports = tmp_path / "a.zarr", list[Progress]()
    run_in_part(path)
    before = Store.open(path).counts(Store.open(path).done()).get(Status.ok, 0)
    store, summary = api.compute(load(SLOW), path, reports.append)
    total = store.sweep.n_points
    assert (reports[-1].points_done, reports[-1].points_total) == (total, total)
    assert total - before <= summary.points < total
    assert sum(summary.counts.values()) == summary.points


REDUCED: Mapping[str, Any] = {
    "model": "friction_oscillator",
    "outputs": ["wear_power"],
    "parameters": PARAMETERS,
    "axes": {
        "friction": {"geomspace": [0.01, 1.0, 3]},
        "base_acceleration": {"linspace": [15.0, 0.5, 3]},
    },
    "sample": {
        "method": "random",
        "points": 300,
        "seed": 1,
        "vertical_acceleration": {"uniform": [0, 5]},
    },
    "reduce": {"over": ["point"], "wear_power": ["mean"]},
    "refine": {"output": "wear_power_mean", "levels": 1, "tolerance": 0.2},
}


@pytest.mark.parametrize("chunk_points", [100, 1000])
def test_a_reduced_sweep_is_refined(tmp_path: Path, chunk_points: int) -> None:
    """With several blocks to a cell, and with several cells to a chunk; stopped in between."""
    stop, small = Event(), {**REDUCED, "run": {"chunk_points": chunk_points, "workers": 1}}

    def report(progress: Progress) -> None:
        if progress.points_total > 9 * 300:
            stop.set()

    part = sweep.run(small, store=tmp_path / "a.zarr", report=report, stop=stop)
    assert part.sizes["point"] > 9
    assert (part["status"] == Status.pending).any()
    sweep.run(tmp_path / "a.zarr")
    whole = sweep.run(small, store=tmp_path / "whole.zarr")
    assert tree(tmp_path / "a.zarr") == tree(tmp_path / "whole.zarr")
    grid = sweep.run({**plain(small), "axes": finest(whole, 1, REDUCED["axes"])}, store=None)
    points = at_points(grid, whole, list(REDUCED["axes"]))
    np.testing.assert_array_equal(points["wear_power_mean"], whole["wear_power_mean"])


# Failed points, damage, other code and other machines.


def test_values_are_those_of_the_machine_that_started(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """NumPy's geomspace gives other last bits on other processors."""
    path = tmp_path / "a.zarr"
    run_in_part(path)
    geomspace = np.geomspace
    monkeypatch.setattr(np, "geomspace", lambda *requested: geomspace(*requested) * (1 + 2**-52))
    sweep.run(SLOW, store=path)
    assert tree(path) == whole
    sweep.run(SLOW, store=path)  # the finished store keeps them too


class Failing(WrappedBackend):
    """A backend that fails at points of low friction."""

    def compute(
        self,
        sweep: Sweep,
        points: Points,
        stop: Event | None = None,
        then: Callable[..., Arrays] | None = None,
    ) -> Computed:
        if (points.columns["friction"].values < 0.1).any():
            raise ValueError("a fault")
        return self.real.compute(sweep, points, stop, then)


def run_with_failures(path: Path) -> Store:
    store, _ = api.compute(load(SLOW), path, open_backend=lambda name: Failing(open_backend(name)))
    return store


def test_failed_points_are_a_class_and_are_tried_again(tmp_path: Path) -> None:
    """Points around them stay, and others follow from the values that they get."""
    path = tmp_path / "a.zarr"
    store = run_with_failures(path)
    status = store.dataset()["status"].values
    assert set(status) == {Status.ok, Status.failed}
    before = store.sweep.n_points
    unchanged, _ = api.compute(load(SLOW), path)
    assert unchanged.failed()  # without retry_failed, failed points stay
    retried, summary = api.compute(api.with_options(load(SLOW), retry_failed=True), path)
    assert summary.stopped == ""
    assert not retried.failed()
    assert retried.sweep.n_points > before
    names = (*SLOW["axes"], "level", *SLOW["outputs"])
    sweep.run(SLOW, store=tmp_path / "whole.zarr")
    expected, actual = (
        set(zip(*(each[name].values.tolist() for name in names), strict=True))
        for each in (open_results(tmp_path / "whole.zarr"), retried.dataset())
    )
    assert expected < actual


def test_a_retry_that_was_stopped_is_continued_by_any_run(tmp_path: Path) -> None:
    """Even if it was stopped when all points that had failed were done."""
    one, other = tmp_path / "one" / "a.zarr", tmp_path / "other" / "a.zarr"
    retry = api.with_options(load(SLOW), retry_failed=True)
    for path in (one, other):
        run_with_failures(path)
    api.compute(retry, one)
    driver.run_in_store(Store.open(other), retry)  # without the points that follow
    assert Store.open(other).pending() == []
    sweep.run(other)
    assert tree(other) == tree(one)


def test_a_damaged_chunk_is_computed_again(tmp_path: Path, whole: dict[str, bytes]) -> None:
    path = tmp_path / "a.zarr"
    sweep.run(SLOW, store=path)
    (path / "regime" / "c" / "2").unlink()
    sweep.run(SLOW, store=path)
    assert tree(path) == whole


def test_a_finished_store_need_not_be_writable(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor need it say that it is finished, as none of earlier versions does."""
    path = tmp_path / "a.zarr"
    sweep.run(document(), store=path)
    store = Store.open(path)
    store.note("refined", None)
    before = tree(path)
    with monkeypatch.context() as patched:
        fail_writing(patched, errno.EROFS, str(tmp_path))
        _, summary = api.compute(load(document()), path, open_backend=no_backend)
    assert (summary.chunks, summary.stopped) == (0, "")
    assert tree(path) == before
    api.compute(load(document()), path, open_backend=no_backend)
    assert tree(path) == tree(kept)


def test_an_unfinished_store_must_be_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if all points that it has so far are done."""
    request = driver.with_points(load(SLOW))
    store = driver.open_store(request, tmp_path / "a.zarr")
    driver.run_in_store(store, request)
    fail_writing(monkeypatch, errno.EROFS, str(tmp_path))
    with pytest.raises(MachineError, match="read-only"):
        sweep.run(SLOW, store=tmp_path / "a.zarr")


def test_a_fault_of_the_machine_between_extensions_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although all points of the store that the run began with are done."""
    build = extension.build

    def full(*arguments: Any) -> None:
        if arguments[1].n_points > 60:
            raise MachineError("the disk is full")
        build(*arguments)

    monkeypatch.setattr(extension, "build", full)
    with pytest.raises(MachineError, match="the disk is full"):
        sweep.run({**SLOW, "run": {"chunk_points": 5}}, store=tmp_path / "a.zarr")


# As earlier versions left them.


def by_level(path: Path, finished: xr.Dataset) -> Store:
    """A store as an earlier version made it: points by level, and no note that it is finished."""
    request = load(document())
    order = np.argsort(finished["level"].values, kind="stable")
    (axis,) = Store.open(finished.encoding["source"]).sweep.grid.axes
    assert axis.levels is not None
    columns = {name: values[:][order] for name, values in axis.columns.items()}
    points = replace(axis, columns=columns, levels=axis.levels[order])
    swept: AnySweep = request.sweep.with_axes([points])
    store = Store.create(path, swept)
    names = ["wear_power", "regime", "status"]
    for chunk in store.pending():
        (part,) = chunk.slices
        store.write(chunk, {name: finished[name].values[order][part] for name in names})
    return store


def test_a_finished_store_of_an_earlier_version_is_left_as_it_is(
    run: Run, tmp_path: Path, kept: Path
) -> None:
    """But for the note that it is finished, which it gets."""
    path = tmp_path / "a.zarr"
    finished = open_results(kept).load()
    finished.encoding["source"] = str(kept)
    store = by_level(path, finished)
    before = tree(path)
    _, summary = api.compute(load(document()), path, open_backend=no_backend)
    assert summary.chunks == 0
    after = tree(path)
    assert [name for name in before if after[name] != before[name]] == ["zarr.json"]
    assert not Store.open(path).may_grow
    assert same_bits(store.dataset(), sweep.run(path))
    assert run("plot", str(path), "-o", str(tmp_path / "map.png"))[0] == 0


@pytest.mark.parametrize("place", ["a.zarr", "memory"])
def test_what_an_earlier_version_had_begun_is_refused(tmp_path: Path, place: str) -> None:
    path: str | Path = tmp_path / "a.zarr"
    if place == "memory":
        path = f"memory://begun-{os.getpid()}/a.zarr"
    sweep.run(plain(document()), store=f"{path}.passes/0.zarr")
    with pytest.raises(StoreError, match=r"a\.zarr\.passes' .* an earlier version .* remove it"):
        sweep.run(document(), store=path)


# Others who use the store meanwhile.


def test_a_second_run_is_refused_at_once(kept: Path) -> None:
    with (
        Store.open(kept).lock(),
        pytest.raises(StoreError, match=r"a\.zarr' is held by another run in this process"),
    ):
        sweep.run(document(), store=kept)


def extended_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Thread:
    """A run of SLOW whose first extension is under way, and takes a third of a second."""
    begun, forget = Event(), extension.forget

    def slow(files: Any) -> None:
        if extension.is_under_way(files):
            begun.set()
            threading.Event().wait(0.3)
        forget(files)

    monkeypatch.setattr(extension, "forget", slow)
    thread = threading.Thread(target=lambda: sweep.run(SLOW, store=path, progress=False))
    thread.start()
    assert begun.wait(60)
    return thread


@pytest.mark.parametrize("read", [open_results, lambda path: Store.open(path).dataset()])
def test_a_reader_waits_for_an_extension(
    read: Callable[[Path], xr.Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = extended_meanwhile(tmp_path / "a.zarr", monkeypatch)
    try:
        dataset = read(tmp_path / "a.zarr")
        assert dataset.sizes["point"] > COARSE
    finally:
        thread.join()
    assert np.isfinite(dataset["friction"].values).all()


def test_what_is_read_while_a_store_is_extended_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise its arrays might have different lengths, which counts as damage."""
    request = driver.with_points(load(SLOW))
    store = driver.open_store(request, tmp_path / "a.zarr")
    driver.run_in_store(store, request)
    opened, looks = xr.open_zarr, []

    def extending(*arguments: Any, **options: Any) -> xr.Dataset:
        looks.append(1)
        if len(looks) > 1:
            return opened(*arguments, **options)
        (points,) = store.sweep.grid.axes
        twice = {name: np.concatenate([v[:], v[:]]) for name, v in points.columns.items()}
        assert points.levels is not None
        longer = replace(points, columns=twice, levels=np.tile(points.levels, 2))
        store.grown(store.sweep.with_axes([longer]))
        return opened(*arguments, **options).expand_dims(nonsense=[1, 2]).isel(nonsense=[])

    monkeypatch.setattr(xr, "open_zarr", extending)
    monkeypatch.setattr("sweep.store.datasets._chunked", refusing_nonsense)
    assert open_results(store.path).sizes["point"] == 2 * COARSE


def refusing_nonsense(dataset: xr.Dataset) -> xr.Dataset:
    if "nonsense" in dataset.dims:
        raise StoreError("arrays of different lengths")
    return dataset


def test_results_opened_before_an_extension_can_still_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    before: list[xr.Dataset] = []

    def report(progress: Progress) -> None:
        if progress.points_done == progress.points_total and not before:
            before.append(open_results(path))

    sweep.run(SLOW, store=path, report=report)
    (opened,) = before
    assert opened.sizes["point"] == COARSE
    assert set(opened["status"].values) <= {Status.ok, Status.pending}
    after = open_results(path).isel(point=slice(COARSE))
    for name in ("friction", "base_acceleration", "level"):
        np.testing.assert_array_equal(opened[name].values, after[name].values)


def test_a_store_that_another_run_has_extended_is_not_continued() -> None:
    """At a URL, which nobody can hold."""
    url = f"memory://extended-{os.getpid()}/a.zarr"
    request = load(SLOW)
    store = driver.open_store(driver.with_points(request), url)
    driver.run_in_store(store, driver.with_points(request))
    more = api.Growing(request, store)
    sweep.run(url)
    with pytest.raises(StoreError, match="was extended during this run"):
        more()


def test_processes_compute_into_a_store_that_grows(tmp_path: Path, whole: dict[str, bytes]) -> None:
    """One crew of them: SLURM jobs would queue again."""
    notes: list[str] = []
    request = api.with_options(load(SLOW), cluster="local")
    _, summary = api.compute(request, tmp_path / "a.zarr", notify=notes.append)
    assert summary.stopped == ""
    assert tree(tmp_path / "a.zarr") == whole
    assert [line.partition(":")[0] for line in notes] == ["Dask dashboard"]
    assert names(tmp_path) == {"a.zarr", "a.zarr.lock", "a.zarr.log"}


@pytest.mark.broad
@pytest.mark.usefixtures("s3")
def test_processes_compute_into_a_store_that_grows_at_a_url(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    """There they hold receipts back."""
    url = f"s3://{BUCKET}/refined/a.zarr"
    store, _ = api.compute(api.with_options(load(SLOW), cluster="local"), url)
    assert objects(url) == whole
    assert sum(r["points"] for r in store.receipts.read()) >= store.sweep.n_points
    keys = fsspec.filesystem("s3").find(f"{BUCKET}/refined")
    assert {key.split("/")[2] for key in keys} == {"a.zarr", "a.zarr.log"}


def test_receipts_at_a_url_are_written_at_the_end() -> None:
    url = f"memory://receipts-{os.getpid()}/a.zarr"
    sweep.run(SLOW, store=url)
    store = Store.open(url)
    assert {tuple(r["chunk"]) for r in store.receipts.read()} == {c.index for c in store.done()}


def test_a_refined_sweep_can_be_stored_at_a_url() -> None:
    url = f"memory://refined-{os.getpid()}/a.zarr"
    stop = Event()
    sweep.run(document(SMALL), store=url, stop=stop, report=lambda _progress: stop.set())
    assert (sweep.open_results(url)["status"] == Status.pending).all()
    dataset = sweep.run(document(SMALL), store=url)
    assert same_bits(dataset, sweep.run(document(SMALL), store=None))
    paths = fsspec.filesystem("memory").ls(url.rpartition("/")[0], detail=False)
    assert {path.rpartition("/")[2] for path in paths} <= {"a.zarr", "a.zarr.log"}


# Other sweeps.


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"refine": {"output": "regime", "levels": 2}}, "axis point, refine: .*'levels': 3"),
        ({"refine": {**REFINE, "output": ["regime", "wear_power"], "tolerance": 0.5}}, "refine: "),
        ({"parameters": {**PARAMETERS, "mass": 2}}, "mass: 1.0 kg in the store, 2.0 kg"),
        ({"axes": {**AXES, "friction": {"geomspace": [0.01, 1.0, 6]}}}, "axis point, axes: "),
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
    with pytest.raises(StoreError, match=r"axis point, refine: .*'tolerance': 0\.5\b.* in the st"):
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
