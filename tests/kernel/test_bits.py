"""The bits of a point depend on the point alone, for every method of every model.

They depend on no compiler, vector width, number of vectors in flight, budget of a call, neighbour,
number of points, chunk, worker, other output or compile-time variant.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sweep.kernel.compiler import zig
from sweep.kernel.cpu import CpuTarget
from sweep.model.table import Output, Status
from sweep.request.chunk import Column, Points
from tests.cases import Case, bits_of, case_of, differing, methods, sweep_of
from tests.kernel.same_bits import (
    chunk_faults,
    compiler_of_users,
    output_faults,
    target_faults,
)

N = 600
KERNELS = {f"{model.name}-{method.name}": (model, method) for model, method in methods()}
VARIANTS = [name for name, (_, method) in KERNELS.items() if method.variants]
LAST_OF_ITS_VARIANTS = {KERNELS[name][1].variants: name for name in VARIANTS}.values()

every_method = pytest.mark.parametrize("name", KERNELS)

# Doubles in a vector, vectors in flight.
SHAPES = [(1, 1), (1, 4), (2, 1), (2, 4), (4, 1), (4, 3), (4, 4), (8, 1), (8, 2), (8, 3), (8, 4)]


def _targets() -> Iterator[Any]:
    """As tests have kernels compiled; as users have them, and by a second compiler, each model's
    last.

    The second compiler meets every third shape of a kernel, other ones of the next.
    """
    lasts = {model.name: name for name, (model, _) in KERNELS.items()}.values()
    for i, name in enumerate(KERNELS):
        yield name, None, None, None
        marks = [] if name in lasts else pytest.mark.broad
        yield pytest.param(name, "found", None, None, marks=marks)
        yield pytest.param(name, "zig", 2, 1, marks=marks)
        for compiler, shapes in (("found", SHAPES), ("zig", SHAPES[i % 3 :: 3])):
            for shape in shapes:
                if (compiler, *shape) == ("zig", 2, 1):  # above
                    continue
                yield pytest.param(name, compiler, *shape, marks=pytest.mark.broad)


@functools.cache
def case_named(name: str) -> Case:
    return case_of(*KERNELS[name], N, edges=True)


@functools.cache
def expected(name: str) -> dict[str, Any]:
    return computed(case_named(name))


def computed(case: Case, points: Points | None = None, *how: Any) -> dict[str, Any]:
    return bits_of(case.sweep, points or case.points, *how)


@every_method
def test_the_points_are_of_every_kind(name: str) -> None:
    bits = expected(name)
    ok = bits["status"] == Status.ok
    assert ok.mean() > 0.5
    sweep = case_named(name).sweep
    for output in sweep.outputs:
        if not output.parameter_sets or sweep.parameter_set.name in output.parameter_sets:
            least = len(output.flags) - 1 if output.flags else 2
            assert len(np.unique(bits[output.name][ok])) >= least


@pytest.mark.parametrize(("name", "compiler", "width", "pack"), [*_targets()])
def test_bits_depend_on_no_target_budget_or_neighbour(
    name: str, compiler: str | None, width: Any, pack: int | None
) -> None:
    """Expected: the bits at -O1. "found" is the compiler with the flags of users, at -O3."""
    chosen = {None: lambda: None, "found": compiler_of_users, "zig": zig}[compiler]()
    target = CpuTarget(chosen, width, pack) if compiler else None
    assert target_faults(case_named(name), expected(name), target) == []


@pytest.mark.parametrize(("chunk_points", "workers"), [(14, 1), (20, 2), (100, 2)])
@every_method
def test_bits_depend_on_no_chunk_or_worker(name: str, chunk_points: int, workers: int) -> None:
    """Each chunk has points of every kind: where a variant holds, another kernel is compiled."""
    assert chunk_faults(case_named(name), expected(name), chunk_points, workers) == []


def _some_outputs(name: str) -> list[Output]:
    outputs = case_named(name).sweep.outputs
    return [outputs[0], outputs[len(outputs) // 2], outputs[-1]]


@pytest.mark.broad
@every_method
def test_bits_depend_on_no_other_output(name: str) -> None:
    for output in _some_outputs(name):
        assert output_faults(case_named(name), expected(name), output) == []


@pytest.mark.parametrize(
    "name",
    [
        name if name in LAST_OF_ITS_VARIANTS else pytest.param(name, marks=pytest.mark.broad)
        for name in VARIANTS
    ],
)
def test_bits_depend_on_no_variant(name: str) -> None:
    """All that a method has, at points at which they hold."""
    model, method = KERNELS[name]
    case = case_of(model, method, 200, [variant.name for variant in method.variants])
    assert differing(computed(case, replace(case.points, variants=())), computed(case)) == []


def test_slow_slips_have_the_same_bits_when_steps_are_tried_together() -> None:
    """Slips slower than 1e-6 m/s may end without turning; without a common clock none is tried."""
    values = {
        "mass": np.array([1.0]),
        "gravity": np.array([10.0]),
        "friction": np.linspace(0.0, 2.8e-5, 512),
        "base_acceleration": np.array([2.8e-4]),
        "vertical_acceleration": np.array([7.7]),
        "angular_frequency": np.array([2 * np.pi]),
        "window_start": np.array([0.5]),
        "window_end": np.array([2.5]),
        "step": np.array([1 / 1155]),
        "tangential_stiffness": np.array([642.0]),
        "tangential_damping": np.array([0.66]),
    }
    sweep = sweep_of(values, "friction_oscillator", "devogelaere", ("wear_power", "slip_phases"))
    columns = {p.name: Column(values.get(p.name, np.array([p.default]))) for p in sweep.parameters}
    variants = ("no_spring", "no_damping", "shared_clock")
    together = Points(n_points=512, columns=columns, variants=variants)
    apart, target = replace(together, variants=()), CpuTarget(width=1, pack=1)
    assert differing(bits_of(sweep, apart, target), bits_of(sweep, together, target)) == []


def _variant_sets() -> Iterator[tuple[str, str, list[str]]]:
    """Each variant alone and all but the last; in each further parameter set all of them."""
    for name in VARIANTS:
        model, method = KERNELS[name]
        names = [variant.name for variant in method.variants]
        first, *further = (each.name for each in model.parameter_sets)
        yield from ((name, first, chosen) for chosen in (*([each] for each in names), names[:-1]))
        yield from ((name, other, names) for other in further)


@pytest.mark.broad
@pytest.mark.parametrize(("name", "parameter_set", "variants"), [*_variant_sets()])
def test_bits_depend_on_no_set_of_variants(
    name: str, parameter_set: str, variants: list[str]
) -> None:
    case = case_of(*KERNELS[name], N, variants, parameter_set=parameter_set, edges=True)
    plain = computed(case, replace(case.points, variants=()), CpuTarget(pack=1))
    assert (plain["status"] == Status.ok).mean() > 0.4
    assert differing(plain, computed(case, None, CpuTarget(pack=1))) == []
