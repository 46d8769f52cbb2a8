"""A store grows along its axes: what is done stays done, and it ends as one made that long."""

from __future__ import annotations

import errno
import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sweep import api
from sweep.engine.driver import open_store
from sweep.errors import MachineError, StoreError, SweepError
from sweep.file import load
from sweep.kernel.source import kernel_digest
from sweep.model.table import Status
from sweep.model.tables.friction_oscillator import EXACT
from sweep.request.sweeps import Axis, Sweep
from sweep.store import Store, creation, extension, open_results, store
from sweep.store.store_files import files_of
from sweep.store.upkeep import clean, verify
from tests.command import Run
from tests.points.test_chunking import OUTPUTS, sweep_over
from tests.store.injected import fail_writing, stop_at
from tests.store.test_storage_faults import CONFIG
from tests.store.test_store import PROVENANCE, create, finish, tree


def values(name: str, *numbers: float) -> Axis:
    column = np.array(numbers, np.float64)
    return Axis(name, {name: column}, {"values": list(numbers)})


def grid(frictions: int, accelerations: int, mass: int = 0) -> Sweep:
    """Axes of whole numbers; values do not depend on how many there are."""
    axes = [
        values("friction", *range(frictions)),
        values("base_acceleration", *range(accelerations)),
    ]
    if mass:
        axes.append(values("mass", *range(1, mass + 1)))
    return sweep_over(*axes)


def made_with(sweep: Sweep) -> dict[str, object]:
    """The attributes that a store of the sweep has beside its own."""
    return {"kernel_digest": kernel_digest(sweep), **PROVENANCE}


def grow(store: Store, sweep: Sweep) -> Store:
    return Store.extend(store.path, sweep)


def places(sweep: Sweep) -> dict[str, np.ndarray]:
    """Some results, told by the axes' values alone, so that they do not move when axes grow."""
    numbers = np.zeros(sweep.grid.shape)
    for dimension, axis in enumerate(sweep.axes):
        column = axis.columns[axis.name]
        numbers = numbers * 100 + column.reshape(
            [-1 if d == dimension else 1 for d in range(len(sweep.grid.shape))]
        )
    return {
        "wear_power": np.sqrt(numbers),
        "slip_phases": numbers.astype(np.int32),
        "regime": (numbers % 3).astype(np.uint8),
        "status": np.zeros(sweep.grid.shape, np.uint8),
    }


def fill(store: Store) -> list[tuple[int, ...]]:
    """Computes what is pending; the chunks that it was."""
    whole = places(store.sweep)
    pending = store.pending()
    for chunk in pending:
        store.write(chunk, {name: part[chunk.slices].ravel() for name, part in whole.items()})
    return [chunk.index for chunk in pending]


# (before, after, points a chunk, chunks to compute after it): growing at whole and ragged ends,
# along the first axis, an inner one, and both; an inner one whose chunks held all of it goes on in
# chunks of its own.
GROWN = {
    "whole end": (grid(8, 7), grid(12, 7), 28, [(2, 0)]),
    "ragged end": (grid(10, 7), grid(12, 7), 28, [(2, 0)]),
    "ragged end and more": (grid(10, 7), grid(17, 7), 28, [(2, 0), (3, 0), (4, 0)]),
    "inner, ragged": (grid(3, 7), grid(3, 8), 5, [(0, 1), (1, 1), (2, 1)]),
    "inner, of whole chunks": (grid(3, 4), grid(3, 5), 4, [(0, 1), (1, 1), (2, 1)]),
    "both": (grid(5, 3), grid(6, 4), 6, [(0, 1), (1, 1), (2, 0), (2, 1)]),
    "three axes, the last": (grid(2, 3, 4), grid(2, 3, 9), 4, [
        (i, j, k) for i in range(2) for j in range(3) for k in (1, 2)
    ]),
}  # fmt: skip


OFTEN = ("whole end", "ragged end and more", "inner, ragged", "both")


