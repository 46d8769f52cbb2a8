"""`sweep fit`: master curves through the energies of rubbing contacts, written as functions."""

from __future__ import annotations

from typing import Annotated

from sweep.cli.app import command
from sweep.cli.parameters import Json, argument, flag, named, option, output_option
from sweep.errors import SweepError


@command(
    "sweep fit results/hanisch_fig3.zarr --at delta=1e-4",
    "sweep fit results/hanisch_fig4.zarr --at phase=1.57 --variable beta --range 0.1 10",
    "sweep fit measured.csv --x mu --scale-beta 1.2 --at delta=0.01 --at phase=1.5708",
)
def fit(
    source: Annotated[
        str,
        argument("STORE|CSV", "A store of mdr_contact, or a CSV file of measured points."),
    ],
    at: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "Use the points whose delta, phase or profile_exponent is nearest to this (SI, or "
            "with a unit: phase=90degree). For a CSV without that column: its value.",
        ),
    ] = None,
    variable: Annotated[str | None, option("NAME", "beta or xi. Default: both.")] = None,
    method: Annotated[str, option("NAME", "least_squares, minimax or aaa.")] = "least_squares",
    degrees: Annotated[
        str | None,
        option("P/Q", "Highest degrees of each piece, such as 4/3 or 1/0,1/2; needs --variable."),
    ] = None,
    limits: Annotated[
        tuple[float, float] | None,
        option("LO HI", "Range of the variable; needs --variable.", "--range"),
    ] = None,
    weights: Annotated[
        str | None,
        option(
            "NAME",
            "Weights: relative, absolute or sigma. Default: relative, or sigma with --sigma.",
        ),
    ] = None,
    whole: Annotated[bool, flag("--whole", "Fit xi in one piece across xi = 1.")] = False,
    tolerance: Annotated[
        float | None,
        option("SHARE", "Tolerance of aaa, as a share of the largest energy. Default: 1e-6."),
    ] = None,
    x: Annotated[
        str | None, option("COLUMN", "Column of a CSV file with beta or mu.", "--x")
    ] = None,
    y: Annotated[
        str | None, option("COLUMN", "Column of a CSV file with the energies.", "--y")
    ] = None,
    sigma: Annotated[
        str | None, option("COLUMN", "Column of a CSV file with standard errors of the energies.")
    ] = None,
    scale_beta: Annotated[
        float | None, option("K", "Factor from x to beta; for mu it is kappa Delta_z/Delta_x.")
    ] = None,
    scale_energy: Annotated[
        float | None, option("W", "Divisor of the energies; for energies in J it is W_ref.")
    ] = None,
    decimal: Annotated[
        str, option("MARK", "Decimal mark of a CSV file: a point or a comma. Default: a point.")
    ] = ".",
    skip: Annotated[
        int, option("N", "Number of lines before the header of a CSV file. Default: 0.")
    ] = 0,
    folder: Annotated[
        str | None,
        output_option(
            "FOLDER",
            "Folder of the coefficients, functions and pictures. Default: NAME_fit beside the "
            "source.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit master curves to the energies of rubbing contacts.

    The curves are rational functions. The energies are collapsed on one curve in two ways: W over
    beta (from 0.1 on), and W times delta over xi = beta/delta (up to 4). W is the energy per cycle
    over (16/3) G* a0 delta/n Delta_x^2. Coefficients are written to fit_NAME.json, a Python
    function to fit_NAME.py, and pictures next to them. The fit over xi has two pieces, which meet
    where a stick core appears. Files of these names from an earlier fit in the folder are removed.
    """
    if variable is None and (degrees or limits):
        cure = "add --variable beta or --variable xi"
        raise SweepError(f"--degrees and --range need one variable: {cure}")
    is_aaa, own = method == "aaa", "aaa chooses its own curve"
    for name, is_useless, why in (
        ("--degrees", is_aaa and degrees is not None, own),
        ("--weights", is_aaa and weights is not None, own),
        ("--tolerance", not is_aaa and tolerance is not None, "only aaa has one; add --method aaa"),
        ("--whole", whole and variable == "beta", "the curve over beta has one piece anyway"),
    ):
        if is_useless:
            raise SweepError(f"{name} has no effect here, because {why}: leave it out")
    choices = {
        "method": method,
        "limits": limits,
        "weights": weights or ("relative" if sigma is None else "sigma"),
        "whole": whole,
        **({} if tolerance is None else {"tolerance": tolerance}),
    }
    reading = {
        "x": x,
        "energy": y,
        "sigma": sigma,
        "scale_beta": scale_beta,
        "scale_energy": scale_energy,
        "decimal": decimal,
        "skip": skip,
    }
    from sweep.cli.actions.fit_action import print_fits

    print_fits(source, named(at), variable, degrees, choices, reading, folder, is_json=as_json)
