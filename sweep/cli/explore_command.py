"""`sweep explore`: one HTML file with the map of a sweep and its kernel."""

from __future__ import annotations

from typing import Annotated

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, argument, flag, option, output_option


@command(
    "sweep explore results/wear_power.zarr",
    "sweep explore wear_power -o map.html --open",
    "sweep explore s3://bucket/map.zarr -o map.html --outputs wear_power,regime --size 1000",
)
def explore(
    source: Annotated[str, argument("STORE|FILE", "A store, or a sweep file that is not run.")],
    path: Annotated[
        str | None,
        output_option(
            "FILE",
            "The page, in .html. Default: NAME.html, beside a store on a disk and otherwise here.",
        ),
    ] = None,
    open_page: Annotated[bool, flag("--open", "Open the page in the browser.")] = False,
    outputs: Annotated[
        str | None, option("NAME,...", "Outputs that the page contains. Default: all.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="KB",
            help="Largest size of the page, in kB. Default: 250, more for a large kernel.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a page in which the map of a sweep can be explored.

    The page is one HTML file that needs no server and no network. It shows the stored map, thinned
    until the page has the given size. The kernel is in the page as WebAssembly: a click computes a
    point and its motion, and a zoomed part of the map, or one with other values of fixed
    parameters, is computed anew with the bits of `sweep run`. The page of a sweep file computes the
    whole map.
    """
    from sweep.cli.actions.explore_action import write_page

    names = [name.strip() for name in (outputs or "").split(",") if name.strip()]
    write_page(source, path, names, size, open_page=open_page, as_json=as_json)
