"""The nouns of the project as frozen data: models and their tables, sweeps, chunks, tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]  # (n_values,)

METHOD_KINDS = ("kernel", "array")
MISSING_COUNT = -1  # int32 outputs of a point that is not ok
MISSING_FLAG = 255  # uint8 outputs of a point that is not ok

# By kind of output: what it is computed as, and what a point that is not ok holds.
DTYPES: Mapping[str, type[np.generic]] = {"real": np.float64, "count": np.int32, "flag": np.uint8}
MISSING: Mapping[str, float] = {"real": math.nan, "count": MISSING_COUNT, "flag": MISSING_FLAG}


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
    default: float | None = None  # None: has to be given
    neutral: bool = False  # the default changes nothing, so it stays out of the fingerprint


@dataclass(frozen=True, kw_only=True)
class ParameterSet:
    """One of several ways to describe the same thing; a sweep uses exactly one, never a mixture."""

    name: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, kw_only=True)
class Output:
    """One quantity computed per point."""

    name: str
    unit: str
    long_name: str
    kind: Literal["real", "count", "flag"] = "real"  # stored as Sweep.dtype, int32, uint8
    flags: tuple[str, ...] = ()  # meanings of 0, 1, 2, ... where kind is "flag"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A compile-time flag that may make a kernel faster and changes no bit of its result.

    It holds for a chunk if every value of `parameter` there equals `value`
    (or, with no value given, if all of them are the same).
    """

    name: str
    parameter: str
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


@dataclass(frozen=True, kw_only=True)
class Relation:
    """What two parameters of one sweep have to do with one another: lesser < greater."""

    lesser: str
    greater: str
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
    relations: tuple[Relation, ...] = ()  # checked beforehand where both are constants


@dataclass(frozen=True, eq=False)
class Axis:
    """One dimension of a sweep, and the values that one or more parameters take along it."""

    name: str
    columns: Mapping[str, Values]  # parameter name -> (size,)
    recipe: Mapping[str, object]  # as asked for: {"linspace": [0.5, 15.0, 1024]}; what is compared

    @property
    def size(self) -> int:
        return min(len(values) for values in self.columns.values())


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
        return (*self.model.parameters, *self.parameter_set.parameters, *self.method.parameters)


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


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a sweep is run; changes not one bit of the result."""

    backend: Literal["auto", "cpu", "gpu"] = "auto"
    workers: int | None = None  # None: one per processor this process may use
    chunk_points: int | None = None  # of a store not yet made; None: chosen from the sweep
    accept_revision: bool = False  # go on in a store made by another revision of the method
    retry_failed: bool = False  # compute chunks with failed points again
    time_limit: float | None = None  # seconds
