"""`sweep plot`: a picture of one output, or of its error."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, named, option, output_option
from sweep.cli.printing import counted, print_json
from sweep.cli.stopping import interruptible
from sweep.errors import SweepError
from sweep.wording import listed

if TYPE_CHECKING:
    from sweep.analysis.slices import Slice
    from sweep.analysis.view import View


@command(
    "sweep plot results/wear_power.zarr",
    "sweep plot results/wear_power.zarr wear_power -o cut.png --at friction=0.1",
    "sweep plot results/wear_power_sample.zarr wear_power --as histogram",
    "sweep plot results/step_size.zarr --against exact",
    "sweep plot results/wear_power.zarr --lines friction --log wear_power",
    "sweep plot results/euler.zarr results/moreau.zarr wear_power --unit wear_power=mW",
)
def plot(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="STORE... [OUTPUT]",
            help="Stores, as paths or URLs: several are drawn in one picture. Default output: the "
            "first.",
        ),
    ],
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
        list[str] | None, option("NAME", "One or two parameters over which a sample is drawn.")
    ] = None,
    shape: Annotated[
        Literal["histogram", "scatter_matrix"] | None,
        typer.Option(
            "--as", metavar="SHAPE", help="How to draw a sample: histogram or scatter_matrix."
        ),
    ] = None,
    against: Annotated[
        str | None, option("METHOD", "Draw the error against this method, run for it.")
    ] = None,
    controls: Annotated[
        list[str] | None,
        option("NAME=VALUE", "With --against: a parameter of that method (a step).", "--set"),
    ] = None,
    x: Annotated[str | None, option("AXIS", "The axis drawn to the right.", "--x")] = None,
    y: Annotated[str | None, option("AXIS", "The axis drawn upwards, on a map.", "--y")] = None,
    lines: Annotated[
        str | None, option("AXIS", "Draw a line for each value of this axis (at most 8).")
    ] = None,
    facet: Annotated[
        str | None, option("AXIS", "Draw a panel for each value of this axis (at most 9).")
    ] = None,
    log: Annotated[
        list[str] | None, option("NAME", "Draw an axis or the output on a logarithmic scale.")
    ] = None,
    limits: Annotated[
        list[str] | None,
        option("NAME=LOW:HIGH", "Limits of an axis or the output, in the unit that is shown."),
    ] = None,
    unit: Annotated[
        list[str] | None, option("NAME=UNIT", "The unit of an axis or the output: friction=%.")
    ] = None,
    title: Annotated[str | None, option("TEXT", "The title of the picture.")] = None,
    as_json: Json = False,
) -> None:
    """Draw one output as lines or a map, or its error.

    The two longest axes are drawn; the others are cut at their middle, or at the value given by
    --at. A sample is drawn as dots over two of its parameters, or with --as as a histogram of the
    output or as a scatter matrix of the output and all parameters; with further axes, the sample of
    one cell is drawn. Refined points are drawn as a map with their cells outlined. All values of an
    output that has several at each point are drawn as dots over one axis: a bifurcation map.

    A mean over one axis is drawn with the band between its lowest and highest quantile. Statistics
    with several values are drawn as lines, or at one of them (--at quantile=0.95, --at
    regime_class=stick). From a store of `sweep wear`, the depth is drawn over the years, and
    time_to_limit as a map in years.

    With --against, another method of the model (such as exact) computes the same points; the
    relative errors are drawn, and their median and worst printed. Where the other method's value is
    0, errors are relative to its largest value.
    """
    from sweep.analysis.cuts import output_name
    from sweep.analysis.figures import refuse_end, save
    from sweep.analysis.plots import draw_panels, slices_of
    from sweep.analysis.view import View
    from sweep.engine.threads import in_threads
    from sweep.progress import shown as shown_progress
    from sweep.store import open_results
    from sweep.store.derived_stores import wear_of

    stores, output = _stores_and_output(results)
    path = path or _picture_beside(stores, output, f"against_{against}" if against else shape)
    cuts = named(at)
    view = View(
        x=x,
        y=y,
        lines=lines,
        facet=facet,
        log=log or (),
        limits={name: _range(name, text) for name, text in named(limits, "--limits").items()},
        unit=named(unit, "--unit"),
        title=title,
    )
    if shape is not None and against is not None:
        raise SweepError("--as draws the points of a sample, not errors: leave out --against")
    with interruptible(), in_threads():
        dataset = open_results(stores[0])
        refuse_end(path)
        is_worn = wear_of(dataset) is not None and not (over or against)
        if shape is not None or is_worn:
            _refuse_view("--as" if shape else "a picture of wear", view, stores)
            if shape is not None:
                from sweep.analysis.sample_pictures import draw_as

                name = output_name(dataset, output)
                figure = draw_as(shape, dataset, name, cuts, over or ())
            else:
                from sweep.analysis.wear_pictures import default_output, draw_wear

                name = output or default_output(dataset)
                figure = draw_wear(dataset, name, cuts)
            written = save(figure, path)
            if as_json:
                print_json({"output": name, "file": str(written)})
            else:
                print(written)
            return
        has_progress = against is not None and not as_json
        with shown_progress() if has_progress else nullcontext() as report:
            shown = slices_of(
                stores, output, cuts, over or (), view,
                against=against,
                parameters=_numbers(named(controls, "--set")),
                report=report,
            )  # fmt: skip
        _print_plots(shown, save(draw_panels(shown), path), as_json=as_json)


def _numbers(texts: Mapping[str, str]) -> dict[str, float | str]:
    """The values of --set, of which texts with a unit stay texts."""
    if not texts:
        return {}
    from sweep.config.quantities import as_written

    return {name: as_written(text) for name, text in texts.items()}


def _stores_and_output(results: list[str]) -> tuple[list[str], str | None]:
    """The stores, and the output, which is the last name unless a store of that name exists."""
    last = results[-1]
    if not all(results):
        raise SweepError("STORE is empty; is a shell variable unset?")
    names = [each for each in results[1:] if not _is_store(each)]
    if len(names) > 1:
        raise SweepError(
            f"{listed(names)} are no stores, and one output is drawn: give one name after the "
            "stores, and draw the others by themselves"
        )
    return (results[:-1], last) if names == [last] else (results, None)


def _is_store(name: str) -> bool:
    """Whether a store is meant: a URL, a name in .zarr, or a path that exists."""
    return "://" in name or name.rstrip("/").endswith(".zarr") or Path(name).exists()


def _refuse_view(kind: str, view: View, stores: list[str]) -> None:
    """SweepError if a picture that is not drawn over axes is to look as chosen."""
    from sweep.analysis.view import View

    if len(stores) > 1:
        raise SweepError(f"{kind} draws one store: leave out the others")
    if view != View(log=()):
        raise SweepError(
            f"{kind} takes none of --x, --y, --lines, --facet, --log, --limits, --unit, --title"
        )


def _range(name: str, text: str) -> tuple[str, str]:
    """The limits in a text LOW:HIGH."""
    low, colon, high = text.partition(":")
    if not (low and colon and high):
        raise SweepError(f"--limits {name}: {text!r} is not LOW:HIGH, such as 0.1:0.5")
    return low, high


def _picture_beside(stores: list[str], output: str | None, kind: str | None) -> Path:
    from sweep.store.place import local_name

    paths = [local_name(each) for each in stores]
    parts = [*(each.stem for each in paths), output, kind]
    return paths[0].parent / ("_".join(filter(None, parts)) + ".png")


def _print_plots(shown: Mapping[str, Slice], written: Path, *, as_json: bool) -> None:
    """Print the picture's path, after median and worst of errors; of several slices, of each."""
    descriptions = {label: _described(each) for label, each in shown.items()}
    first = next(iter(descriptions.values()))
    if as_json:
        several = {"panels": descriptions}
        results = first if len(descriptions) == 1 else {"output": first["output"], **several}
        print_json({**results, "file": str(written)})
        return
    for label, each in shown.items():
        if each.instead_of:
            reason = f"{listed(each.instead_of)}: infinite wherever there is a value; drawn instead"
            print(f"{reason}: {each.name}", file=sys.stderr)
        if "against" in each.dataset.attrs:
            print(f"{label}: " if label else "", end="")
            _print_spread(each)
    print(written)


