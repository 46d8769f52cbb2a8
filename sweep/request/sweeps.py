"""What a user requests, as frozen data: a sweep, how it is refined, what follows from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from sweep.model.table import Method, Model, Output, Parameter, ParameterSet, parameters_of
from sweep.model.time_series import TimeSeries
from sweep.request.chunk import LongValues
from sweep.request.options import RunOptions

POINT = "point"  # the dimension of points that form no grid: samples and refined points
LEVEL = "level"  # the name of the levels of refined points in results
MAX_REFINED_POINTS = 10**8  # of a refined sweep: about 200 bytes of memory per point
MAX_EXACT_POINTS = 2**20  # of a cell whose quantiles are exact: they are sorted at once
VALUES_IN_MEMORY = 2**20  # values along an axis that are in memory at once
FOR_INDICES = "sobol_indices"  # the key of a sample's recipe whose points are in rows


def is_array(values: LongValues) -> bool:
    """Whether all of the values are in memory."""
    return isinstance(cast("object", values), np.ndarray)


DType = Literal["float64", "float32"]  # of stored real outputs


@dataclass(frozen=True, eq=False)
class Axis:
    """One dimension of a sweep, and the values that one or more parameters take along it."""

    name: str
    columns: Mapping[str, LongValues]  # parameter name -> (size,)
    recipe: Mapping[str, object]  # as requested: {"linspace": [0.5, 15.0, 1024]}
    levels: NDArray[np.uint8] | None = None  # (size,) for refined points; 0: coarse grid

    @property
    def size(self) -> int:
        return min(len(values) for values in self.columns.values())

    @property
    def max_size(self) -> int:
        """The values that it may come to have: refined points, if every cell is halved."""
        if self.levels is None:
            return self.size
        table = cast("Mapping[str, Any]", self.recipe["refine"])
        return min(self.size << int(table["levels"]) * len(self.columns), MAX_REFINED_POINTS)


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid:
    """What results have: their dimensions, outputs and the type of stored real outputs."""

    axes: tuple[Axis, ...]
    outputs: tuple[Output, ...]  # status is always stored, too
    dtype: DType

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def may_grow(self) -> bool:
        """Whether more points may follow from results."""
        return any(axis.levels is not None for axis in self.axes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Sweep:
    """What is computed: points, and everything that their results depend on."""

    model: Model
    method: Method
    parameter_set: ParameterSet
    constants: Mapping[str, float]  # every parameter that is on no axis, with defaults
    axes: tuple[Axis, ...]
    outputs: tuple[Output, ...]  # the requested ones; status is always computed
    dtype: DType = "float64"
    # Parameters that are neither constants nor on axes: name -> expression of others.
    derived: Mapping[str, str] = field(default_factory=dict[str, str])
    table: TimeSeries | None = None  # of the model's excitation

    @property
    def points(self) -> Sweep:
        """Itself; of a reduced sweep, the sweep whose points are reduced."""
        return self

    @property
    def of_kernel(self) -> Sweep:
        """What a kernel computes of it: outputs that follow from others are left to a stage."""
        model = self.model.of_kernel
        if model is self.model or self.model.stage is None:
            return self
        wanted = {each.name for each in (*self.outputs, *self.model.stage.needs)}
        outputs = tuple(each for each in model.outputs if each.name in wanted)
        return replace(self, model=model, outputs=outputs)

    @property
    def grid(self) -> Grid:
        """What its results have."""
        return Grid(axes=self.axes, outputs=self.outputs, dtype=self.dtype)

    @property
    def computed_shape(self) -> tuple[int, ...]:
        """The shape of the grid that is computed."""
        return self.grid.shape

    @property
    def n_points(self) -> int:
        """The number of computed points."""
        return math.prod(self.computed_shape)

    def with_axes(self, axes: Sequence[Axis]) -> Sweep:
        """The same over other axes of its results."""
        return replace(self, axes=tuple(axes))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters of the sweep, in the order of the kernel's struct."""
        return parameters_of(self.model, self.parameter_set, self.method)

    @property
    def replaced_by_table(self) -> Mapping[str, float]:
        """What the kernel gets for the parameters that a table replaces."""
        excitation = self.model.excitation
        return excitation.kernel if self.table is not None and excitation else {}

    @property
    def own_derived(self) -> dict[str, str]:
        """What its sweep file has under [derived]: not what follows from substitutes."""
        tables = [each.derived for each in self.model.substitutes]
        return {n: t for n, t in self.derived.items() if all(e.get(n) != t for e in tables)}

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """All parameters that it may give: the kernel's, of substitutes, then of the stage."""
        substitutes = filter(self.parameter_set.has, self.model.substitutes)
        others = {p.name: p for each in substitutes for p in each.parameters}
        return (*self.parameters, *others.values(), *self.of_stage)

    @property
    def of_stage(self) -> tuple[Parameter, ...]:
        """The parameters of the stage, which no kernel knows."""
        return self.model.stage.parameters if self.model.stage else ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduced:
    """Statistics of the points of each cell of a grid, which are kept in place of the points."""

    points: Sweep  # its axes are those of the cells, then those along which points are reduced
    n_over: int  # the number of the latter
    statistics: Mapping[str, tuple[str, ...]]  # by output, as `statistics.outputs` writes them
    outputs: tuple[Output, ...]  # the statistics, as `statistics.outputs.reduced` makes them
    exact_quantiles: bool = False  # of at most MAX_EXACT_POINTS points of a cell
    quantile_bits: int | None = None  # of the bins of other quantiles; None: the usual ones

    @property
    def cells(self) -> tuple[Axis, ...]:
        """The axes of the cells."""
        return self.points.axes[: -self.n_over]

    @property
    def over(self) -> tuple[Axis, ...]:
        """The axes along which points are reduced, whose names those of the cells may have."""
        return self.points.axes[-self.n_over :]

    @property
    def grid(self) -> Grid:
        """What its results have."""
        return Grid(axes=self.cells, outputs=self.outputs, dtype=self.points.dtype)

    @property
    def size(self) -> int:
        """The number of points of a cell."""
        return math.prod(axis.size for axis in self.over)

    @property
    def computed_shape(self) -> tuple[int, ...]:
        """The shape of the grid that is computed: the points of a cell are its last dimension."""
        return (*self.grid.shape, self.size)

    @property
    def n_points(self) -> int:
        """The number of computed points."""
        return math.prod(self.computed_shape)

    def with_axes(self, axes: Sequence[Axis]) -> Reduced:
        """The same over other axes of its results."""
        return replace(self, points=self.points.with_axes([*axes, *self.over]))

    @property
    def scramblings(self) -> int:
        """The scramblings of the sample: point i of a cell belongs to number i modulo this."""
        return int(cast("Any", self.over[-1].recipe.get("scramblings", 1)))

    @property
    def row(self) -> int:
        """The points of a row: for Sobol' indices A, B and one for each parameter; else 1."""
        last = self.over[-1]
        return 2 + len(last.columns) if FOR_INDICES in last.recipe else 1

    @property
    def unit(self) -> int:
        """The number of points that a block of a cell has a multiple of, except the last."""
        return self.row * self.scramblings


