"""The nouns of the project as frozen data: models and their tables, sweeps, requests, chunks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from sweep.options import RunOptions

Values = NDArray[np.float64]  # (n_values,)
STRETCH = 2**20  # values of a parameter along an axis that are in memory at once

POINT = "point"  # the dimension of points that are no grid: a sample's, and refined ones
LEVEL = "level"  # what results call the levels of refined points


class LongValues(Protocol):
    """Values of a parameter along an axis: an array, or what draws or reads any stretch of them."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Values: ...


def is_array(values: LongValues) -> bool:
    """Whether all of the values are in memory."""
    return isinstance(cast("object", values), np.ndarray)


METHOD_KINDS = ("kernel", "array")
MISSING_COUNT = -1  # int32 outputs of a point that is not ok
MISSING_FLAG = 255  # uint8 outputs of a point that is not ok

# By kind of output: what it is computed as, and what a point that is not ok holds.
DTYPES: Mapping[str, type[np.generic]] = {"real": np.float64, "count": np.int32, "flag": np.uint8}
MISSING: Mapping[str, float] = {"real": math.nan, "count": MISSING_COUNT, "flag": MISSING_FLAG}


def array_types(outputs: Iterable[Output]) -> dict[str, type[np.generic]]:
    """By name, the types of the arrays that a backend fills: the outputs', and "status"."""
    return {**{output.name: DTYPES[output.kind] for output in outputs}, "status": np.uint8}


class Status(IntEnum):
    """How a point ended, stored as uint8; one that is not ok holds the missing value everywhere."""

    ok = 0
    not_converged = 1
    diverged = 2
    outside_validity = 3
    failed = 254
    pending = 255


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One quantity a model or method takes: its name on every side (TOML, Python, zarr, C++)."""

    name: str
    symbol: str  # as the equations write it
    unit: str  # SI; "1" if dimensionless
    meaning: str
    minimum: float = -math.inf
    maximum: float = math.inf
    open_minimum: bool = False  # the minimum itself is excluded
    open_maximum: bool = False
    whole: bool = False  # takes whole numbers only
    infinite: bool = False  # inf is a value it takes, whatever its maximum
    default: float | None = None  # None: has to be given
    derived: str = ""  # how the kernel finds it where it is not given: the default then is NaN
    neutral: bool = False  # the default changes nothing, so it stays out of the fingerprint


@dataclass(frozen=True, kw_only=True)
class ParameterSet:
    """One of several ways to describe the same thing; a sweep uses exactly one, never a mixture."""

    name: str
    parameters: tuple[Parameter, ...]
    scaled: bool = False  # has no dimensions: observables are told over their scales


@dataclass(frozen=True, kw_only=True)
class Output:
    """One quantity computed per point."""

    name: str
    unit: str
    long_name: str
    kind: Literal["real", "count", "flag"] = "real"  # stored as Sweep.dtype, int32, uint8
    flags: tuple[str, ...] = ()  # meanings of 0, 1, 2, ... where kind is "flag"
    parameter_sets: tuple[str, ...] = ()  # those it is defined for; none named: all


@dataclass(frozen=True, kw_only=True)
class Observable:
    """One quantity of a point's motion that a trace tells over time."""

    name: str
    unit: str
    long_name: str
    flags: tuple[str, ...] = ()  # meanings of 0, 1, 2, ... where it is a flag
    scale: str = ""  # what it is told over where the parameter set has no dimensions
    per_item: bool = False  # of each item, not of the point: told by methods that have items


TIME = Observable(name="time", unit="s", long_name="time")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A compile-time flag that may make a kernel faster and changes no bit of its result.

    It holds for a chunk if every value of each of `parameters` there equals `value` (or, with no
    value given, if each has the same value everywhere). Those the sweep does not have count not.
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
    revision: int  # raised when the bits of its results change
    parameters: tuple[Parameter, ...] = ()  # numerical controls
    variants: tuple[Variant, ...] = ()
    pack: int = 4  # vectors a CPU has in flight, 1 to 4: fewer for methods with much state
    least_chunk: int = 2**16  # points a chunk has at least; fewer where a point takes long
    items: str = ""  # the parameter that says how many items (springs) a point is summed over
    traced: bool = False  # its namespace has what entry_trace.h or entry_trace_items.h asks for