@pytest.mark.parametrize(
    ("before", "after", "points", "computed"),
    [
        pytest.param(*case, id=name, marks=() if name in OFTEN else pytest.mark.broad)
        for name, case in GROWN.items()
    ],
)
def test_a_store_that_grew_has_the_bytes_of_one_made_that_long(
    tmp_path: Path, before: Sweep, after: Sweep, points: int, computed: list[tuple[int, ...]]
) -> None:
    store = create(tmp_path / "map.zarr", before, points)
    fill(store)
    longer = grow(store, after)
    assert longer.chunk_shape == store.chunk_shape
    assert longer.made_by.differences(after) == []
    assert verify(longer) == longer.chunk_files.torn() == []
    dataset = longer.dataset().load()
    kept = dataset["status"].values == 0
    for name, whole in places(after).items():
        np.testing.assert_array_equal(dataset[name].values[kept], whole[kept])
    assert fill(longer) == computed
    assert verify(longer) == []
    # The same chunks, which are asked for by another number of points where the axes are longer.
    (tmp_path / "new").mkdir()
    creation.build(tmp_path / "new/map.zarr", after, store.chunk_shape, made_with(after))
    new = Store.open(tmp_path / "new/map.zarr")
    fill(new)
    assert tree(longer.path) == tree(new.path)


def test_stored_values_stay_where_another_processor_gives_other_last_bits(tmp_path: Path) -> None:
    before = grid(4, 2)
    store = create(tmp_path / "map.zarr", before, 2)
    finish(store)
    after = grid(6, 2)
    axis = after.axes[0]
    nudged = {axis.name: np.nextafter(axis.columns[axis.name], np.inf)}
    longer = grow(store, replace(after, axes=(replace(axis, columns=nudged), after.axes[1])))
    friction = longer.sweep.axes[0].columns["friction"]
    np.testing.assert_array_equal(friction[:4], range(4))
    assert friction[4] == np.nextafter(4.0, 5.0)


def test_an_extension_that_cannot_be_prepared_names_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = create(tmp_path / "map.zarr", grid(4, 2), 2)
    fail_writing(monkeypatch, errno.ENOSPC, ".map.zarr.extension")
    with pytest.raises(MachineError, match=r"cannot write to '[^']*/map\.zarr': the disk is full"):
        grow(store, grid(6, 2))


POINT = Axis("point", {"friction": np.array([0.1, 0.2])}, {"file": "points.csv"})
REFUSED = {
    "axis friction: 4 values in the store, 3 in this sweep": grid(3, 9),
    "axis friction: value 1 of friction is 0.0 in the store, 0.5 in this sweep": sweep_over(
        values("friction", 0.5, 1, 2, 3, 4), values("base_acceleration", 0, 1)
    ),
    # Last bits at 0 do not count, and what does may be no more than a billionth.
    "axis friction: value 4 of friction is 3.0 in the store, 3.0000000015 in": sweep_over(
        values("friction", 1e-16, 1, 2, 3.0000000015, 4), values("base_acceleration", 0, 1)
    ),
    "axis friction: value 3 of friction is 2.0 in the store, inf in": sweep_over(
        values("friction", 0, 1, np.inf, 3, 4), values("base_acceleration", 0, 1)
    ),
    "axis base_acceleration: value 2 of base_acceleration is 1.0 in": sweep_over(
        values("friction", 0, 1, 2, 3, 4), values("base_acceleration", 0, 0.5, 1)
    ),
    "outputs: regime, slip_phases, wear_power in the store, wear_p": sweep_over(
        *grid(5, 2).axes, outputs=OUTPUTS[:1]
    ),
    "dtype: float64 in the store, float32 in this": replace(grid(5, 2), dtype="float32"),
    "dimensions: friction, base_acceleration in the store, friction, b": grid(4, 2, 3),
    "dimensions: friction, base_acceleration in the store, none": sweep_over(),
    "dimensions: friction, base_acceleration in the store, point": sweep_over(POINT),
    f"revision of method exact: {EXACT.revision} in the store, {EXACT.revision + 1} in": replace(
        grid(5, 2), method=replace(EXACT, revision=EXACT.revision + 1)
    ),
}


@pytest.mark.parametrize(("sentence", "extended"), REFUSED.items(), ids=REFUSED)
def test_whatever_else_differs_is_refused_and_the_store_left_alone(
    tmp_path: Path, sentence: str, extended: Sweep
) -> None:
    store = create(tmp_path / "map.zarr", grid(4, 2), 2)
    finish(store)
    whole = tree(tmp_path)
    with pytest.raises(StoreError) as caught:
        grow(store, extended)
    assert sentence in str(caught.value)
    assert {n: c for n, c in tree(tmp_path).items() if ".l" not in n} == whole


