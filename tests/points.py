"""Points computed straight by a backend: a mapping of parameter arrays in, outputs out."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.backends.cpu import CpuBackend, Target
from sweep.models import models
from sweep.spec import Column, ParameterSet, Points, Sweep


def compute(
    parameters: Mapping[str, ArrayLike],
    *,
    model: str = "friction_oscillator",
    method: str = "exact",
    outputs: Sequence[str] | None = None,
    variants: Sequence[str] = (),
    target: Target | None = None,
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
    return dict(_backend(target, budget).compute(sweep, points).arrays)


@functools.cache
def _backend(target: Target | None, budget: int | None) -> CpuBackend:
    """One for all tests, which keeps the kernels that it has loaded."""
    return CpuBackend(target, budget)


def sweep_of(
    parameters: Mapping[str, ArrayLike],
    model: str = "friction_oscillator",
    method: str = "exact",
    outputs: Sequence[str] | None = None,
) -> Sweep:
    """A sweep of the model with the parameter set that `parameters` name; it has no axes."""
    table = models()[model]
    return Sweep(
        model=table,
        method=next(m for m in table.methods if m.name == method),
        parameter_set=next(s for s in table.parameter_sets if _gives(parameters, s)),
        constants={},
        axes=(),
        outputs=tuple(o for o in table.outputs if outputs is None or o.name in outputs),
    )


def _gives(parameters: Mapping[str, ArrayLike], parameter_set: ParameterSet) -> bool:
    return all(p.name in parameters or p.default is not None for p in parameter_set.parameters)


def differing(ours: Mapping[str, NDArray[Any]], theirs: Mapping[str, NDArray[Any]]) -> list[str]:
    """The names of outputs whose bits differ anywhere."""
    assert ours.keys() == theirs.keys()
    return [name for name in ours if ours[name].tobytes() != theirs[name].tobytes()]
