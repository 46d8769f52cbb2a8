"""A store at a URL grows along its axes, at whatever moment that is stopped; nothing holds it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import fsspec
import numpy as np
import pytest

from sweep.errors import StoreError
from sweep.store import Store, open_results
from sweep.store.upkeep import verify
from tests.command import CHECKOUT, environment
from tests.conftest import ROOTS_BROAD_ON_S3
from tests.forked import run_python
from tests.store.injected import stop_objects_at
from tests.store.test_extend import GROWN, REFUSED, fill, grid, places
from tests.store.test_remote import objects
from tests.store.test_store import create, tree

BEFORE, AFTER, POINTS, COMPUTED = GROWN["both"]


def begin(place: str | Path) -> Store:
    return create(place, BEFORE, POINTS)


def beside(url: str) -> list[str]:
    """What lies beside a store, its receipts apart."""
    system, folder = fsspec.url_to_fs(url)
    system.invalidate_cache()
    names = {name.removeprefix(folder).split("/")[0] for name in system.find(folder[:-4])}
    return sorted(names - {"", ".log"})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a store on a disk holds that was extended and filled there."""
    store = begin(tmp_path_factory.mktemp("whole") / "map.zarr")
    fill(store)
    longer = Store.extend(store.path, AFTER)
    fill(longer)
    return tree(longer.path)


@ROOTS_BROAD_ON_S3
def test_it_grows_as_one_on_a_disk_and_keeps_what_is_done(
    root: str, whole: dict[str, bytes]
) -> None:
    url = f"{root}/map.zarr"
    fill(begin(url))
    longer = Store.extend(url, AFTER)
    assert longer.made_by.differences(AFTER) == verify(longer) == longer.chunk_files.torn() == []
    dataset = longer.dataset().load()
    kept = dataset["status"].values == 0
    assert kept.any()
    for name, expected in places(AFTER).items():
        np.testing.assert_array_equal(dataset[name].values[kept], expected[kept])
    assert fill(longer) == COMPUTED
    assert objects(url) == whole
    assert beside(url) == []
    assert Store.extend(url, AFTER).pending() == []  # once more: nothing changes
    assert objects(url) == whole


@pytest.mark.parametrize("root", ["memory://"], indirect=True)
def test_what_is_no_longer_one_is_refused(root: str) -> None:
    url = f"{root}/map.zarr"
    fill(create(url, grid(4, 2), 2))
    before = objects(url)
    for extended in REFUSED.values():
        with pytest.raises(StoreError):
            Store.extend(url, extended)
    assert objects(url) == before
    with pytest.raises(StoreError, match=r"no store .*none\.zarr"):
        Store.extend(f"{root}/none.zarr", AFTER)


@pytest.mark.parametrize("stride", [8, pytest.param(4, marks=pytest.mark.broad)])
@pytest.mark.parametrize("root", ["memory://"], indirect=True)
def test_stopped_before_any_object_it_is_done_when_done_again(
    root: str, stride: int, whole: dict[str, bytes]
) -> None:
    """At every eighth step; nobody reads it while it is under way, nor goes on with it."""
    fill(begin(f"{root}/old.zarr"))
    old = objects(f"{root}/old.zarr")
    system, folder = fsspec.url_to_fs(root)
    under_way = 0
    for step in range(0, 1000, stride):
        url = f"{root}/{step}.zarr"
        for name, content in old.items():
            system.pipe_file(f"{folder}/{step}.zarr/{name}", content)
        stopped = stop_objects_at(url, step, lambda url=url: Store.extend(url, AFTER))
        if is_under_way(url):
            under_way += 1
            for read in (Store.open, open_results):
                with pytest.raises(StoreError, match="run the same `sweep extend` again"):
                    read(url)
        else:
            assert Store.open(url).sweep.grid.shape in (BEFORE.grid.shape, AFTER.grid.shape)
        assert fill(Store.extend(url, AFTER)) == COMPUTED
        assert objects(url) == whole
        assert beside(url) == []
        if not stopped:
            break
    assert step / stride > under_way > len(whole) / (3 * stride)  # a third of the steps at least


def is_under_way(url: str) -> bool:
    system, folder = fsspec.url_to_fs(url)
    return system.exists(f"{folder}.extension/zarr.json")


# Kills itself before it puts the status' metadata into its place.
KILLED = """
import os, signal, sys
import fsspec
from sweep.store import Store
from tests.store.test_remote_extension import AFTER
system, _ = fsspec.url_to_fs(sys.argv[1])
put = system.pipe_file
def killing(key, content):
    if key.endswith("map.zarr/status/zarr.json"):
        os.kill(os.getpid(), signal.SIGKILL)
    put(key, content)
system.pipe_file = killing
Store.extend(sys.argv[1], AFTER)
"""


@pytest.mark.broad
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("root", ["s3://sweeps/"], indirect=True)
def test_killed_under_way_it_is_done_when_done_again(root: str, whole: dict[str, bytes]) -> None:
    url = f"{root}/map.zarr"
    fill(begin(url))
    killed = run_python(["-c", KILLED, url], cwd=CHECKOUT, env=environment())
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with pytest.raises(StoreError, match="is being extended"):
        Store.open(url)
    assert fill(Store.extend(url, AFTER)) == COMPUTED
    assert objects(url) == whole


@pytest.mark.parametrize("root", ["memory://"], indirect=True)
def test_a_run_that_goes_on_meanwhile_ends_and_leaves_no_half_of_a_chunk(
    root: str, whole: dict[str, bytes]
) -> None:
    """Whole chunks are those of the longer store, too; what was cut off is not."""
    url = f"{root}/map.zarr"
    going_on = begin(url)
    at_the_end = [chunk for chunk in going_on.pending() if chunk.index in COMPUTED]
    inside = [chunk for chunk in going_on.pending() if chunk.index not in COMPUTED]
    assert at_the_end
    assert inside
    longer = Store.extend(url, AFTER)
    arrays = places(BEFORE)

    def write(chunk: object) -> None:
        going_on.write(chunk, {n: part[chunk.slices].ravel() for n, part in arrays.items()})

    for chunk in inside:
        write(chunk)
    for chunk in at_the_end:
        with pytest.raises(StoreError, match="was extended during this run"):
            write(chunk)
    assert verify(longer) == []
    assert fill(longer) == COMPUTED
    assert objects(url) == whole
