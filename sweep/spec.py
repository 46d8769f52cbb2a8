"""The vocabulary of the project as frozen data: models, sweeps, requests, chunks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sweep.options import RunOptions

if TYPE_CHECKING:
    from sweep.statistics.reduction import Reduction

Values = NDArray[np.float64]  # (n_values,)
STRETCH = 2**20  # values along an axis that are in memory at once

POINT = "point"  # the dimension of points that form no grid: samples and refined points
LEVEL = "level"  # the name of the levels of refined points in results


class LongValues(Protocol):
    """Values of a parameter along an axis: an array, or a source of any stretch of them."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Values: ...


def is_array(values: LongValues) -> bool:
    """Whether all of the values are in memory."""
    return isinstance(cast("object", values), np.ndarray)


METHOD_KINDS = ("kernel", "array")
MISSING_COUNT = -1  # int32 and int64 outputs of a point that is not ok
MISSING_FLAG = 255  # uint8 outputs of a point that is not ok

# By kind of output: the type it is computed in, and the value of a point that is not ok.
DTYPES: Mapping[str, type[np.generic]] = {
    "real": np.float64,
    "count": np.int32,
    "number": np.int64,
    "flag": np.uint8,
}
MISSING: Mapping[str, float] = {
    "real": math.nan,
    "count": MISSING_COUNT,
    "number": MISSING_COUNT,
    "flag": MISSING_FLAG,
}


def array_types(outputs: Iterable[Output]) -> dict[str, type[np.generic]]:
    """The types of the arrays that a backend fills, by name: the outputs' planes and "status"."""
    types = {plane.name: DTYPES[plane.kind] for plane in planes(outputs)}
    return {**types, "status": np.uint8}


def index_name(output: str) -> str:
    """The dimension of the values of an output that has several at each point."""
    return f"{output}_index"


def planes(outputs: Iterable[Output]) -> tuple[Output, ...]:
    """The outputs as backends compute them, one value of a point each: several for some outputs."""
    return tuple(
        plane
        for output in outputs
        for plane in (
            [replace(output, name=name, values=0, labels=()) for name in output.planes]
            if output.inner_shape
            else [output]
        )
    )