def test_too_many_chunks_are_refused(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr", grid(2, 2), 1)
    with pytest.raises(SweepError, match="cut 100,002 points into 100,002 chunks"):
        grow(store, grid(50_001, 2))
    assert Store.open(store.path).sweep.grid.shape == (2, 2)


def test_a_held_store_is_not_extended(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr", grid(2, 2), 2)
    with store.lock(), pytest.raises(StoreError, match="is held by another run in this process"):
        grow(store, grid(3, 2))


SHORT = sweep_over(outputs=OUTPUTS[:1])


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.broad)])
def test_stopped_at_any_step_it_is_done_when_done_again(tmp_path: Path, stride: int) -> None:
    """Before each third file is put in place, removed or renamed; nobody reads it in between."""
    before, after = (replace(sweep, outputs=SHORT.outputs) for sweep in (grid(5, 3), grid(6, 4)))
    (tmp_path / "new").mkdir()
    fill(create(tmp_path / "new/old.zarr", before, 6))
    creation.build(tmp_path / "new/map.zarr", after, (2, 3), made_with(after))
    new = Store.open(tmp_path / "new/map.zarr")
    fill(new)
    whole = tree(new.path)
    under_way = 0
    for step in range(0, 1000, stride):
        path = tmp_path / f"{step}" / "map.zarr"
        shutil.copytree(tmp_path / "new/old.zarr", path)
        stopped = stop_at(step, lambda path=path: Store.extend(path, after), at="map.zarr")
        if (path.parent / ".map.zarr.extension/zarr.json").exists():
            under_way += 1
            for read in (Store.open, open_results):
                with pytest.raises(StoreError, match="run the same `sweep extend` again"):
                    read(path)
        else:
            assert Store.open(path).sweep.grid.shape in (before.grid.shape, after.grid.shape)
        longer = Store.extend(path, after)
        clean(longer)
        assert fill(longer) == GROWN["both"][3]
        assert tree(path) == whole
        names = {entry.name for entry in path.parent.iterdir()}
        assert names == {"map.zarr", "map.zarr.lock", "map.zarr.log"}
        if not stopped:
            break
    arrays = len(list((tmp_path / "new/map.zarr").glob("*/zarr.json")))
    assert step / stride > under_way > arrays / stride


@pytest.mark.parametrize("is_applied", [True, False])
def test_what_a_kill_left_of_an_applied_extension_is_removed(
    tmp_path: Path, is_applied: bool
) -> None:
    """One that is not yet applied is kept."""
    store = create(tmp_path / "map.zarr", grid(5, 3))
    extension.begin(files_of(store.path), grid(6, 4), (2, 3), PROVENANCE)
    prepared = tmp_path / ".map.zarr.extension"
    if is_applied:
        (prepared / "zarr.json").unlink()
    with store.lock():
        clean(store)
    assert prepared.exists() == (not is_applied)


def test_shards_wait_for_the_one_that_completes_an_extension(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = create(tmp_path / "map.zarr", grid(5, 3)).path
    extension.begin(files_of(path), grid(6, 4), (2, 3), PROVENANCE)
    finish_extension, together = extension.finish, threading.Barrier(2, timeout=20)

    def finish_slowly(files: Any) -> None:
        threading.Event().wait(0.1)
        finish_extension(files)

    def hold(i: int) -> tuple[int, ...]:
        Store.finish_extension(path)
        with Store.open(path).lock((i, 2)):
            together.wait()
            return Store.open(path).sweep.grid.shape

    monkeypatch.setattr(extension, "finish", finish_slowly)
    monkeypatch.setattr(store, "wait_for_extension", lambda _: together.wait())  # nobody holds it
    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(hold, (1, 2))] == [(6, 4)] * 2


