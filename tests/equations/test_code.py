"""The C++ that expressions become."""

from __future__ import annotations

import re

import pytest

from sweep.equations.cpp_code import Statements
from sweep.equations.functions import FUNCTIONS
from sweep.equations.parsing import parse

TWO = ("atan2", "hypot", "min", "max")
ALL = tuple(name for name in FUNCTIONS if name != "where")


def call(function: str, argument: str) -> str:
    return f"{function}({argument}, y)" if function in TWO else f"{function}({argument})"


@pytest.mark.parametrize("function", ALL)
def test_no_variable_is_declared_twice(function: str) -> None:
    code = Statements({"x": "y[0]", "y": "y[1]"}, {}, "v")
    for inner in ALL:
        code.value(parse(call(function, call(inner, call(function, "x")))))
    # "real a = ...;" or "real a, b;"
    heads = [line.split(" = ")[0] for line in code.lines if line.startswith(("real ", "mask "))]
    declared = [name for head in heads for name in re.findall(r"\w+", head)[1:]]
    assert declared
    assert len(declared) == len(set(declared)), code.lines
