"""`sweep plot`: a picture of one output, or of its error."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, named, option, output_option
from sweep.errors import SweepError


@command(
    "sweep plot results/wear_power.zarr",
    "sweep plot results/wear_power.zarr wear_power -o cut.png --at friction=0.1",
    "sweep plot results/wear_power_sample.zarr wear_power --as histogram",
    "sweep plot results/step_size.zarr --against exact",
    "sweep plot results/wear_power.zarr --hue friction --log wear_power",
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
    path: Annotated[
        str | None,
        output_option(
            "FILE",
            "The picture; its suffix sets the format: .png, .pdf, .svg and others of matplotlib. "
            "Default: NAME.png or NAME_OUTPUT.png next to the store.",
        ),
    ] = None,
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
    hue: Annotated[
        str | None, option("AXIS", "Draw a line for each value of this axis (at most 8).")
    ] = None,
    col: Annotated[
        str | None, option("AXIS", "Draw a panel for each value of this axis, side by side.")
    ] = None,
    row: Annotated[
        str | None, option("AXIS", "Draw a panel for each value of this axis, below each other.")
    ] = None,
    lines: Annotated[str | None, typer.Option(hidden=True)] = None,
    facet: Annotated[str | None, typer.Option(hidden=True)] = None,
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
    size: Annotated[
        Literal["page", "column"],
        typer.Option(metavar="SIZE", help="Width: page (two columns) or column (one)."),
    ] = "page",
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
    from sweep.cli.actions.plot_action import draw_results

    for option_name, (axis, new_name) in {"lines": (lines, "hue"), "facet": (facet, "col")}.items():
        if axis is not None:
            raise SweepError(f"there is no --{option_name}: write --{new_name} {axis}")
    look = {
        "x": x,
        "y": y,
        "hue": hue,
        "col": col,
        "row": row,
        "log": log or (),
        "limits": named(limits, "--limits"),
        "unit": named(unit, "--unit"),
        "size": size,
        "title": title,
    }
    draw_results(
        results,
        path,
        named(at),
        over or (),
        shape,
        against,
        named(controls, "--set"),
        look,
        as_json=as_json,
    )
