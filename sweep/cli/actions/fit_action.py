"""`sweep fit`: fit the curves, write them, and print their coefficients."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sweep.cli.printing import print_json, print_section, print_warning
from sweep.cli.stopping import interruptible
from sweep.errors import SweepError
from sweep.fits import (
    VARIABLES,
    Choices,
    ContactEnergies,
    Degrees,
    MasterCurve,
    Piece,
    Quotient,
    Reading,
    as_json,
    fit,
    load,
    write,
)
from sweep.fits.files import determined, file_names, summary
from sweep.fits.picture import PICTURES, write_pictures
from sweep.fits.points import left_out
from sweep.store.location import local, local_name


def print_fits(
    source: str,
    cuts: Mapping[str, str],
    variable: str | None,
    degrees: str | None,
    choices: Mapping[str, Any],
    reading: Mapping[str, Any],
    folder: str | None,
    *,
    is_json: bool,
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
        if text := left_out(selected.faults):
            print_warning(f"points of {source}{text}")
        for curve in curves:
            for note in curve.notes:
                print_warning(f"over {curve.variable.name}: {note}")
        written = [path for curve in curves for path in write(curve, target)]
        written += write_pictures(points, selected, curves, target)
        names = [name for each in VARIABLES for name in file_names(each)]
        for path in (target / name for name in (*names, *PICTURES)):
            if path not in written and path.is_file():
                path.unlink()
                print(f"removed {path}, left by an earlier fit", file=sys.stderr)
        if is_json:
            results = {"fits": [as_json(curve) for curve in curves], "not_fitted": failures}
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


def _degrees(text: str | None) -> tuple[Degrees, ...]:
    parts = [part.split("/") for part in text.split(",")] if text else []
    for part in parts:
        if len(part) != 2 or not all(side.strip().lstrip("-").isdecimal() for side in part):
            raise SweepError(
                f"--degrees: {'/'.join(part)!r} is not P/Q, such as 4/3: degrees of numerator and "
                "denominator"
            )
    return tuple(Degrees(int(above), int(below)) for above, below in parts)


def _fitted(
    points: ContactEnergies, variable: str | None, choices: Choices
) -> tuple[list[MasterCurve], dict[str, str]]:
    """The curves and, if no variable is named, why one has none."""
    if variable is not None:
        return [fit(points, variable, choices)], {}
    curves, failures = list[MasterCurve](), dict[str, str]()
    for name in VARIABLES:
        try:
            curves.append(fit(points, name, choices))
        except SweepError as error:
            failures[name] = str(error)
    if not curves:
        raise SweepError("\n".join(f"over {name}: {why}" for name, why in failures.items()))
    return curves, failures


def _print_curve(curve: MasterCurve) -> None:
    name, kind = curve.variable.name, curve.variable
    print(f"{kind.energy} over {kind.symbol}", *summary(curve), "", sep="\n")
    if curve.method == "aaa":  # whose numbers are values at points
        return
    x = kind.symbol.partition(" ")[0]  # of "ξ = β/δ"
    for piece in curve.pieces:
        prefactor = {1: f"{x} · ", 0: "", -1: f"1/{x} · "}[piece.power]
        t = f"√(1 − 1/{x})" if piece.has_core else x
        formula = f"{kind.energy} = {prefactor}above(t)/below(t), t = {t}"
        print(f"{_range(piece, name)}: {formula}")
    rows = [row for piece in curve.pieces for row in _coefficients(piece, name)]
    print_section(rows, ("piece", "of t to the", "coefficient", "standard error"))


def _range(piece: Piece, name: str) -> str:
    return f"{name} from {piece.low:.4g} to {piece.high:.4g}"


def _coefficients(piece: Piece, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Rows of a table."""
    assert isinstance(piece.rational, Quotient)
    for part, side in (("above", "numerator"), ("below", "denominator")):
        values = getattr(piece.rational, side)
        errors = getattr(piece.rational, f"{side}_errors") or [0.0] * len(values)
        for k, (value, error) in enumerate(zip(values, errors, strict=True)):
            yield _range(piece, name), f"{k}, {part}", *determined(value, error)
