"""What looks at a store: its state, its contents, a picture of it, and other formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sweep.cli.app import Json, StorePath, app, examples, output_path
from sweep.cli.contents import (
    counts_json,
    dataset_json,
    look_command,
    next_command,
    print_dataset,
    print_errors,
    print_outputs,
    print_statuses,
)
from sweep.cli.printing import counted, duration, print_json, rate, share
from sweep.cli.progress import print_object
from sweep.cli.stopping import StopRequest
from sweep.errors import MachineError

if TYPE_CHECKING:
    from sweep.analysis.errors import Spread
    from sweep.analysis.slices import Slice
    from sweep.spec import Status, Sweep
    from sweep.store import Store
    from sweep.summary import State


@app.command(epilog=examples("sweep status results/wear_power.zarr --verify"))
def status(
    store: StorePath,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read every chunk, and name damaged files.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look every 2 s, until all is done or Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell what is done, what is pending, and what to do next.

    Pace and time left are those of the last process that wrote to the store; with --watch those
    of all that write now, whichever shard or cluster they are of. The exit status is 1 if points
    have failed or, with --verify, chunks are damaged; the next `sweep run` computes those again.
    """
    from sweep.cli.watching import watch as watch_store
    from sweep.spec import Status
    from sweep.store import Store
    from sweep.summary import state

    opened = Store.open(store)
    if watch:
        with StopRequest(note=b"") as asked:  # nothing is computed that could be lost
            asked.computing = True
            watch_store(opened, asked.event, as_json=as_json)
        if asked.signal:
            raise typer.Exit(asked.exit_status)
        opened = opened.opened_again()
    damaged = _verified(opened) if verify else None
    found = state(opened, damaged=bool(damaged))
    if as_json and watch:
        print_object("summary", **_state_json(opened, found, damaged))  # a line, as those before
    elif as_json:
        print_json(_state_json(opened, found, damaged))
    else:
        _print_state(found)
        print_statuses(found.counts, opened.sweep.model.sentences)
        print_errors(found.errors, opened.log)
        _print_damage(damaged)
        print(f"next: {_after(store, opened.sweep, found, damaged or [])}")
    raise typer.Exit(1 if damaged or found.counts.get(Status.failed) else 0)


@app.command(epilog=examples("sweep show results/wear_power.zarr"))
def show(store: StorePath, as_json: Json = False) -> None:
    """Show axes, parameters, provenance and figures of each output.

    The figures are least, mean and greatest, of a flag its shares, over the points that are ok.
    """
    from sweep.models import models
    from sweep.store import open_results
    from sweep.summary import contents

    dataset = open_results(store)
    found = contents(dataset)
    model = models().get(str(dataset.attrs["model"]))
    sentences: Mapping[Status, str] = model.sentences if model else {}
    if as_json:
        print_json(dataset_json(dataset, found, sentences))
    else:
        print_dataset(dataset)
        print_outputs(dataset, found)
        print_statuses(found.counts, sentences)


