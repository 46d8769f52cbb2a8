"""The bits of models from files depend on the point alone, as those of all other methods do."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sweep.kernel.compiler import zig
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.gpu import GpuBackend
from sweep.kernel.source import kernel_of
from sweep.model.shipped import shipped_models
from tests.cases import Case, bits_of, differing
from tests.cases.files import NAMES, case_of_file, methods_of
from tests.gpu.kernels import compiled, spill_faults
from tests.gpu.twin import TwinDevice
from tests.kernel.same_bits import chunk_faults, compiler_of_users, output_faults, target_faults

N = 120
FEW = {("belt", "rk54"), ("lorenz", "rk4")}  # events and control of steps; neither
SHAPES = [(1, 1), (2, 4), (4, 3), (8, 2)]  # doubles in a vector, vectors in flight


def cases(few: set[tuple[str, str]] = FEW) -> list[Any]:
    return [
        pytest.param(name, method, marks=[] if (name, method) in few else pytest.mark.broad)
        for name in NAMES
        for method in methods_of(name)
    ]


every_case = pytest.mark.parametrize(("name", "method"), cases())
first_case = pytest.mark.parametrize(("name", "method"), cases({("belt", "rk54")}))


def targets() -> Iterator[Any]:
    """Over its four methods, a file meets every shape with each compiler."""
    for name in NAMES:
        for i, method in enumerate(methods_of(name)):
            broad = [pytest.mark.broad]
            marks = [] if (name, method) in FEW else broad
            yield pytest.param(name, method, None, None, None, marks=marks)
            if (name, method) == ("belt", "rk54"):
                yield name, method, "zig", 2, 1
            for compiler, place in (("found", i), ("zig", i + 1)):
                shape = SHAPES[place % len(SHAPES)]
                yield pytest.param(name, method, compiler, *shape, marks=pytest.mark.broad)


@functools.cache
def case_named(name: str, method: str) -> Case:
    return case_of_file(name, method, N)


@functools.cache
def expected(name: str, method: str) -> dict[str, Any]:
    case = case_named(name, method)
    return bits_of(case.sweep, case.points)


def test_every_shipped_file_has_points() -> None:
    assert sorted(NAMES) == sorted(shipped_models())


@every_case
def test_the_points_are_of_several_kinds(name: str, method: str) -> None:
    bits = expected(name, method)
    ok = bits["status"] == 0
    assert ok.mean() > 0.5
    assert len(np.unique(bits["status"])) >= 2
    outputs = case_named(name, method).sweep.outputs
    # Kept values and `cycle`, a number of periods, need longer motions.
    short = {each.name for each in outputs if not each.values} - {"cycle"}
    for array, values in bits.items():
        if array.split()[0] in short:  # "slips 0" is that of the first block
            assert len(np.unique(values[ok])) >= 2, array


@pytest.mark.parametrize(("name", "method", "compiler", "width", "pack"), [*targets()])
def test_bits_depend_on_no_target_budget_or_neighbour(
    name: str, method: str, compiler: str | None, width: Any, pack: int | None
) -> None:
    chosen = {None: lambda: None, "found": compiler_of_users, "zig": zig}[compiler]()
    target = CpuTarget(chosen, width, pack) if compiler else None
    assert target_faults(case_named(name, method), expected(name, method), target) == []


@pytest.mark.parametrize(("chunk_points", "workers"), [(14, 1), (9, 2)])
@every_case
def test_bits_depend_on_no_chunk_or_worker(
    name: str, method: str, chunk_points: int, workers: int
) -> None:
    case = case_named(name, method)
    assert chunk_faults(case, expected(name, method), chunk_points, workers) == []


@first_case
def test_bits_depend_on_no_other_output(name: str, method: str) -> None:
    case = case_named(name, method)
    for output in case.sweep.outputs[: 1 if (name, method) in FEW else 3]:
        assert output_faults(case, expected(name, method), output) == [], output.name


def on_twin(case: Case, twin: TwinDevice, budget: int | None = None) -> dict[str, Any]:
    return dict(GpuBackend(twin, budget).compute(case.sweep, case.points).arrays)


@every_case
def test_the_gpu_text_gives_the_bits_of_the_cpu(name: str, method: str) -> None:
    case = case_named(name, method)
    for budget in (None, 7):
        twin = TwinDevice(memory=1 << 26)
        assert differing(expected(name, method), on_twin(case, twin, budget)) == []


@pytest.mark.parametrize(("name", "method"), cases({("bouncing_ball", "rk4")}))
def test_nvrtc_compiles_it(name: str, method: str) -> None:
    kernel = kernel_of(case_named(name, method).sweep)
    binary = compiled(kernel)
    assert binary.ok, binary.log
    assert "warning" not in binary.log
    assert spill_faults(f"{name} {method}", kernel, binary.usage) == []
