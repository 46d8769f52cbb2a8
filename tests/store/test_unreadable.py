"""What cannot be read is named, and never taken for damage: no command overwrites it."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from sweep.errors import StoreError
from sweep.store import open_results
from tests.command import MODULE, Run, bound_by_permissions, environment, sweep_command
from tests.store.injected import fail_writing
from tests.store.test_storage_faults import flip_a_bit
from tests.store.test_store import tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="permissions and limits of Linux")


@pytest.fixture
def folder(computed: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder with a sweep file and its finished store; afterwards all of it is writable."""
    shutil.copytree(computed, tmp_path, dirs_exist_ok=True)
    yield tmp_path
    for path in (tmp_path, *tmp_path.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


SHOW = ("show", "map.zarr")
RUN = ("run", "map.toml", "-o", "map.zarr")
STATUS = ("status", "map.zarr")
VERIFY = (*STATUS, "--verify")
PLOT = ("plot", "map.zarr", "-o", "a.png")
EXPORT = ("export", "map.zarr", "-o", "a.csv")


UNREADABLE = [
    (SHOW, "wear_power/c/2/0"),
    (RUN, "wear_power/c/2"),
    (VERIFY, "mass/c"),
    (STATUS, "."),
    (("run", "map.zarr"), "."),
    *(
        pytest.param(*case, marks=pytest.mark.broad)
        for case in (
            (PLOT, "wear_power/c/2/0"),
            (EXPORT, "wear_power/c/2/0"),
            (VERIFY, "wear_power/c"),
            (SHOW, "regime/zarr.json"),
            (SHOW, "mass/zarr.json"),
            (RUN, "zarr.json"),
            (SHOW, "status/c"),
            (STATUS, "status/c"),
        )
    ),
]


@pytest.mark.parametrize(("command", "place"), UNREADABLE)
def test_what_may_not_be_read_is_named_with_the_permission_that_is_needed(
    folder: Path, command: tuple[str, ...], place: str
) -> None:
    whole = tree(folder / "map.zarr")
    refused = folder / "map.zarr" / place
    mode = refused.stat().st_mode
    refused.chmod(0)
    done = bound_by_permissions(*command, folder=folder)
    assert done.returncode == 2, done.stderr
    assert f"cannot read '{refused}" in done.stderr
    assert "reading is not permitted; change its permissions" in done.stderr
    refused.chmod(mode)
    assert tree(folder / "map.zarr") == whole


@pytest.mark.parametrize(
    "command",
    [
        "run closed/map.zarr",
        "trace closed/map.toml",
        "explore closed/map.zarr",
        pytest.param("fit closed/map.zarr", marks=pytest.mark.broad),
        pytest.param("status closed/map.zarr", marks=pytest.mark.broad),
        pytest.param("models ./closed/map.toml", marks=pytest.mark.broad),
    ],
)
def test_what_is_in_a_folder_that_may_not_be_entered_is_named_with_the_permission(
    folder: Path, command: str
) -> None:
    closed = folder / "closed"
    closed.mkdir()
    for name in ("map.toml", "map.zarr"):
        (folder / name).rename(closed / name)
    closed.chmod(0)
    done = bound_by_permissions(*command.split(), folder=folder)
    assert done.returncode == 2, done.stderr
    assert command.split()[1].removeprefix("./") in done.stderr
    assert "reading is not permitted; change its permissions or those of the fold" in done.stderr


def test_a_chunk_that_may_not_be_read_is_not_overwritten_after_verify(
    folder: Path, run: Run
) -> None:
    whole = tree(folder / "map.zarr")
    chunk = folder / "map.zarr/wear_power/c/2/0"
    chunk.chmod(0)
    for command in (VERIFY, RUN):
        done = bound_by_permissions(*command, folder=folder)
        assert (done.returncode, f"cannot read '{chunk}" in done.stderr) == (2, True), done.stderr
    chunk.chmod(0o600)
    assert "nothing to do, all 24 points are there" in run(*RUN)[1]
    assert tree(folder / "map.zarr") == whole


@pytest.mark.parametrize("command", [SHOW, STATUS, PLOT])
def test_a_recipe_that_does_not_match_its_fingerprint_is_refused_by_all(
    folder: Path, run: Run, command: tuple[str, ...]
) -> None:
    _change_recipe(folder / "map.zarr/zarr.json")
    for each in (command, RUN):
        status, _, err = run(*each)
        assert status == 2
        assert "its recipe does not match its fingerprint" in err
    with pytest.raises(StoreError, match="its recipe does not match its fingerprint"):
        open_results(folder / "map.zarr")


def _change_recipe(metadata: Path) -> None:
    """Change the gravity in the recipe of a store from 10 to 11 m/s²."""
    document = json.loads(metadata.read_text())
    recipe = document["attributes"]["recipe"]
    assert (10.0).hex() in recipe
    document["attributes"]["recipe"] = recipe.replace((10.0).hex(), (11.0).hex())
    metadata.write_text(json.dumps(document))


@pytest.mark.broad
@pytest.mark.parametrize(
    ("place", "device"),
    [
        ("wear_power/c/2/0", os.mkfifo),
        ("status/c/2/0", lambda path: path.symlink_to("/dev/zero")),
    ],
)
def test_a_pipe_or_a_device_in_the_place_of_a_file_is_damage(
    folder: Path, place: str, device: Callable[[Path], None]
) -> None:
    """Reading it would not end."""
    whole = tree(folder / "map.zarr")
    file = folder / "map.zarr" / place
    file.unlink()
    device(file)
    shown = sweep_command(*SHOW, folder=folder)
    assert shown.returncode == 2
    assert "has a damaged chunk" in shown.stderr
    assert "is not a regular file" in shown.stderr
    verified = sweep_command(*VERIFY, folder=folder)
    assert verified.returncode == 1
    assert f"{file}: 4 points" in verified.stdout
    assert sweep_command(*RUN, folder=folder).returncode == 0
    assert tree(folder / "map.zarr") == whole


def test_a_pipe_in_the_place_of_a_coordinate_is_damage(folder: Path) -> None:
    _replace_by_a_pipe(folder / "map.zarr/friction/c/0")
    for command in (SHOW, VERIFY):
        done = sweep_command(*command, folder=folder)
        assert done.returncode == 2
        assert "the coordinate friction cannot be read" in done.stderr


def _limited(folder: Path, memory: int, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that may not have more memory than that, in bytes."""
    return subprocess.run(
        [*MODULE, *command],
        cwd=folder,
        env=environment(OPENBLAS_NUM_THREADS="1"),
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
    )


def _tear(file: Path) -> None:
    file.write_text("{")


def _misspell(file: Path) -> None:
    file.write_text(file.read_text().replace('"chunk_shape"', '"chunk_shaPe"'))


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _replace_by_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _remove_folder(file: Path) -> None:
    shutil.rmtree(file.parent)


@pytest.mark.broad
@pytest.mark.parametrize(
    ("file", "harms"),
    [
        ("mass/zarr.json", (Path.unlink, _tear, _misspell)),
        ("damping/zarr.json", (Path.unlink, _tear)),  # at its default
        ("mass/c", (Path.unlink, _empty, flip_a_bit, _replace_by_a_pipe)),
        ("mass/c", (_remove_folder,)),
    ],
)
def test_a_parameter_that_lacks_a_file_is_refused_until_a_run_rebuilds_it(
    folder: Path, run: Run, file: str, harms: tuple[Callable[[Path], None], ...]
) -> None:
    whole = tree(folder / "map.zarr")
    place = folder / "map.zarr" / file
    for harm in harms:
        harm(place)
        for command in (SHOW, VERIFY):
            status, _, err = run(*command)
            assert status == 2
            assert f"the coordinate {place.parent.name} " in err
            assert "run its sweep again to rebuild it" in err
        status, out, err = run(*RUN)
        assert (status, "24 points" in out) == (0, True)
        assert f"rebuilt '{place.parent}' from the recipe of the store" in err
        assert tree(folder / "map.zarr") == whole
        for command in (SHOW, VERIFY):
            assert run(*command)[0] == 0
        assert "rebuilt" not in run(*RUN)[2]


@pytest.mark.parametrize("key", ["mass/zarr.json", "mass/c"])
def test_a_folder_in_the_place_of_a_parameters_file_is_named(
    folder: Path, run: Run, key: str
) -> None:
    file = folder / "map.zarr" / key
    file.unlink()
    file.mkdir()
    status, _, err = run(*RUN)
    assert status == 2
    assert f"'{file}' is a folder in the place of a file of the store: move it elsewhere" in err


@pytest.mark.parametrize(
    ("is_complete", "status", "said"),
    [(True, 0, "nothing to do, all 24 points are there"), (False, 3, "writing is not permitted")],
)
def test_of_stores_that_may_not_be_written_only_complete_ones_are_returned(
    folder: Path, is_complete: bool, status: int, said: str
) -> None:
    if not is_complete:
        (folder / "map.zarr/status/c/2/0").unlink()
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o500 if path.is_dir() else 0o400)
    done = bound_by_permissions(*RUN, folder=folder)
    assert (done.returncode, said in done.stdout + done.stderr) == (status, True), done.stderr


@pytest.mark.broad
@pytest.mark.parametrize("megabytes", [400, pytest.param(700, marks=pytest.mark.broad)])
def test_a_limit_of_memory_is_named_and_no_store_called_damaged(
    folder: Path, megabytes: int
) -> None:
    done = _limited(folder, megabytes * 10**6, *SHOW)
    assert done.returncode == 3
    assert f"this process may use {megabytes} MB of memory, and a store needs 1,000" in done.stderr
    assert "ulimit -v unlimited" in done.stderr


def test_a_full_disk_is_named_with_a_cure_for_inodes(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "map.zarr/status/c/2/0").unlink()
    fail_writing(monkeypatch, errno.ENOSPC, "map.zarr/status/c/2")
    status, _, err = run(*RUN)
    assert status == 3
    assert re.search("the disk is full; free some space.* inodes .*chunk_points", err)


def test_a_lock_that_may_not_be_written_is_reported_as_that_file(folder: Path) -> None:
    (folder / "map.zarr/status/c/2/0").unlink()
    lock = folder / "map.zarr.lock"
    lock.touch()
    lock.chmod(0o400)
    done = bound_by_permissions(*RUN, folder=folder)
    assert done.returncode == 3
    assert f"cannot write to '{lock}'" in done.stderr
    assert "change the permissions of this file" in done.stderr


def test_a_file_system_without_locks_is_named(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = OSError(errno.ENOLCK, "No locks available")
    monkeypatch.setattr("fcntl.flock", Mock(side_effect=refused))
    (folder / "map.zarr/status/c/2/0").unlink()
    status, _, err = run(*RUN)
    assert status == 3
    assert "files on this file system cannot be locked; switch locks on" in err
    assert "keep the store on another file system" in err


def test_an_array_without_its_metadata_is_named(folder: Path, run: Run) -> None:
    shutil.rmtree(folder / "map.zarr/wear_power")
    status, _, err = run(*SHOW)
    assert status == 2
    assert "(the description of wear_power is missing)" in err
