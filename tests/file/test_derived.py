"""[derived]: parameters from others, against runs that are given the values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import sweep
from sweep.equations.derived import in_order, inputs, value_of
from sweep.errors import StoreError, SweepError
from sweep.file import load
from sweep.pictures.comparison import reference_sweep
from sweep.points.chunking import chunk_at, chunk_shape, chunks
from sweep.points.columns import points, variant_sets
from sweep.request.sweeps import Axis
from sweep.results.exporting import export
from sweep.store import Store
from tests.file.documents import faults

CONSTANTS = {"gravity": 10, "window_start": 4}
AXES = {"mass": {"values": [1, 2, 3]}, "friction": {"linspace": [0.1, 0.5, 4]}}
DERIVED = {
    "base_acceleration": "gravity*friction*(1 + mass)",  # along both axes
    "angular_frequency": "5*mass**2",  # along one
    "window_end": "3*window_start",  # constant
    "phase": "angular_frequency/100",  # from a derived one
}
WHOLE: dict[str, object] = {
    "model": "friction_oscillator", "outputs": ["wear_power", "regime"],
    "parameters": CONSTANTS, "axes": AXES, "derived": DERIVED,
}  # fmt: skip


# Values.

NUMBERS = st.floats(0.125, 8, allow_nan=False)
EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "0.3", "7", "1e-3"]),
    lambda parts: st.one_of(
        st.tuples(parts, st.sampled_from("+-*/"), parts).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), parts, parts, parts).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]}, {t[3]})"
        ),
        parts.map(lambda part: f"abs({part})"),
        parts.map(lambda part: f"sqrt(abs({part}))"),
        parts.map(lambda part: f"-{part}"),
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(text=EXPRESSIONS, a=NUMBERS, b=NUMBERS)
def test_values_are_those_of_python(text: str, a: float, b: float) -> None:
    """Of which each operation is one of IEEE 754."""
    names = {"a": a, "b": b, "min": min, "max": max, "abs": abs, "sqrt": math.sqrt}
    try:
        expected = eval(text, {"__builtins__": {}}, names)  # of texts made above
    except ZeroDivisionError:
        return
    value = value_of(text, {"a": np.array([a, 1.0]), "b": b})
    assert float(np.broadcast_to(value, 2)[0]) == expected


@pytest.mark.parametrize("power", [-64, -7, -1, 0, 1, 2, 3, 5, 10, 64])
def test_powers(power: int) -> None:
    x = np.array([1.1, -0.7, 2.0])
    np.testing.assert_allclose(value_of(f"x**{power}", {"x": x}), x**power, rtol=1e-14)
    assert float(value_of(f"x**{power}", {"x": 2.0})) == 2.0**power
    computed = value_of(f"x**(2*{power} - {power})", {"x": x})  # a constant may be computed
    np.testing.assert_array_equal(computed, value_of(f"x**{power}", {"x": x}))


def test_the_order_follows_from_what_is_needed() -> None:
    assert in_order({"a": "b + x", "b": "c*2", "c": "x"}) == ["c", "b", "a"]
    assert in_order({"a": "b", "b": "a", "c": "a", "d": "x"}) == ["d"]
    assert inputs("pi*a + min(b, a)") == ["a", "b"]


# Runs.


@pytest.fixture(scope="module")
def results() -> xr.Dataset:
    return sweep.run(WHOLE, store=None)


def test_results_are_those_of_the_values(results: xr.Dataset) -> None:
    assert results["base_acceleration"].dims == ("mass", "friction")
    assert results["angular_frequency"].dims == results["phase"].dims == ("mass",)
    assert float(results["window_end"]) == 12
    for i, mass in enumerate((1.0, 2.0, 3.0)):
        for j, friction in enumerate(results["friction"].values.tolist()):
            frequency = 5 * (mass * mass)
            values = {
                "mass": mass, "friction": friction, "angular_frequency": frequency,
                "window_end": 12, "phase": frequency / 100,
                "base_acceleration": 10.0 * friction * (1 + mass),
            }  # fmt: skip
            here = results.isel(mass=i, friction=j)
            assert {name: float(here[name]) for name in values} == values
            alone = {**WHOLE, "parameters": {**CONSTANTS, **values}, "axes": {}, "derived": {}}
            one = sweep.run(alone, store=None)
            for name in ("wear_power", "regime", "status"):
                np.testing.assert_array_equal(here[name], one[name], strict=True)


@pytest.mark.parametrize("chunk_points", [1, 3, 4, 5, 12])
def test_columns_of_any_chunks_have_the_values(results: xr.Dataset, chunk_points: int) -> None:
    plan = load(WHOLE).sweep
    for chunk in chunks(plan.grid.shape, chunk_shape(plan, chunk_points)):
        chunk_inputs = points(plan, chunk)
        for name in DERIVED:
            column = chunk_inputs.columns[name]
            i = np.arange(chunk.n_points) // column.repeat % len(column.values)
            expected = results[name].broadcast_like(results["status"])
            expected = expected.transpose("mass", "friction").values[chunk.slices].ravel()
            np.testing.assert_array_equal(column.values[i], expected)


def test_a_store_resumes_and_grows_with_them(results: xr.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    dataset = sweep.run(WHOLE, store=path, chunk_points=4)
    assert dataset["base_acceleration"].chunks is None  # like the coordinates that it is made of
    xr.testing.assert_identical(dataset.drop_attrs().load(), results.drop_attrs())
    assert {"angular_frequency", "phase", "window_end"} <= set(xr.open_zarr(path).coords)
    assert not Store.open(path).made_by.differences(load(path).sweep)
    other = {**DERIVED, "angular_frequency": "6*mass**2"}
    gist = r"\[derived\] angular_frequency: 5\*mass\*\*2 in the store, 6\*mass\*\*2 in this sweep"
    with pytest.raises(StoreError, match=gist):
        sweep.run({**WHOLE, "derived": other}, store=path)
    longer = {**WHOLE, "axes": {**AXES, "mass": {"values": [1, 2, 3, 7]}}}
    assert Store.extend(path, load(longer).sweep).sweep.grid.shape == (4, 4)
    xr.testing.assert_identical(
        sweep.run(longer, store=path).drop_attrs().load(),
        sweep.run(longer, store=None).drop_attrs(),
    )
    export(results, tmp_path / "a.csv")
    rows = [line for line in (tmp_path / "a.csv").read_text().splitlines() if line[0] != "#"]
    assert rows[0].startswith("mass,friction,angular_frequency,base_acceleration,phase,wear_power")
    assert len(rows) == 13


def test_equal_expressions_are_one_sweep() -> None:
    spaced = {**DERIVED, "angular_frequency": " 5 * (mass ** 2)"}
    assert load({**WHOLE, "derived": spaced}).sweep.derived == load(WHOLE).sweep.derived


def test_points_of_a_sample_in_cells_have_them() -> None:
    drawn = {"method": "random", "points": 5, "seed": 1, "friction": {"uniform": [0.1, 0.4]}}
    dataset = sweep.run({**WHOLE, "axes": {"mass": AXES["mass"]}, "sample": drawn}, store=None)
    expected = 10 * dataset["friction"] * (1 + dataset["mass"])
    np.testing.assert_array_equal(dataset["base_acceleration"], expected.transpose("mass", "point"))


def test_overrides_replace_them() -> None:
    fixed = load(WHOLE, ["angular_frequency=3", "derived.window_end=2.5*window_start"]).sweep
    assert fixed.constants["angular_frequency"] == 3
    assert fixed.derived["window_end"] == "2.5*window_start"
    varied = load(WHOLE, ["angular_frequency={ values = [1, 2] }"]).sweep
    assert varied.grid.dimensions == ("mass", "friction", "angular_frequency")
    traced = sweep.trace(WHOLE, {"mass": 2, "friction": 0.2}, samples=5)
    assert float(traced["base_acceleration"]) == 10 * 0.2 * 3
    assert float(traced["phase"]) == 20 / 100


def test_refined_points_have_them(tmp_path: Path) -> None:
    derived = {**DERIVED, "base_acceleration": "2*mass"}
    refined = {**WHOLE, "derived": derived, "refine": {"output": "regime", "levels": 2}}
    dataset = sweep.run(refined, store=tmp_path / "a.zarr")
    assert dataset.sizes["point"] > 12
    assert dataset["regime"].values.max() > dataset["regime"].values.min()
    np.testing.assert_array_equal(dataset["base_acceleration"], 2 * dataset["mass"])


def test_other_methods_compute_at_the_same_values(results: xr.Dataset) -> None:
    """Also those that have whole numbers by default: a kernel reads the bits of doubles."""
    controls = {"step": 1e-3, "tangential_stiffness": 1e5}
    reference = reference_sweep(results, "euler", controls)
    whole = chunk_at((0, 0), reference.grid.shape, reference.grid.shape)
    request = {**WHOLE, "method": "euler", "parameters": {**CONSTANTS, **controls}}
    columns, expected = (points(each, whole).columns for each in (reference, load(request).sweep))
    assert columns["blocks"].values.tolist() == [1]
    for name in expected:
        np.testing.assert_array_equal(columns[name].values, expected[name].values, strict=True)


def test_variants_that_depend_on_them_are_not_used() -> None:
    """A kernel without a spring would be wrong, and whether one is there depends on the point."""
    plan = load(WHOLE, ["derived.stiffness=mass - mass"]).sweep
    (chunk,) = chunks(plan.grid.shape, plan.grid.shape)
    assert points(plan, chunk).variants == ("no_damping", "no_shaking")
    assert variant_sets(plan, plan.grid.shape) == [("no_damping", "no_shaking")]


GIVEN = {**CONSTANTS, "base_acceleration": 1, "angular_frequency": 6, "window_end": 12}
BROKEN: list[tuple[Mapping[str, object], str]] = [
    ({"stifness": "5*mass"}, "stifness: friction_oscillator has no such parameter; did you mean"),
    ({"stiffness": "5mass"}, "column 1: '5mass' is not a number; to multiply, write 5*mass"),
    ({"stiffness": "5*mass^2"}, "column 7: '^' is not known in expressions; write ** for"),
    ({"stiffness": "sin(mass)"}, "column 1: 'sin' is not one of + - * / ** sqrt abs min max"),
    ({"stiffness": "mass**0.5"}, "column 1: the power is not a whole number from -64 to 64"),
    ({"stiffness": "mass > 1"}, "column 1: '>' is not one of + - * /"),
    ({"stiffness": ""}, "stiffness: empty; write an expression"),
    ({"stiffness": "stiffness + mass"}, "stiffness: derived from itself through stiffness"),
    ({"friction": "mass"}, "friction: also given under [axes]; keep one of them"),
    ({"stiffness": "1 - mass"}, "stiffness: 1 - mass is -1.0; it has to be at least 0 N/m"),
    ({"stiffness": "mass/(friction - friction)"}, "is inf; it has to be at least 0 N/m"),
    ({"stiffness": "sqrt(1.5 - mass)"}, "is nan; it has to be at least 0 N/m"),
]  # fmt: skip


@pytest.mark.parametrize(("derived", "gist"), BROKEN)
def test_a_fault_is_reported_with_its_cure(derived: Mapping[str, object], gist: str) -> None:
    found = faults({**WHOLE, "parameters": GIVEN, "derived": derived})
    assert any(fault.startswith("[derived]") and gist in fault for fault in found), found


def test_a_parameter_that_the_kernel_derives_is_no_input() -> None:
    parameters = {**GIVEN, "step": 1e-3, "tangential_stiffness": 1e5}
    derived = {"stiffness": "tangential_damping*mass"}
    found = faults({**WHOLE, "method": "euler", "parameters": parameters, "derived": derived})
    gist = "tangential_damping has a default that the kernel derives"
    assert any(gist in fault for fault in found), found


def test_a_value_out_of_range_that_was_not_checked_ends_the_run() -> None:
    plan = load(WHOLE).sweep
    masses = Axis("mass", {"mass": np.array([1.0, math.inf])}, {"values": [1, math.inf]})
    (chunk,) = chunks((2, 4), (2, 4))
    with pytest.raises(SweepError, match=r"\[derived\] .* is inf; it has to be"):
        points(replace(plan, axes=(masses, plan.axes[1])), chunk)
