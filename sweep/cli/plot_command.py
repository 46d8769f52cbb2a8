"""`sweep plot`: a picture of one output, or of its error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sweep.cli.app import Json, StorePath, app, examples, in_si, named, option, output_option
from sweep.cli.printing import counted, print_json
from sweep.cli.stopping import Interruptible
from sweep.errors import SweepError
from sweep.wording import listed

if TYPE_CHECKING:
    from sweep.analysis.relative_errors import Spread
    from sweep.analysis.slices import Slice


@app.command(
    epilog=examples(
        "sweep plot results/wear_power.zarr",
        "sweep plot results/wear_power.zarr wear_power -o cut.png --at friction=0.1",
        "sweep plot results/wear_power_sample.zarr wear_power --as histogram",
        "sweep plot results/step_size.zarr --against exact",
    )
)
def plot(
    store: StorePath,
    output: Annotated[
        str | None, typer.Argument(metavar="OUTPUT", help="Default: the first.")
    ] = None,
    path: Annotated[Path | None, output_option("FILE", "Default: a .png beside the store.")] = None,
    at: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "Cut an axis at its value nearest to this (SI, or with a unit). Not for refined "
            "points with --over or --against, which have no axes.",
        ),
    ] = None,
    over: Annotated[
        list[str] | None, option("NAME", "Of a sample: one or two parameters to draw it over.")
    ] = None,
    shape: Annotated[
        Literal["histogram", "scatter_matrix"] | None,
        typer.Option("--as", metavar="SHAPE", help="Of a sample: histogram or scatter_matrix."),
    ] = None,
    against: Annotated[
        str | None, option("METHOD", "Draw the error against this method, run for it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw one output as lines or a map, or its error.

    The two longest axes are drawn; the others are cut at their middle, or at the value given by
    --at. A sample is drawn as dots over two of its parameters, or with --as as a histogram of the
    output or as a scatter matrix of the output and all parameters; beside axes, it is that of one
    cell. Refined points are drawn as a map
    with their cells outlined. All values of an output that has several at each point are drawn as
    dots over one axis: a bifurcation map. Of statistics, a mean over one axis has the band between
    its lowest and highest quantile; those with several values are drawn as lines, or at one of
    them (--at quantile=0.95, --at regime_class=stick). With --against, another method of the model
    (such as exact) computes the same points; the relative errors are drawn, and their median and
    worst printed. Where the other method's value is 0, errors are relative to its largest value. Of
    a store of `sweep wear`, the depth is drawn over the years, and time_to_limit as a map in
    years.
    """
    from sweep.analysis.comparison import compare_slice
    from sweep.analysis.plots import draw_slice
    from sweep.analysis.sample_pictures import draw_as
    from sweep.analysis.saving import refuse_end, save
    from sweep.analysis.slices import cut, output_name
    from sweep.analysis.statistics import codes_of
    from sweep.analysis.wear_over_years import wear_of
    from sweep.analysis.wear_pictures import default_output, draw_wear
    from sweep.store import open_results

    path = path or _picture_beside(store, output, f"against_{against}" if against else shape)
    cuts = named(at)
    if shape is not None and against is not None:
        raise SweepError("--as draws the points of a sample, not errors: leave out --against")
    with Interruptible():
        refuse_end(path)
        dataset = open_results(store)
        codes = codes_of(dataset, cuts)
        cuts = {name: text for name, text in cuts.items() if name not in codes}
        units = {str(name): dataset[name].attrs.get("units", "1") for name in dataset.coords}
        places = codes | in_si(cuts, units)
        if shape is not None:
            drawn = draw_as(shape, dataset, output, places, over or ())
            _print_file(output_name(dataset, output), save(drawn, path), as_json=as_json)
            return
        if wear_of(dataset) is not None and not (over or against):
            name = output or default_output(dataset)
            _print_file(name, save(draw_wear(dataset, name, places), path), as_json=as_json)
            return
        shown = cut(dataset, output, places, over or (), computed=against is not None)
        if against is not None:
            shown = compare_slice(shown, against)
        _print_plot(shown, save(draw_slice(shown), path), as_json=as_json)


def _picture_beside(store: str, output: str | None, kind: str | None) -> Path:
    beside = Path(store.rpartition("/")[2] if "://" in store else store)
    parts = [beside.stem, output, kind]
    return beside.with_name("_".join(part for part in parts if part) + ".png")


def _print_file(output: str, written: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"output": output, "file": str(written)})
    else:
        print(written)


def _print_plot(shown: Slice, written: Path, *, as_json: bool) -> None:
    """Print the picture's path; for errors first median, worst, and the points without one."""
    from sweep.analysis.relative_errors import spread

    results: dict[str, Any] = {"output": shown.name, "file": str(written)}
    if shown.instead_of:
        results["infinite_outputs"] = list(shown.instead_of)
        reason = f"{listed(shown.instead_of)}: infinite wherever there is a value; drawn instead"
        print(f"{reason}: {shown.name}", file=sys.stderr)
    attributes = shown.dataset.attrs
    if "against" in attributes:
        found = spread(shown.dataset, shown.name)
        results |= {"method": attributes["method"], "against": attributes["against"], **vars(found)}
        results["where"] = {name: float(value) for name, value in found.where.items()}
        results["no_value"] = {status.name: count for status, count in shown.missing.items()}
        results["infinite"] = dict(shown.infinite)
        if not as_json:
            _print_spread(shown, found)
    if as_json:
        print_json(results)
    else:
        print(written)


def _print_spread(shown: Slice, found: Spread) -> None:
    from sweep.analysis.labels import quantity

    where = (f"{name} = {quantity(value)}" for name, value in found.where.items())
    place = f" at {', '.join(where)}" if found.where else ""
    print(f"{shown.output.attrs['long_name']}: median {found.median:.3g}, ", end="")
    print(f"worst {found.worst:.3g}{place}")
    missing = [f"{count:,} {status.name}" for status, count in shown.missing.items()]
    missing += [f"{count:,} left out at {name} = inf" for name, count in shown.infinite.items()]
    print(counted(found.points, "point"), *missing, sep=", ")