def test_the_command_extends_and_says_how_to_go_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(CONFIG)
    (tmp_path / "long.toml").write_text(CONFIG.replace("[0.1, 0.6, 6]", "[0.1, 0.8, 8]"))
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    status, out, _ = run("extend", "map.zarr", "long.toml")
    assert status == 0
    assert "map.zarr: friction 8 x base_acceleration 4; 24 of 32 points done" in out
    assert "next: sweep run long.toml -o map.zarr\n" in out
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 2  # it is another sweep now
    assert run("run", "long.toml", "-o", "map.zarr")[0] == 0
    assert run("run", "long.toml", "-o", "new.zarr")[0] == 0
    grown, new = (open_results(tmp_path / f"{name}.zarr").load() for name in ("map", "new"))
    for name in ("wear_power", "regime", "status"):
        np.testing.assert_allclose(grown[name], new[name], rtol=1e-12, err_msg=name)
    assert run("extend", "map.zarr", "long.toml")[1].endswith("next: sweep plot map.zarr\n")
    progress = json.loads(run("extend", "map.zarr", "long.toml", "--json")[1])
    assert (progress["points_done"], progress["points_total"]) == (32, 32)
    assert progress["next"] == "sweep plot map.zarr"
    assert run("extend", "none.zarr", "long.toml")[0] == 2


def test_a_store_without_axes_says_so(run: Run, tmp_path: Path) -> None:
    head = CONFIG.partition("[axes]")[0]
    point = "friction = 0.3\nbase_acceleration = 15.0\n"
    (tmp_path / "one.toml").write_text(f"{head}{point}")
    assert run("run", "one.toml", "-o", "one.zarr")[0] == 0
    _, out, _ = run("extend", "one.zarr", "one.toml")
    assert out == "one.zarr: no axis; 1 of 1 point done\nnext: sweep show one.zarr\n"


def test_the_error_for_a_longer_sweep_says_how_to_extend_the_store(
    run: Run, tmp_path: Path
) -> None:
    """And another one that it is another."""
    (tmp_path / "map.toml").write_text(CONFIG)
    assert run("run", "map.toml", "-o", "a map.zarr")[0] == 0
    longer = ("--set", "friction={ linspace = [0.1, 0.8, 8] }")
    status, _, err = run("run", "map.toml", "-o", "a map.zarr", *longer)
    assert status == 2
    extend = f"`sweep extend '{tmp_path}/a map.zarr' FILE`"
    assert f"use {extend} to keep what is computed; or give" in err
    for other in ("friction={ linspace = [0.1, 0.9, 8] }", "friction={ linspace = [0.1, 0.5, 5] }"):
        status, _, err = run("run", "map.toml", "-o", "a map.zarr", "--set", other)
        assert (status, "holds another sweep" in err, "extend" in err) == (2, True, False)
    same = "friction={ values = [0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6] }"
    assert "extend" not in run("run", "map.toml", "-o", "a map.zarr", "--set", same)[2]
    status, _, err = run("run", "map.toml", "-o", "a map.zarr", *longer, "--set", "mass=2")
    assert (status, "extend" in err) == (2, False)


def test_an_extension_is_kept_by_a_run_that_was_making_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run has made it in the meantime, and it is being extended already."""
    path = tmp_path / "map.zarr"

    def build_late(*arguments: Any) -> None:
        monkeypatch.undo()
        create(path, grid(5, 3))
        extension.begin(files_of(path), grid(6, 4), (2, 3), PROVENANCE)
        creation.build(*arguments)

    monkeypatch.setattr(store, "build", build_late)
    with pytest.raises(StoreError, match="run the same `sweep extend` again"):
        create(path, grid(5, 3))
    assert Store.extend(path, grid(6, 4)).sweep.grid.shape == (6, 4)


@pytest.mark.parametrize("shard", [None, (1, 1)])
def test_a_run_that_was_about_to_begin_when_its_store_grew_writes_nothing(
    tmp_path: Path, shard: tuple[int, int] | None
) -> None:
    """It has opened the store, and waits for its lock while the store is extended."""
    (tmp_path / "map.toml").write_text(CONFIG.replace("chunk_points = 4", "chunk_points = 16"))
    request = api.with_options(load(tmp_path / "map.toml"), shard=shard)
    opened = open_store(request, tmp_path / "map.zarr")
    assert [chunk.shape for chunk in opened.pending()] == [(4, 4), (2, 4)]
    longer = load(tmp_path / "map.toml", ["friction={ linspace = [0.1, 0.8, 8] }"])
    grow(opened, longer.sweep)
    with pytest.raises(StoreError, match=r"map.zarr' was extended during this run"):
        api.run_in_store(opened, request)
    assert len(Store.open(opened.path).pending()) == 2
    kept = api.run_in_store(open_store(longer, opened.path), longer)
    assert kept.counts == {Status.ok: 32}
