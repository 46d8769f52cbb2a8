"""`sweep fit`: master curves through the energies of rubbing contacts, written as functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, argument, chosen, flag, named, option, output_option
from sweep.cli.printing import print_json, print_section
from sweep.cli.stopping import interruptible
from sweep.errors import SweepError

if TYPE_CHECKING:
    from sweep.analysis.master_curve import Choices, Degrees, MasterCurve, Piece, Points
    from sweep.analysis.master_curve.points import Variable


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
        option("P/Q", "Degrees of each piece, such as 4/3 or 1/0,1/2; needs --variable."),
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
    folder: Annotated[
        Path | None, output_option("FOLDER", "Default: NAME_fit beside the source.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit master curves to the energies of rubbing contacts.

    The curves are rational functions. The energies are collapsed on one curve in two ways: W over
    beta (from 0.1 on), and W times delta over xi = beta/delta (up to 4). W is the energy per cycle
    over (16/3) G* a0 delta/n Delta_x^2. Coefficients are written to fit_NAME.json, a Python
    function to fit_NAME.py, and pictures beside them. The fit over xi has two pieces, which meet
    where a stick core appears. Files of these names from an earlier fit in the folder are removed.
    """
    from sweep.analysis.master_curve import Choices, Reading, load
    from sweep.analysis.master_curve import as_json as plain
    from sweep.analysis.master_curve.write import remove_others, write_all

    if variable is None and (degrees or limits):
        cure = "add --variable beta or --variable xi"
        raise SweepError(f"--degrees and --range need one variable: {cure}")
    if method == "aaa":
        _refuse({"--degrees": degrees, "--weights": weights}, "aaa chooses its own curve")
    else:
        _refuse({"--tolerance": tolerance}, "only aaa has a tolerance; add --method aaa")
    if variable == "beta":
        _refuse({"--whole": whole or None}, "the curve over beta has one piece anyway")
    weights = weights or ("relative" if sigma is None else "sigma")
    tolerances = {} if tolerance is None else {"tolerance": tolerance}
    choices = Choices(method, _degrees(degrees), limits, weights, whole, **tolerances)
    reading = Reading(x, y, sigma, scale_beta, scale_energy)
    folder = folder or _beside(source)
    with interruptible("stopped by {cause}"):
        points = load(source, reading)
        selected = points.at(named(at))
        curves, failures = _fitted(selected, variable, choices)
        if selected.left_out:
            print(f"points of {source}{selected.left_out_text()}", file=sys.stderr)
        for curve in curves:
            for note in curve.notes:
                print(f"warning: over {curve.variable.name}: {note}", file=sys.stderr)
        written = write_all(points, selected, curves, folder)
        for path in remove_others(folder, written):
            print(f"removed {path}, left by an earlier fit", file=sys.stderr)
        if as_json:
            results = {"fits": [plain(curve) for curve in curves], "not_fitted": failures}
            print_json({**results, "files": list(map(str, written))})
            return
        for curve in curves:
            _print_curve(curve)
        for name, why in failures.items():
            print(f"no fit over {name}: {why}")
        print("\n".join(map(str, written)))


def _refuse(options: Mapping[str, object], why: str) -> None:
    """SweepError if one of these options is given, which would be ignored."""
    for name, value in options.items():
        if value is not None:
            raise SweepError(f"{name} has no effect here, because {why}: leave it out")


def _beside(source: str) -> Path:
    """The folder NAME_fit beside a file or store; for a URL, in the working directory."""
    from sweep.store.place import local, local_name

    path = local(source) if source.startswith("file://") else local_name(source)
    return path.parent / f"{path.stem}_fit"


def _fitted(
    points: Points, variable: str | None, choices: Choices
) -> tuple[list[MasterCurve], dict[str, str]]:
    """The curves and, if no variable is named, why one has none."""
    from sweep.analysis.master_curve import VARIABLES
    from sweep.analysis.master_curve import fit as fit_curve

    if variable is not None:
        return [fit_curve(points, chosen("variable", variable, VARIABLES).name, choices)], {}
    curves: list[MasterCurve] = []
    failures: dict[str, str] = {}
    for name in VARIABLES:
        try:
            curves.append(fit_curve(points, name, choices))
        except SweepError as error:
            failures[name] = str(error)
    if not curves:
        raise SweepError("\n".join(f"over {name}: {why}" for name, why in failures.items()))
    return curves, failures


def _print_curve(curve: MasterCurve) -> None:
    low, high = curve.limits
    name = curve.variable.name
    print(
        f"{curve.variable.energy} over {curve.variable.symbol}, {low:g} to {high:g}: "
        f"{curve.n_coefficients} coefficients, {curve.error.n_points:,} points"
    )
    constants = (
        f"{each} = {least:.10g}" + (f" to {greatest:.10g}" if greatest > least else "")
        for each, (least, greatest) in curve.constants.items()
    )
    if curve.constants:
        print(", ".join(constants))
    compared = {
        "fit from points": curve.error,
        "fit from closed form, δ → 0": curve.from_theory,
        "points from closed form, δ → 0": curve.points_from_theory,
    }
    rows = [
        (label, f"{each.greatest:.3g}", f"{name} = {each.where:.4g}", f"{each.rms:.3g}")
        for label, each in compared.items()
        if each is not None
    ]
    print_section(rows, ("relative", "greatest", "at", "rms"))
    coefficients = [row for piece in curve.pieces for row in _coefficients(piece, name)]
    if coefficients:
        for piece in filter(lambda piece: any(_coefficients(piece, name)), curve.pieces):
            print(_formula(piece, curve.variable))
        print_section(coefficients, ("piece", "of t to the", "coefficient", "standard error"))


def _formula(piece: Piece, variable: Variable) -> str:
    """What the coefficients of a piece are those of."""
    x = variable.symbol.partition(" ")[0]  # of "ξ = β/δ"
    prefactor = {1: f"{x} · ", 0: "", -1: f"1/{x} · "}[piece.power]
    t = f"√(1 − 1/{x})" if piece.has_core else x
    where = f"{variable.name} from {piece.low:.4g} to {piece.high:.4g}"
    return f"{where}: {variable.energy} = {prefactor}above(t)/below(t), t = {t}"


def _coefficients(piece: Piece, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Rows of a table; none for AAA, whose numbers are values at points."""
    from sweep.analysis.master_curve import Quotient

    rational = piece.rational
    if not isinstance(rational, Quotient):
        return
    where = f"{name} from {piece.low:.4g} to {piece.high:.4g}"
    for part, values, errors in (
        ("above", rational.numerator, rational.numerator_errors),
        ("below", rational.denominator, rational.denominator_errors),
    ):
        for k, value in enumerate(values):
            error = f"{errors[k]:.2g}" if errors and (part, k) != ("below", rational.pinned) else ""
            yield where, f"{k}, {part}", f"{value:.8g}", error


def _degrees(text: str | None) -> tuple[Degrees, ...]:
    from sweep.analysis.master_curve import Degrees

    degrees: list[Degrees] = []
    for part in filter(None, (text or "").split(",")):
        above, _, below = part.partition("/")
        try:
            degrees.append(Degrees(int(above), int(below)))
        except ValueError:
            raise typer.BadParameter(
                f"{part!r} is not P/Q, such as 4/3: degrees of numerator and denominator",
                param_hint="--degrees",
            ) from None
    return tuple(degrees)
