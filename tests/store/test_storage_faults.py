"""What befalls a store between and during runs; after each, the next run makes it whole again."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sweep import api
from sweep.errors import MachineError, StoreError
from sweep.file import load
from sweep.request.chunk import Chunk
from sweep.results.summary import contents
from sweep.store import Store, lock, receipts
from sweep.store.receipts import flow
from sweep.store.upkeep import verify
from tests.command import Run
from tests.store.injected import fail_writing
from tests.store.test_store import tree

CONFIG = """
format = 1
model = "friction_oscillator"
outputs = ["wear_power", "regime"]
[parameters]
mass = 1
gravity = 10
angular_frequency = 6.25
window_start = 0
window_end = 4
[axes]
friction = { linspace = [0.1, 0.6, 6] }
base_acceleration = { linspace = [5, 15, 4] }
[run]
workers = 2
chunk_points = 4
"""


@pytest.fixture
def whole(computed: Path) -> dict[str, bytes]:
    return tree(computed / "map.zarr")


@pytest.fixture
def store(computed: Path, tmp_path: Path) -> Store:
    shutil.copytree(computed, tmp_path, dirs_exist_ok=True)
    return Store.open(tmp_path / "map.zarr")


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-7] ^= 16
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["wear_power", "status"])
def test_a_flipped_bit_is_named_by_verify_and_computed_again_by_the_next_run(
    store: Store, run: Run, whole: dict[str, bytes], name: str
) -> None:
    flip_a_bit(store.path / name / "c/4/0")
    with pytest.raises(StoreError, match=rf"{name} has a damaged chunk .*--verify"):
        contents(store.dataset())
    status, out, _ = run("status", "map.zarr", "--verify")
    assert status == 1
    assert f"  {store.path}/{name}/c/4/0: 4 points, friction[4:5], base_acceleration[0:4]\n" in out
    (named,) = json.loads(run("status", "map.zarr", "--verify", "--json")[1])["damaged"]
    assert named == {
        "file": f"{store.path}/{name}/c/4/0",
        "points": 4,
        "slices": {"friction": [4, 5], "base_acceleration": [0, 4]},
        "is_folder": False,
    }
    assert tree(store.path) != whole  # to look changes nothing
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    assert tree(store.path) == whole
    assert [receipt["chunk"] for receipt in store.receipts.read()].count([4, 0]) == 2
    assert len(store.receipts.read()) == 7  # and no other chunk again
    assert run("status", "map.zarr", "--verify")[0] == 0


def test_a_note_of_damage_is_believed_of_no_chunk_that_is_whole(store: Store) -> None:
    """One that has been computed again since, or never was damaged; nor does a senseless note."""
    store.chunk_files.note_damage(store.done())
    assert store.chunk_files.torn() == []
    for text in (
        *("[[0, 0], [4", '{"0": 1}', "[1, [99, 0]]", ""),
        *("[[[1]]]", '[["a"]]', "[[0.5, 0]]", "[" * 100_000),
    ):
        (store.path.with_name("map.zarr.log") / "damaged.json").write_text(text)
        assert store.chunk_files.torn() == []


def test_verify_where_nothing_can_be_written_still_names_the_chunk(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    flip_a_bit(store.path / "regime/c/0/0")
    fail_writing(monkeypatch, errno.EROFS, "map.zarr")
    status, out, _ = run("status", "map.zarr", "--verify")
    assert status == 1
    assert "regime/c/0/0" in out


@pytest.mark.parametrize("name", ["wear_power", "status"])
def test_a_folder_in_the_place_of_a_chunks_file_is_damage_that_has_to_be_moved(
    store: Store, run: Run, whole: dict[str, bytes], name: str
) -> None:
    """Whatever lies in it is not ours to remove."""
    place = store.path / name / "c/4/0"
    place.unlink()
    place.mkdir()
    (place / "notes.txt").write_text("mine")
    status, out, _ = run("status", "map.zarr", "--verify")
    assert status == 1
    assert f"  {place}: 4 points, friction[4:5], base_acceleration[0:4]; there is a folder" in out
    assert f"next: move {place} out of the store; then sweep run map.zarr " in out
    for _ in range(2):
        status, _, err = run("run", "map.toml", "-o", "map.zarr")
        assert status == 2
        assert f"{str(place)!r} is a folder in the place of a file of the store: move it" in err
    place.rename(store.path.parent / "moved")
    assert (store.path.parent / "moved/notes.txt").read_text() == "mine"
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    assert tree(store.path) == whole


RUN = "run map.toml -o map.zarr"
SHARD = f"{RUN} --shard 1/2"
STATUS = "status map.zarr"


@pytest.mark.skipif(sys.platform == "win32", reason="no FIFO")
@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir])
@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("lock", [RUN, "extend map.zarr map.toml", SHARD]),
        ("log/holder.json", [RUN, STATUS]),
        ("log/holder.partial", [RUN]),
        ("log/shard-1-of-2.lock", [SHARD, RUN]),
        ("log/shard-1-of-2.json", [SHARD, STATUS]),
        ("log/shard-1-of-2.partial", [SHARD]),
        ("log/damaged.json", [RUN, STATUS]),
        ("log/HOST-PROCESS.jsonl", [RUN]),
    ],
)
def test_what_stands_in_the_place_of_a_file_beside_a_store_has_to_be_moved(
    store: Store, run: Run, put: Callable[[Path], None], name: str, commands: list[str]
) -> None:
    """Whether that is a lock, a receipt or a note; opening a FIFO may never end."""
    (store.path / "status/c/4/0").unlink()
    name = name.replace("HOST-PROCESS", f"{socket.gethostname()}-{os.getpid()}")
    place = Path(f"{store.path}.{name}")
    place.unlink(missing_ok=True)
    put(place)
    kind = "a folder" if place.is_dir() else "a FIFO"
    for command in commands:
        status, _, err = run(*command.split())
        assert (status, f"{str(place)!r} is {kind} in the place of a file" in err) == (2, True), err
        assert "move it elsewhere" in err
    assert place.is_dir() or place.is_fifo()


def test_a_file_in_the_place_of_the_folder_beside_a_store_is_reported(
    store: Store, run: Run
) -> None:
    (store.path / "status/c/4/0").unlink()
    shutil.rmtree(store.receipts.location)
    Path(store.receipts.location).write_text("mine")
    status, _, err = run(*RUN.split())
    assert status == 3
    assert (
        f"{store.receipts.location}/holder.json': a file stands where its folder has to be; move it"
        in err
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no FIFO")
def test_a_fifo_among_the_receipts_is_reported(store: Store, run: Run) -> None:
    os.mkfifo(f"{store.receipts.location}/x.jsonl")
    status, _, err = run(*STATUS.split())
    assert (status, "x.jsonl' is a FIFO in the place of a file" in err) == (2, True), err


def test_a_clock_that_goes_backwards_changes_nothing_that_counts(
    store: Store, run: Run, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look at it is an hour earlier than the one before."""
    hours = iter(range(10**6))

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # noqa: ARG003 (as datetime has it)
            return datetime(2020, 1, 1, tzinfo=UTC) - timedelta(hours=next(hours))

    for module in (receipts, lock):
        monkeypatch.setattr(module, "datetime", Backwards)
    for index in range(6):
        (store.path / f"status/c/{index}/0").unlink()
    assert run("run", "map.toml", "-o", "map.zarr")[0] == 0
    assert tree(store.path) == whole
    times = [str(receipt["time"]) for receipt in store.receipts.read()]
    assert times == sorted(times)
    status, out, _ = run("status", "map.zarr")
    assert status == 0
    assert "24 of 24 points done" in out


