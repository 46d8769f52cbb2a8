"""Models over indices beside the same models written out by hand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.equations.expressions import Expression, text_of
from sweep.equations.system_file import system_of_text
from sweep.file.model_file import read_model
from sweep.kernel.compiler import zig
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.gpu import GpuBackend
from tests.cases import bits_of, case_at, differing
from tests.equations.good_model import read_system
from tests.equations.vector_models import vector_model
from tests.gpu.twin import TwinDevice

SEEDS = [pytest.param(seed, marks=[pytest.mark.broad] * (seed > 0)) for seed in range(15)]


def run(text: str, method: str = "rk54", **parameters: Any) -> xr.Dataset:
    request = {
        "model": tomllib.loads(text),
        "method": method,
        "parameters": {"window_end": 4.0, **parameters},
        "axes": {"p": {"linspace": [-0.8, 0.9, 11]}},
    }
    return sweep.run(request, store=None, progress=False)


def flat(expression: Expression) -> str:
    """The text with the names of a model by hand: `x_0` for `x[0]`."""
    return re.sub(r"\[(\w+)\]", r"_\1", text_of(expression))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("labelled", [False, True], ids=["numbers", "labels"])
def test_a_model_over_indices_is_the_one_written_by_hand(seed: int, labelled: bool) -> None:
    model = vector_model(seed, labelled=labelled)
    written, by_hand = (read_system(tomllib.loads(t)) for t in (model.written, model.by_hand))
    rates = {re.sub(r"\[(\w+)\]", r"_\1", n): flat(e) for n, e in written.modes[""].items()}
    assert rates == {name: text_of(rate) for name, rate in by_hand.modes[""].items()}
    found, expected = run(model.written), run(model.by_hand)
    assert np.array_equal(found["status"], expected["status"])
    assert (found["status"] == 0).any()
    assert np.array_equal(found["total"], expected["total"], equal_nan=True)
    elements = found["k"].values.tolist()
    names = [each if isinstance(each, str) else f"{each:.0f}" for each in elements]
    for name in ("ends", "means", "hits", "passes", "kept"):
        for i, place in enumerate(names):
            if f"{name}_{place}" in expected:
                values = found[name].isel(k=i).values
                assert np.array_equal(values, expected[f"{name}_{place}"].values, equal_nan=True)
    left_out = [place for place in names if f"kept_{place}" not in expected]
    assert len(left_out) == (model.size > 1)
    assert (found["passes"].isel(k=-1).values[found["status"] == 0] == 0).all() or not left_out
    counts = [expected[f"hits_{place}"].values for place in names]
    assert np.array_equal(found["both"], np.sum(counts, axis=0), equal_nan=True)
    assert np.array_equal(found["one"], expected[f"hits_{names[0]}"], equal_nan=True)


@pytest.mark.broad
def test_the_bits_of_elements_are_those_of_other_targets() -> None:
    """A narrow vector of another compiler, and the text of a GPU on the stand-in."""
    model = read_model(tomllib.loads(vector_model(1, labelled=True).written), Path())
    rng = np.random.default_rng(5)
    values = {each.name: rng.uniform(-1, 1, 24) for each in model.parameters}
    values["window_end"] = np.full(24, 4.0)
    case = case_at("vectors", model, model.methods[0], values, 24)
    expected = bits_of(case.sweep, case.points)
    assert {"ends 0", "kept 5", "status"} <= {*expected}
    assert differing(expected, bits_of(case.sweep, case.points, CpuTarget(zig(), 2, 1))) == []
    backend = GpuBackend(TwinDevice(memory=1 << 26), 500)
    assert differing(expected, dict(backend.compute(case.sweep, case.points).arrays)) == []


@pytest.mark.parametrize("seed", range(8))
def test_the_text_of_a_model_over_indices_gives_it_again(seed: int) -> None:
    system = read_system(tomllib.loads(vector_model(seed, labelled=seed % 2 == 0).written))
    again = system_of_text(system.text)
    assert again == system
    assert again.text == system.text
    assert 'over = "k"' in system.text
    assert "sum(k, " in system.text
    spaced = vector_model(seed, labelled=seed % 2 == 0).written.replace(" + ", "  +  ")
    assert read_system(tomllib.loads(spaced)).text == system.text


def test_a_model_over_one_value_has_a_dimension() -> None:
    """Two texts that differ in the size of an index alone are two models."""
    one, two = (
        read_system(tomllib.loads(CELLS.replace("cell = 2", f"cell = {size}"))) for size in (1, 2)
    )
    assert one.text != two.text
    assert [state.name for state in one.states] == ["x[0]"]
    ds = run(CELLS.replace("cell = 2", "cell = 1"))
    assert ds["ends"].dims == ("p", "cell")
    np.testing.assert_allclose(ds["ends"].values[:, 0], np.exp(-4.0), rtol=1e-5)


CELLS = """
format = 1
name = "cells"
time_unit = "1"
[indices]
cell = 2
[parameters]
p = {}
[states]
x = { over = "cell", initial = "1" }
[derivatives]
x = "-(1 + cell)*x"
[outputs]
ends = { over = "cell", final = "x" }
"""

MATRIX = """
format = 1
name = "matrix"
time_unit = "1"
[indices]
row = 3
other = { same_as = "row" }
[tables]
a = { over = ["row", "other"], values = [[-1, 0.5, 0.25], [0.1, -2, 0], [1, 0.3, -0.7]] }
[parameters]
p = {}
[states]
x = { over = "row", initial = "1 + row" }
[derivatives]
x = "sum(other, a*x[other])"
[outputs]
ends = { over = "row", final = "x" }
trace = { final = "sum(row, a[row, row])" }
corner = { final = "a[0, size(row) - 1] + a[2, 0]" }
"""


def test_a_second_name_of_an_index_makes_matrices() -> None:
    from scipy.linalg import expm

    ds = run(MATRIX, method="dop853", relative_tolerance=1e-12)
    matrix = np.array([[-1, 0.5, 0.25], [0.1, -2, 0], [1, 0.3, -0.7]])
    expected = expm(4.0 * matrix) @ [1.0, 2.0, 3.0]
    np.testing.assert_allclose(ds["ends"].values[0], expected, rtol=1e-9)
    assert np.allclose(ds["trace"], -3.7, rtol=1e-15)
    assert np.allclose(ds["corner"], 1.25, rtol=1e-15)


NEIGHBOURS = """
format = 1
name = "neighbours"
time_unit = "1"
[indices]
cell = 3
[parameters]
p = {}
[states]
x = { over = "cell", initial = "0" }
n = { over = "cell", initial = "0" }
[derivatives]
x = "cell + 1"
n = "0"
[[events]]
name = "ring"
over = "cell"
only = "cell < size(cell) - 1"
when = "x - 3"
direction = "rising"
set = { "n[cell + 1]" = "n[cell + 1] + 1 + cell", x = "x - 100" }
[[events]]
name = "over"
over = "cell"
when = "x - 12"
direction = "rising"
stop_after = 1
[outputs]
rings = { over = "cell", count = "ring" }
numbers = { over = "cell", final = "n" }
last = { final = "t" }
third = { count = "over[2]" }
"""


def test_events_set_neighbours_and_each_has_its_own_end() -> None:
    """x[0] passes 3 at t = 3 and x[1] at 1.5; x[2] ends the motion at 12/3, unseen before."""
    ds = run(NEIGHBOURS, window_end=10.0)
    assert ds["rings"].values[0].tolist() == [1.0, 1.0, 0.0]
    assert ds["numbers"].values[0].tolist() == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(ds["last"], 4.0, rtol=1e-12)
    assert (ds["third"] == 1).all()