class Status(IntEnum):
    """The result of a point, stored as uint8; if it is not ok, all outputs are missing values."""

    ok = 0
    not_converged = 1
    diverged = 2
    outside_validity = 3
    failed = 254
    pending = 255


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An input of a model or method, with the same name in TOML, Python, zarr and C++."""

    name: str
    symbol: str  # in equations
    unit: str  # SI; "1" if dimensionless
    meaning: str
    minimum: float = -math.inf
    maximum: float = math.inf
    open_minimum: bool = False  # the minimum itself is excluded
    open_maximum: bool = False
    whole: bool = False  # whole numbers only
    infinite: bool = False  # inf is allowed, whatever the maximum
    default: float | None = None  # None: required
    derived: str = ""  # how the kernel derives it if it is not given; the default is then NaN
    neutral: bool = False  # the default has no effect, so it is not part of the fingerprint
    definition: str = ""  # by other symbols, such as "mu kappa Delta_z/Delta_x"


@dataclass(frozen=True, kw_only=True)
class ParameterSet:
    """One of several ways to describe the same thing; a sweep uses exactly one of them."""

    name: str
    parameters: tuple[Parameter, ...]
    scaled: bool = False  # dimensionless: observables are divided by their scales


@dataclass(frozen=True, kw_only=True)
class Substitute:
    """Parameters that may be given in place of others of a model, which are derived from them."""

    parameters: tuple[Parameter, ...]
    derived: Mapping[str, str]  # the others: name -> expression, as in [derived]
    parameter_sets: tuple[str, ...] = ()  # the sets to which it belongs; empty: all

    @property
    def names(self) -> set[str]:
        """The parameters that are given."""
        return {parameter.name for parameter in self.parameters}


Interpolation = Literal["linear", "cubic"]


@dataclass(frozen=True)
class Table:
    """A quantity over time: samples, between which it is linear or a natural cubic spline."""

    times: tuple[float, ...]  # s, ascending
    values: tuple[float, ...]  # in the unit of the parameter
    interpolation: Interpolation = "linear"


@dataclass(frozen=True, kw_only=True)
class Excitation:
    """The parameter that may be a table over time, instead of the amplitude of a sinusoid."""

    parameter: str
    methods: tuple[str, ...]
    parameter_set: str
    end: str  # the parameter that says until when the table is used
    # What the kernel gets for it and for the other parameters of the sinusoid, which are not given.
    kernel: Mapping[str, float]
    header: str  # with `Driven`, which makes a method of one for a sinusoid


@dataclass(frozen=True)
class Labels:
    """A dimension of some outputs beside those of the sweep, and its coordinate."""

    name: str
    values: tuple[float, ...] | tuple[str, ...]
    meaning: str
    unit: str = "1"


@dataclass(frozen=True, kw_only=True)
class Output:
    """One quantity computed per point."""

    name: str
    unit: str
    long_name: str
    # Stored as Sweep.dtype, int32, int64, uint8.
    kind: Literal["real", "count", "number", "flag"] = "real"
    flags: tuple[str, ...] = ()  # meanings of 0, 1, 2, ... if kind is "flag"
    parameter_sets: tuple[str, ...] = ()  # the sets for which it is defined; empty: all
    optional: bool = False  # a point that is ok may lack a value: NaN
    values: int = 0  # of each point, along a dimension of their own; 0: one, without a dimension
    labels: tuple[Labels, ...] = ()  # further dimensions of its values at one point

    @property
    def planes(self) -> tuple[str, ...]:
        """The names of the arrays with its values; a space keeps them apart from other names."""
        shape = self.inner_shape
        return tuple(f"{self.name} {i}" for i in range(math.prod(shape))) if shape else (self.name,)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """The shape of its values at one point."""
        return (self.values,) * bool(self.values) + tuple(len(e.values) for e in self.labels)

    @property
    def inner_dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions of its values at one point, if they have any."""
        return (index_name(self.name),) * bool(self.values) + tuple(e.name for e in self.labels)


@dataclass(frozen=True, kw_only=True)
class Observable:
    """A quantity that a trace records over time."""

    name: str
    unit: str
    long_name: str
    flags: tuple[str, ...] = ()  # meanings of 0, 1, 2, ... if it is a flag
    scale: str = ""  # what it is divided by if the parameter set is dimensionless
    per_item: bool = False  # one value per item, not per point, in methods that have items


TIME = Observable(name="time", unit="s", long_name="time")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A compile-time flag that may make a kernel faster without changing any bit of its results.

    It applies to a chunk if each of `parameters` equals `value` throughout the chunk (or, without
    `value`, is constant in it). Parameters absent from the sweep are ignored.
    """

    name: str
    parameters: tuple[str, ...]
    value: float | None = None


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to compute a model's outputs."""

    name: str
    kind: Literal["kernel", "array"]
    summary: str
    revision: int  # increased when the bits of its results change
    parameters: tuple[Parameter, ...] = ()  # numerical controls
    variants: tuple[Variant, ...] = ()
    pack: int = 4  # SIMD vectors per call on a CPU, 1 to 4; fewer for methods with a large state
    least_chunk: int = 2**16  # minimum number of points per chunk; smaller if a point takes long
    # Which points go together where neighbours differ: those of one kind, by conditions (A > B or
    # A == B), and in these those of alike cost. Of the costs, expressions as of [derived], the
    # first counts that varies in a batch.
    kinds: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()
    items: str = ""  # the parameter with the number of items (springs) that a point sums over
    traced: bool = False  # its namespace has the functions for entry_trace.h or entry_trace_items.h


@dataclass(frozen=True, kw_only=True)
class Relation:
    """A condition on two parameters of a sweep: lesser < greater."""

    lesser: str
    greater: str
    reason: str  # what goes wrong otherwise


@dataclass(frozen=True, kw_only=True)
class NotAllZero:
    """A condition on parameters of a sweep: at least one of them is not 0."""

    parameters: tuple[str, ...]
    reason: str  # what goes wrong otherwise


