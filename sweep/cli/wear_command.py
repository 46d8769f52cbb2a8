"""`sweep wear`: worn volume and depth over years, from the wear powers in a store."""

from __future__ import annotations

from typing import Annotated

from sweep.cli.app import command
from sweep.cli.parameters import Json, StorePath, flag, option, output_option, takes

OPTIONS = {
    "law": option("NAME", "Law of wear: archard or edf_mz."),
    "coefficient": option(
        "VALUE",
        "K of archard, A of edf_mz (SI, or with a unit). If it is uncertain: a distribution as "
        'in [sample], such as "lognormal 1.2e-13 0.5 1/Pa".',
    ),
    "years": option("LIST", "Times in service, in years of 365 days: 1,2,5,10."),
    "cycles": option("LIST", "In place of years: numbers of cycles; --power is an energy of each."),
    "geometry": option("NAME", "Scar, for depths: tube_flat, tube_flat_inclined or tube_hole."),
    "radius": option("LENGTH", "Radius of the tube."),
    "length": option("LENGTH", "Length of contact."),
    "angle": option("ANGLE", "Inclination of the bar (tube_flat_inclined)."),
    "hole_radius": option("LENGTH", "Radius of the hole (tube_hole)."),
    "small": flag("--small", "Use the formulas for shallow scars, as Code_Aster does."),
    "limit": option("LENGTH", "Limit of the depth; the time until it is reached is computed."),
    "quantiles": option("LIST", "Quantiles for an uncertain coefficient; default: 0.05,0.5,0.95."),
    "exponent": option("VALUE", "B of edf_mz; default: 1.2."),
    "decay": option("VALUE", "N of edf_mz; default: 2.44e-8 1/s."),
    "slope": option("VALUE", "S of edf_mz; default: 1.14e-16 m^3/s."),
    "wall": option("LENGTH", "Thickness of the wall, which is worn through at that depth."),
    "power": option("LIST", "The wear power, or several: a,b; default: wear_power."),
}  # by key of [wear]


@command(
    "sweep wear results/wear_power.zarr --law edf_mz --years 1,5,10",
    'sweep wear results/wear_power.zarr --law archard --coefficient "1.2e-13 1/Pa" \\\n'
    "    --years 1,2,5,10 --geometry tube_flat --radius '11 mm' --length '30 mm' \\\n"
    "    --limit '0.4 mm'",
    "sweep wear results/wear_power.zarr --law archard --years 10 \\\n"
    '    --coefficient "lognormal 1.2e-13 0.5 1/Pa"',
)
@takes(OPTIONS)
def wear(
    store: StorePath,
    *,
    place: Annotated[
        str | None,
        output_option(
            "STORE", "Path or URL of the new zarr store. Default: NAME_wear.zarr next to STORE."
        ),
    ] = None,
    as_json: Json = False,
    **options: str | bool | None,
) -> None:
    """Compute worn volume and depth over years.

    Write a new store with the dimension `time` from the wear powers in a store: volume, whether the
    law holds, with --geometry the depth of the scar, and with --limit the time until it is that
    deep. `sweep show`, `sweep plot` and `sweep export` read it. [wear] in a sweep file does the
    same.

    For an uncertain coefficient, the new store has quantiles instead. From results that are reduced
    to statistics, quantiles, minima, maxima and shares beyond a limit are carried over, and means
    are not. Coefficients depend on materials and on the contact: use measured ones.
    """
    from sweep.cli.actions.wear_action import write_wear

    write_wear(store, place, options, as_json=as_json)
