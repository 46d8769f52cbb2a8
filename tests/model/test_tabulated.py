"""Excitation by a table over time: kernels against plain Python, bits, stores, faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import sweep
from sweep.errors import ConfigError, SweepError
from sweep.file import load
from sweep.kernel.cpu import CpuTarget
from sweep.model.table import Status
from sweep.points.chunking import chunk_at
from sweep.points.columns import points
from sweep.points.recipes import fingerprint, recipe
from sweep.store import Store
from tests.cases import Case, bits_of, differing
from tests.cases.friction_oscillator import PENALISED, STEPPING
from tests.gpu.twin import TwinDevice
from tests.kernel.same_bits import target_faults
from tests.oracles import penalised_schemes

OUTPUTS = [
    "wear_power", "friction_power", "slip_distance", "stick_fraction", "slip_phases",
    "peak_slip_speed", "regime",
]  # fmt: skip
SMALL = CpuTarget(width=2, pack=1)
RANDOM = np.random.default_rng(5)
TIMES = np.concatenate([[0.0], np.cumsum(RANDOM.uniform(0.01, 0.12, 40))])
QUAKE = 4 * np.sin(7 * TIMES) + RANDOM.uniform(-2, 2, TIMES.size)
POINT: dict[str, Any] = {
    "mass": 1.3, "gravity": 9.0, "stiffness": 20.0, "damping": 0.4, "window_start": 0.2,
}  # fmt: skip
CASE = {"friction": [0.05, 0.2, 0.9, 0.21], "window_end": [0.9, 1.3003, 1.1, 0.7]}


def table(interpolation: str = "linear", values: Any = QUAKE) -> dict[str, Any]:
    return {"times": TIMES.tolist(), "values": list(values), "interpolation": interpolation}


def source(method: str, interpolation: str = "linear", **controls: float) -> dict[str, Any]:
    usual = {"step": 1e-3, **controls}
    if method != "moreau":
        usual = {"tangential_stiffness": 2e4, "tolerance": math.inf, **usual}
    return {
        "model": "friction_oscillator", "method": method, "outputs": OUTPUTS,
        "parameters": {**POINT, **usual, "base_acceleration": table(interpolation)},
        "axes": {"case": {name: {"values": each} for name, each in CASE.items()}},
    }  # fmt: skip


def as_case(request: dict[str, Any]) -> Case:
    planned = load(request).sweep
    whole = chunk_at((0,) * len(planned.axes), planned.grid.shape, planned.grid.shape)
    return Case(request["method"], planned, points(planned, whole))


def linear(time: float) -> float:
    return float(np.interp(time, TIMES, QUAKE))


SPLINE = CubicSpline(TIMES, QUAKE, bc_type="natural")
CURVES: dict[str, Callable[[float], float]] = {
    "linear": linear,
    "cubic": lambda t: float(SPLINE(t)),
}
CASES = [
    ("euler", "cubic", {"blocks": 3}),
    ("moreau", "linear", {}),
    *(
        pytest.param(*case, marks=pytest.mark.broad)
        for case in (
            *((name, "linear", {}) for name in PENALISED),
            ("moreau", "cubic", {}),
            ("rk54", "linear", {"tolerance": 1e-5, "maximum_step": 1e-3}),
            ("rk32", "cubic", {"tolerance": 1e-4, "maximum_step": 1e-3, "blocks": 2}),
            ("adapt_ordre2", "linear", {"tolerance": 1.0, "maximum_step": 1e-3}),
        )
    ),
]


@pytest.mark.parametrize(("method", "interpolation", "controls"), CASES)
def test_every_scheme_is_that_of_plain_python(
    method: str, interpolation: str, controls: dict[str, float]
) -> None:
    outputs = bits_of(*_of(source(method, interpolation, **controls)), SMALL)
    assert (outputs["status"] == Status.ok).all()
    slow = 1e-3  # of a sinusoid that limits no step; its sine is the table at the angle over it
    oracle_controls = {"step": 1e-3, **controls}
    if method == "moreau":
        oracle_controls["theta"] = 0.55
    else:
        oracle_controls["tangential_stiffness"] = 2e4
    for i, (friction, end) in enumerate(zip(*CASE.values(), strict=True)):
        point = {
            "m": 1.3, "g": 9.0, "mu": friction, "k": 20.0, "c": 0.4, "a0": 1.0, "w": slow,
            "av": 0.0, "phi": 0.0, "t0": 0.2, "t1": end,
        }  # fmt: skip
        plain: Any = penalised_schemes.run(
            method, point, sine=lambda angle: CURVES[interpolation](angle / slow), **oracle_controls
        )
        for name in OUTPUTS:
            assert float(outputs[name][i]) == pytest.approx(plain[name], rel=1e-8, abs=1e-10), name


def _of(request: dict[str, Any]) -> tuple[Any, Any]:
    case = as_case(request)
    return case.sweep, case.points


@pytest.mark.parametrize(
    ("method", "controls"),
    [
        ("euler", {}),
        pytest.param("rk32", {"tolerance": 1e-4, "blocks": 2}, marks=pytest.mark.broad),
    ],
)
def test_bits_depend_on_no_width_budget_neighbour_or_gpu(
    method: str, controls: dict[str, float]
) -> None:
    from sweep.kernel.gpu import GpuBackend

    case = as_case(source(method, "cubic", maximum_step=1e-3, **controls))
    bits = bits_of(case.sweep, case.points, SMALL)
    assert target_faults(case, bits, SMALL) == []
    wide = bits_of(case.sweep, case.points, CpuTarget(width=8, pack=1))
    assert differing(bits, wide) == []
    on_gpu = dict(GpuBackend(TwinDevice(), 50).compute(case.sweep, case.points).arrays)
    assert differing(bits, on_gpu) == []


def test_methods_are_compared_under_the_same_table() -> None:
    dataset = sweep.run(source("moreau", step=1e-4), store=None)
    controls = {"tangential_stiffness": 2e4, "step": 1e-4, "tolerance": math.inf}
    other = sweep.compare(dataset, "euler", controls)
    assert 0 < abs(other["wear_power_error"]).max() < 0.05
    with pytest.raises(SweepError, match="method 'exact' needs a sinusoid"):
        sweep.compare(dataset, "exact")


def test_each_library_of_a_process_has_its_own_table() -> None:
    """Of the same length: a static array of an inline function is one for all libraries."""
    powers: list[float] = []
    for scale in (1, 2, 1):
        request = source("moreau")
        request["parameters"]["base_acceleration"] = table(values=scale * QUAKE)
        request["axes"] = {}
        request["parameters"] |= {"friction": 0.05, "window_end": 1.3}
        powers.append(float(bits_of(*_of(request), SMALL)["wear_power"][0]))
    assert powers[0] == powers[2] < 0.9 * powers[1]


# Sweeps.


def written(folder: Path, **changes: str) -> Path:
    """A sweep file beside the table in a CSV file; the file is in a folder of its own."""
    (folder / "data").mkdir()
    rows = [f"{t!r},{a!r}" for t, a in zip(TIMES.tolist(), QUAKE.tolist(), strict=True)]
    (folder / "data" / "quake.csv").write_text("\n".join(["t,a", *rows]))
    entries = {
        **{name: str(value) for name, value in POINT.items()}, "friction": "0.2",
        "base_acceleration": '{ file = "data/quake.csv", time = "t", column = "a" }',
        "step": "1e-3", "window_end": "1.3", **changes,
    }  # fmt: skip
    lines = [f"{name} = {value}" for name, value in entries.items() if value]
    head = ['model = "friction_oscillator"', 'method = "moreau"', "format = 1", "[parameters]"]
    (folder / "quake.toml").write_text("\n".join([*head, *lines]))
    return folder / "quake.toml"


def test_a_store_keeps_the_table(tmp_path: Path) -> None:
    file, path = written(tmp_path), tmp_path / "a.zarr"
    dataset = sweep.run(file, store=path)
    assert math.isnan(float(dataset["base_acceleration"]))
    planned = load(file).sweep
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    stored = Store.open(path).sweep
    assert stored.table == planned.table
    assert fingerprint(recipe(load(path).sweep)) == fingerprint(recipe(planned))
    again = sweep.run(path, store=None)
    assert float(again["wear_power"]) == float(dataset["wear_power"]) > 0
    traced = sweep.trace(path, samples=2001)
    wear_rate = traced["wear_rate"].values
    assert np.trapezoid(wear_rate, traced["time"]) / 1.1 == pytest.approx(
        float(dataset["wear_power"]), rel=2e-3
    )
    other = load(file, ["base_acceleration={ times = [0, 2], values = [1, 3] }"]).sweep
    assert any("table" in difference for difference in Store.open(path).made_by.differences(other))


def test_its_content_counts_and_not_its_path(tmp_path: Path) -> None:
    planned = load(written(tmp_path)).sweep
    inline = load(tmp_path / "quake.toml", [f"base_acceleration={_toml(QUAKE)}"]).sweep
    assert fingerprint(recipe(inline)) == fingerprint(recipe(planned))
    changed = QUAKE.copy()
    changed[7] = np.nextafter(changed[7], 9)
    other = load(tmp_path / "quake.toml", [f"base_acceleration={_toml(changed)}"]).sweep
    assert fingerprint(recipe(other)) != fingerprint(recipe(planned))


def _toml(values: Any) -> str:
    return f"{{ times = {TIMES.tolist()}, values = {values.tolist()} }}"


def test_a_window_beyond_the_table_is_outside_validity() -> None:
    """Where it is not known in advance."""
    request = source("moreau")
    request["axes"] = {"friction": {"values": [0.1, 0.4]}}
    request["derived"] = {"window_end": f"{float(TIMES[-1])}/0.3*friction"}
    dataset = sweep.run(request, store=None)
    assert dataset["status"].values.tolist() == [Status.ok, Status.outside_validity]


FAULTS = [
    ("{ file = \"data/none.csv\", time = \"t\", column = \"a\" }", "cannot be read: No such file"),
    ("{ file = \"data/quake.csv\", time = \"t\", column = \"b\" }", "column 'b' is missing"),
    ("{ file = \"data/quake.csv\", time = \"t\" }", "file needs the names of two columns"),
    ("{ times = [0, 1, 1, 5], values = [1, 2, 3, 4] }", "do not increase: sample 3 is at 1.0"),
    ("{ times = [0, 5], values = [1, nan] }", "value 2: nan is not a finite number"),
    ("{ times = [0, 5], values = [1] }", "2 times and 1 values; give as many"),
    ("{ times = [], values = [] }", "0 samples; give 2 to 100,000"),
    ("{ times = [0.1, 5], values = [1, 2] }", "begins at 0.1 s, but the motion at 0 s"),
    ("{ times = [0, 1], values = [1, 2] }", "last sample is at 1.0 s, before window_end = 1.3"),
    ("{ times = [0, 5], values = [1, 2], interpolation = 3 }", "interpolation: 3 is not"),
    ("{ }", "one of file, times"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "gist"), FAULTS)
def test_a_faulty_table_is_reported_with_its_cure(entry: str, gist: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, base_acceleration=entry))
    assert [str(each) for each in caught.value.faults if gist in str(each)], caught.value.faults
    assert str(caught.value.faults[0]).startswith("[parameters] base_acceleration: ")


OTHERS = [
    (
        {"angular_frequency": "6.0"},
        "angular_frequency: base_acceleration is a table, not a sinusoid",
    ),
    ({"vertical_acceleration": "1.0"}, "vertical_acceleration: base_acceleration is a table"),
    ({"window_end": "", "window_start": "", "start_cycle": "1", "end_cycle": "2"},
     "a table has no cycles; give window_start, window_end instead"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "gist"), OTHERS)
def test_parameters_without_meaning_for_a_table_are_refused(
    changes: dict[str, str], gist: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=gist):
        load(written(tmp_path, **changes))


def test_parameters_without_meaning_for_a_faulty_table_are_refused_at_once(tmp_path: Path) -> None:
    changes = {"base_acceleration": "{ times = [0, 1], values = [1] }", "phase": "1.0"}
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, **changes))
    places = [fault.where for fault in caught.value.faults]
    assert places == ["[parameters] base_acceleration", "[parameters] phase"]


def test_exact_methods_refuse_a_table(tmp_path: Path) -> None:
    gist = f"method exact needs a sinusoid; a table is possible with method {STEPPING[0]}, "
    with pytest.raises(ConfigError, match=gist):
        load(written(tmp_path, step=""), ["method=exact"])
