"""Which relations of a model are held as sides, counted by hand."""

from __future__ import annotations

import pytest

import sweep
from sweep.equations.expressions import text_of
from sweep.equations.sides import MAX_SIDES, Sides
from sweep.equations.system_file import read_system
from sweep.errors import ConfigError
from tests.equations.examples import model

MODEL = """
format = 1
name = "relations"
time_unit = "1"
[parameters]
a = {{}}
[states]
x = {{ initial = "0" }}
v = {{ initial = "0" }}
[derivatives]
x = "v"
v = "{rate}"
[outputs]
last = {{ final = "x" }}
"""


def sides(rate: str) -> Sides:
    return Sides(read_system(model(MODEL.format(rate=rate))))


@pytest.mark.parametrize(
    ("rate", "watched"),
    [
        ("-x", []),
        ("abs(a)*where(a > 1, x, v)", []),  # nothing that moves
        ("-abs(v) - sign(v)*x", ["v"]),  # one for both
        ("sign(2*v)", ["v"]),
        ("sign(v*x)", ["v", "x"]),
        ("max(x, v) + min(v, x)", ["x - v"]),
        ("max(x, v, 1)", ["x - v", "where(side 0 >= 0, x, v) - 1"]),
        ("hypot(x, v)", []),
        ("floor(x)", ["x - side 0", "x - (side 0 + 1)"]),
    ],
)
def test_relations_of_one_expression_share_a_side(rate: str, watched: list[str]) -> None:
    assert [text_of(each.when) for each in sides(rate).watched] == watched


def test_more_sides_than_a_kernel_holds_are_refused() -> None:
    assert len(sides(" + ".join(f"abs(x - {i})" for i in range(MAX_SIDES)))) == MAX_SIDES
    rate = " + ".join(f"abs(x - {i})" for i in range(MAX_SIDES + 1))
    request = {"model": model(MODEL.format(rate=rate)), "parameters": {"a": 1, "window_end": 1}}
    with pytest.raises(ConfigError, match=r"derivatives.* 65 .*at most 64.*modes"):
        sweep.run(request, store=None)
