"""A store survives kills, full disks and rivals: nothing torn, nothing lost, and it says so."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sweep.errors import MachineError, StoreError
from sweep.request.chunk import Chunk
from sweep.request.sweeps import Sweep
from sweep.store import Store, durable
from sweep.store.receipts import of_done_chunks
from sweep.store.upkeep import clean, verify
from tests.command import CHECKOUT, environment
from tests.forked import PIPE, Forked
from tests.points.test_chunking import linear, sweep_over
from tests.store.injected import fail_writing
from tests.store.test_store import SWEEP, create, finish, results_of, tree

WRITER = """
import sys
from pathlib import Path
from tests.store.test_store import SWEEP, create, results_of
store = create(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    for chunk in store.pending() or store.done():
        store.write(chunk, results_of(SWEEP, chunk))
"""


@contextlib.contextmanager
def process(text: str, *arguments: object) -> Iterator[Forked]:
    """A Python process that has printed its first line."""
    command = ["-c", textwrap.dedent(text), *map(str, arguments)]
    running = Forked(command, cwd=CHECKOUT, env=environment(), stdout=PIPE)
    assert running.stdout is not None
    try:
        assert running.stdout.readline()
        yield running
    finally:
        running.kill()
        running.wait()
        running.stdout.close()


def test_killed_writers_leave_a_store_that_ends_up_the_same(tmp_path: Path) -> None:
    """Each writer writes the chunks again and again until it is killed at some moment."""
    uninterrupted = create(tmp_path / "whole.zarr")
    finish(uninterrupted)
    whole = tree(uninterrupted.path)
    moments = random.Random(4)
    killed = tmp_path / "killed.zarr"
    for _ in range(4):
        with process(WRITER, killed):
            time.sleep(moments.uniform(0.0, 0.05))
        store = Store.open(killed)
        assert verify(store) == []  # whatever counts as done is whole
        for name, content in tree(killed).items():
            assert name.endswith(".partial") or content == whole[name]
    with store.lock():
        clean(store)
    finish(store)
    assert tree(killed) == whole


@pytest.mark.parametrize("at", ["wear_power", "slip_phases", "regime", "status"])
def test_a_disk_full_at_any_file_leaves_the_chunk_pending(
    store: Store, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the chunk was done before: its old status must not vouch for the new outputs.

    The error is injected where the file is opened; a real one is in the next test.
    """
    whole = tree(store.path)
    chunk = Chunk((0, 0), (0, 0), (4, 7))
    fail_writing(monkeypatch, errno.ENOSPC, f"/{at}/")
    with pytest.raises(MachineError, match=r"disk is full; free .* run the same sweep again"):
        store.write(chunk, results_of(SWEEP, chunk))
    monkeypatch.undo()
    assert store.pending() == [chunk]
    finish(store)
    assert tree(store.path) == whole


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EDQUOT, "quota is used up"),
        (errno.EROFS, "file system is read-only"),
        (errno.EIO, "disk reports an error"),
        (errno.EACCES, "writing is not permitted"),
        (errno.ENXIO, "No such device"),
    ],
)
def test_every_failure_of_the_disk_has_its_sentence(
    store: Store, number: int, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_writing(monkeypatch, number, "/wear_power/")
    with pytest.raises(MachineError, match=sentence) as caught:
        store.write(Chunk((0, 0), (0, 0), (4, 7)), results_of(SWEEP, Chunk((), (0, 0), (4, 7))))
    assert str(store.path) in str(caught.value)
    assert caught.value.exit_status == 3


LIMITED_WRITER = """
import resource, sys
sys.dont_write_bytecode = True  # Python itself would leave torn files in __pycache__
from sweep.errors import MachineError
from sweep.store import Store
from tests.store.test_store import finish
store = Store.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    finish(store)
except MachineError as error:
    print(error, flush=True)
"""


LARGE = sweep_over(linear("friction", 0.1, 1.0, 3), linear("base_acceleration", 0.5, 15.0, 2**17))


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limits")
@pytest.mark.parametrize(
    ("sweep", "points", "limit"),
    [(SWEEP, 28, 150), (LARGE, 2**17, 2**19)],
    ids=["small files", "large files"],
)
def test_a_write_the_system_refuses_half_way_leaves_nothing_torn(
    tmp_path: Path, sweep: Sweep, points: int, limit: int
) -> None:
    """A real refusal in the middle of a file (EFBIG); ENOSPC takes the same way."""
    uninterrupted = create(tmp_path / "whole.zarr", sweep, points)
    finish(uninterrupted)
    whole = tree(uninterrupted.path)
    assert len(whole["wear_power/c/0/0"]) > limit
    refused = create(tmp_path / "refused.zarr", sweep, points)
    every = refused.pending()
    with process(LIMITED_WRITER, refused.path, limit) as writer:
        assert writer.wait(timeout=20) == 0
    assert len(every) == 3
    assert refused.pending() == every
    for name, content in tree(refused.path).items():
        assert content == whole[name]
    finish(refused)
    assert tree(refused.path) == whole


HOLDER = """
import sys, time
from sweep.store import Store
with Store.open(sys.argv[1]).lock():
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_held_store_is_refused_at_once_and_freed_by_a_kill(store: Store) -> None:
    with process(HOLDER, store.path) as holder:
        started = time.monotonic()
        with (
            pytest.raises(StoreError, match=rf"held by process {holder.pid} on .*`kill"),
            store.lock(),
        ):
            pass
        assert time.monotonic() - started < 30  # of the 60 s for which it is held
    with store.lock(), pytest.raises(StoreError, match="another run in this process"):
        Store.open(store.path).lock().__enter__()
    with store.lock():
        pass


def test_receipts_of_all_writers_are_read_and_a_torn_line_is_not(store: Store) -> None:
    """They lie beside the store, as its lock."""
    whole = tree(store.path)
    assert store.receipts.read() == []
    with store.lock():
        store.append_receipt({"chunk": [0, 0], "seconds": 0.25})
    assert tree(store.path) == whole
    store.append_receipt({"chunk": [1, 0], "seconds": 0.5})
    (log,) = (store.path.parent / "map.zarr.log").glob("*.jsonl")
    with log.open("a") as file:
        file.write('{"chunk": [2, 0], "sec')
    other = log.with_name("elsewhere-1.jsonl")
    other.write_text('{"time": "2000-01-01", "host": "h", "pid": 1, "chunk": [2, 0]}\n')
    receipts = store.receipts.read()
    assert [receipt["chunk"] for receipt in receipts] == [[2, 0], [0, 0], [1, 0]]
    assert receipts[1]["pid"] == os.getpid()


def test_receipts_are_appended_to_one_file_of_the_process(store: Store) -> None:
    """So that whoever has it open, as `tail -f`, reads on, also where no open file is replaced."""
    store.append_receipt({"chunk": [0, 0]})
    (log,) = Path(store.receipts.location).glob("*.jsonl")
    with log.open() as opened:
        assert json.loads(opened.read())["chunk"] == [0, 0]
        Store.open(store.path).append_receipt({"chunk": [1, 0]})
        assert json.loads(opened.read())["chunk"] == [1, 0]
    assert list(Path(store.receipts.location).glob("*.jsonl")) == [log]


def test_receipts_that_could_not_be_written_are_written_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        fail_writing(patched, errno.ENOSPC, ".log/")
        with pytest.raises(MachineError, match=r"map\.zarr\.log.*the disk is full"):
            store.append_receipt({"chunk": [0, 0]})
    store.append_receipt({"chunk": [1, 0]})
    assert [receipt["chunk"] for receipt in store.receipts.read()] == [[0, 0], [1, 0]]


def test_receipts_of_what_is_to_be_computed_anew_are_left_out(store: Store) -> None:
    """Nor is a line counted that tells of no chunk."""
    done, pending = store.done()[:2]
    store.reopen([pending])
    for chunk in (done, pending):
        store.append_receipt({"chunk": list(chunk.index), "points": chunk.n_points})
    store.append_receipt({"points": 1})
    receipts = store.receipts.read()
    assert len(receipts) == 3
    assert [receipt["chunk"] for receipt in of_done_chunks(receipts, store.done())] == [
        list(done.index)
    ]


def test_creators_racing_for_one_path_all_get_the_same_store(tmp_path: Path) -> None:
    alone = create(tmp_path / "alone.zarr")
    path = tmp_path / "raced.zarr"
    start = threading.Barrier(6)
    stores: list[Store] = []

    def race() -> None:
        start.wait()
        stores.append(create(path))

    racers = [threading.Thread(target=race) for _ in range(6)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert [store.path for store in stores] == [path] * 6
    assert tree(path) == tree(alone.path)
    assert {entry.name for entry in tmp_path.iterdir()} == {"alone.zarr", "raced.zarr"}


def test_a_store_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_writing(monkeypatch, errno.ENOSPC, "/status/")
    with pytest.raises(MachineError, match=r"cannot make the store .*disk is full"):
        create(tmp_path / "map.zarr")
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_in_the_background_goes_with_the_folder(tmp_path: Path) -> None:
    """As by zarr, which goes on with other files when one has failed."""
    folder = tmp_path / "begun"
    folder.mkdir()
    for i in range(300):
        (folder / f"{i}").touch()
    began, end = threading.Event(), time.monotonic() + 0.5

    def write() -> None:
        while time.monotonic() < end:
            try:
                (folder / "late").touch()
            except FileNotFoundError:
                break
            began.set()

    writer = threading.Thread(target=write)
    writer.start()
    began.wait()
    durable.discard(folder)
    writer.join()
    assert not folder.exists()


def test_what_cannot_be_removed_is_left_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "not yours")

    folder = tmp_path / "begun"
    folder.mkdir()
    monkeypatch.setattr(os, "rmdir", refuse)
    began = time.monotonic()
    durable.discard(folder)
    assert time.monotonic() - began < durable.MAX_WAIT_SECONDS / 2
    assert folder.exists()