@dataclass(frozen=True, kw_only=True)
class Relation:
    """What two parameters of one sweep have to do with one another: lesser < greater."""

    lesser: str
    greater: str
    reason: str  # what would be wrong else


@dataclass(frozen=True, kw_only=True)
class NotAllZero:
    """Of these parameters of one sweep, at least one is not 0."""

    parameters: tuple[str, ...]
    reason: str  # what would be wrong else


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model's whole table; the equations stand in the docstring of its module."""

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    parameter_sets: tuple[ParameterSet, ...]
    outputs: tuple[Output, ...]
    methods: tuple[Method, ...]  # the first is the default
    sentences: Mapping[Status, str]  # what each status means here, and what to do
    relations: tuple[Relation | NotAllZero, ...] = ()  # checked beforehand among constants
    observables: tuple[Observable, ...] = ()  # of a trace, time apart
    clock: Observable = TIME  # what a trace calls time
    samples: int = 2000  # of a trace, if nobody says otherwise
    loop: tuple[str, str] | None = None  # two of them, drawn as a loop: to the right, upwards


def parameters_of(
    model: Model, parameter_set: ParameterSet, method: Method
) -> tuple[Parameter, ...]:
    """All that a sweep of these has, in the order of the kernel's columns."""
    return (*model.parameters, *parameter_set.parameters, *method.parameters)


@dataclass(frozen=True, eq=False)
class Axis:
    """One dimension of a sweep, and the values that one or more parameters take along it."""

    name: str
    columns: Mapping[str, LongValues]  # parameter name -> (size,)
    recipe: Mapping[str, object]  # as asked for: {"linspace": [0.5, 15.0, 1024]}; what is compared
    levels: NDArray[np.uint8] | None = None  # (size,) of refined points; 0: of the coarse grid

    @property
    def size(self) -> int:
        return min(len(values) for values in self.columns.values())

    @property
    def is_refined(self) -> bool:
        """Whether these are points of a refined grid: such recipes tell what refines it."""
        return "refine" in self.recipe


@dataclass(frozen=True, eq=False, kw_only=True)
class Sweep:
    """What is computed: everything a result depends on, and nothing else."""

    model: Model
    method: Method
    parameter_set: ParameterSet
    constants: Mapping[str, float]  # every parameter that is on no axis, defaults filled in
    axes: tuple[Axis, ...]
    outputs: tuple[Output, ...]  # those asked for; status is always there
    dtype: Literal["float64", "float32"] = "float64"  # of stored real outputs

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def n_points(self) -> int:
        return math.prod(self.shape)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """All parameters of the sweep, in the order of the kernel's struct."""
        return parameters_of(self.model, self.parameter_set, self.method)


@dataclass(frozen=True)
class Refinement:
    """Where a grid is made finer: cells at whose edge points differ are halved along every axis.

    They differ in the class of a flag, in status, or in another output by more than `tolerance`
    times what that spans, greatest less least, over the points of the grid that are ok.
    """

    outputs: tuple[str, ...]  # that are looked at, beside status
    levels: int  # how often a cell may be halved
    tolerance: float | None = None  # None: all outputs are flags


@dataclass(frozen=True)
class Chunk:
    """One block of a sweep's grid, and one chunk file of each stored array."""

    index: tuple[int, ...]  # place in the grid of chunks
    start: tuple[int, ...]  # first point, per dimension
    shape: tuple[int, ...]  # points, per dimension (fewer at the ragged end)

    @property
    def n_points(self) -> int:
        return math.prod(self.shape)

    @property
    def slices(self) -> tuple[slice, ...]:
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.shape, strict=True))


@dataclass(frozen=True)
class Task:
    """A run of adjacent chunks handed to one worker at once."""

    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, eq=False)
class Column:
    """A parameter over the points of a chunk: point i has values[(i // repeat) % len(values)]."""

    values: Values
    repeat: int = 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Points:
    """What a backend is given: n_points, and each parameter of the sweep as a column."""

    n_points: int
    columns: Mapping[str, Column]  # parameter name -> column, in the order of Sweep.parameters
    variants: tuple[str, ...] = ()  # names of the method's variants that hold here


@dataclass(frozen=True)
class Request:
    """What a user asked for: a sweep, how to run it, and what to call its results."""

    sweep: Sweep  # where it is refined, the coarse grid
    options: RunOptions
    name: str  # stem of the file, or the model's name where there is none, or a pipe
    refinement: Refinement | None = None