AnySweep = Sweep | Reduced


@dataclass(frozen=True)
class Refinement:
    """Where a grid is refined: a cell at whose edge points differ is halved along every axis.

    Points differ in a flag, in status, or in another output by more than `tolerance` times its
    range (greatest minus least) over the points of the grid that are ok.
    """

    outputs: tuple[str, ...]  # compared in addition to status
    levels: int  # how often a cell may be halved
    tolerance: float | None = None  # None: all outputs are flags


@dataclass(frozen=True, kw_only=True)
class Wear:
    """What of wear over years or cycles is computed from the results of a sweep; SI units."""

    law: str
    coefficients: Mapping[str, float]  # those given; without `coefficient` if it is uncertain
    times: tuple[float, ...]  # time in service [s], or cycles; ascending
    duration: str = "years"  # or "cycles"
    powers: tuple[str, ...] = ("wear_power",)  # the outputs: in W, or in J per cycle
    coefficient_at: Mapping[float, float] | None = None  # by level: its quantiles, if uncertain
    geometry: str | None = None  # None: no depths
    size: Mapping[str, float] = field(default_factory=dict[str, float])
    small: bool = False  # by the formulas for shallow scars
    limit: float | None = None  # m
    wall: float | None = None  # m

    @property
    def power(self) -> str:
        """The first of the outputs."""
        return self.powers[0]


@dataclass(frozen=True)
class Request:
    """What a user requests: a sweep, how to run it, and the name of its results."""

    sweep: AnySweep  # of a refined sweep, the coarse grid
    options: RunOptions
    name: str  # stem of the file; without a file, the name of the model
    refinement: Refinement | None = None
    wear: Wear | None = None
    wear_table: Mapping[str, object] | None = None  # [wear] as written, which a store keeps
