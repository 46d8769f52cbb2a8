"""Parameters in place of others: a normal force, and the elasticity of two bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import sweep
from sweep.errors import ConfigError
from sweep.file import load
from sweep.file.stored import tables_of
from sweep.pictures.comparison import reference_sweep
from sweep.points.chunking import chunk_at
from sweep.points.columns import points
from sweep.points.recipes import fingerprint, from_recipe, recipe
from sweep.request.sweeps import Sweep
from sweep.store import Store
from tests.command import Run
from tests.file.documents import faults
from tests.oracles import normal_force as oracle

MOTION = {"phase": 0.5, "normal_amplitude": 1e-7, "tangential_amplitude": 1e-6, "friction": 0.3}
STEEL = {"youngs_modulus": 2.1e11, "poisson_ratio": 0.3}
TWO_BODIES = {
    "youngs_modulus_1": 2.1e11, "poisson_ratio_1": 0.3,
    "youngs_modulus_2": 7e10, "poisson_ratio_2": 0.34,
}  # fmt: skip
SPHERE: dict[str, Any] = {
    "model": "mdr_contact",
    "parameters": {**MOTION, **STEEL, "radius": 0.01},
    "axes": {"normal_force": {"geomspace": [1, 1000, 4]}},
}
SLIDER: dict[str, Any] = {
    "model": "friction_oscillator",
    "outputs": ["wear_power", "regime"],
    "parameters": {
        "friction": 0.1, "base_acceleration": 3.0, "angular_frequency": 6.0,
        "window_start": 4, "window_end": 12, "normal_force": 7.0,
    },
    "axes": {"mass": {"values": [0.3, 0.7, 3]}},
}  # fmt: skip


def at(source: Mapping[str, object], **parameters: float) -> dict[str, Any]:
    constants: Any = source["parameters"]
    return {**source, "parameters": {**constants, **parameters}, "axes": {}}


def columns(planned: Sweep) -> dict[str, list[float]]:
    """The parameters that the kernel is given."""
    whole = chunk_at((0,) * len(planned.axes), planned.grid.shape, planned.grid.shape)
    kernel_columns = points(planned, whole).columns
    return {name: column.values.tolist() for name, column in kernel_columns.items()}


def error(value: float, expected: mpmath.mpf) -> float:
    with mpmath.workdps(oracle.DIGITS):
        return float(abs(mpmath.mpf(value) / expected - 1))


RANDOM = np.random.default_rng(3)
FORCES = [(10.0 ** RANDOM.uniform(-6, 6), 10.0 ** RANDOM.uniform(5, 12)) for _ in range(12)]


@pytest.mark.parametrize(("force", "modulus"), FORCES)
def test_indentation_of_a_sphere_is_that_of_hertz(force: float, modulus: float) -> None:
    radius, ratio = 10.0 ** RANDOM.uniform(-6, 1), RANDOM.uniform(-0.9, 0.5)
    body = {"youngs_modulus": modulus, "poisson_ratio": ratio, "radius": radius}
    indentation = columns(load(at(SPHERE, **body, normal_force=force)).sweep)["indentation"]
    contact, _ = oracle.moduli((modulus, ratio))
    assert error(indentation[0], oracle.hertz_indentation(contact, radius, force)) < 1e-14


@pytest.mark.parametrize("exponent", [0.51, 1.0, 1.7, 2.0, 8.0, 1000.0])
def test_indentation_of_any_profile_inverts_the_force(exponent: float) -> None:
    force, coefficient = 10.0 ** RANDOM.uniform(-3, 3), 10.0 ** RANDOM.uniform(-3, 3)
    shape = {"profile_coefficient": coefficient, "profile_exponent": exponent}
    source = {"model": "mdr_contact", "parameters": {**MOTION, **STEEL, **shape}}
    indentation = columns(load(at(source, normal_force=force)).sweep)["indentation"]
    contact, _ = oracle.moduli((2.1e11, 0.3))
    assert error(indentation[0], oracle.indentation(contact, coefficient, exponent, force)) < 1e-14


@pytest.mark.parametrize(
    "bodies", [((2.1e11, 0.3), (7e10, 0.34)), ((1e6, 0.5), (3e9, -0.4)), ((2e9, 0.5), (5e9, 0.5))]
)
def test_two_bodies_are_as_stiff_as_the_half_space_in_their_place(
    bodies: tuple[tuple[float, float], tuple[float, float]],
) -> None:
    parameters = {
        f"{name}_{i}": value
        for i, body in enumerate(bodies, 1)
        for name, value in zip(STEEL, body, strict=True)
    }
    source = {**SPHERE, "parameters": {**MOTION, "radius": 0.01}}
    inputs = columns(load(at(source, **parameters, normal_force=3)).sweep)
    (modulus,), (ratio,) = inputs["youngs_modulus"], inputs["poisson_ratio"]
    expected = oracle.moduli(*bodies)
    for one, both in zip(oracle.moduli((modulus, ratio)), expected, strict=True):
        assert error(float(one), both) < 1e-14
    assert error(inputs["indentation"][0], oracle.hertz_indentation(expected[0], 0.01, 3)) < 1e-14


def test_a_rigid_body_adds_nothing() -> None:
    source = {**SPHERE, "parameters": {**MOTION, **TWO_BODIES, "radius": 0.01}}
    inputs = columns(load(at(source, youngs_modulus_2=np.inf, normal_force=3)).sweep)
    for name, value in STEEL.items():
        np.testing.assert_allclose(inputs[name], value, rtol=4e-16)
    with pytest.raises(ConfigError, match=r"poisson_ratio: .* is nan; it has to be"):
        load(at(source, youngs_modulus_1=np.inf, youngs_modulus_2=np.inf, normal_force=3))


def test_results_are_those_of_the_gravity_that_it_gives(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    dataset = sweep.run(SLIDER, store=path)
    for i, mass in enumerate((0.3, 0.7, 3.0)):
        assert float(dataset["gravity"][i]) == 7.0 / mass
        parameters = {n: v for n, v in SLIDER["parameters"].items() if n != "normal_force"}
        alone = {**SLIDER, "parameters": {**parameters, "mass": mass, "gravity": 7.0 / mass}}
        one = sweep.run({**alone, "axes": {}}, store=None)
        assert float(one["wear_power"]) == float(dataset["wear_power"][i]) > 0
    assert dataset["normal_force"].attrs["units"] == "N"
    stored = Store.open(path).sweep
    assert load(tables_of(stored, "it")).sweep.derived == stored.derived
    assert not Store.open(path).made_by.differences(load(path).sweep)


def test_a_recipe_gives_the_same_sweep_again() -> None:
    planned = load(SPHERE).sweep
    made = json.loads(json.dumps(recipe(planned)))
    again = from_recipe(made, planned.axes[0].columns)
    assert fingerprint(recipe(again)) == fingerprint(made)
    assert columns(again) == columns(planned)


def test_a_substitute_is_along_an_axis_in_a_sample_or_derived() -> None:
    along = sweep.run(SPHERE, store=None)
    assert along["indentation"].dims == along["dissipated_energy"].dims == ("normal_force",)
    for i, force in enumerate(along["normal_force"].values.tolist()):
        alone = sweep.run(at(SPHERE, normal_force=force), store=None)
        assert float(alone["dissipated_energy"]) == float(along["dissipated_energy"][i]) > 0
    drawn = {"method": "random", "points": 5, "seed": 1, "normal_force": {"uniform": [1, 9]}}
    sample = load({**SPHERE, "axes": {}, "sample": drawn}).sweep
    assert len(set(columns(sample)["indentation"])) == 5
    weight = {**at(SLIDER, mass=2.0), "derived": {"normal_force": "9.81*mass"}}
    del weight["parameters"]["normal_force"]
    assert columns(load(weight).sweep)["gravity"] == [9.81 * 2 / 2]


def test_another_method_is_compared_at_the_same_indentations() -> None:
    grid = {**SPHERE, "axes": {**SPHERE["axes"], "radius": {"values": [0.01, 0.02]}}}
    del (parameters := dict(grid["parameters"]))["radius"]
    dataset = sweep.run({**grid, "parameters": parameters}, store=None)
    assert dataset["indentation"].dims == ("normal_force", "radius")
    planned = reference_sweep(dataset, "time_stepping_2")
    assert columns(planned)["indentation"] == dataset["indentation"].values.ravel().tolist()


def test_options_replace_what_a_file_gives() -> None:
    forced = load("wear_power", ["normal_force=5 N"]).sweep
    assert (forced.derived, forced.constants["normal_force"]) == (
        {"gravity": "normal_force/mass"},
        5,
    )
    assert "gravity" not in forced.constants
    back = load(SLIDER, ["gravity=9.81"]).sweep
    assert (back.derived, back.constants["gravity"]) == ({}, 9.81)
    traced = sweep.trace(SLIDER, {"mass": 0.7, "normal_force": 4}, samples=5)
    np.testing.assert_allclose(traced["normal_force"], 4, rtol=1e-15)


FAULTS: list[tuple[Mapping[str, float], list[str], str]] = [
    ({"indentation": 1e-6, "normal_force": 3}, [],
     "[parameters] indentation: follows from normal_force; keep one of the two"),
    ({}, [], "[parameters] indentation: missing (mean indentation); give it here or under [axes], "
     "in m, or normal_force in its place"),
    ({"normal_force": -3}, [], "[parameters] normal_force: -3 is out of range; it has"),
    ({"normal_force": 0}, [], "[parameters] normal_force: 0 is out of range; it has"),
    ({"normal_force": 3, "youngs_modulus_1": 1e9}, [],
     "[parameters] youngs_modulus: follows from youngs_modulus_1; keep one of the two"),
    ({"normal_force": 3}, ["youngs_modulus_1=1e9"],
     "[parameters] poisson_ratio_2: missing (Poisson's ratio of body 2); give it here"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "options", "gist"), FAULTS)
def test_a_fault_is_reported_with_its_cure(
    parameters: Mapping[str, float], options: list[str], gist: str
) -> None:
    found = faults(at(SPHERE, **parameters), *options)
    assert any(fault.startswith(gist) for fault in found), found
    assert not any(fault.startswith("[derived]") for fault in found), found


def test_a_dimensionless_contact_has_no_force() -> None:
    gist = "normal_force: belongs to set sphere or profile, the other parameters to dimensionless"
    with pytest.raises(ConfigError, match=gist):
        load("hanisch_fig3", ["normal_force=3"])


def test_models_lists_them(run: Run) -> None:
    listing = run("models", "mdr_contact")[1]
    assert "in place of indentation (set profile)" in listing
    (entry,) = json.loads(run("models", "mdr_contact", "--json")[1])
    names = [[p["name"] for p in each["parameters"]] for each in entry["substitutes"]]
    assert names == [["normal_force"], ["normal_force"], list(TWO_BODIES)]
    assert "a table over time is possible with euler" in run("models", "friction_oscillator")[1]