def _described(shown: Slice) -> dict[str, Any]:
    """What is drawn, as JSON."""
    from sweep.analysis.relative_errors import spread

    results: dict[str, Any] = {"output": shown.name}
    if shown.instead_of:
        results["infinite_outputs"] = list(shown.instead_of)
    attributes = shown.dataset.attrs
    if "against" in attributes:
        errors = spread(shown.dataset, shown.name)
        results |= {
            "method": attributes["method"],
            "against": attributes["against"],
            **vars(errors),
        }
        results["where"] = {name: float(value) for name, value in errors.where.items()}
        results["no_value"] = {status.name: count for status, count in shown.missing.items()}
        results["infinite"] = dict(shown.infinite)
    return results


def _print_spread(shown: Slice) -> None:
    from sweep.analysis.labels import quantity
    from sweep.analysis.relative_errors import spread

    errors = spread(shown.dataset, shown.name)
    where = (f"{name} = {quantity(value)}" for name, value in errors.where.items())
    place = f" at {', '.join(where)}" if errors.where else ""
    print(f"{shown.output.attrs['long_name']}: median {errors.median:.3g}, ", end="")
    print(f"worst {errors.worst:.3g}{place}")
    missing = [f"{count:,} {status.name}" for status, count in shown.missing.items()]
    missing += [f"{count:,} left out at {name} = inf" for name, count in shown.infinite.items()]
    print(counted(errors.points, "point"), *missing, sep=", ")
