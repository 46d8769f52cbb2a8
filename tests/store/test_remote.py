"""A store at a URL is that on a disk, object for file: memory://, and S3 served on loopback."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import fsspec
import pytest
import xarray as xr

import sweep
from sweep.errors import MachineError, StoreError, SweepError
from sweep.store import Store, anything_at, open_results
from sweep.store.upkeep import verify
from tests.command import Run
from tests.conftest import ROOTS_BROAD_ON_S3
from tests.store.test_storage_faults import CONFIG
from tests.store.test_store import SWEEP, SWEEPS, create, finish, results_of, tree

SHORT = CONFIG.replace("[0.1, 0.6, 6]", "[0.1, 0.3, 3]")


def objects(url: str) -> dict[str, bytes]:
    """Every object of a store and its bytes."""
    system, folder = fsspec.url_to_fs(url)
    system.invalidate_cache()
    return {n.removeprefix(f"{folder}/"): system.cat_file(n) for n in system.find(folder)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a finished store on a disk holds."""
    store = create(tmp_path_factory.mktemp("remote") / "map.zarr")
    finish(store)
    return tree(store.path)


def test_a_remote_store_has_the_bytes_of_a_local_one(root: str, whole: dict[str, bytes]) -> None:
    url = f"{root}/map.zarr"
    assert not anything_at(url)
    store = create(url)
    assert anything_at(url)
    assert [chunk.index for chunk in store.pending()] == [(0, 0), (1, 0), (2, 0)]
    chunk = store.pending()[1]
    store.write(chunk, results_of(SWEEP, chunk))
    again = create(url)  # the one that is there
    assert [chunk.index for chunk in again.pending()] == [(0, 0), (2, 0)]
    finish(again)
    assert store.pending() == verify(store) == store.chunk_files.torn() == []
    assert objects(url) == whole


@ROOTS_BROAD_ON_S3
def test_xarray_opens_it_and_finds_what_a_local_one_holds(root: str, tmp_path: Path) -> None:
    store = create(f"{root}/map.zarr")
    finish(store)
    local = create(tmp_path / "map.zarr")
    finish(local)
    xr.testing.assert_identical(open_results(store.location).load(), local.dataset().load())
    xr.testing.assert_equal(xr.open_zarr(store.location).load(), local.dataset().load())


@ROOTS_BROAD_ON_S3
def test_damage_is_found_noted_and_computed_again(root: str, whole: dict[str, bytes]) -> None:
    store = create(f"{root}/map.zarr")
    finish(store)
    system, folder = fsspec.url_to_fs(store.location)
    system.rm_file(f"{folder}/regime/c/2/0")
    assert [chunk.index for chunk in store.chunk_files.torn()] == [(2, 0)]
    content = bytearray(whole["wear_power/c/1/0"])
    content[-7] ^= 16
    system.pipe_file(f"{folder}/wear_power/c/1/0", bytes(content))
    damaged = verify(store)
    assert [chunk.index for chunk in damaged] == [(1, 0), (2, 0)]
    store.chunk_files.note_damage(damaged)
    reopened = Store.open(store.location)
    assert reopened.chunk_files.torn() == damaged
    reopened.reopen(damaged)
    assert reopened.pending() == damaged
    finish(reopened)
    assert reopened.chunk_files.torn() == []
    assert objects(store.location) == whole


