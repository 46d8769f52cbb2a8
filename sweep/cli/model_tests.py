"""The `[[tests]]` of a model from a file: points, and what they must give."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.api import run
from sweep.equations.expressions import Number
from sweep.equations.switches import never_left
from sweep.file.model_file import read_system_file
from sweep.model.table import Status

if TYPE_CHECKING:
    import xarray as xr

    from sweep.equations.system import Test


@dataclass(frozen=True)
class Comparison:
    """The computed and the expected value of an output, or of `status`, in one test."""

    test: int  # from 1, in the order of the file
    output: str
    expected: float | str
    found: float | str
    allowed: float  # difference
    holds: bool
    difference: float = math.nan  # |found - expected|; NaN for a status


def check_model(source: str | Mapping[str, object]) -> list[Comparison]:
    """Compute every test of a model's file; what each output was and should be.

    `source` is the path or the name of the file, or a mapping of the same shape. Raises ConfigError
    with all faults of the file.
    """
    system = read_system_file(source, Path())
    results: list[Comparison] = []
    for number, test in enumerate(system.tests, start=1):
        request = {
            "model": source if isinstance(source, str) else dict(source),
            "parameters": dict(test.at),
            "outputs": list(test.expect) or [system.as_written.outputs[0].name],
            **({"method": test.method} if test.method else {}),
        }
        results += _results(number, test, run(request, store=None))
    return results


def states_of_scale_1(source: str | Mapping[str, object]) -> list[str]:
    """The states with a unit whose scale is 1, as it is by default: `x [m]`."""
    states = read_system_file(source, Path()).as_written.states
    return [
        f"{state.name} [{state.unit}]"
        for state in states
        if state.unit not in ("1", "rad") and state.scale == Number(1.0)
    ]


def never_left_in(source: str | Mapping[str, object]) -> list[str]:
    """The modes and values of switches that no event ends."""
    return [*never_left(read_system_file(source, Path()))]


def expressions_in(source: str | Mapping[str, object]) -> int:
    """The number of expressions of a model's file."""
    return len(read_system_file(source, Path()).lines)


def _results(number: int, test: Test, dataset: xr.Dataset) -> Iterator[Comparison]:
    status = Status(int(dataset["status"])).name
    if status != test.status:
        yield Comparison(number, "status", test.status, status, 0.0, holds=False)
        return
    for name, expected in test.expect.items():
        values = expected if isinstance(expected, tuple) else (expected,)
        for value, computed in zip(values, dataset[name].values.ravel().tolist(), strict=True):
            allowed, difference = test.absolute + test.relative * abs(value), abs(computed - value)
            holds = difference <= allowed or (math.isnan(computed) and math.isnan(value))
            yield Comparison(number, name, value, float(computed), allowed, holds, difference)
