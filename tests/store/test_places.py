"""Where a store lies: links, other names of one place, and places that change while it is used."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sweep import api
from sweep.cli.actions.status_action import watch_store
from sweep.engine import driver
from sweep.engine.driver import open_store
from sweep.engine.ledger import Summary
from sweep.errors import MachineError, StoreError
from sweep.file import load
from sweep.store import Store, is_url, open_results
from sweep.store.upkeep import clean, verify
from tests.command import Run
from tests.store.injected import stop_at
from tests.store.test_extend import grid, grow
from tests.store.test_storage_faults import CONFIG
from tests.store.test_store import create, finish, results_of, tree


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """Another name of disk/map.zarr."""
    (tmp_path / "disk").mkdir()
    path = tmp_path / "map.zarr"
    try:
        path.symlink_to(tmp_path / "disk/map.zarr", target_is_directory=True)
    except OSError:
        # Windows asks for a privilege; what needs no link is tested regardless.
        pytest.skip("links cannot be made here")
    return path


def test_a_store_is_held_under_all_of_its_names(link: Path) -> None:
    store = create(link.resolve())
    with store.lock(), pytest.raises(StoreError, match="is held by another run in this"):
        Store.open(link).lock().__enter__()
    with Store.open(link).lock((1, 2)), pytest.raises(StoreError, match="is held"):
        store.lock().__enter__()
    assert {entry.name for entry in link.parent.iterdir()} == {"disk", "map.zarr"}


def test_a_store_whose_extension_was_stopped_is_refused_under_all_of_its_names(link: Path) -> None:
    store = create(link.resolve(), grid(4, 2), 2)
    assert stop_at(0, lambda: Store.extend(store.path, grid(6, 2)), at="map.zarr/")
    with pytest.raises(StoreError, match="run the same `sweep extend` again"):
        open_results(link)


def test_a_link_to_a_place_where_nothing_lies_yet_is_followed(link: Path, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(CONFIG)
    api.run(tmp_path / "map.toml", store=link)
    assert link.is_symlink()
    assert Store.open(tmp_path / "disk/map.zarr").pending() == []


def test_folders_on_the_way_to_a_store_keep_their_names(link: Path, tmp_path: Path) -> None:
    """Other machines may have them elsewhere; what lies beside is the same."""
    (tmp_path / "home").symlink_to(tmp_path / "disk", target_is_directory=True)
    link.unlink()
    link.symlink_to("home/map.zarr", target_is_directory=True)
    store = create(link)
    assert store.path == tmp_path / "home/map.zarr"
    with store.lock(), pytest.raises(StoreError, match="is held by another run in this"):
        Store.open(tmp_path / "disk/map.zarr").lock().__enter__()


def test_a_store_is_the_same_from_a_folder_within_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = create(tmp_path / "map.zarr")
    monkeypatch.chdir(store.path / "status")
    (tmp_path / "up.zarr").symlink_to("map.zarr/status/..", target_is_directory=True)
    for name in ("..", "../status/..", tmp_path / "up.zarr"):
        assert Store.open(name).path == store.path
        with store.lock(), pytest.raises(StoreError, match="is held by another run in this"):
            Store.open(name).lock().__enter__()


@pytest.mark.parametrize("name", ["/", "/.", "//", "file:///", "/tmp/.."])
def test_a_whole_disk_is_no_store(name: str, tmp_path: Path, run: Run) -> None:
    (tmp_path / "map.toml").write_text(CONFIG)
    for command in (["status"], ["run", "map.toml", "-o"], ["run", "map.toml", "--dry-run", "-o"]):
        status, _, error = run(*command, name)
        assert (status, "is a whole disk, not a store" in error) == (2, True), error


@pytest.mark.parametrize("form", ["file:{}", "local:{}", "file://{}", "local://{}"])
def test_urls_of_this_machine_are_its_paths(tmp_path: Path, form: str) -> None:
    """They have its lock, and files there are whole or not at all."""
    store = create(tmp_path / "map.zarr")
    url = form.format(store.path)
    assert not is_url(url)
    assert Store.open(url).path == store.path


def test_a_home_folder_of_nobody_is_reported(tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(CONFIG)
    with pytest.raises(StoreError, match=r"'~nobody-here/map.zarr': .*\./~"):
        api.run(tmp_path / "map.toml", store="~nobody-here/map.zarr")


@pytest.mark.skipif(sys.platform == "win32", reason="another limit there")
def test_what_no_path_can_be_is_reported(tmp_path: Path, run: Run) -> None:
    (tmp_path / "map.toml").write_text(CONFIG)
    Path("round").symlink_to("round")
    for name in ("a" * 300, "round/map.zarr", "round"):
        for command in (["run", "map.toml", "-o"], ["status"], ["export", "-o", "x.csv"]):
            status, _, error = run(*command, name)
            assert (status, "cannot be a store" in error) == (2, True), error
    with pytest.raises(StoreError, match="null"):
        Store.open("map\0.zarr")


def test_a_store_that_is_moved_in_a_run_ends_it_and_leaves_no_other(tmp_path: Path) -> None:
    store = create(tmp_path / "map.zarr")
    first, *others = store.pending()
    store.write(first, results_of(store.sweep, first))
    store.path.rename(tmp_path / "moved.zarr")
    with pytest.raises(MachineError, match=r"map.zarr' was deleted or moved .* move it back"):
        store.write(others[0], results_of(store.sweep, others[0]))
    assert not store.path.exists()
    (tmp_path / "moved.zarr").rename(store.path)
    assert Store.open(store.path).pending() == others


def move(store: Path) -> None:
    store.rename("moved.zarr")


@pytest.mark.parametrize(
    ("goes", "when", "options"),
    [
        (move, "before its first chunk", ()),
        (lambda store: (store / "zarr.json").unlink(), "before its first chunk", ()),
        *(
            (move, "after its last chunk", options)
            for options in ((), ("--json",), ("--shard", "1/2"), ("--fail-fast",))
        ),
    ],
)
def test_a_store_that_goes_during_a_run_is_reported_as_gone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    goes: Callable[[Path], None],
    when: str,
    options: tuple[str, ...],
) -> None:
    (tmp_path / "map.toml").write_text(CONFIG)
    computed = driver.run

    def while_it_goes(*arguments: Any, **options: Any) -> Summary:
        if when == "before its first chunk":
            goes(Path("map.zarr"))
        summary = computed(*arguments, **options)
        goes(Path("map.zarr"))
        return summary

    monkeypatch.setattr(driver, "run", while_it_goes)
    status, out, err = run("run", "map.toml", "-o", "map.zarr", *options)
    assert (status, "pending" in out) == (3, False)
    assert "map.zarr' was deleted or moved during the run; move it back" in err
    if when == "after its last chunk":
        assert verify(Store.open("moved.zarr")) == []


def test_a_store_that_is_watched_may_grow_or_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = create(tmp_path / "map.zarr", grid(4, 2), 2)
    finish(grow(store, grid(6, 2)))
    watch_store(store, threading.Event(), as_json=False)  # as it is now, all is done
    store.reopen(store.done())
    shutil.rmtree(store.path)
    with pytest.raises(StoreError, match="no store"):
        watch_store(store, threading.Event(), as_json=False)
    assert capsys.readouterr().out == ""


def test_what_other_stores_are_made_of_is_left_alone(tmp_path: Path) -> None:
    """Their names may begin as this one's does."""
    store = create(tmp_path / "map.zarr")
    others = [
        tmp_path / f".{name}.{'a' * 32}.partial" for name in ("map.zarr.old", "map.zarr.b.zarr")
    ]
    of_extension = ".map.zarr.extension"
    own = [tmp_path / f".{name}.{'a' * 32}.partial" for name in ("map.zarr", of_extension)]
    for folder in (*others, *own):
        folder.mkdir()
    clean(store)
    assert [folder.exists() for folder in (*others, *own)] == [True, True, False, False]


def test_the_extension_of_a_store_that_was_removed_goes_with_it(tmp_path: Path) -> None:
    """It was stopped half way; what is made in the same place has nothing to do with it."""
    removed = create(tmp_path / "map.zarr", grid(4, 2), 2)
    assert stop_at(0, lambda: Store.extend(removed.path, grid(6, 2)), at="map.zarr/")
    shutil.rmtree(removed.path)
    store = create(removed.path, grid(3, 3), 3)
    finish(store)
    whole = tree(store.path)
    assert verify(Store.extend(store.path, grid(3, 3))) == []
    assert tree(store.path) == whole


def test_a_sweep_in_a_folder_of_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Smoke: spaces, a tilde, what globs mean something by, letters of other alphabets."""
    for name in ("two words", "~me", "[a-b]*?" if sys.platform != "win32" else "[ab]", "Reibéçµ"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("map.toml").write_text(CONFIG)
        request = load("map.toml")
        store = open_store(request, f"./{name}.zarr/")
        monkeypatch.chdir(tmp_path)
        assert api.run_in_store(store, request).points == 24
        assert store.path == folder / f"{name}.zarr"
