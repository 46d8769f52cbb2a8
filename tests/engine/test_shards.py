"""Shards of a sweep: each computes its own chunks, and together they make the same store."""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from sweep import api
from sweep.engine.driver import open_store
from sweep.engine.ledger import failed_arrays
from sweep.engine.workers import OpenBackend
from sweep.errors import StoreError
from sweep.file import load
from sweep.kernel.opening import open_backend as open_backend_by_name
from sweep.model.table import Status
from sweep.points import chunking
from sweep.points.chunking import chunk_counts, chunks, of_shard
from sweep.store import Store
from sweep.store.upkeep import clean
from tests.command import Run, environment
from tests.engine.test_worker_faults import REQUEST, ROOT, finish, receipts_by_chunk
from tests.forked import PIPE, Forked
from tests.store.test_store import tree

N = 3


def compute_shard(
    path: Path, i: int, n: int = N, open_backend: OpenBackend = open_backend_by_name
) -> int:
    """Compute shard i of n in this process; the number of chunks."""
    request = api.with_options(load(REQUEST), shard=(i, n))
    return api.compute(request, path, open_backend=open_backend)[1].chunks


def pending(path: Path) -> set[tuple[int, ...]]:
    return {chunk.index for chunk in Store.open(path).pending()}


@pytest.mark.parametrize(("shape", "chunk"), [((12, 9), (1, 9)), ((5, 7, 4), (2, 3, 4)), ((), ())])
@pytest.mark.parametrize("n", [1, 2, 5, 200])
def test_every_chunk_is_in_one_shard_and_shards_have_equal_sizes(
    shape: tuple[int, ...], chunk: tuple[int, ...], n: int
) -> None:
    every = list(chunks(shape, chunk))
    counts = chunk_counts(shape, chunk)
    shards = [of_shard(every, counts, (i, n)) for i in range(1, n + 1)]
    assert sorted(c.index for shard in shards for c in shard) == [c.index for c in every]
    sizes = [len(shard) for shard in shards]
    assert max(sizes) - min(sizes) <= 1
    # Chunks that others finish meanwhile do not move a chunk to another shard.
    assert of_shard(every[1:], counts, (n, n)) == [c for c in shards[-1] if c in every[1:]]


def test_shards_one_by_one_make_the_store_of_one_run(
    tmp_path: Path, whole_request: dict[str, bytes]
) -> None:
    path = tmp_path / "map.zarr"
    assert compute_shard(path, 2) == 20
    assert {index[0] % N for index in pending(path)} == {0, 2}
    assert compute_shard(path, 2) == 0
    assert compute_shard(path, 1) + compute_shard(path, 3) == 40
    assert tree(path) == whole_request
    assert set(receipts_by_chunk(path).values()) == {1}
    assert finish(path).chunks == 0


SHARD = """
import sys, time
from pathlib import Path
from tests.engine.slow import Slow
from tests.engine.test_shards import compute_shard
slow = Slow(Path(sys.argv[4]), float(sys.argv[5]))
while not Path(sys.argv[3]).exists():
    time.sleep(0.001)
print(compute_shard(Path(sys.argv[1]), int(sys.argv[2]), open_backend=slow), flush=True)
"""


def start_shard(path: Path, i: int, seconds: float = 0.0) -> Forked:
    """A process that computes the shard as soon as the file `go` exists.

    A chunk takes at least `seconds`.
    """
    notes = path.with_name("notes")
    notes.mkdir(exist_ok=True)
    command = ["-c", SHARD, str(path), str(i), str(path.with_name("go")), str(notes), str(seconds)]
    return Forked(command, cwd=ROOT, env=environment(), stdout=PIPE)


