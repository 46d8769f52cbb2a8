"""Points of a kind side by side: which order, where it is of use, and no bit changed by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sweep.equations.derived import inputs
from sweep.file import load
from sweep.kernel import cpu, sorting
from sweep.model.table import Method
from sweep.model.tables import models
from sweep.points.columns import points as points_of
from sweep.request.chunk import Chunk, Column, Points
from tests.cases import case_of, methods

SORTED = [(model, method) for model, method in methods() if method.kinds or method.cost]
TWO_KINDS = Method(name="m", summary="", revision=1, kinds=("k > 0", "a > b"), cost=("b/a", "b"))


def order_of(method: Method, point_set: Points) -> Any:
    """The order of points that are one part; None if they stay as they are."""
    ((span, _, order),) = sorting.parts(method, point_set)
    assert span == slice(0, point_set.n_points)
    return order


def points(**columns: Any) -> Points:
    arrays = {name: np.atleast_1d(np.asarray(v, np.float64)) for name, v in columns.items()}
    n_points = max(map(len, arrays.values()))
    return Points(n_points=n_points, columns={name: Column(v) for name, v in arrays.items()})


@pytest.mark.parametrize(("model", "method"), SORTED, ids=lambda each: each.name)
def test_no_bit_depends_on_the_order(
    model: Any, method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of(model, method, 300)
    monkeypatch.setattr(sorting, "SORTED_AT_ONCE", 128)
    parts = list(sorting.parts(method, case.points))
    assert [span for span, *_ in parts] == [slice(0, 128), slice(128, 256), slice(256, 300)]
    for span, _, order in parts:
        assert order is not None
        assert sorted(order) == list(range(span.stop - span.start)) != list(order)
    backend = cpu.CpuBackend()
    sorted_arrays = backend.compute(case.sweep, case.points).arrays
    unsorted = replace(case.sweep, method=replace(method, kinds=(), cost=()))
    ((_, _, order),) = sorting.parts(unsorted.method, case.points)
    assert order is None
    unsorted_arrays = backend.compute(unsorted, case.points).arrays
    assert sorted_arrays.keys() == unsorted_arrays.keys()
    for name, values in unsorted_arrays.items():
        assert sorted_arrays[name].tobytes() == values.tobytes(), name


def test_kinds_are_apart_and_each_is_sorted_by_cost() -> None:
    random = np.random.default_rng(1)
    a, b = random.uniform(1, 2, (2, 500))
    k = random.integers(0, 2, 500)
    order = order_of(TWO_KINDS, points(k=k, a=a, b=b))
    assert order is not None
    kind, cost = (2 * (k > 0) + (a > b))[order], (b / a)[order]
    assert (np.diff(kind) >= 0).all()
    for each in range(4):
        assert (kind == each).sum() > 50
        assert (np.diff(np.log2(cost[kind == each])) > -1 / 16).all()  # roughly, which is sooner


STEPPING = [
    (method, name)
    for _, method in methods()
    for name in ("step", "steps_per_period")
    if name in [each.name for each in method.parameters]
]


@pytest.mark.parametrize(("method", "name"), STEPPING, ids=lambda each: getattr(each, "name", ""))
def test_points_with_random_steps_are_sorted_by_their_number(method: Method, name: str) -> None:
    """Lanes at constant step wait for the one with the most steps."""
    steps = 2.0 ** np.random.default_rng(4).uniform(3, 12, 300)
    columns = {"step": 5 / steps, "window_end": 5.0} if name == "step" else {name: steps}
    order = order_of(method, points(**columns))
    assert order is not None
    assert (np.diff(np.log2(steps[order])) > -1 / 16).all()


def test_what_is_not_there_or_the_same_everywhere_counts_for_nothing() -> None:
    random = np.random.default_rng(2).uniform(1, 2, 300)
    assert order_of(TWO_KINDS, points(a=random)) is None
    assert order_of(TWO_KINDS, points(k=1, a=1, b=2, other=random)) is None
    only_b = order_of(TWO_KINDS, points(k=1, b=random))
    assert only_b is not None
    assert (np.diff(np.log2(random[only_b])) > -1 / 16).all()
    assert order_of(replace(TWO_KINDS, kinds=(), cost=()), points(b=random)) is None
    assert order_of(TWO_KINDS, points(b=[1.0])) is None


def test_neighbours_along_an_axis_stay_where_they_are() -> None:
    for axes in (
        {"friction": "{ linspace = [0.1, 1, 60] }"},
        {
            "friction": "{ linspace = [1, 0.1, 7] }",
            "base_acceleration": "{ linspace = [1, 9, 90] }",
        },
    ):
        axis_settings = [f"{name} = {values}" for name, values in axes.items()]
        sweep = load("wear_power", ["friction=0.1", "base_acceleration=3", *axis_settings]).sweep
        whole = Chunk(
            tuple(0 for _ in sweep.grid.shape), tuple(0 for _ in sweep.grid.shape), sweep.grid.shape
        )
        assert order_of(sweep.method, points_of(sweep, whole)) is None


def test_values_that_are_no_numbers_are_put_somewhere() -> None:
    cost = np.where(np.arange(100) % 3 == 0, np.nan, np.tile([1.0, np.inf], 50))
    order = order_of(TWO_KINDS, points(b=cost))
    assert order is not None
    assert sorted(order) == list(range(100))


def test_each_condition_and_cost_is_of_parameters_of_the_model() -> None:
    for model in models().values():
        known = {each.name for each in model.parameters}
        known |= {each.name for set_ in model.parameter_sets for each in set_.parameters}
        for method in model.methods:
            names = known | {each.name for each in method.parameters}
            for condition in method.kinds:
                left, sign, right = condition.split()
                assert sign in ("==", ">")
                assert left in names
                assert right in names or right.isdecimal()
            for cost in method.cost:
                assert set(inputs(cost)) <= names
