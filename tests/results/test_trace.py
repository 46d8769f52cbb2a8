"""A trace tells the motion as it is, whatever the calls it takes, and is read back as it was."""

from __future__ import annotations

import csv
import json
import re
import signal
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
import psutil
import pytest
import xarray as xr
from gmpy2 import mpfr
from numpy.typing import NDArray

import sweep
from sweep.errors import ConfigError, SweepError
from sweep.file import load
from sweep.kernel.cache import cache_folder
from sweep.kernel.source import kernel_of
from sweep.kernel.tracer import Tracer
from sweep.model.shipped import configs_folder
from sweep.model.table import MISSING_FLAG, Model, Status
from sweep.model.tables import models
from sweep.model.tables.friction_oscillator import MODEL
from sweep.pictures.trace_files import SHOWN_CYCLES, save
from sweep.pictures.traces import plot_trace
from sweep.results.tracing import trace_point
from tests.cases import compute
from tests.cases.friction_oscillator import (
    CONTROLLED,
    NAMES,
    SDND104,
    STEPPING,
    random_parameters,
    stiff_parameters,
)
from tests.command import Run, environment
from tests.forked import PIPE, Forked
from tests.oracles import friction_oscillator as oracle
from tests.pictures.test_plots import heading_of
from tests.points.test_chunking import sweep_over

Values = NDArray[np.float64]
SMOKE = str(configs_folder() / "smoke" / "wear_power.toml")
AXES = (("friction", 0.1), ("base_acceleration", 15))
AT = tuple(word for name, value in AXES for word in ("--at", f"{name}={value}"))

