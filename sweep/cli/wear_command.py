"""`sweep wear`: worn volume and depth over years, from the wear powers in a store."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.cli.app import Json, StorePath, app, as_number, examples, filled, option
from sweep.cli.contents import (
    counts_json,
    next_command,
    outputs_json,
    print_outputs,
    print_statuses,
    sentences_of,
)
from sweep.cli.printing import print_json
from sweep.cli.stopping import Interruptible
from sweep.wording import listed

if TYPE_CHECKING:
    import xarray as xr


@app.command(
    epilog=examples(
        "sweep wear results/wear_power.zarr --law edf_mz --years 1,5,10",
        'sweep wear results/wear_power.zarr --law archard --coefficient "1.2e-13 1/Pa" \\\n'
        "    --years 1,2,5,10 --geometry tube_flat --radius '11 mm' --length '30 mm' \\\n"
        "    --limit '0.4 mm'",
        "sweep wear results/wear_power.zarr --law archard --years 10 \\\n"
        '    --coefficient "lognormal 1.2e-13 0.5 1/Pa"',
    )
)
def wear(
    store: StorePath,
    law: Annotated[str | None, option("NAME", "Law of wear: archard or edf_mz.")] = None,
    coefficient: Annotated[
        str | None,
        option(
            "VALUE",
            "K of archard, A of edf_mz (SI, or with a unit). If it is uncertain: a distribution as "
            'in [sample], such as "lognormal 1.2e-13 0.5 1/Pa".',
        ),
    ] = None,
    years: Annotated[
        str | None, option("LIST", "Times in service, in years of 365 days: 1,2,5,10.")
    ] = None,
    geometry: Annotated[
        str | None,
        option("NAME", "Scar, for depths: tube_flat, tube_flat_inclined or tube_hole."),
    ] = None,
    radius: Annotated[str | None, option("LENGTH", "Radius of the tube.")] = None,
    length: Annotated[str | None, option("LENGTH", "Length of contact.")] = None,
    angle: Annotated[
        str | None, option("ANGLE", "Inclination of the bar (tube_flat_inclined).")
    ] = None,
    hole_radius: Annotated[str | None, option("LENGTH", "Radius of the hole (tube_hole).")] = None,
    small: Annotated[
        bool, typer.Option("--small", help="Use the formulas for shallow scars, as Code_Aster.")
    ] = False,
    limit: Annotated[
        str | None, option("LENGTH", "Depth for which the time until it is reached is computed.")
    ] = None,
    quantiles: Annotated[
        str | None, option("LIST", "Of an uncertain coefficient; default: 0.05,0.5,0.95.")
    ] = None,
    exponent: Annotated[str | None, option("VALUE", "B of edf_mz; default: 1.2.")] = None,
    decay: Annotated[str | None, option("VALUE", "N of edf_mz; default: 2.44e-8 1/s.")] = None,
    slope: Annotated[str | None, option("VALUE", "S of edf_mz; default: 1.14e-16 m^3/s.")] = None,
    power: Annotated[str | None, option("OUTPUT", "The wear power; default: wear_power.")] = None,
    place: Annotated[
        str | None,
        typer.Option(
            *("--store", "-o"),
            metavar="STORE",
            help="Path or URL of the new store; default: NAME_wear.zarr beside the other.",
            callback=filled,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute worn volume and depth over years.

    From the wear powers in a store it makes another one with the dimension `time`, which `sweep
    show`, `sweep plot` and `sweep export` read: volume, whether the law holds, with --geometry the
    depth of the scar, and with --limit the time until it is that deep. The same as [wear] in a
    sweep file.

    Of an uncertain coefficient there are quantiles in their place. Of results that are reduced to
    statistics, quantiles, minima, maxima and shares beyond a limit are carried over, and means are
    not. Coefficients depend on materials and on the contact: use measured ones.
    """
    from sweep.analysis.wear_over_years import left_out, wear_over_time
    from sweep.api import store_of_wear
    from sweep.config import load_wear
    from sweep.store import open_results, write_derived

    texts = {
        "law": law,
        "years": years,
        "geometry": geometry,
        "quantiles": quantiles,
        "power": power,
    }
    amounts = {
        "coefficient": coefficient, "radius": radius, "length": length, "angle": angle,
        "hole_radius": hole_radius, "limit": limit, "exponent": exponent, "decay": decay,
        "slope": slope,
    }  # fmt: skip
    given = texts | {key: text and as_number(text) for key, text in amounts.items()}
    table = {key: value for key, value in given.items() if value is not None}
    table |= {"small": True} if small else {}
    asked = load_wear(table, "sweep wear", lambda key: f"--{key.replace('_', '-')}")
    with Interruptible("stopped by {cause}: nothing was written"):
        dataset = open_results(store)
        written = place or store_of_wear(store)
        write_derived(wear_over_time(dataset, asked), written)
        if lost := left_out(dataset, asked):
            print(f"left out: {listed(lost)}; wear does not carry them", file=sys.stderr)
        print_wear(open_results(written), written, as_json=as_json)


def print_wear(dataset: xr.Dataset, written: str, *, as_json: bool) -> None:
    """Print the ranges of the wear, the statuses, and the path of its store."""
    from sweep.summary import contents

    found = contents(dataset)
    sentences = sentences_of(dataset)
    if as_json:
        outputs = outputs_json(dataset, found)
        statuses = counts_json(found.counts, sentences, found.causes)
        print_json({"store": written, "outputs": outputs, "status": statuses})
        return
    print_outputs(dataset, found)
    print_statuses(found.counts, sentences, found.causes)
    print(f"{written}\nnext: {next_command('plot', written)}")