@ROOTS_BROAD_ON_S3
def test_many_writers_and_makers_at_once_leave_one_whole_store(
    root: str, whole: dict[str, bytes]
) -> None:
    """Nobody holds it: all make it, all write every chunk, and all write the same bytes."""
    url = f"{root}/map.zarr"
    number = 2 if root.startswith("s3") else 4
    start = threading.Barrier(number)
    errors: list[BaseException] = []

    def write() -> None:
        try:
            start.wait()
            store = create(url)
            with store.lock():
                finish(store)
        except BaseException as error:
            errors.append(error)

    writers = [threading.Thread(target=write) for _ in range(number)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert errors == []
    assert verify(Store.open(url)) == Store.open(url).pending() == []
    assert objects(url) == whole


@ROOTS_BROAD_ON_S3
def test_receipts_of_all_writers_lie_beside_it(root: str) -> None:
    store, other = create(f"{root}/map.zarr"), create(f"{root}/map.zarr")
    for number, writer in enumerate((store, other, store)):
        with writer.lock():
            writer.append_receipt({"chunk": [number, 0]})
    chunks = [receipt["chunk"] for receipt in Store.open(store.location).receipts.read()]
    assert sorted(chunks) == [[0, 0], [1, 0], [2, 0]]
    assert not any(name.endswith("jsonl") for name in objects(store.location))


def test_a_store_that_is_removed_in_a_run_is_reported_as_gone() -> None:
    store = create("memory://removed/map.zarr")
    *_, last = store.pending()  # at the end of both axes, so that the run looks for an extension
    fsspec.filesystem("memory").rm("/removed", recursive=True)
    with pytest.raises(MachineError, match=r"map.zarr' was deleted or moved during the run"):
        store.write(last, results_of(store.sweep, last))


@ROOTS_BROAD_ON_S3
def test_another_sweep_and_what_is_no_store_are_refused(root: str) -> None:
    url = f"{root}/map.zarr"
    with pytest.raises(StoreError, match=r"no store .*map\.zarr'; `sweep run` makes one"):
        Store.open(url)
    create(url)
    with pytest.raises(StoreError, match=r"holds another sweep:\n  dimensions: friction"):
        create(url, SWEEPS["no axes"])
    system, folder = fsspec.url_to_fs(f"{root}/chunks.zarr")
    system.pipe_file(f"{folder}/status/c/0/0", b"of another store")
    with pytest.raises(StoreError, match="has chunks but no zarr"):
        create(f"{root}/chunks.zarr")


def test_what_cannot_be_reached_is_the_machines_fault(s3: None) -> None:
    with pytest.raises((MachineError, StoreError), match="no-such-bucket"):
        create("s3://no-such-bucket/map.zarr")
    with pytest.raises(StoreError, match="Protocol not known: nowhere"):
        create("nowhere://map.zarr")


@pytest.mark.broad
@pytest.mark.parametrize("root", ["s3://sweeps/"], indirect=True)
def test_a_run_goes_to_a_url_and_on_from_there(root: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(SHORT)
    url = f"{root}/map.zarr"
    status, out, _ = run("run", "map.toml", "-o", url)
    assert status == 0
    assert f"{url}: 12 points, 12 of them now" in out
    system, folder = fsspec.url_to_fs(url)
    system.rm_file(f"{folder}/status/c/1/0")
    assert run("run", "map.toml", "-o", url)[0] == 0
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    assert objects(url) == tree(tmp_path / "map.zarr")
    assert len(Store.open(url).receipts.read()) == 4
    assert [entry.name for entry in tmp_path.iterdir() if ":" in entry.name] == []


def test_commands_read_a_store_at_a_url(run: Run, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(SHORT)
    url = f"memory://{time.monotonic_ns()}/map.zarr"
    sweep.run(tmp_path / "map.toml", store=url)
    status, out, _ = run("status", url, "--verify")
    assert status == 0
    assert "12 of 12 points done" in out
    assert run("plot", url)[1] == "map.png\n"
    assert [entry.name for entry in tmp_path.iterdir() if ":" in entry.name] == []


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--cluster", "local")])
def test_the_command_keeps_nothing_in_memory(
    run: Run, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Its process ends, and what lies there with it."""
    (tmp_path / "map.toml").write_text(CONFIG)
    status, out, err = run("run", "map.toml", "-o", "memory://lost/map.zarr", *options)
    assert (status, out) == (2, "")
    assert "memory://lost/map.zarr' would be lost when this command ends; give a path" in err
    assert not anything_at("memory://lost/map.zarr")


@pytest.mark.parametrize("how", [{"cluster": "local"}, {"cluster": "tcp://127.0.0.1:1"}])
@pytest.mark.parametrize("is_there", [False, True])
def test_other_processes_do_not_see_this_ones_memory(
    tmp_path: Path, how: dict[str, Any], is_there: bool
) -> None:
    """In this process it is a store as any other."""
    (tmp_path / "map.toml").write_text(CONFIG)
    url = f"memory://{time.monotonic_ns()}/map.zarr"
    if is_there:
        assert sweep.run(tmp_path / "map.toml", store=url)["status"].size == 24
    with pytest.raises(SweepError, match=r"memory of this process.*name a store on a disk"):
        sweep.run(tmp_path / "map.toml", store=url, **how)
    assert anything_at(url) == is_there


@pytest.mark.parametrize("url", ["s3://", "s3:///", "memory://", "gs://"])
def test_a_url_without_a_name_is_reported_as_such(url: str) -> None:
    with pytest.raises(StoreError, match=r"names no store: write .*NAME\.zarr"):
        create(url)


@pytest.mark.usefixtures("s3")
def test_places_that_cannot_hold_a_store_are_wrong_requests(tmp_path: Path, run: Run) -> None:
    """In a bucket, receipts beside the store would be in another; some URLs can only be read."""
    with pytest.raises(StoreError, match=r"is a whole bucket: .*s3://sweeps/NAME\.zarr"):
        create("s3://sweeps/")
    (tmp_path / "map.toml").write_text(CONFIG)
    url = f"{os.environ['AWS_ENDPOINT_URL']}/nothing/map.zarr"
    status, _, error = run("run", "map.toml", "-o", url)
    assert (status, "can be read but not written" in error) == (2, True), error