def test_a_path_that_turns_read_only_in_a_run_keeps_what_was_done(
    store: Store, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the third chunk's regime on; a real mount is in test_worker_faults."""
    request = load(store.path.with_name("map.toml"))
    for index in range(6):
        (store.path / f"status/c/{index}/0").unlink()
    turned: list[str] = []

    def has_turned(path: str) -> bool:
        if "regime/c/2/0" in path:
            turned.append(path)
        return bool(turned) and "map.zarr/" in path

    fail_writing(monkeypatch, errno.EROFS, has_turned)
    with pytest.raises(MachineError, match=r"file system is read-only; mount .*run the same sweep"):
        api.run_in_store(store, api.with_options(request, workers=1))
    assert [chunk.index[0] for chunk in store.pending()] == [2, 3, 4, 5]
    monkeypatch.undo()
    assert verify(store) == []
    assert api.run_in_store(store, request).chunks == 4
    assert tree(store.path) == whole


SIGNED = '"time": "1970-01-01T00:00:00+00:00", "host": "h", "pid": 1'
UNREADABLE = {
    "no receipt": "3",
    "nothing in it": "{}",
    "no time": '{"host": "h", "pid": 1, "points": 4, "seconds": 1.0}',
    "a time of no calendar": '{"time": "x", "host": "h", "pid": 1, "points": 4, "seconds": 1.0}',
    "a time that is none": '{"time": null, "host": "h", "pid": 1, "points": 4}',
    "no process": '{"time": "1970-01-01T00:00:00+00:00", "host": "h", "points": 4}',
    "a host that is none": f'{{{SIGNED}, "host": [], "points": 4}}',
    "points that are no number": f'{{{SIGNED}, "points": "x"}}',
    "seconds that are none": f'{{{SIGNED}, "seconds": null}}',
    "a chunk that is no place": f'{{{SIGNED}, "chunk": [[0]], "counts": {{"ok": 4}}}}',
    "counts that are none": f'{{{SIGNED}, "chunk": [0, 0], "counts": {{"ok": "x"}}}}',
    "an error of no points": f'{{{SIGNED}, "chunk": [0, 0], "counts": {{}}, "error": "x"}}',
    "brackets without an end": "[" * 100_000,
}


def test_receipts_that_make_no_sense_are_passed_over(store: Store, run: Run) -> None:
    answer = run("status", "map.zarr")
    assert (answer[0], answer[2]) == (0, "")
    totals = flow(store.receipts.read(), 0.0)
    for what, line in UNREADABLE.items():
        Path(store.receipts.location, "torn.jsonl").write_text(f"{line}\n")
        assert run("status", "map.zarr") == answer, what
        assert flow(store.receipts.read(), 0.0) == totals, what


def test_a_damaged_status_in_the_way_of_a_retry_is_reported_as_damage(
    store: Store, run: Run
) -> None:
    """The cure of a store that is none is another: to begin anew."""
    (store.path / "status/c/4/0").write_bytes(b"")
    for options in ([], ["--dry-run"]):
        status, _, error = run("run", "map.toml", "-o", "map.zarr", "--retry-failed", *options)
        assert status == 2
        assert "status has a damaged chunk" in error
        assert "--verify" in error
        assert "another store" not in error
    assert run("status", "map.zarr", "--verify")[0] == 1
    assert run("run", "map.toml", "-o", "map.zarr", "--retry-failed")[0] == 0


class BegunAnew(Store):
    """A store two of whose chunks a run begins anew just after they have been listed."""

    def done(self) -> list[Chunk]:
        listed = super().done()
        if len(listed) == self.n_chunks:
            self.reopen(listed[:2])
        return listed


def test_what_a_run_begins_anew_while_it_is_verified_is_no_damage(store: Store) -> None:
    racing = BegunAnew.open(store.path)
    assert verify(racing) == []
    assert len(racing.pending()) == 2
