"""Which relations of a model are held as sides, counted by hand, and those without a value."""

from __future__ import annotations

import numpy as np
import pytest

import sweep
from sweep.equations.expressions import text_of
from sweep.equations.sides import MAX_SIDES, Sides
from sweep.errors import ConfigError
from sweep.model.table import Status
from tests.equations.examples import first_methods, model, points
from tests.equations.good_model import read_system

MODEL = """
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


UNTAKEN = """
[parameters]
which = {}
[states]
x = { initial = "0" }
y = { initial = "0" }
[derivatives]
x = "1"
y = "where(which == 0, 1, where(which == 1, min(log(1 - x), 5), abs(sqrt(2 - x) - 1)))"
[outputs]
end = { final = "y" }
above = { share = "sqrt(2 - x) > 1" }
"""


@first_methods
def test_a_relation_without_a_value_holds_up_nothing_where_it_is_not_taken(method: str) -> None:
    """log(1 - x) has none from t = 1 on, and sqrt(2 - x) from t = 2 on."""
    controls = {"step": 0.1} if method == "rk4" else {"maximum_steps": 1e4}
    rows = {"which": [0, 1, 2, 0], "window_end": [3.0, 3.0, 3.0, 1.5]}
    ds = points(UNTAKEN, method, rows=rows, **controls)
    outside = Status.outside_validity
    assert ds.status.values.tolist() == [Status.ok, outside, outside, Status.ok]
    assert float(ds.end[0]) == pytest.approx(3.0, rel=1e-12)
    assert np.isnan(ds.above[0])  # from t = 2 on it has no value
    assert float(ds.above[3]) == pytest.approx(2 / 3, rel=1e-9)


def test_the_larger_of_two_equal_expressions_is_either() -> None:
    """Their difference and its negative are the same text."""
    model = {
        "format": 1,
        "name": "equal",
        "time_unit": "1",
        "states": {"x": {"initial": "1"}, "y": {"initial": "2"}},
        "derivatives": {"x": "-max(x, x)", "y": "-max(x, x) - 0*min(x, x)"},
        "outputs": {"x_end": {"final": "x"}},
    }
    parameters = {"relative_tolerance": 1e-11}
    request = {"model": model, "parameters": parameters, "axes": {"window_end": [1.0]}}
    ended = float(sweep.run(request, store=None)["x_end"].item())
    assert ended == pytest.approx(np.exp(-1), rel=1e-9)
