"""Test points of every model, and what the CPU backend computes at them.

This is the one table of points that tests, GPU cases and benchmarks share. The points of a model
are in the module of its name in this package, which has two functions:

    random_points(method, n, *, alike=False, edges=False) -> Values
        n points for that method, the values of its numerical parameters among them, some of them
        failing in each way. `alike`: what a variant needs to be the same at all points is.
        `edges`: limits (zero, infinite, critical values) are among them.
    fixed_points() -> Values
        points made by + - * / and floor alone: the same bits on every machine.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.kernel.cpu import CpuBackend, CpuTarget
from sweep.model.table import Method, Model, Parameter, ParameterSet
from sweep.model.tables import models
from sweep.request.chunk import Column, Points
from sweep.request.sweeps import Sweep

Values = dict[str, NDArray[np.float64]]  # parameter -> (n,) or (1,)
Bits = Mapping[str, NDArray[Any]]  # output, or "status" -> (n_points,)


@dataclass(frozen=True)
class Case:
    """A kernel, and points for it."""

    name: str
    sweep: Sweep
    points: Points


def cases(n: int = 200) -> Iterator[Case]:
    """A case of every method, and one with all variants of each method that has any."""
    for model, method in methods():
        yield case_of(model, method, n)
        if method.variants:
            yield case_of(model, method, n, [variant.name for variant in method.variants])


def methods() -> Iterator[tuple[Model, Method]]:
    """Every method, with its model."""
    for model in models().values():
        yield from ((model, method) for method in model.methods)


def case_of(
    model: Model,
    method: Method,
    n: int,
    variants: Sequence[str] = (),
    *,
    parameter_set: str | None = None,
    edges: bool = False,
) -> Case:
    """n random points for a method at which the variants hold.

    LookupError says what to add where the model or a parameter has no entry in this package.
    """
    chosen = [variant for variant in method.variants if variant.name in variants]
    alike = any(variant.value is None for variant in chosen)
    values = _module(model.name).random_points(method.name, n, alike=alike, edges=edges)
    for variant in chosen:
        for name in variant.parameters:
            if name in values:
                same = values[name][:1] if variant.value is None else [variant.value]
                values[name] = np.array(same, np.float64)
    name = f"{model.name}-{method.name}{'-variants' if variants else ''}"
    names = tuple(variant.name for variant in chosen)
    return case_at(name, model, method, values, n, names, parameter_set)


def case_at(
    name: str,
    model: Model,
    method: Method,
    values: Values,
    n: int,
    variants: tuple[str, ...] = (),
    parameter_set: str | None = None,
    outputs: Sequence[str] | None = None,
) -> Case:
    """n points with these values, and defaults for all other parameters."""
    sweep = _sweep(model, method, values, outputs, parameter_set)
    columns = {p.name: Column(_values_of(p, values, model)) for p in sweep.parameters}
    return Case(name, sweep, Points(n_points=n, columns=columns, variants=variants))


def fixed_points(model: Model) -> Values:
    """Points of a model that have the same bits on every machine; LookupError as of case_of()."""
    return _module(model.name).fixed_points()


def spread(i: NDArray[np.float64], step: int, first: float, last: float) -> NDArray[np.float64]:
    """Scattered values between first and last, for fixed points."""
    turn = i * step
    turn = turn - 61.0 * np.floor(turn / 61.0)
    return first + (last - first) * turn / 61.0


def _module(model: str) -> Any:
    name = f"{__name__}.{model}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise LookupError(
            f"model {model} has no test points: write tests/cases/{model}.py with the functions "
            "random_points and fixed_points, as tests/cases/__init__.py describes them"
        ) from None


def _values_of(parameter: Parameter, values: Values, model: Model) -> NDArray[np.float64]:
    if parameter.name in values:
        return values[parameter.name]
    if parameter.default is None:
        raise LookupError(
            f"{parameter.name} has no test values: add them to random_points() in "
            f"tests/cases/{model.name}.py"
        )
    return np.array([parameter.default], np.float64)


def sweep_of(
    parameters: Mapping[str, ArrayLike],
    model: str = "friction_oscillator",
    method: str = "exact",
    outputs: Sequence[str] | None = None,
) -> Sweep:
    """A sweep without axes, of the first parameter set that `parameters` give."""
    table = models()[model]
    chosen = next(m for m in table.methods if m.name == method)
    return _sweep(table, chosen, parameters, outputs)


def _sweep(
    model: Model,
    method: Method,
    parameters: Mapping[str, ArrayLike],
    outputs: Sequence[str] | None = None,
    parameter_set: str | None = None,
) -> Sweep:
    chosen_sets = [s for s in model.parameter_sets if parameter_set in (None, s.name)]
    return Sweep(
        model=model,
        method=method,
        parameter_set=next(s for s in chosen_sets if _gives(parameters, s)),
        constants={},
        axes=(),
        outputs=tuple(o for o in model.outputs if outputs is None or o.name in outputs),
    )


def _gives(parameters: Mapping[str, ArrayLike], parameter_set: ParameterSet) -> bool:
    return all(p.name in parameters or p.default is not None for p in parameter_set.parameters)


def part(points: Points, index: NDArray[np.intp]) -> Points:
    """The points at those places, in that order."""
    columns = {
        name: column if len(column.values) == 1 else Column(column.values[index])
        for name, column in points.columns.items()
    }
    return Points(n_points=len(index), columns=columns, variants=points.variants)


def compute(
    parameters: Mapping[str, ArrayLike],
    *,
    model: str = "friction_oscillator",
    method: str = "exact",
    outputs: Sequence[str] | None = None,
    variants: Sequence[str] = (),
    target: CpuTarget | None = None,
    budget: int | None = None,
) -> dict[str, NDArray[Any]]:
    """The outputs and status of n points, given as arrays of shape (n,) or scalars."""
    sweep = sweep_of(parameters, model, method, outputs)
    values = {name: np.atleast_1d(np.asarray(v, np.float64)) for name, v in parameters.items()}
    defaults = {p.name: np.array([p.default], np.float64) for p in sweep.parameters}
    points = Points(
        n_points=max(len(v) for v in values.values()),
        columns={p.name: Column(values.get(p.name, defaults[p.name])) for p in sweep.parameters},
        variants=tuple(variants),
    )
    return bits_of(sweep, points, target, budget)


def bits_of(
    sweep: Sweep, points: Points, target: CpuTarget | None = None, budget: int | None = None
) -> dict[str, NDArray[Any]]:
    """The outputs and status of points by the CPU backend."""
    return dict(_backend(target, budget).compute(sweep, points).arrays)


@functools.cache
def _backend(target: CpuTarget | None, budget: int | None) -> CpuBackend:
    """One for all tests, which keeps the kernels that it has loaded."""
    return CpuBackend(target, budget)


def differing(ours: Bits, theirs: Bits) -> list[str]:
    """The names of outputs whose bits differ anywhere."""
    assert ours.keys() == theirs.keys()
    return [name for name in ours if ours[name].tobytes() != theirs[name].tobytes()]
