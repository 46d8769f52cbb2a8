"""Which hold of a model from a file each point violates, found by computing the points again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sweep.equations.model import model_of
from sweep.equations.system import HOLD
from sweep.equations.system_file import system_of_text
from sweep.errors import CompileError
from sweep.model.table import Method, Model, Status, parameters_of
from sweep.request.chunk import Column, Points, Values
from sweep.request.sweeps import Sweep

MAX_EXAMINED = 10_000  # points that are computed again for one report


def violated_holds(
    model: Model, method: Method, parameters: Mapping[str, Values]
) -> Mapping[str, NDArray[np.bool_]]:
    """By sentence, the points that violate a hold, of the first MAX_EXAMINED.

    `parameters` has one value for each point and parameter. A point counts for the hold that it
    violates first. Empty if the model has no holds, not all parameters are known, or there is no
    compiler.
    """
    system = system_of_text(model.text)
    named = model_of(replace(system, names_hold=True))
    sets = [s for s in named.parameter_sets if {p.name for p in s.parameters} <= {*parameters}]
    if not system.holds or not sets:
        return {}
    own = next(each for each in named.methods if each.name == method.name)
    output = next(each for each in named.outputs if each.name == HOLD)
    sweep = Sweep(
        model=named, method=own, parameter_set=sets[0], constants={}, axes=(), outputs=(output,)
    )
    names = [parameter.name for parameter in parameters_of(named, sets[0], own)]
    if not {*names} <= parameters.keys():
        return {}
    n_points = next(iter(parameters.values())).size
    columns = {name: Column(parameters[name][:MAX_EXAMINED]) for name in names}
    points = Points(n_points=min(n_points, MAX_EXAMINED), columns=columns)
    from sweep.kernel.cpu import CpuBackend  # few reports need it, and it takes long to import

    try:
        computed = CpuBackend().compute(sweep, points).arrays
    except CompileError:  # a machine that only reads results needs no compiler
        return {}
    number = np.full(n_points, -1.0)
    number[:MAX_EXAMINED] = np.where(computed["status"] == Status.ok, computed[HOLD], -1.0)
    return {f"{hold.name}: {hold.meaning}": number == k for k, hold in enumerate(system.holds)}
