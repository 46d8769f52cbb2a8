"""Signals of models from files: names whose values over time are those of a table."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import sweep
from sweep.equations.system_file import system_of_text
from sweep.errors import ConfigError
from sweep.file import load
from sweep.file.model_file import read_model, read_system_file
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.gpu import GpuBackend
from sweep.model.table import Status
from sweep.points.chunking import chunk_at
from sweep.points.columns import points
from sweep.results.summary import contents
from tests.cases import Case, bits_of, differing
from tests.equations.examples import methods
from tests.gpu.twin import TwinDevice
from tests.kernel.same_bits import target_faults

RANDOM = np.random.default_rng(8)
TIMES = np.concatenate([[0.0], np.cumsum(RANDOM.uniform(0.1, 0.4, 30))])
GROUND = np.sin(2 * TIMES) + RANDOM.uniform(-0.3, 0.3, TIMES.size)
END = 4.0
MODEL: dict[str, Any] = {
    "format": 1, "name": "shaken",
    "parameters": {"omega": {"unit": "1/s", "minimum": 0}},
    "states": {
        "x": {"unit": "m", "initial": "0"}, "v": {"unit": "m/s", "initial": "0"},
    },
    "derivatives": {"x": "v", "v": "-omega**2*x - 0.4*omega*v - ground"},
    "events": [{"name": "strong", "when": "ground", "direction": "rising"}],
    "outputs": {
        "last": {"final": "x", "unit": "m"},
        "speed": {"final": "v", "unit": "m/s"},
        "shaking": {"mean": "abs(ground)", "unit": "m/s^2"},
        "strongest": {"maximum": "ground", "unit": "m/s^2"},
        "strong_shakes": {"count": "strong"},
        "instants": {"values": "t", "every": "strong", "keep": 3, "unit": "s"},
    },
}  # fmt: skip


def model(interpolation: str = "linear") -> dict[str, Any]:
    samples = {"times": TIMES.tolist(), "values": GROUND.tolist()}
    ground = {**samples, "unit": "m/s^2", "interpolation": interpolation}
    return {**MODEL, "signals": {"ground": ground}}


CURVES = {
    "linear": lambda t: np.interp(t, TIMES, GROUND),
    "cubic": CubicSpline(TIMES, GROUND, bc_type="natural"),
}
CONTROLS: dict[str, dict[str, float]] = {
    "rk54": {"relative_tolerance": 1e-12}, "dop853": {"relative_tolerance": 1e-12},
    "rodas4": {"relative_tolerance": 1e-10}, "rk4": {"step": 1e-3},
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "interpolation"),
    [
        ("rk54", "cubic"),
        ("rk4", "linear"),
        ("rodas4", "cubic"),
        pytest.param("rk54", "linear", marks=pytest.mark.broad),
        pytest.param("dop853", "cubic", marks=pytest.mark.broad),
    ],
)
def test_motions_are_those_of_another_solver(method: str, interpolation: str) -> None:
    """From sample to sample, so that the right-hand side is smooth."""
    curve: Any = CURVES[interpolation]
    state = np.zeros(2)
    for a, b in pairwise(TIMES):
        end = min(float(b), END)
        state = solve_ivp(
            lambda t, y: [y[1], -9.0 * y[0] - 1.2 * y[1] - float(curve(t))], (a, end), state,
            method="DOP853", rtol=1e-12, atol=1e-14,
        ).y[:, -1]  # fmt: skip
        if end == END:
            break
    parameters = {"omega": 3.0, "window_start": 0, "window_end": END, **CONTROLS[method]}
    source = {"model": model(interpolation), "method": method, "parameters": parameters}
    outputs = sweep.run(source, store=None)
    tight = 1e-6 if method == "rk4" else 1e-7
    assert [float(outputs["last"]), float(outputs["speed"])] == pytest.approx(state, rel=tight)
    fine = np.linspace(0, END, 400_001)
    assert float(outputs["shaking"]) == pytest.approx(np.mean(np.abs(curve(fine))), rel=1e-5)
    values = curve(fine)
    if method != "rk4":  # whose steps pass over samples, where a linear one has its maxima
        strongest = max(values.max(), GROUND[END >= TIMES].max())
        assert float(outputs["strongest"]) == pytest.approx(strongest, rel=1e-8)
    places = np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0))
    assert float(outputs["strong_shakes"]) == places.size >= 1
    instants = outputs["instants"].values[~np.isnan(outputs["instants"].values)]
    np.testing.assert_allclose(instants, fine[places][-instants.size :], atol=2e-5)


@methods("rk54", without="rk4")
def test_a_pulse_after_rest_is_not_passed_over(method: str) -> None:
    """Nor a second one, against a solver that ends at every sample; the area is exact."""
    times = [0.0, 5.0, 5.05, 5.1, 9.0, 9.02, 9.04, 20.0]
    ground = [0.0, 0.0, 20.0, 0.0, 0.0, -5.0, 0.0, 0.0]
    state = np.zeros(2)
    for a, b in pairwise(times[:-1]):
        state = solve_ivp(
            lambda t, y: [y[1], -4 * y[0] - 0.8 * y[1] - float(np.interp(t, times, ground))],
            (a, b), state, method="DOP853", rtol=1e-12, atol=1e-14,
        ).y[:, -1]  # fmt: skip
    samples = {"times": times, "values": ground, "unit": "m/s^2"}
    source = {
        "model": {**MODEL, "signals": {"ground": samples}},
        "method": method,
        "parameters": {"omega": 2.0, "window_end": times[-2], "relative_tolerance": 1e-10},
    }
    outputs = sweep.run(source, store=None)
    assert [float(outputs["last"]), float(outputs["speed"])] == pytest.approx(state, rel=1e-7)
    area = 20 * 0.1 / 2 + 5 * 0.04 / 2
    assert float(outputs["shaking"]) * times[-2] == pytest.approx(area, rel=1e-12)
    assert float(outputs["strongest"]) == pytest.approx(20.0, rel=1e-12)


def test_bits_depend_on_no_width_budget_neighbour_or_gpu() -> None:
    parameters = {"window_start": 0, "relative_tolerance": 1e-6}
    cases = {"omega": {"linspace": [1, 5, 9]}, "window_end": {"linspace": [2, 6, 9]}}
    source = {"model": model("cubic"), "parameters": parameters, "axes": {"case": cases}}
    planned = load(source).sweep
    case = Case(
        "shaken", planned, points(planned, chunk_at((0,), planned.grid.shape, planned.grid.shape))
    )
    small = CpuTarget(width=2, pack=1)
    bits = bits_of(planned, case.points, small)
    assert (bits["status"] == Status.ok).all()
    assert target_faults(case, bits, small) == []
    assert differing(bits, bits_of(planned, case.points)) == []  # and on the widest
    on_gpu = dict(GpuBackend(TwinDevice(), 50).compute(planned, case.points).arrays)
    assert differing(bits, on_gpu) == []


def test_a_window_beyond_the_samples_is_outside_validity() -> None:
    parameters = {"omega": 3.0, "window_start": 0}
    ends = {"values": [float(TIMES[-1]), float(TIMES[-1]) + 0.01]}
    source = {"model": model("cubic"), "parameters": parameters, "axes": {"window_end": ends}}
    dataset = sweep.run(source, store=None)
    assert dataset["status"].values.tolist() == [Status.ok, Status.outside_validity]


def test_samples_that_end_before_a_constant_window_are_refused() -> None:
    source = {"model": model(), "parameters": {"omega": 3.0, "window_end": 9}}
    with pytest.raises(ConfigError) as caught:
        load(source)
    (fault,) = caught.value.faults
    assert fault.where == "[parameters] window_end"
    last = float(TIMES[-1])
    assert f"the motion ends at 9 s, the samples of ground at {last!r} s" in str(fault)
    cycles = {"omega": 2.0, "end_cycle": 3}  # 3 pi = 9.4
    source = {"model": model() | {"period": "2*pi/omega"}, "parameters": cycles}
    with pytest.raises(ConfigError, match=r"the motion ends at 9\.4247779607"):
        load(source)


def test_samples_may_end_before_a_window_that_an_event_ends() -> None:
    stop = {"name": "stop", "when": "t - limit", "direction": "rising", "stop": True}
    parameters = MODEL["parameters"] | {"limit": {"unit": "s", "default": 2}}
    changed = model() | {"parameters": parameters, "events": [*MODEL["events"], stop]}
    source = {"model": changed, "parameters": {"omega": 3.0, "window_end": 9}}
    assert int(sweep.run(source, store=None)["status"]) == Status.ok


def test_the_cause_of_a_point_outside_validity_is_named() -> None:
    changed = model() | {"period": "2*pi/omega", "parameters": {"omega": {"unit": "1/s"}}}
    source = {"model": changed, "axes": {"omega": {"values": [2.0, -2.0]}}}
    dataset = sweep.run({**source, "parameters": {"end_cycle": 3.0}}, store=None)  # 3 pi = 9.4
    assert (dataset["status"] == Status.outside_validity).all()
    last = f"ground ends at {float(TIMES[-1])!r} s, before the motion"
    assert contents(dataset).causes == {last: 1, "the period has to be above 0": 1}


def test_the_model_contains_the_samples_of_a_file(tmp_path: Path) -> None:
    rows = [f"{t!r},{a!r}" for t, a in zip(TIMES.tolist(), GROUND.tolist(), strict=True)]
    (tmp_path / "quake.csv").write_text("\n".join(["t,a", *rows]))
    source = {"file": "quake.csv", "time": "t", "column": "a", "unit": "m/s^2"}
    parsed_model = read_model({**MODEL, "signals": {"ground": source}}, tmp_path)
    assert parsed_model.text == read_model(model(), tmp_path).text
    system = system_of_text(parsed_model.text)
    assert system.signals[0].table.values == tuple(GROUND.tolist())
    assert system.text == parsed_model.text


def test_zeros_of_samples_keep_their_signs() -> None:
    ground = {"times": [0, 1], "values": [-0.0, 1], "unit": "m/s^2"}
    parsed_model = read_model({**MODEL, "signals": {"ground": ground}}, Path())
    assert "values = [-0.0, 1.0]" in parsed_model.text  # as in stores


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"times": [0, 1]}, "signals.ground.values: missing; write values"),
    ({"times": [0, math.nan], "values": [1, 2]}, "signals.ground.times: not a list of finite"),
    ({"times": [0, 10**400], "values": [1, 2]}, "signals.ground.times: not a list of finite"),
    ({"times": [0, 1], "values": [1, True]}, "signals.ground.values: not a list of finite"),
    ({"times": [0, 2, 1], "values": [1, 2, 3]}, "signals.ground.times: times do not increase"),
    ({"times": [0, 1, 1], "values": [1, 2, 3]}, "ground.times: it jumps at 1.0 s, at its first or"),
    ({"times": [0, 0, 1], "values": [1, 2, 3]}, "ground.times: it jumps at 0.0 s, at its first or"),
    ({"times": [0, 1, 1, 1, 2], "values": [1, 2, 3, 4, 5]}, "times: three samples are at 1.0 s"),
    ({"times": [0, 1], "values": [1, 2], "interpolation": "prev"}, "interpolation: 'prev' is unkn"),
    ({"times": [1, 2], "values": [1, 2]}, "signals.ground.times: it begins at 1.0 s"),
    ({"file": "none.csv", "time": "t", "column": "a"}, "signals.ground: file '.*cannot be read"),
    (
        {"file": "none.csv", "time": "t", "column": "a", "times": [0, 1], "values": [1, 2]},
        "signals.ground: file, times exclude each other",
    ),
    ({"file": "none.csv", "time": "t"}, "signals.ground: file needs the names of two columns"),
]


@pytest.mark.parametrize(("signal", "gist"), FAULTS)
def test_a_faulty_signal_is_reported_with_its_cure(
    signal: dict[str, Any], gist: str, tmp_path: Path
) -> None:
    entry = {"unit": "m/s^2", **signal}
    with pytest.raises(ConfigError, match=gist):
        read_system_file({**MODEL, "signals": {"ground": entry}}, tmp_path)


def test_all_faults_of_signals_are_reported_at_once(tmp_path: Path) -> None:
    missing = {"file": "none.csv", "time": "t", "column": "a", "unit": "m/s^2", "untit": 1}
    signals = {"ground": missing, "roof": {"times": [0, 1], "values": [1]}}
    with pytest.raises(ConfigError) as error:
        read_system_file({**MODEL, "signals": signals}, tmp_path)
    places = [fault.where for fault in error.value.faults]
    assert places == ["signals.ground", "signals.ground.untit", "signals.roof.times"]


def test_a_signal_has_a_unit_and_no_constant_value() -> None:
    wrong = model()
    wrong["signals"]["ground"]["unit"] = "m/s"
    with pytest.raises(ConfigError, match=r"derivatives.v: .*m/s"):
        read_system_file(wrong, Path())
    early = model() | {"period": "ground"}
    with pytest.raises(ConfigError, match="'ground' is a signal, which cannot stand here"):
        read_system_file(early, Path())