# Stick and slip, spring, damper, vertical shaking.
EVERYTHING = {
    "friction": 0.3,
    "base_acceleration": 5.0,
    "stiffness": 60.0,
    "damping": 0.5,
    "vertical_acceleration": 3.0,
    "phase": 0.5,
}
KINDS: Mapping[str, Mapping[str, float]] = {
    "slip-slip": {"base_acceleration": 15.0},
    "stick-slip": {"base_acceleration": 1.5},
    "stick": {"base_acceleration": 0.9},
    "everything": EVERYTHING,
    "damped": {"base_acceleration": 3.0, "damping": 2.0},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def point(kind: str, **changes: float) -> dict[str, float]:
    return {**SDND104, **KINDS[kind], **changes}


def traced(parameters: Mapping[str, float], **options: Any) -> xr.Dataset:
    """The trace of a point of the friction oscillator."""
    source = {"model": "friction_oscillator", "parameters": dict(parameters)}
    return sweep.trace(source, **options)


def tracer_of(**constants: float) -> Tracer:
    point = sweep_over(outputs=tuple(output.name for output in MODEL.outputs), **constants)
    return Tracer(kernel_of(point), point.constants)


@pytest.fixture(scope="module")
def everything() -> xr.Dataset:
    return traced(point("everything"), start=0.0, samples=400)


# What is seen: against the arbitrary-precision oracle, whose march is watched.


class Watched(oracle.Oscillator):
    """An oscillator that remembers what its last series was about."""

    along: mpfr = mpfr(0)
    sense: int = 0

    def series(self, time: mpfr, place: mpfr, speed: mpfr, sense: int) -> list[mpfr]:
        self.along, self.sense = place, sense
        return super().series(time, place, speed, sense)


class Witness(oracle.Tally):
    """Notes place, velocity and whether stuck (all scaled) at each of the given phases."""

    def watch(self, oscillator: Watched, phases: list[mpfr]) -> None:
        self.oscillator, self.phases = oscillator, phases
        self.seen: dict[int, tuple[float, float, float]] = {}
        self.place = mpfr(0)

    def rest(self, time: mpfr, end: mpfr) -> None:
        for i, phase in enumerate(self.phases):
            if time <= phase < end:
                self.seen[i] = (float(self.place), 0.0, 1.0)

    def slip(self, time: mpfr, span: mpfr, speed: list[mpfr]) -> None:
        along, sense = self.oscillator.along, self.oscillator.sense
        for i, phase in enumerate(self.phases):
            if time <= phase < time + span or phase == self.end == time + span:
                place = sense * (along + oracle.integral(speed, phase - time))
                velocity = sense * oracle.value(speed, phase - time)
                self.seen[i] = (float(place), float(velocity), 0.0)
        self.place = sense * (along + oracle.integral(speed, span))


def witnessed(parameters: Mapping[str, float], times: Values) -> Values:
    """Displacement, velocity (SI) and whether stuck, (n_times, 3), by the oracle."""
    full = {"stiffness": 0.0, "damping": 0.0, "vertical_acceleration": 0.0, "phase": 0.0}
    short = {s: mpfr(float({**full, **parameters}[name])) for s, name in NAMES.items()}
    m, g, mu, k, c, a0, w, av, phi = (
        short[n] for n in ("m", "g", "mu", "k", "c", "a0", "w", "av", "phi")
    )
    with gmpy2.context(precision=220):
        oscillator = Watched(k / (m * w**2), c / (m * w), mu * g / a0, mu * av / a0, phi)
        witness = Witness(mpfr(0), w * short["t1"], phi, weighs=False)
        witness.watch(oscillator, [w * mpfr(float(t)) for t in times])
        oracle.march(oscillator, witness)
    scale = np.array([float(a0 / w**2), float(a0 / w), 1.0])
    return np.array([witness.seen[i] for i in range(len(times))]) * scale


def check_against_the_oracle(parameters: Mapping[str, float], dataset: xr.Dataset) -> None:
    t = dataset["time"].values
    place, velocity, stuck = witnessed(parameters, t).T
    p = {"stiffness": 0.0, "vertical_acceleration": 0.0, "phase": 0.0, **parameters}
    a0, w = p["base_acceleration"], p["angular_frequency"]
    load = p["mass"] * (p["gravity"] + p["vertical_acceleration"] * np.sin(w * t + p["phase"]))
    slipping = -np.sign(velocity) * p["friction"] * load
    spring_and_inertia = p["stiffness"] * place + p["mass"] * a0 * np.sin(w * t)
    # Errors grow over the slips since the start, hence not 1e-15; w t itself is rounded here.
    np.testing.assert_array_equal(dataset["stuck"], stuck)
    scale = max(1.0, p["stiffness"] / (p["mass"] * w**2))
    for name, expected, size in (
        ("displacement", place, a0 / w**2),
        ("velocity", velocity, a0 / w),
        ("normal_force", load, p["mass"] * p["gravity"]),
        (
            "friction_force",
            np.where(stuck == 1, spring_and_inertia, slipping),
            p["mass"] * a0 * scale,
        ),
        ("base_velocity", -a0 / w * np.cos(w * t), a0 / w),
        ("wear_rate", load * np.abs(velocity), p["mass"] * p["gravity"] * a0 / w),
    ):
        error = np.abs(dataset[name].values - expected)
        assert error.max() <= 1e-11 * size, name


@every_kind
def test_the_motion_is_that_of_the_oracle(kind: str) -> None:
    parameters = point(kind, window_end=7.3)
    check_against_the_oracle(parameters, traced(parameters, start=0.0, samples=300))


@pytest.mark.broad
@pytest.mark.parametrize("kind", ["every kind", "stiff"])
def test_the_motion_of_random_points_is_that_of_the_oracle(kind: str) -> None:
    columns = random_parameters(40, seed=3) if kind == "every kind" else stiff_parameters(8)
    for i in range(len(columns["mass"])):
        parameters = {name: float(values[i]) for name, values in columns.items()}
        if parameters["vertical_acceleration"] < 0:  # no sweep file may ask for that
            parameters["vertical_acceleration"] *= -1
            parameters["phase"] += np.pi
        check_against_the_oracle(parameters, traced(parameters, start=0.0, samples=60))


# What it adds up to: the outputs of the sweep.


@every_kind
def test_integrals_over_the_window_are_the_outputs(kind: str) -> None:
    """Within the error of the trapezoidal rule for a motion with kinks, which is bounded here."""
    parameters = point(kind)
    n = 40_001
    trace = traced(parameters, samples=n)
    outputs = {name: float(values[0]) for name, values in compute(parameters).items()}
    window = parameters["window_end"] - parameters["window_start"]
    step = window / (n - 1)
    load = trace["normal_force"].values.max()
    steepest = np.abs(np.diff(trace["velocity"].values)).max() / step
    kinks = 2 * outputs["slip_phases"] + 2
    bound = kinks * steepest * step**2 / 4 + window * step**2 * steepest * 40 / 12
    distance = np.trapezoid(np.abs(trace["velocity"].values), dx=step)
    wear = np.trapezoid(trace["wear_rate"].values, dx=step)
    assert abs(distance - outputs["slip_distance"]) <= bound
    assert abs(wear / window - outputs["wear_power"]) <= load * bound / window
    stuck = trace["stuck"].values.mean() - outputs["stick_fraction"]
    assert abs(stuck) <= (kinks + 1) * step / window
    peak = np.abs(trace["velocity"].values).max()
    assert peak <= outputs["peak_slip_speed"] * (1 + 1e-14)
    assert peak >= outputs["peak_slip_speed"] - steepest * step


# Methods in steps.

LOADS_ARE_TAKEN_AT = 0.55  # share of a step's end in moreau's loads: Jean's theta


def controls_of(method: str, step: float, stiffness: float) -> dict[str, float]:
    """Constant steps where a scheme takes them by default, steps up to that length elsewhere."""
    if method == "moreau":
        return {"step": step}
    controls = {"step": step, "tangential_stiffness": stiffness}
    if method in CONTROLLED:
        controls["maximum_step"] = step
    return controls | ({"tolerance": 1.0} if method == "adapt_ordre2" else {})


def traced_in_steps(
    parameters: Mapping[str, float], method: str, samples: int
) -> tuple[xr.Dataset, Values]:
    """A trace by a method in steps, and the lengths of time between what it tells."""
    source = {"model": "friction_oscillator", "method": method, "parameters": dict(parameters)}
    trace = sweep.trace(source, samples=samples)
    return trace, np.diff(trace["time"].values)


def apart(trace: xr.Dataset, exact: xr.Dataset) -> tuple[Mapping[str, float], Values]:
    """Greatest differences, scaled; and that of the friction force, by moment."""
    size = float(exact["base_acceleration"])
    omega = float(exact["angular_frequency"])
    scales = {"displacement": size / omega**2, "velocity": size / omega,
              "base_velocity": size / omega, "normal_force": float(exact["gravity"])}  # fmt: skip
    differences = {n: float(np.abs(trace[n] - exact[n]).max()) / each for n, each in scales.items()}
    force = np.abs(trace["friction_force"] - exact["friction_force"]).values / size
    return differences, force


def undisturbed(exact: xr.Dataset) -> NDArray[np.bool_]:
    """Where no stick or slip has begun for 10 ms nor begins within 1 ms."""
    time = exact["time"].values
    kind = np.where(exact["stuck"] == 1, 0.0, np.sign(exact["velocity"]))
    far = np.ones(time.size, bool)
    for change in time[1:][np.diff(kind) != 0]:
        far &= (time < change - 1e-3) | (time > change + 1e-2)
    return far


@pytest.mark.broad
@pytest.mark.parametrize(
    ("kind", "step", "stiffness"),
    [*((kind, 4e-5, 9e6) for kind in KINDS), ("everything", 1e-5, 16 * 9e6)],
)
@pytest.mark.parametrize("method", STEPPING)
def test_methods_in_steps_tell_the_motion_that_the_exact_one_does(
    method: str, kind: str, step: float, stiffness: float
) -> None:
    """But for what a step and the penalty, which lets go late by 2 sqrt(m/K_T), make of it."""
    parameters = point(kind, window_start=2.0, window_end=3.5)
    controls = controls_of(method, step, stiffness)
    trace, _ = traced_in_steps({**parameters, **controls}, method, 20_001)
    exact = traced(parameters, times=trace["time"].values)
    omega, mass = parameters["angular_frequency"], parameters["mass"]
    delay = 0.0 if method == "moreau" else 2 * np.sqrt(mass / stiffness)
    bound = 2 * omega * step if method == "moreau" else 0.5 * omega * (delay + step)
    differences, force = apart(trace, exact)
    assert max(differences["displacement"], differences["velocity"]) <= bound
    assert max(differences["base_velocity"], differences["normal_force"]) <= 1e-14
    far = undisturbed(exact)
    assert far.mean() > 0.75
    assert force[far].max() <= (omega * delay) ** 2 / 2 + 1e-13  # of the stuck mass's own speed
    limit = float(trace["friction"]) * trace["normal_force"].values * (1 + 1e-12)
    assert np.all(np.abs(trace["friction_force"].values) <= limit)
    np.testing.assert_array_equal(trace["stuck"][far], exact["stuck"][far])


@pytest.mark.parametrize(
    "kind", [pytest.param("stick-slip", marks=pytest.mark.broad), "everything"]
)
@pytest.mark.parametrize("method", STEPPING)
def test_wear_over_all_steps_is_the_output(method: str, kind: str) -> None:
    """Each state is told once, so their trapezoid is the method's own, which begins in slip."""
    parameters = point(kind, window_start=1.0, window_end=1.75)
    controls = controls_of(method, 1e-4, 9e6)
    constant = method in ("euler", "devogelaere", "moreau")
    samples = 7_501 if constant else 1_500_001  # a sixth of the shortest step there, or less
    trace, steps = traced_in_steps({**parameters, **controls}, method, samples)
    load, speed = trace["normal_force"].values, np.abs(trace["velocity"].values)
    if method == "moreau":
        mean = LOADS_ARE_TAKEN_AT * load[1:] + (1 - LOADS_ARE_TAKEN_AT) * load[:-1]
        work = np.abs(np.diff(trace["displacement"].values)) * mean
    else:
        rate = load * speed
        work = 0.5 * (rate[1:] + rate[:-1]) * steps * (trace["stuck"].values[:-1] == 0)
    output = compute({**parameters, **controls}, method=method)["wear_power"][0]
    assert work.sum() / 0.75 == pytest.approx(output, rel=1e-11)


# How it is computed changes no bit.


@pytest.mark.parametrize("budget", [1, 2, 3, 7, 50])
def test_budgets_change_no_bit(budget: int) -> None:
    times = np.linspace(4.0, 12.0, 301)
    tracer = tracer_of(**EVERYTHING)
    whole = tracer.look(times)
    parts = tracer.look(times, budget)
    assert (whole.n_seen, whole.status) == (parts.n_seen, parts.status) == (301, Status.ok)
    assert whole.rows.tobytes() == parts.rows.tobytes()


def test_a_moment_is_seen_alike_alone_and_among_others() -> None:
    times = np.linspace(4.0, 12.0, 41)
    tracer = tracer_of(**EVERYTHING)
    whole = tracer.look(times).rows
    for i, moment in enumerate(times):
        assert tracer.look(np.array([moment])).rows.tobytes() == whole[i].tobytes()


def test_a_late_moment_is_like_an_early_one() -> None:
    """Stick-slip motion repeats from the first cycle on, but for the place: here 1e5 cycles on."""
    tracer = tracer_of(base_acceleration=1.5, window_start=1e5, window_end=1e5 + 1)
    late_row = tracer.look(np.array([1e5 + 0.3])).rows[0]
    early_row = tracer_of(base_acceleration=1.5).look(np.array([7.3])).rows[0]
    assert early_row[2] != 0
    np.testing.assert_allclose(late_row[2:], early_row[2:], rtol=0, atol=1e-9)


@pytest.mark.parametrize("model", models().values(), ids=lambda model: model.name)
def test_observables_have_names_of_their_own(model: Model) -> None:
    names = [observable.name for observable in model.observables]
    sets = [p for each in (*model.parameter_sets, *model.methods) for p in each.parameters]
    others = {p.name for p in (*model.parameters, *sets)} | {"time", "status", "item"}
    assert len(set(names)) == len(names)
    assert not others & set(names)
    assert set(model.loop or ()) <= set(names)


# What it is like, and in every format.


def test_the_dataset_tells_all(everything: xr.Dataset) -> None:
    assert everything.sizes == {"time": 400}
    assert [str(n) for n in everything.data_vars] == [
        *(observable.name for observable in MODEL.observables), "status",
    ]  # fmt: skip
    for observable in MODEL.observables:
        attributes = everything[observable.name].attrs
        assert attributes["long_name"] == observable.long_name
        assert attributes.get("units", "1") == observable.unit
    assert everything["time"].attrs == {"long_name": "time", "units": "s"}
    assert everything["stuck"].attrs["flag_meanings"] == "slipping stuck"
    for name, value in point("everything").items():
        assert float(everything[name]) == value
        assert everything[name].attrs["units"]
    assert {"model": "friction_oscillator", "method": "exact"}.items() <= everything.attrs.items()
    assert "Code_Aster" in everything.attrs["references"]


def test_a_point_that_is_not_ok_is_reported_and_has_no_values() -> None:
    trace = traced(point("slip-slip", stiffness=1e30), samples=5)
    assert int(trace["status"]) == Status.outside_validity
    assert np.isnan(trace["displacement"]).all()
    assert (trace["stuck"] == MISSING_FLAG).all()
    assert trace["time"].values.tolist() == [4.0, 6.0, 8.0, 10.0, 12.0]


def read_csv(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("ok", [True, False], ids=["ok", "not ok"])
@pytest.mark.parametrize("name", ["a.nc", "a.zarr", "new/a.csv"])
def test_every_format_is_read_back_equal(
    tmp_path: Path, everything: xr.Dataset, name: str, ok: bool
) -> None:
    trace = everything if ok else traced(point("slip-slip", stiffness=1e30), samples=5)
    path = save(trace, tmp_path / name)
    assert path == tmp_path / name
    columns_file = path.with_name(f"{path.name}.txt")
    written = [path.name, *([columns_file.name] if path.suffix == ".csv" else [])]
    assert sorted(each.name for each in path.parent.iterdir()) == written
    if path.suffix == ".csv":
        columns = read_csv(path)
        for variable in ("time", *(observable.name for observable in MODEL.observables)):
            column = np.array(columns[variable], np.float64)
            np.testing.assert_array_equal(column, trace[variable].values.astype(np.float64))
        assert set(columns["stuck_name"]) <= {"slipping", "stuck", ""}
        text = columns_file.read_text(encoding="utf-8")
        assert "# column velocity: [m/s] velocity of the mass relative to the plane\n" in text
        assert "# friction = " in text
        return
    opened = (
        xr.open_dataset(path, engine="h5netcdf") if path.suffix == ".nc" else xr.open_zarr(path)
    )
    with opened:
        read = opened.load()
    xr.testing.assert_equal(read, trace)
    for variable in trace.variables:
        assert read[variable].dtype == trace[variable].dtype
        written = {k: np.asarray(v).tolist() for k, v in read[variable].attrs.items()}
        assert written == trace[variable].attrs
    assert set(trace.attrs.items()) <= set(read.attrs.items())


def test_files_are_replaced_and_folders_are_not(tmp_path: Path, everything: xr.Dataset) -> None:
    for name in ("a.nc", "a.csv", "a.png"):
        (tmp_path / name).write_text("old")
        assert save(everything, tmp_path / name).read_bytes()[:3] != b"old"
    (tmp_path / "a.zarr").mkdir()
    with pytest.raises(SweepError, match="remove it, or choose another name"):
        save(everything, tmp_path / "a.zarr")
    assert list((tmp_path / "a.zarr").iterdir()) == []


def test_a_picture_shows_every_observable_and_the_loop(everything: xr.Dataset) -> None:
    figure = plot_trace(everything)
    *panels, loop = figure.axes
    names = (
        *("displacement", "velocity", "base_velocity", "friction_force", "normal_force"),
        "wear_rate",
    )
    drawn = [line.get_ydata() for axes in panels for line in axes.lines]
    for values, name in zip(drawn, names, strict=True):
        np.testing.assert_array_equal(values, everything[name])
    assert [axes.get_ylabel() for axes in panels] == [
        "displacement [m]", "velocity [m/s]", "force [N]", "wear rate [W]",
    ]  # fmt: skip
    np.testing.assert_array_equal(loop.lines[0].get_xdata(), everything["displacement"])
    np.testing.assert_array_equal(loop.lines[0].get_ydata(), everything["friction_force"])
    assert (loop.get_xlabel(), loop.get_ylabel()) == ("displacement [m]", "friction force [N]")
    title, fixed = heading_of(figure)
    assert title == "Motion of a mass rubbing on a shaken plane, method exact"
    assert "k = 60 N/m" in fixed
    assert [len(axes.collections) for axes in panels] == [1, 1, 1, 1]  # where it is stuck


def test_small_lengths_are_drawn_in_a_readable_unit() -> None:
    """Lines, the loop and the map of the springs."""
    contact = {
        "model": "mdr_contact", "method": "time_stepping",
        "parameters": {
            "youngs_modulus": 1e11, "poisson_ratio": 0.3, "friction": 0.1, "radius": 0.01,
            "indentation": 5e-5, "normal_amplitude": 1e-5, "tangential_amplitude": 1e-5,
            "phase": 0.5, "steps_per_cycle": 64, "springs": 512,
        },
    }  # fmt: skip
    dataset = sweep.trace(contact)
    figure = plot_trace(dataset)
    drawn = {axes.get_ylabel().replace("\n", " "): axes for axes in figure.axes}
    (line,) = drawn["tangential displacement [µm]"].lines
    np.testing.assert_allclose(line.get_ydata(), 1e6 * dataset["tangential_displacement"])
    assert max(np.abs(line.get_ydata())) == pytest.approx(10, rel=1e-2)
    (loop,) = (axes for axes in figure.axes if axes.get_xlabel().endswith("displacement [µm]"))
    np.testing.assert_array_equal(loop.lines[0].get_xdata(), line.get_ydata())
    place = next(axes for label, axes in drawn.items() if label.startswith("place of the spring"))
    assert "[µm]" in place.get_ylabel()
    assert place.get_ylim()[1] < 1e3


def test_a_part_of_a_trace_is_drawn_and_other_things_are_refused(everything: xr.Dataset) -> None:
    (axes,) = plot_trace(everything[["velocity", "status"]]).axes
    assert axes.get_ylabel() == "velocity [m/s]"
    nothing: Any = "trace.nc"
    for wrong in (everything.isel(time=0), everything.drop_vars("status"), nothing):
        with pytest.raises(SweepError, match="this is not a trace"):
            plot_trace(wrong)


def test_what_is_shaded_is_where_the_mass_is_stuck(everything: xr.Dataset) -> None:
    (shade,) = plot_trace(everything).axes[0].collections
    t, stuck = everything["time"].values, everything["stuck"].values == 1
    areas = shade.get_paths()
    covered = np.array(
        [any(a.vertices[:, 0].min() <= x <= a.vertices[:, 0].max() for a in areas) for x in t]
    )
    np.testing.assert_array_equal(covered, stuck)
    assert not plot_trace(traced(point("slip-slip"), samples=50)).axes[0].collections


def test_parameters_at_their_neutral_value_are_not_in_the_title() -> None:
    _, fixed = heading_of(plot_trace(traced(point("slip-slip"), samples=50)))
    assert "m = 1 kg" in fixed
    assert "k = " not in fixed


@pytest.mark.broad
@pytest.mark.parametrize(
    ("method", "status"), [("euler", Status.diverged), ("rk54", Status.not_converged)]
)
def test_a_picture_of_a_point_that_is_not_ok_says_why(method: str, status: Status) -> None:
    """Of one without any motion, and of one that ends on its way; over the time asked for."""
    controls = {"step": 6.6e-4, "tangential_stiffness": 9e6, "maximum_steps": 5e4}
    source = {"model": "friction_oscillator", "method": method}
    parameters = {**point("stick-slip"), **controls}
    trace = sweep.trace({**source, "parameters": parameters}, start=4.5, end=6.0, samples=40)
    assert Status(int(trace["status"])) is status
    assert np.isfinite(trace["velocity"]).any() == (status is Status.not_converged)
    figure = plot_trace(trace)
    _, reason = heading_of(figure)
    assert f"{status.name.replace('_', ' ')}: {MODEL.sentences[status]}" in reason
    for axes in figure.axes[:-1]:
        assert axes.get_xlim() == pytest.approx((4.5, 6.0), abs=1e-3)
    for axes in figure.axes:
        assert (len(axes.get_yticks()) == 0) == (status is Status.diverged)
    figure.draw_without_rendering()
    title = figure.texts[0].get_window_extent()
    assert title.x1 <= figure.bbox.x1
    assert title.y0 >= max(axes.get_tightbbox().y1 for axes in figure.axes)


def test_a_picture_shows_the_last_cycles(everything: xr.Dataset) -> None:
    """Eight periods of 1 s from 4 to 12 s."""
    trace = traced(point("stick-slip"), samples=801)
    assert trace.attrs["cycle"] == pytest.approx(1.0, rel=1e-15)
    figure = plot_trace(trace, cycles=3)
    (line, *_) = figure.axes[0].get_lines()
    assert line.get_xdata()[[0, -1]] == pytest.approx([9.0, 12.0], abs=1e-9)
    assert figure.get_suptitle().splitlines()[0].endswith("exact: last 3 of 8 cycles")
    whole = plot_trace(trace)
    assert whole.axes[0].get_lines()[0].get_xdata()[0] == 4.0
    assert "cycles" not in whole.get_suptitle().splitlines()[0]
    assert "cycles" not in plot_trace(trace, cycles=20).get_suptitle().splitlines()[0]


@pytest.mark.broad
def test_the_last_cycles_are_traced(run: Run, tmp_path: Path) -> None:
    trace = traced(point("stick-slip"), samples=11, cycles=2)
    np.testing.assert_allclose(trace["time"], np.linspace(10, 12, 11), rtol=1e-14)
    earlier = traced(point("stick-slip"), samples=11, cycles=0.5, end=7)
    np.testing.assert_allclose(earlier["time"], np.linspace(6.5, 7, 11), rtol=1e-14)
    own = {"angular_frequency": 4.0, "start_cycle": 0, "end_cycle": 5}
    parameters = {k: v for k, v in point("stick-slip").items() if not k.startswith("window")} | own
    counted = traced(parameters, samples=3, cycles=1)
    np.testing.assert_allclose(np.ptp(counted["time"].values), np.pi / 2, rtol=1e-14)
    status, out, _ = run("trace", "wear_power", *AT, "--cycles", "2", "-o", "a.png")
    assert (status, out.splitlines()[-1], Path("a.png").exists()) == (0, "a.png", True)
    status, _, err = run("trace", "wear_power", *AT, "--cycles", "2", "--from", "3")
    assert (status, "leave out one of the two" in err) == (2, True)
    status, _, err = run("trace", "wear_power", *AT, "--cycles", "-2")
    assert (status, "cycles=-2.0 is out of range: give a number above 0" in err) == (2, True)
    status, _, err = run("trace", "sdnd122", "--at", "energy=0.0065", "--cycles", "2")
    assert (status, "give the first and the last time in place of `cycles`" in err) == (2, True)


def test_the_command_draws_few_of_many_cycles(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[float | None] = []
    monkeypatch.setattr(
        "sweep.pictures.traces.plot_trace", lambda _, __, cycles: drawn.append(cycles)
    )
    trace = traced(point("stick-slip"), samples=20)
    save(trace, tmp_path / "a.png")
    save(trace, tmp_path / "a.png", None)
    assert drawn == [SHOWN_CYCLES, None]


def test_numbers_below_the_loop_stand_apart() -> None:
    whole = load("den_hartog").sweep  # traced with all outputs, as other points here: one kernel
    at = {**whole.constants, "friction": 0.2, "angular_frequency": 40.0}
    figure = plot_trace(traced(at, start=0.0, end=1.0))
    figure.draw_without_rendering()
    loop = figure.axes[-1]
    boxes = [label.get_window_extent() for label in loop.get_xticklabels() if label.get_text()]
    boxes_in_loop = [box for box in boxes if loop.bbox.x0 <= (box.x0 + box.x1) / 2 <= loop.bbox.x1]
    assert len(boxes_in_loop) >= 3
    assert all(left.x1 + 5 < right.x0 for left, right in pairwise(boxes_in_loop))


# What is asked for.


def test_a_point_need_not_be_on_the_grid_and_may_have_units() -> None:
    trace = sweep.trace(SMOKE, {"friction": 0.123, "base_acceleration": "150 cm/s^2", "mass": 2})
    assert float(trace["friction"]) == 0.123
    assert float(trace["base_acceleration"]) == 1.5
    assert float(trace["mass"]) == 2.0
    assert trace["time"].size == 2000
    assert (float(trace["time"][0]), float(trace["time"][-1])) == (4.0, 12.0)


def test_times_are_those_requested() -> None:
    times = [0.0, 0.25, 0.5, 12.0]
    assert traced(point("everything"), times=times)["time"].values.tolist() == times
    trace = traced(point("everything"), samples=3, start=1.0, end=2.0)
    assert trace["time"].values.tolist() == [1.0, 1.5, 2.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": [1.0, 0.5]}, "are not a list of ascending numbers"),
        ({"times": []}, "are not a list of ascending numbers"),
        ({"times": [0.0, np.nan]}, "are not a list of ascending numbers"),
        ({"times": 3.0}, "are not a list of ascending numbers"),
        ({"times": [np.nan]}, "is outside the computed range: choose times from 0.0 s to 12.0 s"),
        (
            {"times": [-1.0, 2.0]},
            "from -1.0 s to 2.0 s is outside the computed range: choose times from 0.0 s to 12.0 s",
        ),
        ({"end": 13.0}, "from 4.0 s to 13.0 s is outside"),
        ({"start": 6.0, "end": 6.0}, "from 6.0 s to 6.0 s is empty"),
        ({"samples": 1}, "samples=1 is out of range"),
        ({"samples": "3"}, "samples='3' is not a whole number"),
        ({"samples": 2.5}, "samples=2.5 is not a whole number"),
        ({"times": "x"}, "times='x' is not numeric"),
        ({"start": "4 s"}, "start='4 s' is not numeric"),
        ({"end": [5.0, 6.0]}, "end=.* is not one finite number"),
        ({"end": np.inf}, "end=inf is not one finite number"),
        ({"start": np.nan}, "start=nan is not one finite number"),
        *(
            ({"times": [5.0], **more}, "times cannot be combined with samples")
            for more in ({"samples": 7}, {"start": 4.0})
        ),
        *(({"at": at}, "Give values by name, as a dict") for at in ([3], "friction=0.1")),
    ],
)
def test_wrong_arguments_of_a_trace_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SweepError, match=message):
        traced(point("everything"), **options)


def test_faults_of_the_point_are_all_reported_with_their_place() -> None:
    with pytest.raises(ConfigError) as caught:
        sweep.trace(SMOKE, {"frction": 0.1, "mass": "2 m", "friction": -1})
    message = str(caught.value)
    assert "3 faults" in message
    assert (
        "at frction: friction_oscillator has no such parameter; did you mean 'friction'" in message
    )
    assert "at mass: '2 m' has the wrong dimension" in message
    assert "at friction: -1 is out of range" in message


def test_a_method_that_cannot_be_traced_is_refused() -> None:
    blind = replace(MODEL.methods[0], name="blind", traced=False)
    able = replace(MODEL, methods=(blind, *MODEL.methods))
    with pytest.raises(SweepError, match="method 'blind' of friction_oscillator cannot be traced"):
        trace_point(replace(sweep_over(), model=able, method=blind))
    with pytest.raises(SweepError, match="override `method` with one of exact"):
        trace_point(replace(sweep_over(), model=able, method=blind))


# The command.


def test_the_command_prints_a_table_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    status, out, err = run("trace", SMOKE, *AT, "--samples", "100")
    assert (status, err) == (0, "")
    head, *rows = out.splitlines()
    assert head.split() == ["observable", "least", "mean", "greatest", "unit", "meaning"]
    assert [row.split()[0] for row in rows] == [
        *(observable.name for observable in MODEL.observables if not observable.flags), "stuck:",
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_the_command_for_programs(run: Run) -> None:
    window = ("--from", "1", "--to", "2", "--samples", "9")
    status, out, _ = run("trace", SMOKE, *AT, *window, "--json")
    summary = json.loads(out)
    assert status == 0
    asked = {name: summary[name] for name in ("from", "to", "samples", "file")}
    assert asked == {"from": 1.0, "to": 2.0, "samples": 9, "file": None}
    assert summary["parameters"]["base_acceleration"] == 15.0
    assert summary["status"]["name"] == "ok"
    units = {each["name"]: each["unit"] for each in summary["observables"]}
    assert units == {observable.name: observable.unit for observable in MODEL.observables}


def test_printed_means_are_those_over_the_window(run: Run) -> None:
    """The first and the last sample are one moment of the cycle, so that it counts once."""
    _, out, _ = run("trace", SMOKE, *AT, "--json")
    means = {each["name"]: each.get("mean") for each in json.loads(out)["observables"]}
    at = [f"{name}={{ values = [{value}] }}" for name, value in AXES]
    power = float(sweep.run(SMOKE, at, store=None)["wear_power"].squeeze())
    assert means["base_velocity"] == pytest.approx(0.0, abs=1e-13)
    assert means["wear_rate"] == pytest.approx(power, rel=1e-5)


def test_the_command_tells_of_a_point_that_is_not_ok(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("trace", SMOKE, *AT, "--set", "stiffness=1e30", "-o", "a.nc")
    assert status == 1
    assert "outside_validity: the spring is too strong: stiffness/mass is above 1e12" in out
    assert "stuck:" not in out  # of no moment
    assert (tmp_path / "a.nc").exists()


def test_no_figure_is_a_negative_zero(run: Run) -> None:
    """Of a mass that sticks all the time."""
    arguments = ("trace", SMOKE, "--at", "friction=0.5", "--at", "base_acceleration=1")
    _, out, _ = run(*arguments)
    assert re.search(r"velocity +0 +0 +0 ", out)
    assert "-0.0," not in run(*arguments, "--json")[1]


def test_an_axis_of_one_value_is_that_value(run: Run) -> None:
    """A sample of one point, too; only what has several values is asked for."""
    settings = [
        f"{name}={{ values = [{value}] }}" for name, value in (("friction", 0.1), ("mass", 2))
    ]
    single = ["friction=0.1", "mass=2"]
    at = {"base_acceleration": 15.0}
    trace, expected = (sweep.trace(SMOKE, at, each, samples=9) for each in (settings, single))
    xr.testing.assert_identical(trace, expected)
    _, out, _ = run("trace", SMOKE, "--at", "base_acceleration=15", "--set", settings[0], "--json")
    assert json.loads(out)["parameters"]["friction"] == 0.1
    sample = {"method": "sobol", "points": 1, "friction": {"uniform": [0.1, 0.3]}}
    drawn = {"model": MODEL.name, "parameters": {**SDND104, **at}, "sample": sample}
    drawn["parameters"].pop("friction", None)
    assert float(sweep.trace(drawn, samples=9)["friction"]) == 0.1  # where Sobol's begins
    with pytest.raises(SweepError) as refused:
        sweep.trace(SMOKE, {}, settings)
    detail = (
        "base_acceleration has 7 values from 0.5 to 15. Give one value of base_acceleration (at)"
    )
    assert str(refused.value) == f"a trace shows one point, and the sweep has several: {detail}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give one value of friction, base_acceleration (at)"),
        ([*AT, "-o", "a.xyz"], "use one of .nc, .zarr, .csv, .png, .pdf, .svg"),
        ([*AT, "--at", "mass"], "at mass: not name=value; write name=value"),
        ([*AT, "--at", "method=exact"], "a point has values of parameters; override method="),
        ([*AT, "--at", "run.workers=2"], "a point has values of parameters"),
        ([*AT, "--at", "mass={ values = [1, 2] }"], "mass has 2 values from 1 to 2"),
        ([*AT, "--set", "mass=1"], ""),
        ([*AT, "--set", "friction=0.2"], "at friction=0.1: given twice: a point has"),
        ([*AT, "--set", "axes.friction={ values = [1] }"], "at friction=0.1: given twice"),
        ([*AT, "--at", "friction=0.1"], "at friction=0.1: given twice: a point has one"),
        ([*AT, "--at", "parameters.friction=1"], "at parameters.friction=1: given twice"),
        ([*AT, "--at", "friction={ values = [1] }"], "= [1] }: given twice"),
        ([*AT, "--samples", "1"], "invalid value for '--samples'"),
        ([*AT, "--samples", "99999999999"], "from 2 to 100,000,000"),
    ],
)
def test_a_broken_trace_is_refused(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    status, _, err = run("trace", SMOKE, *arguments)
    assert status == (2 if message else 0)
    assert message in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_is_heard(tmp_path: Path) -> None:
    """A trace of 1e9 cycles, which would take many minutes."""
    late = ("--at", "window_start=0", "--at", "window_end=9e8")
    command = ["-m", "sweep", "trace", SMOKE, *AT, *late, "-o", "a.nc"]
    running = Forked(command, cwd=tmp_path, env=environment(), stdout=PIPE, stderr=PIPE)
    end = time.monotonic() + 60
    while not has_loaded_a_kernel(running.pid):
        assert running.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=10)
    assert (running.returncode, out) == (130, "")
    assert err == "stopped by Ctrl-C: nothing was written\n"
    assert list(tmp_path.iterdir()) == []


def has_loaded_a_kernel(pid: int) -> bool:
    """Whether a process is about to compute, or computes."""
    mapped = psutil.Process(pid).memory_maps()
    return any(Path(each.path).parent == cache_folder() for each in mapped)
