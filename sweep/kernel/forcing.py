"""Tables of realisations of random signals: which a batch of points needs, and their requests.

A kernel finds the realisation of a point by its address, which is a column. Tables lie beside the
kernel, in memory of its backend, and are made anew for each batch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sweep.equations.cpp_struct import DRAWN
from sweep.equations.signals import LARGEST_DRAW, SAMPLE_BYTES, DrawnSignal
from sweep.equations.system_file import system_of_text
from sweep.kernel.library import fields_of
from sweep.kernel.sorting import Order
from sweep.model.table import Model
from sweep.request.chunk import Column, Points, Values

MAX_BYTES = 1 << 28  # of the tables of a batch, unless one point needs more
LARGEST_ADDRESS = 1 << 53  # that a double holds
NO_ADDRESS = 0.0  # of what is no draw


class ForcingRequest(ctypes.Structure):
    """The Forcing of forcing.h."""

    _fields_ = fields_of(
        "int64 stage samples harmonics elements realisations signal seed normal",
        "address draws amplitudes factor turns tables",
    )


@dataclass(frozen=True, eq=False)
class Forcing:
    """A signal by draw as its tables are made."""

    signal: DrawnSignal
    number: int  # in its model

    @property
    def column(self) -> str:
        """The name of the column with addresses."""
        return DRAWN + self.signal.name

    @property
    def turns_bytes(self) -> int:
        """The memory that the table of sines and cosines takes."""
        return SAMPLE_BYTES * self.signal.n_samples // 2

    @property
    def n_stages(self) -> int:
        """The number of stages: turns, zeros, harmonics, and the levels of the transform."""
        return self.signal.n_samples.bit_length() + 2

    def n_units(self, stage: int, n_realisations: int) -> int:
        """Independent units of work of a stage, for threads of one lane; of some, fewer."""
        return self.signal.n_samples // 2 * (n_realisations if stage else 1)

    def request(self, n_realisations: int, **addresses: int) -> ForcingRequest:
        """The request for that many realisations, in memory at these addresses."""
        n_harmonics, n_elements = self.signal.harmonic_amplitudes.shape
        return ForcingRequest(
            samples=self.signal.n_samples,
            harmonics=n_harmonics,
            elements=n_elements,
            realisations=n_realisations,
            signal=self.number,
            seed=self.signal.seed,
            normal=self.signal.amplitudes == "normal",
            **addresses,
        )

    def constants(self) -> dict[str, Values]:
        """The arrays that requests refer to, whatever the draws are."""
        factor = self.signal.factor
        arrays = {"amplitudes": self.signal.harmonic_amplitudes.ravel()}
        return arrays if factor is None else {**arrays, "factor": factor.ravel()}


def forcings_of(model: Model) -> tuple[Forcing, ...]:
    """The signals by draw of a model."""
    return _forcings(model.text) if model.text else ()


@lru_cache(maxsize=16)
def _forcings(text: str) -> tuple[Forcing, ...]:
    return tuple(Forcing(each, number) for number, each in enumerate(system_of_text(text).drawn))


@dataclass(frozen=True, eq=False)
class Draws:
    """The draws of a batch: the realisations that it needs, and which of them each point has."""

    realisations: Values  # ascending
    places: NDArray[np.intp]  # (n_points,): of a point's realisation; -1 for what is no draw

    def addresses(self, table: int, table_bytes: int) -> Values:
        """The address of each point's realisation in a table that begins at an address."""
        if table + len(self.realisations) * table_bytes > LARGEST_ADDRESS:
            raise OverflowError(f"a double cannot hold the address {table:#x}")
        addresses = float(table) + float(table_bytes) * self.places
        return np.where(self.places < 0, NO_ADDRESS, addresses)


def draws_of(values: Values) -> Draws:
    """The draws of points with these values of their parameter."""
    is_draw = (values >= 0) & (values <= LARGEST_DRAW) & (values == np.floor(values))
    found, places = np.unique(np.where(is_draw, values, -1.0), return_inverse=True)
    n_wrong = int(found.size > 0 and found[0] < 0)
    return Draws(found[n_wrong:] + 0.0, places.ravel() - n_wrong)


def values_at(points: Points, forcing: Forcing, part: NDArray[np.intp]) -> Values:
    """The values of a signal's parameter at some of the points."""
    column = points.columns[forcing.signal.draw]
    return np.full(part.size, column.values[0]) if len(column) == 1 else column.at(part)


def fitting(forcings: Sequence[Forcing], points: Points, part: Order, most: int) -> Iterator[Order]:
    """Parts, in order, whose tables take at most `most` bytes each, or of one point."""
    total = 0
    for each in forcings:
        draws = draws_of(values_at(points, each, part))
        total += each.signal.table_bytes * len(draws.realisations)
    if total <= most or part.size == 1:
        yield part
        return
    for half in np.array_split(part, 2):
        yield from fitting(forcings, points, half, most)


def by_draw(forcings: Sequence[Forcing], points: Points) -> Iterator[Order]:
    """The points in parts whose tables take MAX_BYTES at most, by draw if they are several."""
    whole = np.arange(points.n_points, dtype=np.intp)
    keys = [values_at(points, each, whole) for each in reversed(forcings)]
    in_order = whole
    if next(fitting(forcings, points, whole, MAX_BYTES)).size < whole.size:
        in_order = np.lexsort(keys)
    return fitting(forcings, points, in_order, MAX_BYTES)


def some_of(points: Points, part: Order, more: Mapping[str, Column]) -> Points:
    """Some of the points, with more columns."""
    columns = {
        name: column if len(column) == 1 else Column(column.at(part))
        for name, column in points.columns.items()
    }
    return Points(n_points=part.size, columns={**columns, **more}, variants=points.variants)


class Tables:
    """Tables in memory of this process, filled by a library that has the entry.

    The memory is used again for the next batch: its pages take as long as what is written there.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._memory: dict[str, Values] = {}  # by column
        self._entry = library.tribosweep_forcing
        self._entry.restype = None

    def addresses(self, forcing: Forcing, values: Values) -> Values:
        """The address of each point's realisation, until the next call for this signal."""
        draws = draws_of(values)
        signal, count = forcing.signal, len(draws.realisations)
        size = signal.table_bytes * count // 8
        tables = self._memory.get(forcing.column, np.empty(0))
        if tables.size < size:
            tables = self._memory[forcing.column] = np.empty(size)
        turns = np.empty(forcing.turns_bytes // 8)
        arrays = {**forcing.constants(), "draws": draws.realisations, "turns": turns}
        addresses = {name: array.ctypes.data for name, array in arrays.items()}
        request = forcing.request(count, tables=tables.ctypes.data, **addresses)
        self._entry(ctypes.byref(request))
        return draws.addresses(tables.ctypes.data, signal.table_bytes)
