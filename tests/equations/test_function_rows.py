"""The rows of the table of functions: slopes, sizes and ranges, each against another source."""

from __future__ import annotations

import pytest

from sweep.equations.expressions import Expression
from sweep.equations.functions import FUNCTIONS, RATE_CALL, derivative, literal, size_of
from sweep.equations.parsing import parse
from sweep.model.shipped import kernels_folder
from tests.equations.test_expressions import tree_of
from tests.oracles import expressions as oracle

NUMBERS = [name for name in FUNCTIONS if name not in ("where", RATE_CALL)]
RATES = {"x": 1.0, "y": -2.0, "z": 0.5}


def call(function: str) -> Expression:
    names = ["z" if function == "acosh" else "x", "y"]  # in its range
    return parse(f"{function}({', '.join(names[: FUNCTIONS[function].least])})")


def value(expression: Expression, time: float = 0.0) -> float:
    names = {
        "x": 0.3 + RATES["x"] * time,
        "y": 0.8 + RATES["y"] * time,
        "z": 1.7 + RATES["z"] * time,
    }
    return float(oracle.value_of(tree_of(expression), names))


@pytest.mark.parametrize("function", NUMBERS)
def test_the_derivative_is_the_limit_of_difference_quotients(function: str) -> None:
    rate = derivative(call(function), {name: literal(rate) for name, rate in RATES.items()})
    step = 1e-6
    quotient = (value(call(function), step) - value(call(function), -step)) / (2 * step)
    assert value(rate) == pytest.approx(quotient, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("function", NUMBERS)
def test_the_size_of_terms_is_no_less_than_the_value(function: str) -> None:
    size = value(size_of(call(function), {}))
    assert size >= abs(value(call(function))) * (1 - 1e-15) or function == "hypot"
    assert size * 2**0.5 >= abs(value(call(function)))


def test_the_kernel_has_the_range_of_every_function_that_has_one() -> None:
    header = (kernels_folder() / "systems" / "functions.h").read_text(encoding="utf-8")
    for name, row in FUNCTIONS.items():
        assert (f"mask outside_{name}(" in header) == row.is_ranged, name
        assert row.is_ranged or row.limits == (None, None), name
