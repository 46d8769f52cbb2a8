"""The table of a model as frozen data: parameters, methods, outputs, statuses."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

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
        replace(output, name=name, over=(), values=0, labels=())
        for output in outputs
        for name in output.planes
    )


class Status(IntEnum):
    """The result of a point, stored as uint8; if it is not ok, all outputs are missing values."""

    ok = 0
    not_converged = 1
    diverged = 2
    outside_validity = 3
    failed = 254
    pending = 255


def sentences(not_converged: str, diverged: str, outside_validity: str) -> Mapping[Status, str]:
    """What each status means, and what to do; those not given here mean the same in all models."""
    return {
        Status.ok: "computed",
        Status.not_converged: not_converged,
        Status.diverged: diverged,
        Status.outside_validity: outside_validity,
        Status.failed: "the worker failed while computing this point's chunk; see the receipts, "
        "then run again with `retry_failed`",
        Status.pending: "not computed yet; run the sweep again to resume",
    }


def status_counts(status: NDArray[np.generic]) -> dict[Status, int]:
    """How many of these points have each status that occurs."""
    counts = np.bincount(status.astype(np.uint8, copy=False).ravel())
    return {Status(int(code)): int(counts[code]) for code in np.flatnonzero(counts)}


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

    def outside(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values are outside the range; NaN is outside every range."""
        above = values > self.minimum if self.open_minimum else values >= self.minimum
        below = values < self.maximum if self.open_maximum else values <= self.maximum
        allowed = np.isfinite(values) & above & below
        if self.whole:
            allowed &= values == np.floor(values)
        return ~(allowed | self.infinite & (values == np.inf))

    def first_outside(self, values: NDArray[np.float64]) -> int | None:
        """Index of the first value outside the range; None if there is none."""
        indices = np.flatnonzero(self.outside(values))
        return int(indices[0]) if indices.size else None

    @property
    def requirement(self) -> str:
        """The range in words: `above 0 and at most 1`."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        words: list[str] = ["a whole number"] if self.whole else []
        lower = "above" if self.open_minimum else "at least"
        upper = "below" if self.open_maximum else "at most"
        for relation, bound in ((lower, self.minimum), (upper, self.maximum)):
            if math.isfinite(bound):
                words.append(f"{relation} {bound:g}{unit}")
        if self.infinite:
            words.append("inf is allowed" if self.minimum < math.inf else "inf")
        return " and ".join(words) or "finite"


@dataclass(frozen=True, kw_only=True)
class ParameterSet:
    """One of several ways to describe the same thing; a sweep uses exactly one of them."""

    name: str
    parameters: tuple[Parameter, ...]
    scaled: bool = False  # dimensionless: observables are divided by their scales

    def has(self, each: Substitute | Output) -> bool:
        """Whether it belongs to this set, or to all."""
        return not each.parameter_sets or self.name in each.parameter_sets


@dataclass(frozen=True, kw_only=True)
class Substitute:
    """Parameters that may be given in place of others of a model, which are derived from them."""

    parameters: tuple[Parameter, ...]
    derived: Mapping[str, str]  # the others: name -> expression, as in [derived]
    parameter_sets: tuple[str, ...] = ()  # the sets to which it belongs; empty: all
    yields: bool = False  # one of the others that is given, too, has its own value

    @property
    def names(self) -> set[str]:
        """The parameters that are given."""
        return {parameter.name for parameter in self.parameters}


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
    also: Labels | None = None  # another coordinate along the same dimension


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
    over: tuple[Labels, ...] = ()  # the indices of a model, if it has a value for each element
    values: int = 0  # of each point, along a dimension of their own; 0: one, without a dimension
    labels: tuple[Labels, ...] = ()  # further dimensions of its values at one point

    @property
    def count(self) -> int:
        """How many values a kernel computes for each point; 0: one, which is not in an array."""
        sizes = [len(each.values) for each in self.over]
        return math.prod([*sizes, self.values or 1]) if sizes or self.values else 0

    @property
    def planes(self) -> tuple[str, ...]:
        """The names of the arrays with its values; a space keeps them apart from other names."""
        shape = self.inner_shape
        return tuple(f"{self.name} {i}" for i in range(math.prod(shape))) if shape else (self.name,)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """The shape of its values at one point."""
        values = (self.values,) * bool(self.values)
        return (
            *(len(each.values) for each in self.over),
            *values,
            *(len(each.values) for each in self.labels),
        )

    @property
    def inner_dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions of its values at one point, if they have any."""
        values = (index_name(self.name),) * bool(self.values)
        names = [[each.name for each in labels] for labels in (self.over, self.labels)]
        return (*names[0], *values, *names[1])