def test_shards_that_start_together_make_the_store_of_one_run(
    tmp_path: Path, whole_request: dict[str, bytes]
) -> None:
    """There is no store yet: each creates one, and one of those becomes the store of all."""
    path = tmp_path / "map.zarr"
    running = [start_shard(path, i) for i in range(1, N + 1)]
    path.with_name("go").touch()
    printed = [process.communicate(timeout=60)[0] for process in running]
    assert printed == ["20\n"] * N
    assert tree(path) == whole_request
    assert set(receipts_by_chunk(path).values()) == {1}
    assert list(tmp_path.glob(".*.partial")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_shard_resumes_and_leaves_no_files(
    tmp_path: Path, whole_request: dict[str, bytes]
) -> None:
    path = tmp_path / "map.zarr"
    compute_shard(path, 1)
    running = start_shard(path, 2, seconds=0.1)  # 20 chunks, two at a time
    path.with_name("go").touch()
    while len(pending(path)) == 40:
        assert running.poll() is None
        time.sleep(0.01)
    running.kill()
    running.communicate()
    assert 20 < len(pending(path)) < 40
    left = path / "wear_power" / "c" / f"0.{'0' * 32}.partial"
    left.write_bytes(b"torn")  # as if the kill had interrupted a write
    compute_shard(path, 2)  # the lock ended with its process
    assert not left.exists()
    compute_shard(path, 3)
    assert tree(path) == whole_request


def test_the_same_shard_twice_is_refused_and_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "map.zarr"
    store = open_store(load(REQUEST), path)
    scratch = path / "status" / f"c.{'0' * 32}.partial"
    scratch.touch()
    with store.lock((2, N), partial(clean, store)):
        assert not scratch.exists()
        scratch.touch()
        with pytest.raises(StoreError, match=r"shard-2-of-3 of .* held by another run in this"):
            compute_shard(path, 2)
        assert compute_shard(path, 1) == 20
        with store.lock((3, N)):
            pass
        with pytest.raises(StoreError, match=r"shard-2-of-3 is held by another run in this"):
            finish(path)
        assert scratch.exists()  # files of a living writer are kept
    assert compute_shard(path, 2) == 20
    assert not scratch.exists()


def test_a_shard_beside_a_whole_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweep.store.lock.MAX_START_SECONDS", 0.1)
    path = tmp_path / "map.zarr"
    store = open_store(load(REQUEST), path)
    with store.lock(), pytest.raises(StoreError, match="is held by another run in this"):
        compute_shard(path, 1)
    assert len(pending(path)) == 60


def test_damage_is_repaired_by_the_shard_it_is_in(
    tmp_path: Path, whole_request: dict[str, bytes]
) -> None:
    path = tmp_path / "map.zarr"
    finish(path)
    (path / "wear_power" / "c" / "4" / "0").unlink()  # 4 % 3 == 1: the second shard's
    assert (compute_shard(path, 1), compute_shard(path, 3)) == (0, 0)
    assert compute_shard(path, 2) == 1
    assert tree(path) == whole_request


TOML = (
    'format = 1\nmodel = "friction_oscillator"\n[parameters]\n'
    + "".join(f"{name} = {value!r}\n" for name, value in REQUEST["parameters"].items())
    + "[axes]\nfriction = { linspace = [0.1, 0.2, 4] }\nbase_acceleration = { values = [12.0] }"
    + "\n[run]\nchunk_points = 1\n"
)


def test_the_command_reports_its_shard_and_the_whole(run: Run, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(TOML)
    status, out, err = run("run", "map.toml", "--shard", "2/2")
    assert (status, "shard 2 of 2 is done, 2 points now; 2 are pending in all" in out) == (0, True)
    status, out, err = run("status", "results/map.zarr")
    assert "2 of 4 points done" in out
    status, out, err = run("run", "map.toml", "--shard", "1/2", "--json")
    summary = json.loads(out.splitlines()[-1])
    assert (summary["shard"], summary["points"], summary["points_pending"]) == ([1, 2], 2, 0)
    for wrong in ("0/2", "3/2", "2", "a/b"):
        status, out, err = run("run", "map.toml", "--shard", wrong)
        assert (status, "is not I/N" in err) == (2, True)


def test_a_shard_answers_for_its_own_failed_points_each_time(run: Run, tmp_path: Path) -> None:
    """Also if nothing is left to compute, like a whole run; but not for those of other shards."""
    (tmp_path / "map.toml").write_text(TOML)
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    store = Store.open("map.zarr")
    chunk = chunking.chunk_at((2, 0), store.sweep.grid.shape, store.chunk_shape)
    store.write(chunk, failed_arrays(store, chunk))
    sentence = store.sweep.model.sentences[Status.failed]
    for _ in range(2):
        status, out, _ = run("run", "map.toml", "-o", "map.zarr", "--shard", "1/2")
        assert (status, f"1 of 2 points failed: {sentence}" in out) == (1, True)
        status, out, _ = run("run", "map.toml", "-o", "map.zarr", "--shard", "2/2")
        assert (status, "failed" in out) == (0, False)
    status, out, _ = run("run", "map.toml", "-o", "map.zarr", "--shard", "1/2", "--json")
    statuses = json.loads(out.splitlines()[-1])["status"]
    assert (status, {name: each["points"] for name, each in statuses.items()}) == (
        1,
        {"ok": 1, "failed": 1},
    )
    again = ("--shard", "1/2", "--retry-failed")
    assert run("run", "map.toml", "-o", "map.zarr", *again)[0] == 0
    assert run("run", "map.toml", "-o", "map.zarr", "--shard", "1/2")[0] == 0
