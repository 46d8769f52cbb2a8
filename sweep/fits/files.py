"""The files of a curve: coefficients as JSON, and a function that needs only NumPy."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sweep.fits.curve import AAA, MasterCurve, Piece, Quotient
from sweep.fits.solve import ROUNDING
from sweep.results.exporting import write_texts

ERRORS_AT = 20  # parts of a piece's range
ENERGIES = {"beta": "normalized_energy", "xi": "normalized_energy_times_delta"}


def write(curve: MasterCurve, folder: str | Path) -> list[Path]:
    """Write fit_NAME.json and fit_NAME.py, replacing existing files; SweepError if that fails."""
    texts = (json.dumps(as_json(curve), indent=1, allow_nan=False) + "\n", python_text(curve))
    names = file_names(curve.variable.name)
    return write_texts(Path(folder), dict(zip(names, texts, strict=True)))


def file_names(variable: str) -> tuple[str, str]:
    """Names of the files of a curve: its coefficients, and its function."""
    return f"fit_{variable}.json", f"fit_{variable}.py"


def as_json(curve: MasterCurve) -> dict[str, Any]:
    """The curve as plain values: pieces with coefficients and standard errors, and distances."""
    return {
        "variable": curve.variable.name,
        "energy": ENERGIES[curve.variable.name],
        "source": Path(curve.points.source).name,
        "method": curve.method,
        "weights": curve.choices.weights,
        "range": list(curve.limits),
        "constants": {name: list(ends) for name, ends in curve.constants.items()},
        "n_coefficients": curve.n_coefficients,
        "pieces": [_piece(piece) for piece in curve.pieces],
        "error": asdict(curve.error),
        "from_theory": curve.from_theory and asdict(curve.from_theory),
        "points_from_theory": curve.points_from_theory and asdict(curve.points_from_theory),
        "points_left_out": curve.left_out,
        "points_outside_range": curve.outside,
        "notes": list(curve.notes),
    }


def _piece(piece: Piece) -> dict[str, Any]:
    rational = piece.rational
    described: dict[str, Any] = {
        "range": [piece.low, piece.high],
        "prefactor": f"x^{piece.power}",
        "argument": "(1 - 1/x)^(1/2)" if piece.has_core else "x",
        "n_coefficients": piece.n_coefficients,
    }
    if not isinstance(rational, Quotient):
        return {**described, "form": "barycentric", **_barycentric(rational)}
    x = np.linspace(piece.low, piece.high, ERRORS_AT + 1)[piece.low == 0 :]
    t = piece.argument(x)
    error = rational.standard_error(t)
    relative = None if error is None else (error / np.abs(rational(t))).tolist()
    standard_error = relative and {"x": x.tolist(), "relative": relative}
    return {
        **described, "form": "quotient", **asdict(rational), "standard_error": standard_error
    }  # fmt: skip


def _barycentric(rational: AAA) -> dict[str, list[float]]:
    """Σ w_j f_j/(t − t_j) over Σ w_j/(t − t_j): the points t_j, the values f_j, the weights w_j."""
    names = {"support": "support_points", "values": "support_values", "weights": "weights"}
    return {name: getattr(rational, own).tolist() for name, own in names.items()}


def error_text(error: float) -> str:
    """A relative error to three digits; below ROUNDING points do not determine it."""
    return f"{error:.3g}" if error >= ROUNDING else _below(ROUNDING)


def determined(value: float, error: float) -> tuple[str, str]:
    """A coefficient to two digits of its standard error, and that error; 0 if there is none."""
    if error == 0:
        return f"{value:.6g}", ""
    if error < ROUNDING * abs(value):
        return f"{value:.9g}", _below(ROUNDING * abs(value))
    last = math.floor(math.log10(error)) - 1
    return f"{value:.{max(-last, 0)}f}", f"{error:.2g}"


def _below(bound: float) -> str:
    return f"< {bound:.0e}".replace("e-0", "e-")


def python_text(curve: MasterCurve) -> str:
    """A module with one function, `energy`."""
    energy, symbol, name = curve.variable.energy, curve.variable.symbol, curve.variable.name
    lines = [
        f'"""Energy dissipated in a rubbing contact: {energy} over {symbol}.',
        "",
        *summary(curve),
        "",
        "W̄ is the energy per cycle over (16/3) G* a0 Δx² δ/n; β = μκΔz/Δx, δ = Δz/d0.",
        '"""',
        "",
        "import numpy as np",
        "",
        "",
        f"def energy({name}):",
        f'    """{energy} over {symbol} in the range of the fit; NaN elsewhere."""',
        f"    x = np.asarray({name}, dtype=float)",
        "    found = np.full(x.shape, np.nan)",
        *(line for piece in curve.pieces for line in _piece_lines(piece)),
        "    return found[()]",
    ]
    return "\n".join([*lines, BARYCENTRIC * (curve.method == "aaa")])


BARYCENTRIC = '''

def _barycentric(t, support, values, weights):
    """The rational function with these values at its support points."""
    away = t[..., None] - np.array(support)
    hit = away == 0
    share = np.array(weights) / np.where(hit, 1.0, away)
    at_support = hit.any(axis=-1)
    found = share @ np.array(values) / np.where(at_support, 1.0, share.sum(axis=-1))
    return np.where(at_support, hit @ np.array(values), found)
'''


def summary(curve: MasterCurve) -> list[str]:
    """What the curve is fitted to, how near it is to points and theory, and what is constant."""
    name, (low, high) = curve.variable.name, curve.limits
    n_points = curve.error.n_points
    all_points = f" of {n_points + curve.outside:,}" if curve.outside else ""
    compared = {
        "Relative error against the points": curve.error,
        "Against the closed form, δ → 0": curve.from_theory,
        "Of the points against the closed form, δ → 0": curve.points_from_theory,
    }
    return [
        f"Fitted to {n_points:,}{all_points} points of {_quoted(Path(curve.points.source).name)} "
        f"({curve.method}, {curve.n_coefficients} coefficients), {low:.10g} <= {name} <= "
        f"{high:.10g}.",
        *(
            f"{what}: at most {error_text(each.greatest)}, at {name} = {each.where:.4g}; rms "
            f"{error_text(each.rms)}."
            for what, each in compared.items()
            if each is not None
        ),
        *(
            f"{each} = {least:.12g}" + (f" to {greatest:.12g}" if greatest > least else "")
            for each, (least, greatest) in curve.constants.items()
        ),
    ]


def _quoted(text: str) -> str:
    """Text escaped for any string literal of Python."""
    safe = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in safe)


def _piece_lines(piece: Piece) -> list[str]:
    prefactor = {1: "x[inside] * ", 0: "", -1: "1 / x[inside] * "}[piece.power]
    lines = [f"    inside = (x >= {piece.low!r}) & (x <= {piece.high!r})"]
    rooted = "np.sqrt(np.maximum(x[inside] - 1, 0) / x[inside])"
    lines.append(f"    t = {rooted if piece.has_core else 'x[inside]'}")
    rational = piece.rational
    if not isinstance(rational, Quotient):
        arguments = ", ".join(map(repr, _barycentric(rational).values()))
        return [*lines, f"    found[inside] = {prefactor}_barycentric(t, {arguments})"]
    above, below = (
        f"np.polyval({list(reversed(side))!r}, t)"
        for side in (rational.numerator, rational.denominator)
    )
    return [*lines, f"    found[inside] = {prefactor}({above} / {below})"]
