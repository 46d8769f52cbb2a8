"""Results in memory, as a run writes them, and as a Dataset."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import xarray as xr
from numpy.typing import NDArray

from sweep.errors import MachineError
from sweep.kernel.source import kernel_digest
from sweep.model.table import Status, status_counts
from sweep.points.chunking import chunk_shape, chunks, work_shape
from sweep.request.chunk import Chunk
from sweep.request.sweeps import AnySweep, Reduced
from sweep.store import layout
from sweep.store.layout import FILL_VALUE, decoded, encoding_of, with_derived, without_fill_value
from sweep.store.target import InMemory, Target


class Arrays(Target):
    """The results of one sweep in memory, filled chunk by chunk; all are pending at first.

    Raises MachineError if they need more memory than is free.
    """

    def __init__(
        self,
        sweep: AnySweep,
        *,
        chunk_points: int | None = None,
        provenance: Mapping[str, object] | None = None,
    ) -> None:
        self._variables = layout.results(sweep)
        _refuse_what_does_not_fit(sweep, self._variables)
        self.sweep = _in_memory(sweep)
        self.chunk_shape = chunk_shape(sweep, chunk_points)
        digest = {"kernel_digest": kernel_digest(sweep.points)}
        self._provenance = {**digest, **(provenance or {})}
        self._arrays = {
            v.name: np.full(sweep.grid.shape + v.inner_shape, v.missing, v.dtype)
            for v in self._variables
        }
        self._done: set[tuple[int, ...]] = set()
        self.step = work_shape(sweep, chunk_points)[-1] if isinstance(sweep, Reduced) else 1
        self.blocks, self.nodes, self.earlier = InMemory(), InMemory(), InMemory()

    def pending(self) -> list[Chunk]:
        """The chunks not yet written, in C order."""
        every = chunks(self.sweep.grid.shape, self.chunk_shape)
        return [chunk for chunk in every if chunk.index not in self._done]

    def whole(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Those of the chunks that are written."""
        return [chunk for chunk in chunks if chunk.index in self._done]

    def counts(self, chunks: Iterable[Chunk]) -> Mapping[Status, int]:
        """The number of points of the chunks by status."""
        status = [self._arrays["status"][chunk.slices].ravel() for chunk in chunks]
        return status_counts(np.concatenate(status))

    def write(self, chunk: Chunk, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write a chunk: one 1-d array of its points for each output and status."""
        for name, part in layout.parts(self._variables, arrays, chunk).items():
            self._arrays[name][chunk.slices] = part
        self._done.add(chunk.index)

    def grown(self, sweep: AnySweep) -> Arrays:
        """The same with the longer axes of a sweep, whose first values these have."""
        longer = Arrays(sweep, provenance=self._provenance)
        longer.chunk_shape, longer.step = self.chunk_shape, self.step
        for name, values in self._arrays.items():
            longer._arrays[name][tuple(map(slice, values.shape))] = values
        own, every = (chunks(each.grid.shape, self.chunk_shape) for each in (self.sweep, sweep))
        whole = {chunk.index for chunk in set(own).intersection(every)}
        longer._done = self._done & whole  # a chunk that was short is pending again
        return longer

    @property
    def may_grow(self) -> bool:
        """Whether points may follow that depend on the results so far."""
        return self.sweep.grid.may_grow and layout.ENDS not in self._provenance

    def end_growth(self) -> None:
        """Note that no points follow."""
        self._provenance = {**self._provenance, layout.ENDS: 1}

    def dataset(self) -> xr.Dataset:
        """All results so far; of the arrays, only counts are copied."""
        variables = {v.name: _variable(v, self._arrays[v.name]) for v in self._variables}
        coordinates = {
            c.name: xr.Variable(c.dimensions, values, dict(c.attributes))
            for c, values in layout.coordinates(self.sweep)
        }
        attributes = layout.attributes(self.sweep, self._provenance)
        return layout.ordered(with_derived(xr.Dataset(variables, coordinates, attributes)))


def _variable(variable: layout.Variable, values: NDArray[Any]) -> xr.Variable:
    """The values as xarray reads them from a store; it keeps the names of coordinates elsewhere."""
    attributes = without_fill_value(variable.attributes)
    attributes.pop("coordinates", None)
    if FILL_VALUE not in variable.attributes:
        return xr.Variable(variable.dimensions, values, attributes)
    encoding = encoding_of(variable.dtype)
    return xr.Variable(variable.dimensions, decoded(values), attributes, encoding)


def _in_memory(sweep: AnySweep) -> AnySweep:
    """The same sweep with all values of the axes of its results in memory."""
    values = [{name: v[:] for name, v in axis.columns.items()} for axis in sweep.grid.axes]
    pairs = zip(sweep.grid.axes, values, strict=True)
    return sweep.with_axes([replace(axis, columns=own) for axis, own in pairs])


def _refuse_what_does_not_fit(sweep: AnySweep, variables: list[layout.Variable]) -> None:
    values = sum(8 * axis.size * len(axis.columns) for axis in sweep.grid.axes)
    per_point = sum(variable.point_bytes for variable in variables)
    needed = values + math.prod(sweep.grid.shape) * per_point
    free = psutil.virtual_memory().available
    if needed > free:
        raise MachineError(
            f"{sweep.n_points:,} points take {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of "
            "memory are free; keep the results in a store (store=PATH), which is written and read "
            "in parts"
        )
