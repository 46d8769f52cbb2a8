"""Signals: tables over time, and stationary random signals that are realised for each draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sweep.errors import FaultError
from sweep.model.table import Parameter
from sweep.model.time_series import TimeSeries, jumps
from sweep.theory.elementary import exp

Law = Literal["fixed", "normal"]  # of amplitudes
Matrix = tuple[tuple[float, ...], ...]

LARGEST_DRAW = LARGEST_SEED = 2**32 - 1  # words of the generator's key
SAMPLES_PER_PERIOD = 10  # at least, of the highest frequency
SAMPLE_BYTES = 16  # of an element: its value and its bend
MAX_TABLE_BYTES = 1 << 26  # of one realisation of all signals of a model
RANK_TOLERANCE = 1e-10  # of variances of 1, below which a part is no part of its own


@dataclass(frozen=True, kw_only=True)
class Signal:
    """A name whose value at the time `t` is that of a table."""

    name: str
    table: TimeSeries
    unit: str
    meaning: str
    has_rate: bool = False  # its rate stands in an expression

    @property
    def jumps(self) -> tuple[float, ...]:
        """The times at which it jumps, or its rate does if that is needed."""
        bends = self.has_rate and self.table.interpolation == "linear"
        return self.table.times[1:] if bends else jumps(self.table)


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """Correlations that fall with the distance: exp(-distance/length)."""

    length: float
    positions: tuple[float, ...]  # of the elements

    @property
    def matrix(self) -> Matrix:
        """The correlations of all pairs."""
        at = np.array(self.positions)
        rows = exp(-(np.abs(at[:, None] - at) / self.length).ravel()).reshape(at.size, at.size)
        return tuple(map(tuple, rows.tolist()))


@dataclass(frozen=True, kw_only=True)
class DrawnSignal:
    """A signal whose realisation, on 0 to `duration`, is chosen by a parameter."""

    name: str
    frequencies: tuple[float, ...]  # of the spectrum's rows, per unit of time; ascending
    densities: Matrix  # one-sided power spectral densities: for all elements, or for each
    duration: float  # which is the period
    rate: float  # samples per unit of time, at least
    draw: str  # the parameter
    seed: int
    amplitudes: Law
    correlation: Matrix | Correlation | None
    unit: str
    meaning: str
    elements: tuple[str, ...] = field(compare=False)  # the names in expressions

    @property
    def entry(self) -> dict[str, object]:
        """The signal as the canonical text has it."""
        correlation: object = self.correlation
        if isinstance(self.correlation, Correlation):
            correlation = vars(self.correlation)
        return {
            "spectrum": {"frequencies": self.frequencies, "densities": self.densities},
            "duration": self.duration,
            "rate": self.rate,
            "draw": self.draw,
            "seed": self.seed,
            "amplitudes": self.amplitudes,
            "correlation": correlation,
            "unit": self.unit,
            "meaning": self.meaning,
        }

    @property
    def n_samples(self) -> int:
        """Samples per duration: a power of two."""
        return n_samples(self.duration, self.rate)

    @property
    def table_bytes(self) -> int:
        """The memory that one realisation takes."""
        return SAMPLE_BYTES * self.n_samples * len(self.elements)

    @cached_property
    def harmonic_amplitudes(self) -> NDArray[np.float64]:
        """Amplitudes of the harmonics k/duration, k from 1, shape (n_harmonics, n_elements)."""
        amplitudes = self.amplitudes_of_columns
        shape = (len(self.elements), amplitudes.shape[1])
        return np.ascontiguousarray(np.broadcast_to(amplitudes, shape).T)

    @cached_property
    def amplitudes_of_columns(self) -> NDArray[np.float64]:
        """The same of each column of densities, shape (n_columns, n_harmonics).

        Every machine rounds its operations alike.
        """
        at = np.arange(1, self.frequencies[-1] * self.duration + 2) / self.duration
        at = at[at <= self.frequencies[-1]]
        rows, densities = np.array(self.frequencies), np.array(self.densities)
        low = np.clip(np.searchsorted(rows, at, side="right") - 1, 0, rows.size - 2)
        share = (at - rows[low]) / (rows[low + 1] - rows[low])
        first, last = densities[:, low], densities[:, low + 1]
        density = np.where(at < rows[0], 0.0, first + (last - first) * share)
        return np.sqrt(2.0 * np.maximum(density, 0.0) / self.duration)

    @cached_property
    def factor(self) -> NDArray[np.float64] | None:
        """The lower triangular matrix that correlates the elements; None if nothing does."""
        if self.correlation is None:
            return None
        matrix = self.correlation
        return np.array(triangular(matrix.matrix if isinstance(matrix, Correlation) else matrix))


def n_samples(duration: float, rate: float) -> int:
    """The least power of two that is not below duration times rate."""
    return 1 << max(math.ceil(duration * rate) - 1, 1).bit_length()


def as_draw(parameter: Parameter) -> Parameter:
    """The parameter with the range of draws."""
    return replace(
        parameter,
        whole=True,
        minimum=max(parameter.minimum, 0.0),
        maximum=min(parameter.maximum, float(LARGEST_DRAW)),
    )


def triangular(matrix: Matrix) -> list[list[float]]:
    """Cholesky's lower triangular matrix L with L Lᵀ = `matrix`, row by row.

    Of elements that follow from those before them, the diagonal is 0. FaultError if the matrix has
    a negative eigenvalue.
    """
    rows: list[list[float]] = []
    for i, correlations in enumerate(matrix):
        row = [0.0] * len(matrix)
        for j in range(i):
            rest = correlations[j] - _product(row, rows[j], j)
            if rows[j][j]:
                row[j] = rest / rows[j][j]
            elif abs(rest) > math.sqrt(RANK_TOLERANCE):
                raise _not_definite(i)
        rest = correlations[i] - _product(row, row, i)
        if rest < -RANK_TOLERANCE:
            raise _not_definite(i)
        row[i] = math.sqrt(rest) if rest > RANK_TOLERANCE else 0.0
        rows.append(row)
    return rows


def _product(a: Sequence[float], b: Sequence[float], count: int) -> float:
    total = 0.0
    for i in range(count):
        total += a[i] * b[i]
    return total


def _not_definite(row: int) -> FaultError:
    what = f"no signals have these correlations: row {row + 1} contradicts those above it"
    return FaultError(what, "give a positive semidefinite matrix")
