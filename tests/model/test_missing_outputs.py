"""Every method writes every output; one that a kernel forgets is missing, not 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.kernel.compiler import find_compiler, zig
from sweep.kernel.cpu import CpuBackend, CpuTarget
from sweep.model.table import (
    MISSING,
    Method,
    Model,
    Output,
    Parameter,
    ParameterSet,
    Status,
    planes,
)
from sweep.model.tables import models
from sweep.request.chunk import Column, Points
from sweep.request.sweeps import Sweep
from tests.cases import compute, fixed_points

METHODS = [(model, method) for model in models().values() for method in model.methods]


def unwritten(model: Model, method: Method, outputs: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """A sentence for each output that is missing at every point that is ok."""
    ok = outputs["status"] == Status.ok
    for output in planes(model.outputs):
        missing = MISSING[output.kind]
        if np.array_equal(outputs[output.name][ok], np.full(ok.sum(), missing), equal_nan=True):
            yield f"method {method.name} of {model.name} does not write the output {output.name}"


@pytest.mark.parametrize(("model", "method"), METHODS, ids=lambda each: each.name)
def test_every_method_writes_every_output(model: Model, method: Method) -> None:
    """The fixed points have a parameter set for which all outputs of their model are defined."""
    outputs = compute(fixed_points(model), model=model.name, method=method.name)
    assert list(unwritten(model, method, outputs)) == []


FORGETFUL = """
#pragma once

namespace forgetful {
struct State {
    mask active;
};
HD State start(Parameters const&) { return {true}; }
HD bool running(State const& s) { return any(s.active); }
HD int64 advance(State& s, Parameters const&, int64) {
    s.active = false;
    return 1;
}
}  // namespace forgetful

namespace some {
using namespace forgetful;
HD Outputs finish(State const&, Parameters const& p) {
    Outputs out;
    out.written = p.size;
    out.status = 0.0;
    return out;
}
}  // namespace some

namespace none {
using namespace forgetful;
HD Outputs finish(State const&, Parameters const&) { return {}; }
}  // namespace none
"""

FORGOTTEN = (
    Output(name="power", unit="W", long_name="a real"),
    Output(name="slips", unit="1", long_name="a count", kind="count"),
    Output(name="regime", unit="1", long_name="a flag", kind="flag", flags=("stick", "slip")),
    Output(name="speeds", unit="m/s", long_name="several values", values=3),
)
MODEL = Model(
    name="forgetful", title="a model that forgets outputs", source="this test",
    parameters=(Parameter(name="size", symbol="s", unit="1", meaning="size"),),
    parameter_sets=(ParameterSet(name="only", parameters=()),),
    outputs=(Output(name="written", unit="1", long_name="the only one"), *FORGOTTEN),
    methods=tuple(
        Method(name=name, summary=name, revision=1) for name in ("some", "none")
    ),
    sentences={},
)  # fmt: skip


@pytest.fixture
def forgetful(copied_kernels: Path) -> None:
    """The kernels with the header of MODEL."""
    (copied_kernels / "models" / "forgetful.h").write_text(FORGETFUL)


def computed(method: Method, target: CpuTarget) -> Mapping[str, NDArray[Any]]:
    sizes = np.arange(1.0, 40.0)
    sweep = Sweep(
        model=MODEL, method=method, parameter_set=MODEL.parameter_sets[0], constants={}, axes=(),
        outputs=MODEL.outputs,
    )  # fmt: skip
    points = Points(n_points=len(sizes), columns={"size": Column(sizes)})
    return CpuBackend(target).compute(sweep, points).arrays


@pytest.mark.parametrize(
    ("compiler", "width"),
    [(find_compiler, 1), (find_compiler, 2), (zig, 1),
     pytest.param(zig, 2, marks=pytest.mark.broad)],
)  # fmt: skip
@pytest.mark.usefixtures("forgetful")
def test_a_forgotten_output_is_missing_and_named(compiler: Any, width: Any) -> None:
    target = CpuTarget(compiler=compiler(), width=width, pack=1)
    some, none = MODEL.methods
    outputs = computed(some, target)
    assert not outputs["status"].any()
    np.testing.assert_array_equal(outputs["written"], np.arange(1.0, 40.0))
    assert list(unwritten(MODEL, some, outputs)) == [
        f"method some of forgetful does not write the output {output.name}"
        for output in planes(FORGOTTEN)
    ]
    forgotten = computed(none, target)
    assert set(forgotten["status"]) == {Status.failed}
    for output in planes(MODEL.outputs):
        np.testing.assert_array_equal(forgotten[output.name], MISSING[output.kind])