@dataclass(frozen=True, kw_only=True)
class Observable:
    """A quantity that a trace records over time."""

    name: str
    unit: str
    long_name: str
    flags: tuple[str, ...] = ()  # meanings of 0, 1, 2, ... if it is a flag
    scale: str = ""  # what it is divided by if the parameter set is dimensionless
    per_item: bool = False  # one value per item, not per point, in methods that have items
    over: tuple[Labels, ...] = ()  # the indices of a model, if it has a value for each element
    elements: tuple[str, ...] = ()  # the names of its elements, the last index fastest

    @property
    def recorded(self) -> tuple[str, ...]:
        """The names of what a kernel records of it."""
        return self.elements or (self.name,)


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
    summary: str
    revision: int  # increased when the bits of its results change
    parameters: tuple[Parameter, ...] = ()  # numerical controls
    variants: tuple[Variant, ...] = ()
    pack: int = 4  # SIMD vectors per call on a CPU, 1 to 4; fewer for methods with a large state
    # Most registers of a thread on a GPU, so that more threads run at once, in kernels with every
    # variant that has a value: others need more in their time loop. None: the compiler chooses.
    registers: int | None = None
    # Minimum number of points per chunk; smaller if a point may take long, and then a multiple of
    # the points that a processor computes at a time.
    least_chunk: int = 2**16
    # Where neighbours differ, points of one kind are computed together, in ascending order of cost.
    # Kinds are conditions (A > B or A == B); costs are expressions as in [derived], without closed
    # forms, and the first one that varies is used.
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


class Stage(Protocol):
    """Outputs that follow from those of the kernel, point by point, by further parameters.

    They are computed on the host, with the same bits everywhere.
    """

    @property
    def recipe(self) -> Mapping[str, object]:
        """What it depends on beside the parameters, as part of a sweep's recipe."""
        ...

    @property
    def needs(self) -> tuple[Output, ...]:
        """The outputs of the kernel that it follows from."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, of which the kernel knows nothing."""
        ...

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Its outputs, which are among those of its model."""
        ...

    def computed(
        self,
        arrays: Mapping[str, NDArray[Any]],
        values: Mapping[str, NDArray[np.float64]],
        names: Collection[str],
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        """The planes of its outputs with these names, and which points are outside its validity.

        `arrays` are the planes of `needs`, (n_points,), `values` those of its parameters, with one
        value or one for each point. The values of points that are not ok are ignored.
        """
        ...


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
    stage: Stage | None = None  # has the outputs that no kernel computes

    @property
    def of_kernel(self) -> Model:
        """The model without its stage, as a kernel computes it."""
        if self.stage is None:
            return self
        own = {output.name for output in self.stage.outputs}
        outputs = tuple(output for output in self.outputs if output.name not in own)
        return replace(self, outputs=outputs, stage=None)

    def observables_of(self, *, items: bool) -> list[Observable]:
        """The observables of each item, or those of a point."""
        return [each for each in self.observables if each.per_item == items]


def parameters_of(
    model: Model, parameter_set: ParameterSet, method: Method
) -> tuple[Parameter, ...]:
    """All parameters of such a sweep, in the order of the kernel's columns."""
    return (*model.parameters, *parameter_set.parameters, *method.parameters)


def every_parameter(model: Model, methods: Iterable[Method] | None = None) -> list[Parameter]:
    """The parameters of a model, of any set, with those of these methods, by default of all."""
    methods = model.methods if methods is None else methods
    stages = (model.stage,) if model.stage else ()
    tables = (model, *model.parameter_sets, *methods, *model.substitutes, *stages)
    return [parameter for table in tables for parameter in table.parameters]
