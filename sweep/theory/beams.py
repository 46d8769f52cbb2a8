"""Modes of uniform beams and bars: angular frequencies, shapes and masses, for tables of a model.

A Bernoulli beam of length L, bending stiffness EI and mass per length m obeys

    EI ∂⁴w/∂x⁴ + m ∂²w/∂t² = 0,   w = φ(x) sin(ωt),   ω = (λ/L)² √(EI/m),

and λ solves cos λ cosh λ = 1 (both ends clamped, or both free), cos λ cosh λ = −1 (clamped and
free), tan λ = tanh λ (pinned, and clamped or free) or sin λ = 0 (both pinned). A bar along its axis
of stiffness EA and mass per length m, or a shaft in torsion, obeys EA ∂²u/∂x² = m ∂²u/∂t².

Ends are "free", "pinned" or "clamped", given as a pair (left, right). Modes come in ascending
order of frequency; motions of the whole beam without bending come first, with frequency 0. Shapes
are scaled so that the mean of φ² over the length is 1, so each mode has the mass of the whole. All
values have the same bits on every machine. Shear and rotatory inertia are neglected: for mode n
that costs about (nπr/L)² of the frequency, with the radius of gyration r.

Source: R. D. Blevins, Formulas for natural frequency and mode shape (1979), tables 8-1 and 8-16.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sweep.theory import Values, values
from sweep.theory.elementary import exp, sine_cosine

Ends = tuple[str, str]  # left and right

ENDS = ("clamped", "free", "pinned")  # in this order within
MAX_MODES = 1000
STEPS = 8  # of Newton's method; 4 suffice from these starts


class Section(NamedTuple):
    """A cross-section: its area [m²] and second moment of area [m⁴]."""

    area: float
    second_moment: float


def tube(outer_radius: float, thickness: float) -> Section:
    """The section of a tube [m]; a thickness equal to the radius gives a full circle."""
    inner = outer_radius - thickness
    if not 0 <= inner < outer_radius:
        raise ValueError(f"{thickness=!r} is not between 0 and {outer_radius=!r}")
    outer_square, inner_square = outer_radius * outer_radius, inner * inner
    area = np.pi * (outer_square - inner_square)
    return Section(area, area * (outer_square + inner_square) / 4)


def rectangle(width: float, height: float) -> Section:
    """The section of a rectangular beam [m] that bends in the direction of its height."""
    area = width * height
    return Section(area, area * height * height / 12)


def beam_frequencies(
    count: int, ends: Ends, length: float, bending_stiffness: float, mass_per_length: float
) -> Values:
    """The lowest angular frequencies [rad/s] of a beam in bending, (count,).

    `bending_stiffness` is EI [N m²], `mass_per_length` in kg/m. ValueError for other ends.
    """
    numbers = _beam_numbers(count, ends) / length
    return numbers * numbers * np.sqrt(bending_stiffness / mass_per_length)


def beam_shapes(positions: ArrayLike, count: int, ends: Ends, length: float) -> Values:
    """The shapes of the lowest modes at positions [m] from the left end, (n_positions, count).

    ValueError for other ends and for positions beyond them.
    """
    numbers, pair = _beam_numbers(count, ends), _in_order(ends)
    at = _relative(positions, length)
    if pair != tuple(ends):
        at = 1 - at
    shapes = [_bending(at, pair, number) for number in numbers if number > 0]
    if len(shapes) < count and "pinned" in pair:  # it turns about the right end
        shapes = [np.sqrt(3.0) * (1 - at), *shapes]
    elif len(shapes) < count:
        shapes = [np.ones_like(at), np.sqrt(3.0) * (1 - 2 * at), *shapes][:count]
    return np.stack(shapes, axis=1)


def bar_frequencies(
    count: int, ends: Ends, length: float, axial_stiffness: float, mass_per_length: float
) -> Values:
    """The lowest angular frequencies [rad/s] of a bar along its axis, (count,).

    `axial_stiffness` is EA [N]. For a shaft in torsion it is GJ [N m²], and `mass_per_length` the
    polar moment of inertia per length [kg m]. A pinned end does not move, like a clamped one.
    """
    return _bar_numbers(count, ends) / length * np.sqrt(axial_stiffness / mass_per_length)


def bar_shapes(positions: ArrayLike, count: int, ends: Ends, length: float) -> Values:
    """The shapes of the lowest modes of a bar at positions [m], (n_positions, count)."""
    at, numbers = _relative(positions, length), _bar_numbers(count, ends)
    sine, cosine = sine_cosine(at[:, None] * numbers)
    if ends[0] != "free":
        return np.sqrt(2.0) * sine
    return np.where(numbers == 0, 1.0, np.sqrt(2.0) * cosine)


def modal_masses(count: int, length: float, mass_per_length: float) -> Values:
    """The masses [kg] of the modes with these shapes: each is the mass of the whole, (count,)."""
    return np.full(count, length * mass_per_length)


def write_modes(
    path: str | Path,
    angular_frequency: ArrayLike,
    mass: ArrayLike,
    shapes: Mapping[str, ArrayLike],
) -> Path:
    """Write a table of modes as CSV, one row for each, and return its path.

    Its columns are angular_frequency [rad/s], mass [kg], and one for each name in `shapes`, such as
    "middle.y": the values of the shapes there, (count,). Reading the numbers gives the same bits.
    ValueError if columns differ in length.
    """
    columns = {
        "angular_frequency": values(angular_frequency).ravel(),
        "mass": values(mass).ravel(),
        **{name: values(shape).ravel() for name, shape in shapes.items()},
    }
    lengths = {name: column.size for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns of modes differ in length: {lengths}")
    rows = zip(*(map(repr, column.tolist()) for column in columns.values()), strict=True)
    lines = [",".join(line) for line in [columns, *rows]]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Path(path)


def _in_order(ends: Ends) -> Ends:
    left, right = sorted(ends)
    return left, right


def _check(count: int, ends: Ends) -> None:
    if len(ends) != 2 or not set(ends) <= set(ENDS):
        raise ValueError(f"{ends!r} is not a pair of ends: each is one of {', '.join(ENDS)}")
    if not 1 <= count <= MAX_MODES:
        raise ValueError(f"{count=!r} is out of range: give 1 to {MAX_MODES} modes")


def _relative(positions: ArrayLike, length: float) -> Values:
    at = np.atleast_1d(values(positions)) / length
    if at.ndim != 1 or not np.all((at >= 0) & (at <= 1)):
        raise ValueError(f"positions have to be a list of numbers from 0 to {length!r} m")
    return at


def _bar_numbers(count: int, ends: Ends) -> Values:
    """ω L √(m/EA) of each mode, (count,)."""
    _check(count, ends)
    n = np.arange(count, dtype=np.float64)
    shift = 0.0 if ends == ("free", "free") else 0.5 if "free" in ends else 1.0
    return (n + shift) * np.pi


def _beam_numbers(count: int, ends: Ends) -> Values:
    """λ of each mode, (count,)."""
    _check(count, ends)
    pair = _in_order(ends)
    n_rigid = min({("free", "free"): 2, ("free", "pinned"): 1}.get(pair, 0), count)
    n = np.arange(1, count + 1 - n_rigid, dtype=np.float64)
    if pair == ("pinned", "pinned"):
        numbers = n * np.pi
    elif "pinned" in pair:
        numbers = _roots((n + 0.25) * np.pi, None)
    elif pair == ("clamped", "free"):
        numbers = _roots((n - 0.5) * np.pi, 1.0)
    else:
        numbers = _roots((n + 0.5) * np.pi, -1.0)
    return np.concatenate([np.zeros(n_rigid), numbers])


def _roots(starts: Values, sign: float | None) -> Values:
    """Roots near these of cos λ + sign/cosh λ or, with None, of sin λ − cos λ tanh λ."""
    x = starts
    for _ in range(STEPS):
        sine, cosine = sine_cosine(x)
        decay = exp(-x)
        sech, tanh = (2 * decay / (1 + decay * decay), (1 - decay * decay) / (1 + decay * decay))
        if sign is None:
            residual, slope = sine - cosine * tanh, cosine + sine * tanh - cosine * sech * sech
        else:
            residual, slope = cosine + sign * sech, -sine - sign * sech * tanh
        x = x - residual / slope
    return x


def _bending(at: Values, pair: Ends, number: float) -> Values:
    """φ = A exp(−λx) + B exp(−λ(1 − x)) + C cos λx + D sin λx, with a mean square of 1.

    A clamped left end needs C = −(A + B exp(−λ)) and D = A − B exp(−λ), a free one the opposite
    signs; the right end gives B. No terms cancel, however large λ.
    """
    along_sine, along_cosine = sine_cosine(number * at)
    if pair == ("pinned", "pinned"):
        return np.sqrt(2.0) * along_sine
    decay = float(exp(np.array([-number]))[0])
    sine, cosine = (float(each[0]) for each in sine_cosine(np.array([number])))
    left, right = pair
    if right == "pinned":
        b = -decay
    elif left == right:
        b = (cosine - sine - decay) / (1 - decay * (cosine + sine))
    else:
        b = (sine - cosine - decay) / (1 + decay * (cosine + sine))
    sign = -1.0 if left == "clamped" else 1.0
    c, d = sign * (1 + b * decay), sign * (b * decay - 1)
    # With φ, φ'/λ, φ''/λ² and φ'''/λ³ at the right end, the mean of φ² is (φ² − 2 φ' φ''' + φ''²)/4
    # wherever each end is free, pinned or clamped.
    sums, differences = decay + b, b - decay
    value, slope = sums + c * cosine + d * sine, differences - c * sine + d * cosine
    bend, shear = sums - c * cosine - d * sine, differences + c * sine - d * cosine
    scale = np.sqrt((value * value - 2 * slope * shear + bend * bend) / 4)
    ends = exp(-number * at) + b * exp(-number * (1 - at))
    return (ends + c * along_cosine + d * along_sine) / scale
