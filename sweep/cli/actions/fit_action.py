"""`sweep fit`: fit the curves, write them, and print their coefficients."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import typer

from sweep.analysis.master_curve import (
    VARIABLES,
    Choices,
    ContactEnergies,
    Degrees,
    MasterCurve,
    Piece,
    Quotient,
    Reading,
    load,
)
from sweep.analysis.master_curve import as_json as plain
from sweep.analysis.master_curve import fit as fit_curve
from sweep.analysis.master_curve.files import remove_others, write_all
from sweep.analysis.master_curve.points import ScalingVariable
from sweep.analysis.master_curve.write import determined, error_text
from sweep.cli.parameters import chosen
from sweep.cli.printing import print_json, print_section, print_warning
from sweep.cli.stopping import interruptible
from sweep.errors import SweepError
from sweep.store.place import local, local_name


def print_fits(
    source: str,
    cuts: Mapping[str, str],
    variable: str | None,
    degrees: str | None,
    choices: Mapping[str, Any],
    reading: Mapping[str, Any],
    folder: str | None,
    *,
    as_json: bool,
) -> None:
    """Fit the curves through the points of a store or file, write them and print them.

    `choices` has the fields of Choices but `degrees`, and `reading` those of Reading.
    """
    chosen_fit = Choices(degrees=_degrees(degrees), **choices)
    target = _beside(source) if folder is None else Path(folder)
    with interruptible("stopped by {cause}"):
        points = load(source, Reading(**reading))
        selected = points.at(cuts)
        curves, failures = _fitted(selected, variable, chosen_fit)
        if selected.left_out:
            print_warning(f"points of {source}{selected.left_out_text()}")
        for curve in curves:
            for note in curve.notes:
                print_warning(f"over {curve.variable.name}: {note}")
        written = write_all(points, selected, curves, target)
        for path in remove_others(target, written):
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


def _beside(source: str) -> Path:
    """The folder NAME_fit beside a file or store; for a URL, in the working directory."""
    path = local(source) if source.startswith("file://") else local_name(source)
    return path.parent / f"{path.stem}_fit"


def _fitted(
    points: ContactEnergies, variable: str | None, choices: Choices
) -> tuple[list[MasterCurve], dict[str, str]]:
    """The curves and, if no variable is named, why one has none."""
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
        (label, error_text(each.greatest), f"{name} = {each.where:.4g}", error_text(each.rms))
        for label, each in compared.items()
        if each is not None
    ]
    print_section(rows, ("relative", "greatest", "at", "rms"))
    if curve.method == "aaa":  # whose numbers are values at points
        return
    for piece in curve.pieces:
        print(_formula(piece, curve.variable))
    rows = [row for piece in curve.pieces for row in _coefficients(piece, name)]
    print_section(rows, ("piece", "of t to the", "coefficient", "standard error"))


def _formula(piece: Piece, variable: ScalingVariable) -> str:
    """What the coefficients of a piece are those of."""
    x = variable.symbol.partition(" ")[0]  # of "ξ = β/δ"
    prefactor = {1: f"{x} · ", 0: "", -1: f"1/{x} · "}[piece.power]
    t = f"√(1 − 1/{x})" if piece.has_core else x
    where = f"{variable.name} from {piece.low:.4g} to {piece.high:.4g}"
    return f"{where}: {variable.energy} = {prefactor}above(t)/below(t), t = {t}"


def _coefficients(piece: Piece, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Rows of a table."""
    rational = cast("Quotient", piece.rational)
    where = f"{name} from {piece.low:.4g} to {piece.high:.4g}"
    for part, values, errors in (
        ("above", rational.numerator, rational.numerator_errors),
        ("below", rational.denominator, rational.denominator_errors),
    ):
        for k, value in enumerate(values):
            yield where, f"{k}, {part}", *determined(value, errors[k] if errors else 0.0)


def _degrees(text: str | None) -> tuple[Degrees, ...]:
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
