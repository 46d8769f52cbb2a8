"""Traces of points that are sums over springs: each spring's state, and the forces of them all."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

import sweep
from sweep.errors import SweepError
from sweep.kernel.source import kernel_of
from sweep.kernel.tracer import Tracer
from sweep.pictures.trace_files import save
from sweep.pictures.traces import plot_trace
from tests.cases import sweep_of
from tests.pictures.test_plots import heading_of

METHODS = ("time_stepping", "time_stepping_2")
every_method = pytest.mark.parametrize("method", METHODS)
STEPS, SPRINGS = 130, 77
POINTS = {
    "partial slip": {"beta": 4.0, "delta": 0.5, "phase": -0.3},
    "turned phase": {"beta": 1.5, "delta": 0.4, "phase": 4.0},
    "gross slip": {"beta": 0.1, "delta": 0.6, "phase": 1.0},
    "jumping": {"beta": 0.7, "delta": 1.6, "phase": 2.0},
    "no friction": {"beta": 0.0, "delta": 0.5, "phase": 1.0},
    "infinite friction": {"beta": np.inf, "delta": 0.5, "phase": 1.0},
}
every_point = pytest.mark.parametrize("name", POINTS)
SPHERE = {
    "youngs_modulus": 2e11,
    "poisson_ratio": 0.3,
    "radius": 0.01,
    "indentation": 1e-6,
    "normal_amplitude": 4e-7,
    "tangential_amplitude": 3e-7,
    "friction": 0.5,
    "phase": 0.8,
}
NO_CONTACT, STICK, SLIP = range(3)


def traced(method: str, **parameters: float) -> xr.Dataset:
    controls = {"steps_per_cycle": STEPS, "springs": SPRINGS}
    source = {"model": "mdr_contact", "method": method, "parameters": {**controls, **parameters}}
    return sweep.trace(source)


def test_moments_are_reported_in_the_unit_of_the_clock() -> None:
    with pytest.raises(
        SweepError, match=r"from 0.0 rad to 100.0 rad is outside .* 0.0 rad to 6.28"
    ):
        sweep.trace({"model": "mdr_contact", "method": "time_stepping",
                     "parameters": POINTS["jumping"]}, end=100.0)  # fmt: skip


def stepped(beta: float, delta: float, phase: float) -> dict[str, NDArray[Any]]:
    """The paper's algorithm in plain NumPy: every spring at the end of each step, (steps, springs).

    `sure` leaves out where rounding decides: a spring that just reaches its bound, or contact.
    """
    width = np.sqrt(1 + delta) / SPRINGS
    place = (np.arange(SPRINGS) + 0.5) * width
    u, series = np.zeros(SPRINGS), {"u": [], "depth": [], "state": [], "sure": []}
    for k in range(1, 2 * STEPS + 1):
        t, before = 2 * np.pi * k / STEPS, 2 * np.pi * (k - 1) / STEPS
        depth = 1 - place**2 + delta * np.cos(t)
        touches = depth > 0
        bound = np.where(touches, beta / delta * np.where(touches, depth, 1.0), 0.0)
        trial = u + np.cos(t + phase) - np.cos(before + phase)
        u = np.clip(trial, -bound, bound)
        beyond = np.abs(trial) - bound
        state = np.where(touches, np.where(beyond > 0, SLIP, STICK), NO_CONTACT)
        sure = (np.abs(beyond) > 1e-9) & (np.abs(depth) > 1e-12)
        for name, value in (("u", u), ("depth", depth), ("state", state), ("sure", sure)):
            series[name].append(value)
    return {"place": place, **{name: np.array(v[STEPS:]) for name, v in series.items()}}


@every_point
def test_every_spring_is_seen_as_the_plain_algorithm_has_it(name: str) -> None:
    point = POINTS[name]
    trace, expected = traced("time_stepping", **point), stepped(**point)
    assert trace.sizes["time"] == STEPS + 1
    np.testing.assert_allclose(trace["time"], 2 * np.pi * np.arange(STEPS + 1) / STEPS, rtol=1e-14)
    np.testing.assert_allclose(trace["spring"], expected["place"], rtol=1e-14)
    assert trace["spring_state"].dims == ("time", "spring")
    sure = expected["sure"] | (point["beta"] == 0)
    assert sure.mean() > 0.9
    states = trace["spring_state"].values[1:]
    np.testing.assert_array_equal(states[sure], expected["state"][sure])
    width = expected["place"][0] * 2
    force = 2 * width * expected["u"].sum(axis=1)
    np.testing.assert_allclose(trace["tangential_force"][1:], force, rtol=0, atol=1e-12)
    pressure = 2 * width * np.maximum(expected["depth"], 0).sum(axis=1)
    np.testing.assert_allclose(trace["normal_force"][1:], pressure, rtol=0, atol=1e-12)
    touching = (states != NO_CONTACT).sum(axis=1)
    sticking = (states == STICK).sum(axis=1)
    np.testing.assert_allclose(trace["contact_radius"][1:], width * touching, rtol=1e-13)
    np.testing.assert_allclose(trace["stick_radius"][1:], width * sticking, rtol=1e-13)


@every_method
@every_point
def test_springs_that_stick_lie_within_those_that_slip(method: str, name: str) -> None:
    """So that their number tells a radius. (A spring may enter contact and stick; none does here
    outside of one that slips.)
    """
    states = traced(method, **POINTS[name])["spring_state"].values.astype(int)
    rank = np.array([2, 0, 1])[states]  # stick, slip, no contact: outwards
    assert (np.diff(rank, axis=1) >= 0).all()


@every_method
@every_point
def test_the_loop_has_the_area_of_the_energy(method: str, name: str) -> None:
    """The first method's energy is that trapezoid; the second's corrects it by up to 3e-4 here."""
    point = POINTS[name]
    trace = traced(method, **point)
    u, force = trace["tangential_displacement"].values, trace["tangential_force"].values
    area = np.sum(0.5 * (force[1:] + force[:-1]) * np.diff(u)) * 3 * 2 / (16 * point["delta"])
    source = {"model": "mdr_contact", "method": method, "parameters": {**point}}
    source["parameters"] |= {"steps_per_cycle": STEPS, "springs": SPRINGS}
    energy = float(sweep.run(source, store=None)["normalized_energy"])
    assert area == pytest.approx(energy, abs=1e-12 if method == "time_stepping" else 1e-3)


def test_forces_and_radii_have_the_units_of_the_body() -> None:
    """Hertz: F_z = 4/3 E* √(R d³), contact radius √(R d); 2000 springs are within 1e-4 of it."""
    trace = traced("time_stepping_2", **{**SPHERE, "springs": 2000})
    pressing = SPHERE["youngs_modulus"] / (1 - SPHERE["poisson_ratio"] ** 2)
    t = trace["time"].values
    depth = SPHERE["indentation"] + SPHERE["normal_amplitude"] * np.cos(t)
    force = 4 / 3 * pressing * np.sqrt(SPHERE["radius"] * depth**3)
    np.testing.assert_allclose(trace["normal_force"], force, rtol=1e-4)
    radius = np.sqrt(SPHERE["radius"] * depth)
    np.testing.assert_allclose(trace["contact_radius"], radius, rtol=1e-3)
    np.testing.assert_allclose(trace["normal_displacement"], depth, rtol=1e-13)
    shift = SPHERE["tangential_amplitude"] * np.cos(t + SPHERE["phase"])
    np.testing.assert_allclose(trace["tangential_displacement"], shift, rtol=0, atol=1e-20)
    area = np.sum(
        0.5
        * (trace["tangential_force"].values[1:] + trace["tangential_force"].values[:-1])
        * np.diff(trace["tangential_displacement"].values)
    )
    source = {"model": "mdr_contact", "parameters": SPHERE}
    energy = float(sweep.run(source, store=None)["dissipated_energy"])
    assert area == pytest.approx(energy, rel=2e-3)
    units = {name: trace[name].attrs["units"] for name in ("normal_force", "stick_radius", "time")}
    assert units == {"normal_force": "N", "stick_radius": "m", "time": "rad"}


def test_without_dimensions_the_scale_is_reported() -> None:
    trace = traced("time_stepping", **POINTS["jumping"])
    assert trace["tangential_force"].attrs["units"] == "1"
    assert trace["tangential_force"].attrs["long_name"].endswith(", over G* a0 Delta_x")
    assert trace["spring"].attrs["units"] == "1"
    assert trace["spring_state"].attrs["flag_meanings"] == "no_contact stick slip"


@every_method
def test_same_bits_for_any_budget(method: str) -> None:
    parameters = {**POINTS["jumping"], "profile_exponent": 2.0, "cycles": 2.0}
    parameters |= {"steps_per_cycle": float(STEPS), "springs": float(SPRINGS)}
    outputs = ["normalized_energy", "stick_radius", "regime"]  # as in other traces here: one kernel
    tracer = Tracer(kernel_of(sweep_of(parameters, "mdr_contact", method, outputs)), parameters)
    times = np.linspace(0, 2 * np.pi, 47)
    whole = tracer.look(times)
    for budget in (1, 3, 50):
        part = tracer.look(times, budget)
        assert part.rows.tobytes() == whole.rows.tobytes()
        assert part.items is not None
        assert whole.items is not None
        assert part.items.tobytes() == whole.items.tobytes()


def test_a_point_outside_validity_shows_nothing() -> None:
    still = {**SPHERE, "tangential_amplitude": 0.0, "normal_amplitude": 0.0}
    parameters = {**still, "cycles": 2.0, "steps_per_cycle": 10.0, "springs": 5.0}
    tracer = Tracer(kernel_of(sweep_of(parameters, "mdr_contact", "time_stepping")), parameters)
    observed = tracer.look(np.linspace(0, 6, 4))
    assert (observed.status, observed.n_seen) == (3, 0)
    assert np.isnan(observed.rows).all()


def test_more_than_memory_should_hold_is_refused() -> None:
    with pytest.raises(SweepError, match="take fewer springs or samples"):
        traced("time_stepping", **{**POINTS["jumping"], "springs": 1e6})


def test_names_of_panels_stand_apart() -> None:
    """Of a contact without dimensions each observable has a panel of its own."""
    figure = plot_trace(traced("time_stepping_2", **POINTS["jumping"]))
    figure.draw_without_rendering()
    names = [axes.yaxis.label for axes in figure.axes]
    assert "tangential\ndisplacement" in [name.get_text() for name in names]
    left = min(name.get_window_extent().x0 for name in names)
    column = [name.get_window_extent() for name in names]
    column = [box for box in column if box.x0 < left + 100]
    assert len(column) == 7
    for above, below in itertools.pairwise(sorted(column, key=lambda box: -box.y1)):
        assert below.y1 < above.y0
    plt.close("all")


@pytest.mark.parametrize("end", [".nc", ".zarr"])
def test_a_file_holds_what_was_seen(end: str, tmp_path: Path) -> None:
    trace = traced("time_stepping", **SPHERE)
    path = save(trace, tmp_path / f"trace{end}")
    with xr.open_dataset(path, engine="zarr" if end == ".zarr" else "netcdf4") as back:
        xr.testing.assert_equal(back.load(), trace)


def test_a_trace_says_why_its_loop_is_shifted(tmp_path: Path) -> None:
    """Springs that never slip keep the elongation from the start, at tangential_displacement 1."""
    constant_load = {**SPHERE, "normal_amplitude": 0.0, "phase": 0.0}
    stuck = traced("time_stepping_2", **constant_load)
    force = stuck["tangential_force"].values
    assert abs(force.max() + force.min()) > 0.5 * (force.max() - force.min())
    assert "never slip" in stuck.attrs["note"]
    assert "never slip" in heading_of(plot_trace(stuck))[1]


@pytest.mark.parametrize(
    "changed", [{"friction": 0.05, "phase": 0.0}, {"phase": np.pi / 2}], ids=["gross slip", "at 0"]
)
def test_a_trace_without_memory_of_the_start_has_no_note(changed: dict[str, float]) -> None:
    point = {**SPHERE, "normal_amplitude": 0.0, "tangential_amplitude": 5e-7, **changed}
    assert "note" not in traced("time_stepping_2", **point).attrs
