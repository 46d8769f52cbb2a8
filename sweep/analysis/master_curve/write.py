"""The files of a curve: coefficients as JSON and functions that need nothing but NumPy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sweep.analysis.barycentric import Barycentric
from sweep.analysis.master_curve.rational import MasterCurve, Piece
from sweep.analysis.quotients import Quotient
from sweep.exporting import write_texts

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
        "points_left_out": curve.points.left_out,
        "notes": list(curve.notes),
    }


def python_text(curve: MasterCurve) -> str:
    """A module with one function, `energy`."""
    name = curve.variable.name
    parts = [_head(curve), "import numpy as np\n\n", f"def energy({name}):"]
    parts += [f'    """{curve.variable.energy} over {curve.variable.symbol}: {_range(curve)}; '
              'NaN elsewhere."""']  # fmt: skip
    parts += [f"    x = np.asarray({name}, dtype=float)", "    found = np.full(x.shape, np.nan)"]
    for piece in curve.pieces:
        parts += _piece_lines(piece)
    barycentric = any(isinstance(piece.rational, Barycentric) for piece in curve.pieces)
    return "\n".join([*parts, "    return found[()]", BARYCENTRIC if barycentric else ""])


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


def _head(curve: MasterCurve) -> str:
    lines = [
        f'"""Energy dissipated in a rubbing contact: {curve.variable.energy} over '
        f"{curve.variable.symbol}.",
        "",
        f"Fitted to {curve.error.n_points} points of {_quoted(Path(curve.points.source).name)} "
        f"({curve.method}, {curve.n_coefficients} coefficients), {_range(curve)}.",
        f"Relative error against the points: at most {curve.error.greatest:.2e}, at "
        f"{curve.variable.name} = {curve.error.where:.4g}; rms {curve.error.rms:.2e}.",
    ]
    if curve.from_theory:
        lines.append(
            "Against the closed form for vanishing normal amplitude, over the whole range: at most "
            f"{curve.from_theory.greatest:.2e}."
        )
    for name, (least, greatest) in curve.constants.items():
        lines.append(f"{name}: {least:.12g}" + (f" to {greatest:.12g}" if greatest > least else ""))
    lines += ["", "W̄ is the energy per cycle over (16/3) G* a0 Δx² δ/n; β = μκΔz/Δx, δ = Δz/d0.",
              '"""', ""]  # fmt: skip
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Text escaped for any string literal of Python."""
    safe = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in safe)


def _range(curve: MasterCurve) -> str:
    low, high = curve.limits
    return f"{low:.10g} <= {curve.variable.name} <= {high:.10g}"


def _piece_lines(piece: Piece) -> list[str]:
    prefactor = {1: "x[inside] * ", 0: "", -1: "1 / x[inside] * "}[piece.power]
    lines = [f"    inside = (x >= {piece.low!r}) & (x <= {piece.high!r})"]
    rooted = "np.sqrt(np.maximum(x[inside] - 1, 0) / x[inside])"
    lines.append(f"    t = {rooted if piece.has_core else 'x[inside]'}")
    rational = piece.rational
    if isinstance(rational, Barycentric):
        arguments = ", ".join(repr(getattr(rational, n)) for n in ("support", "values", "weights"))
        return [*lines, f"    found[inside] = {prefactor}_barycentric(t, {arguments})"]
    return [
        *lines,
        f"    above = {_horner(rational.numerator)}",
        f"    below = {_horner(rational.denominator)}",
        f"    found[inside] = {prefactor}(above / below)",
    ]


def _horner(coefficients: Sequence[float]) -> str:
    *inner, last = map(repr, coefficients)
    text = f"{last} + 0 * t" if not inner else last
    for coefficient in reversed(inner):
        text = f"{coefficient} + t * ({text})"
    return text


def _piece(piece: Piece) -> dict[str, Any]:
    rational = piece.rational
    described: dict[str, Any] = {
        "range": [piece.low, piece.high],
        "method": piece.method,
        "prefactor": f"x^{piece.power}",
        "argument": "(1 - 1/x)^(1/2)" if piece.has_core else "x",
        "n_coefficients": rational.n_coefficients,
    }
    numbers = asdict(rational)
    if isinstance(rational, Barycentric):
        return {**described, "form": "barycentric", **numbers}
    del numbers["pinned"]
    standard_error = _standard_error(piece, rational)
    return {**described, "form": "quotient", **numbers, "standard_error": standard_error}


def _standard_error(piece: Piece, rational: Quotient) -> dict[str, list[float]] | None:
    """Relative standard error of the curve at some x of the piece."""
    x = np.linspace(piece.low, piece.high, ERRORS_AT + 1)[piece.low == 0 :]
    t = piece.argument(x)
    error = rational.standard_error(t)
    if error is None:
        return None
    return {"x": x.tolist(), "relative": (error / np.abs(rational(t))).tolist()}
