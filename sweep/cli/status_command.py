"""`sweep status`: the progress of a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sweep.cli.app import Json, StorePath, command, flag
from sweep.cli.contents import (
    SECOND_PASS,
    counts_json,
    look_command,
    next_command,
    print_errors,
    print_statuses,
)
from sweep.cli.printing import counted, print_json, print_object
from sweep.cli.stopping import StopRequest
from sweep.errors import MachineError
from sweep.wording import duration, rate, share

if TYPE_CHECKING:
    from sweep.request import Sweep
    from sweep.store import Store
    from sweep.summary import State


@command("sweep status results/wear_power.zarr --verify")
def status(
    store: StorePath,
    verify: Annotated[bool, flag("--verify", "Read every chunk and list damaged files.")] = False,
    watch: Annotated[
        bool, flag("--watch", "Repeat every 2 s until all is done or Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what is done, what is pending, and what to do next.

    The rate and the time left are those of all processes that are writing now, in any shard or
    cluster; if there is none, of the last minute of writing. The exit status is 1 if points have
    failed or, with --verify, chunks are damaged; the next `sweep run` computes these again.
    """
    from sweep.cli.watching import watch as watch_store
    from sweep.spec import Status
    from sweep.store import Store
    from sweep.summary import state

    opened = Store.open(store)
    if watch:
        with StopRequest(note=b"") as stop:  # nothing is computed, so nothing can be lost
            stop.computing = True
            watch_store(opened, stop.event, as_json=as_json)
        if stop.signal:
            raise typer.Exit(stop.exit_status)
        opened = opened.refreshed()
    damaged = list(_verified(opened)) if verify else None
    store_state = state(opened, damaged=bool(damaged))
    if as_json:
        figures = _state_json(opened, store_state, damaged)
        if watch:  # one line, like those before
            print_object("summary", **figures)
        else:
            print_json(figures)
    else:
        _print_state(store_state)
        print_statuses(store_state.counts, opened.sweep.model.sentences, store_state.causes)
        print_errors(store_state.errors, opened.log)
        if damaged is not None:
            _print_damage(damaged)
        print(f"next: {_after(store, opened.sweep, store_state, damaged or [])}")
    raise typer.Exit(1 if damaged or store_state.counts.get(Status.failed) else 0)


@dataclass(frozen=True)
class Damage:
    """A damaged file, and the points of its chunk."""

    file: str
    points: int
    slices: Mapping[str, tuple[int, int]]  # by dimension: first index, and one past the last
    is_folder: bool  # which no run overwrites

    def __str__(self) -> str:
        places = (f", {name}[{start}:{end}]" for name, (start, end) in self.slices.items())
        folder = "; there is a folder in its place" if self.is_folder else ""
        return f"{self.file}: {counted(self.points, 'point')}{''.join(places)}{folder}"


def _verified(store: Store) -> Iterator[Damage]:
    """Every damaged file; the next run computes their chunks again if the store is writable."""
    chunks = store.verify()
    with suppress(MachineError):  # a read-only store can still be verified
        store.note_damage(chunks)
    for chunk in chunks:
        ends = [(part.start, part.stop) for part in chunk.slices]
        slices = dict(zip(store.sweep.dimensions, ends, strict=True))
        for file in store.damaged_files(chunk):
            yield Damage(file, chunk.n_points, slices, Path(file).is_dir())


def _state_json(store: Store, store_state: State, damaged: list[Damage] | None) -> dict[str, Any]:
    statuses = counts_json(store_state.counts, store.sweep.model.sentences, store_state.causes)
    figures = {
        key: value for key, value in vars(store_state).items() if key not in ("counts", "causes")
    }
    files = None if damaged is None else [vars(each) for each in damaged]
    return {"store": store.location, **figures, "status": statuses, "damaged": files}


def _print_state(store_state: State) -> None:
    done, total = store_state.points_done, store_state.points_total
    print(
        f"{done:,} of {counted(total, 'point')} done ({share(done / total)}), "
        f"{store_state.chunks_done:,} of {counted(store_state.chunks_total, 'chunk')}"
    )
    if store_state.points_again:
        print(f"of these, {store_state.points_again:,} are {SECOND_PASS}")
    if done < total:
        print(
            f"running now: {', '.join(store_state.running)}"
            if store_state.running
            else "no run is live"
        )
    if store_state.points_per_second:
        time_left = (
            f", {duration(store_state.seconds_left or 0)} left at that rate" if done < total else ""
        )
        print(f"{rate(store_state.points_per_second)} when last written{time_left}")
    if store_state.last_written:
        print(f"last chunk written {store_state.last_written[:19].replace('T', ' ')} UTC")


def _print_damage(damaged: list[Damage]) -> None:
    heading = f"{len(damaged):,} files are damaged:"
    print({0: "no chunk is damaged", 1: "1 file is damaged:"}.get(len(damaged), heading))
    for each in damaged:
        print(f"  {each}")


def _after(store: str, sweep: Sweep, store_state: State, damaged: list[Damage]) -> str:
    if not damaged and store_state.points_done == store_state.points_total:
        return look_command(store, sweep, store_state.counts)
    what = "computes these chunks again" if damaged else "resumes"
    then = f"{next_command('run', store)} ({what})"
    folders = [each.file for each in damaged if each.is_folder]
    place = folders[0] if len(folders) == 1 else "these folders"
    return f"move {place} out of the store; then {then}" if folders else then