@dataclass(frozen=True, kw_only=True)
class Model:
    """The table of a model; its equations are in the docstring of its module."""

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    parameter_sets: tuple[ParameterSet, ...]
    outputs: tuple[Output, ...]
    methods: tuple[Method, ...]  # the first is the default
    sentences: Mapping[Status, str]  # what each status means for this model, and what to do
    substitutes: tuple[Substitute, ...] = ()
    excitation: Excitation | None = None
    relations: tuple[Relation | NotAllZero, ...] = ()  # checked in advance if they are constants
    observables: tuple[Observable, ...] = ()  # of a trace, without time
    clock: Observable = TIME  # the time axis of a trace
    samples: int = 2000  # of a trace, by default
    loop: tuple[str, str] | None = None  # observables drawn as a loop: x, y
    start_memory: Mapping[str, str] = field(default_factory=dict[str, str])
    # what holds of a trace in which an item keeps this class of its flag throughout
    text: str = ""  # of a model from a file: its canonical text, from which its header follows
    prefix: str = ""  # in C++, of the names of its parameters, outputs and observables
    package: str = ""  # the Python package that has its header; empty if it is shipped


def parameters_of(
    model: Model, parameter_set: ParameterSet, method: Method
) -> tuple[Parameter, ...]:
    """All parameters of such a sweep, in the order of the kernel's columns."""
    return (*model.parameters, *parameter_set.parameters, *method.parameters)


def inputs_of(model: Model, parameter_set: ParameterSet, method: Method) -> tuple[Parameter, ...]:
    """All parameters that such a sweep may give: the kernel's, then those of substitutes."""
    substitutes = (
        each
        for each in model.substitutes
        if not each.parameter_sets or parameter_set.name in each.parameter_sets
    )
    others = {p.name: p for each in substitutes for p in each.parameters}
    return (*parameters_of(model, parameter_set, method), *others.values())


def parameter_tables(
    model: Model, methods: Iterable[Method]
) -> tuple[Model | ParameterSet | Substitute | Method, ...]:
    """Everything with parameters of a model, of any set."""
    return (model, *model.parameter_sets, *methods, *model.substitutes)


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
    table: Table | None = None  # of the model's excitation
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
        return inputs_of(self.model, self.parameter_set, self.method)


@dataclass(frozen=True)
class Refinement:
    """Where a grid is refined: a cell at whose edge points differ is halved along every axis.

    Points differ in a flag, in status, or in another output by more than `tolerance` times its
    range (greatest minus least) over the points of the grid that are ok.
    """

    outputs: tuple[str, ...]  # compared in addition to status
    levels: int  # how often a cell may be halved
    tolerance: float | None = None  # None: all outputs are flags


@dataclass(frozen=True)
class Chunk:
    """One block of a sweep's grid, and one chunk file of each stored array."""

    index: tuple[int, ...]  # in the grid of chunks
    start: tuple[int, ...]  # first point per dimension
    shape: tuple[int, ...]  # points per dimension (fewer at the end of an axis)

    @property
    def n_points(self) -> int:
        return math.prod(self.shape)

    @property
    def slices(self) -> tuple[slice, ...]:
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.shape, strict=True))


@dataclass(frozen=True)
class Task:
    """Adjacent chunks that one worker gets at once."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """A parameter in a chunk: the value of point i is values[(i // repeat) % len(values)]."""

    values: Values
    repeat: int = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Points:
    """The points that a backend computes, with each parameter of the sweep as a column."""

    n_points: int
    columns: Mapping[str, Column]  # parameter name -> column, in the order of Sweep.parameters
    variants: tuple[str, ...] = ()  # names of the method's variants that apply here
    cells: int = 0  # of a sweep with a reduction: a stretch of points of each cell follows another
    first: int = 0  # the index in its cell of the first point of each stretch


@dataclass(frozen=True)
class Request:
    """What a user requests: a sweep, how to run it, and the name of its results."""

    sweep: Sweep  # of a refined sweep, the coarse grid
    options: RunOptions
    name: str  # stem of the file; without a file, the name of the model
    refinement: Refinement | None = None
    wear: Wear | None = None
