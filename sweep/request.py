"""What a user requests, as frozen data: a sweep, how it is refined, what follows from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sweep.options import RunOptions
from sweep.spec import Method, Model, Output, Parameter, ParameterSet, parameters_of
from sweep.work import Values

POINT = "point"  # the dimension of points that form no grid: samples and refined points
LEVEL = "level"  # the name of the levels of refined points in results
STRETCH = 2**20  # values along an axis that are in memory at once
FOR_INDICES = "sobol_indices"  # the key of a sample's recipe whose points are in rows


class LongValues(Protocol):
    """Values of a parameter along an axis: an array, or a source of any stretch of them."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Values: ...


def is_array(values: LongValues) -> bool:
    """Whether all of the values are in memory."""
    return isinstance(cast("object", values), np.ndarray)


Interpolation = Literal["linear", "cubic"]


@dataclass(frozen=True)
class TimeSeries:
    """A quantity over time: samples, between which it is linear or a natural cubic spline."""

    times: tuple[float, ...]  # s, ascending
    values: tuple[float, ...]  # in the unit of the parameter
    interpolation: Interpolation = "linear"


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
    def is_refined(self) -> bool:
        """Whether these are points of a refined grid, whose recipe has the refinement."""
        return "refine" in self.recipe


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduction:
    """What is kept of the points of each cell, in place of them: statistics."""

    axes: tuple[Axis, ...]  # along which points are reduced, in the order of the sweep
    outputs: tuple[Output, ...]  # of each point
    statistics: Mapping[str, tuple[str, ...]]  # by output, as `statistics.outputs` writes them
    exact_quantiles: bool = False

    @property
    def size(self) -> int:
        """The number of points of a cell."""
        return math.prod(axis.size for axis in self.axes)

    @property
    def scramblings(self) -> int:
        """The scramblings of the sample: point i of a cell belongs to number i modulo this."""
        return int(cast("Any", self.axes[-1].recipe.get("scramblings", 1)))

    @property
    def row(self) -> int:
        """The points of a row: for Sobol' indices A, B and one for each parameter; else 1."""
        last = self.axes[-1]
        return 2 + len(last.columns) if FOR_INDICES in last.recipe else 1

    @property
    def unit(self) -> int:
        """The number of points that a stretch has a multiple of, except the last."""
        return self.row * self.scramblings


@dataclass(frozen=True, eq=False, kw_only=True)
class Sweep:
    """What is computed: everything a result depends on, and nothing else."""

    model: Model
    method: Method
    parameter_set: ParameterSet
    constants: Mapping[str, float]  # every parameter that is on no axis, with defaults
    axes: tuple[Axis, ...]
    outputs: tuple[Output, ...]  # the requested ones; status is always stored
    dtype: Literal["float64", "float32"] = "float64"  # of stored real outputs
    # Parameters that are neither constants nor on axes: name -> expression of others.
    derived: Mapping[str, str] = field(default_factory=dict[str, str])
    table: TimeSeries | None = None  # of the model's excitation
    reduction: Reduction | None = None  # the axes are then those of cells, outputs are statistics

    @property
    def of_points(self) -> Sweep:
        """The sweep over all points, which are reduced to cells if there is a reduction."""
        if self.reduction is None:
            return self
        axes = (*self.axes, *self.reduction.axes)
        return replace(self, axes=axes, outputs=self.reduction.outputs, reduction=None)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def grid(self) -> tuple[int, ...]:
        """The shape of what is computed: with a reduction, the points of a cell come last."""
        return self.shape if self.reduction is None else (*self.shape, self.reduction.size)

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def n_points(self) -> int:
        """The number of computed points."""
        return math.prod(self.grid)

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
        """All parameters that it may give: the kernel's, then those of substitutes."""
        substitutes = filter(self.parameter_set.has, self.model.substitutes)
        others = {p.name: p for each in substitutes for p in each.parameters}
        return (*self.parameters, *others.values())


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
    """What of wear over years is computed from the wear powers of a sweep; SI units."""

    law: str
    coefficients: Mapping[str, float]  # those given; without `coefficient` if it is uncertain
    seconds: tuple[float, ...]  # time in service, ascending
    power: str = "wear_power"  # the output
    coefficient_at: Mapping[float, float] | None = None  # by level: its quantiles, if uncertain
    geometry: str | None = None  # None: no depths
    size: Mapping[str, float] = field(default_factory=dict[str, float])
    small: bool = False  # by the formulas for shallow scars
    limit: float | None = None  # m


@dataclass(frozen=True)
class Request:
    """What a user requests: a sweep, how to run it, and the name of its results."""

    sweep: Sweep  # of a refined sweep, the coarse grid
    options: RunOptions
    name: str  # stem of the file; without a file, the name of the model
    refinement: Refinement | None = None
    wear: Wear | None = None
    wear_table: Mapping[str, object] | None = None  # [wear] as written, which a store keeps
