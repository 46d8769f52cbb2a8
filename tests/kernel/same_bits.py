"""What the bits of a point must not depend on, for a case and its expected bits.

Each function returns the settings at which bits differ, so an empty list is what tests expect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sweep.engine.loop import run
from sweep.kernel.compiler import Compiler, find_compiler
from sweep.kernel.cpu import CpuBackend, CpuTarget
from sweep.kernel.source import kernel_of
from sweep.model.table import Output, planes
from sweep.request.options import RunOptions
from sweep.request.sweeps import Axis
from sweep.store import Arrays
from sweep.store.layout import as_stored
from tests.cases import Case, bits_of, differing, part
from tests.precompiled import QUICK

N_FEW = 40  # where each point takes long: more than a kernel's lanes
BUDGETS = (7, 100)

Bits = Mapping[str, Any]


def compiler_of_users() -> Compiler:
    """The compiler of this machine with the flags that users have.

    And without a header compiled in advance at -O1, on which g++ 12 breaks down at -O3.
    """
    compiler = find_compiler()
    words = iter(compiler.command)
    command = [word for word in words if not (word == "-include" and next(words))]
    return replace(compiler, command=tuple(word for word in command if word not in QUICK))


def at(bits: Bits, index: Any) -> dict[str, Any]:
    """The bits of some of the points."""
    return {name: values[index] for name, values in bits.items()}


def target_faults(case: Case, bits: Bits, target: CpuTarget | None) -> list[str]:
    """Over budgets, neighbours, and numbers of points about those of the kernel's lanes."""
    n = case.points.n_points
    everything = slice(None)
    lanes = CpuBackend(target).library(kernel_of(case.sweep)).lanes
    some: list[tuple[str, Any, int | None]] = [("all points", everything, None)]
    some += [(f"budget {budget}", everything, budget) for budget in BUDGETS]
    some += [("budget 1", np.arange(min(N_FEW, n)), 1)]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(n)[:97]
        some.append((f"order of seed {seed}", order, None))
    for count in sorted({1, lanes - 1, lanes, lanes + 1, 2 * lanes + 1} - {0}):
        some.append((f"the last {count} points", np.arange(max(0, n - count), n), None))
    faults: list[str] = []
    for what, index, budget in some:
        points = case.points if index is everything else part(case.points, index)
        names = differing(at(bits, index), bits_of(case.sweep, points, target, budget))
        faults += [f"{what}: {name}" for name in names]
    return faults


def chunk_faults(case: Case, bits: Bits, chunk_points: int, workers: int) -> list[str]:
    """Of the first points along an axis, in chunks computed by several workers."""
    columns = {name: column.values for name, column in case.points.columns.items()}
    varied = {name: values[:N_FEW] for name, values in columns.items() if len(values) > 1}
    constants = {name: float(values[0]) for name, values in columns.items() if len(values) == 1}
    axes = (Axis("point", varied, {}),)
    sweep = replace(case.sweep, axes=axes, constants=constants)
    results = Arrays(sweep, chunk_points=chunk_points)
    run(results, RunOptions(backend="cpu", workers=workers))
    computed_bits = _planes({str(n): as_stored(v) for n, v in results.dataset().data_vars.items()})
    return differing(at(bits, slice(N_FEW)), computed_bits)


def output_faults(case: Case, bits: Bits, output: Output) -> list[str]:
    """Of an output that alone is computed."""
    alone = replace(case.sweep, outputs=(output,))
    computed_bits = bits_of(alone, case.points, CpuTarget(pack=1))
    names = (*(each.name for each in planes((output,))), "status")
    return differing({name: bits[name] for name in names}, computed_bits)


def _planes(arrays: Bits) -> dict[str, Any]:
    """Arrays with several values a point, (n, values), as one array for each."""
    return {
        name if values.ndim == 1 else f"{name} {i}": column
        for name, values in arrays.items()
        for i, column in enumerate(np.atleast_2d(values.T))
    }