@app.command(
    epilog=examples(
        "sweep plot results/wear_power.zarr",
        "sweep plot results/wear_power.zarr wear_power -o cut.png --at friction=0.1",
        "sweep plot results/step_size.zarr --against exact",
    )
)
def plot(
    store: StorePath,
    output: Annotated[
        str | None,
        typer.Argument(metavar="OUTPUT", help="Default: the first.", show_default=False),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            parser=output_path,
            metavar="FILE",
            help="Default: beside the store, .png.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Cut an axis at its value nearest to this (SI). Not of refined points with --over "
            "or --against, where they have no axes.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of a sample: one or two parameters to draw it over."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="Draw the error against this method, run for it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw one output as lines or a map, or its error.

    The two longest axes are drawn; the others are cut at their middle, or where --at says. A sample
    is drawn as dots over two of its parameters; refined points are a map too, their cells outlined.
    With --against, another method of the model (exact) computes the same points, and median and
    worst of the relative errors drawn are told; where its value is 0, they are relative to its
    greatest.
    """
    from sweep.analysis.comparison import compare_slice
    from sweep.analysis.plots import draw_slice, refuse_end, save
    from sweep.analysis.slices import cut
    from sweep.store import open_results

    path = path or _picture_beside(store, output, against)
    cuts = places(at or ())
    with StopRequest() as asked:
        refuse_end(path)
        shown = cut(open_results(store), output, cuts, over or (), computed=against is not None)
        if against is not None:
            shown = compare_slice(shown, against)
        _tell_plot(shown, save(draw_slice(shown), path), as_json=as_json)
        return
    raise typer.Exit(asked.exit_status)


@app.command(epilog=examples("sweep export results/wear_power.zarr -o wear_power.csv"))
def export(
    store: StorePath,
    path: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=output_path,
            metavar="FILE",
            help="Its end says: .nc or .csv.",
        ),
    ],
) -> None:
    """Write the results as netCDF, or as CSV with a row a point.

    Units, provenance and the status of each point are included.
    """
    from sweep.export import export as write
    from sweep.store import open_results
    from sweep.store.reading import settled

    print(write(settled(open_results(store)), path))


def _picture_beside(store: str, output: str | None, against: str | None) -> Path:
    beside = Path(store.rpartition("/")[2] if "://" in store else store)
    parts = [beside.stem, output, against and f"against_{against}"]
    return beside.with_name("_".join(part for part in parts if part) + ".png")


def _tell_plot(shown: Slice, written: Path, *, as_json: bool) -> None:
    """The picture's path; of errors before it their median and worst, and what has none."""
    from sweep.analysis.errors import spread

    told: dict[str, Any] = {"output": shown.name, "file": str(written)}
    attributes = shown.dataset.attrs
    if "against" in attributes:
        found = spread(shown.dataset, shown.name)
        told |= {"method": attributes["method"], "against": attributes["against"], **vars(found)}
        told["where"] = {name: float(value) for name, value in found.where.items()}
        told["no_value"] = {status.name: count for status, count in shown.missing.items()}
        told["infinite"] = dict(shown.infinite)
        if not as_json:
            _print_spread(shown, found)
    if as_json:
        print_json(told)
    else:
        print(written)


def _print_spread(shown: Slice, found: Spread) -> None:
    from sweep.analysis.slices import quantity

    where = (f"{name} = {quantity(value)}" for name, value in found.where.items())
    place = f" at {', '.join(where)}" if found.where else ""
    print(f"{shown.output.attrs['long_name']}: median {found.median:.3g}, ", end="")
    print(f"worst {found.worst:.3g}{place}")
    missing = [f"{count:,} {status.name}" for status, count in shown.missing.items()]
    missing += [f"{count:,} left out at {name} = inf" for name, count in shown.infinite.items()]
    print(counted(found.points, "point"), *missing, sep=", ")


@dataclass(frozen=True)
class Damage:
    """A damaged file, and the points of its chunk."""

    file: str
    points: int
    slices: Mapping[str, tuple[int, int]]  # by dimension: first place, and the one behind the last

    def __str__(self) -> str:
        places = (f"{name}[{start}:{end}]" for name, (start, end) in self.slices.items())
        told = ", ".join((counted(self.points, "point"), *places))
        return f"{self.file}: {told}"


def _verified(store: Store) -> list[Damage]:
    """Every damaged file, their chunks noted for the next run where that may be."""
    chunks = store.verify()
    with suppress(MachineError):  # to look is allowed where nothing can be written
        store.note_damage(chunks)
    return [
        Damage(
            file,
            chunk.n_points,
            {
                name: (part.start, part.stop)
                for name, part in zip(store.sweep.dimensions, chunk.slices, strict=True)
            },
        )
        for chunk in chunks
        for file in store.damaged_files(chunk)
    ]


def _state_json(store: Store, found: State, damaged: list[Damage] | None) -> dict[str, Any]:
    statuses = counts_json(found.counts, store.sweep.model.sentences)
    figures = {key: value for key, value in vars(found).items() if key != "counts"}
    files = None if damaged is None else [vars(each) for each in damaged]
    return {"store": store.location, **figures, "status": statuses, "damaged": files}


def _print_state(found: State) -> None:
    done, total = found.points_done, found.points_total
    print(
        f"{done:,} of {counted(total, 'point')} done ({share(done / total)}), "
        f"{found.chunks_done:,} of {counted(found.chunks_total, 'chunk')}"
    )
    if found.points_per_second:
        left = f", {duration(found.seconds_left or 0)} left at that pace" if done < total else ""
        print(f"{rate(found.points_per_second)} in the last run{left}")
    if found.last_written:
        print(f"last chunk written {found.last_written[:19].replace('T', ' ')} UTC")


def _print_damage(damaged: list[Damage] | None) -> None:
    if damaged is None:
        return
    if not damaged:
        print("no chunk is damaged")
    elif len(damaged) == 1:
        print("1 file is damaged:")
    else:
        print(f"{len(damaged):,} files are damaged:")
    for each in damaged:
        print(f"  {each}")


def _after(store: str, sweep: Sweep, found: State, damaged: list[Damage]) -> str:
    if damaged:
        again = next_command("run CONFIG -o", store)
        return f"{again} computes these chunks again; CONFIG is the sweep file that made them"
    if found.points_done < found.points_total:
        again = next_command("run CONFIG -o", store)
        return f"{again} goes on; CONFIG is the sweep file that made it"
    return look_command(store, sweep, found.counts)


def places(texts: Iterable[str]) -> dict[str, float]:
    """What --at says: the value of each name."""
    cuts: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name.strip() in cuts:
            raise typer.BadParameter(f"{name.strip()} is given twice", param_hint="--at")
        try:
            cuts[name.strip()] = float(value)
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is not NAME=VALUE with a plain number in SI units", param_hint="--at"
            ) from None
    return cuts
