"""Conditions of a right model: points that violate one are outside validity, and are counted."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import sweep
from sweep.cli import main
from sweep.model.table import Status
from sweep.results.summary import contents, trace_contents
from tests.equations.examples import points

# x = a sin t: two holds along the motion, one of a switch, one of what an event sets.
SWING = """
format = 1
name = "swing"
time_unit = "1"
[parameters]
a = {}
jump = { default = 0 }
late = { default = 9 }
[states]
x = { initial = "0" }
v = { initial = "a" }
n = { initial = "0" }
[switches]
lamp = { values = ["off", "on"] }
[derivatives]
x = "v"
v = "-x"
n = "0"
[[events]]
name = "light"
when = "t - late"
direction = "rising"
set = { lamp = "on", n = "jump" }
[outputs]
x_end = { final = "x" }
[holds]
near = { condition = "abs(x) < 0.5", meaning = "it swings too far" }
slow = { condition = "not (v <= -0.2 and x > 0)", meaning = "it is too fast" }
dark = { condition = "lamp == off or a > 0.1", meaning = "the lamp is on" }
small = { condition = "n*n <= 1 and floor(n) != -1" }
start = { condition = "t > 1e-3 or a < 0.97" }
"""
AMPLITUDES = np.linspace(0, 1, 41)


def control(method: str) -> dict[str, float]:
    return {"step": 0.05} if method == "rk4" else {"relative_tolerance": 1e-9}


@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_every_violation_is_found_and_named(method: str) -> None:
    """All of the motion counts, before the window too; a point counts for what comes first."""
    motion = points(
        tomllib.loads(SWING), method, {"a": AMPLITUDES}, window_start=2.4, window_end=2.5,
        late=0.1, **control(method),
    )  # fmt: skip
    a = AMPLITUDES
    fast = a * abs(np.cos(2.5)) >= 0.2
    causes = {
        "start: start": a >= 0.97,
        "dark: the lamp is on": a <= 0.1,
        "near: it swings too far": (a > 0.5) & (a < 0.97),
        "slow: it is too fast": fast & (a <= 0.5) & (a > 0.1),
    }
    outside = np.logical_or.reduce([*causes.values()])
    np.testing.assert_array_equal(motion.status, np.where(outside, Status.outside_validity, 0))
    assert contents(motion).causes == {name: int(each.sum()) for name, each in causes.items()}


@pytest.mark.parametrize(
    ("jump", "cause"), [(1.0, ""), (-1.0, "small"), (-0.5, "small"), (2, "small")]
)
def test_what_an_event_sets_is_checked(jump: float, cause: str) -> None:
    request = {"model": tomllib.loads(SWING),
               "parameters": {"a": 0.2, "jump": jump, "late": 0.1, "window_end": 1.0}}  # fmt: skip
    trace = sweep.trace(request, samples=3)
    assert trace.status == (Status.outside_validity if cause else Status.ok)
    assert trace_contents(trace).causes == ({f"{cause}: {cause}": 1} if cause else {})


# Where a ball bounces it stays at or above the floor to rounding, with any scheme.
FLOOR = """
format = 1
name = "ball"
time_unit = "1"
[parameters]
r = { default = 0.8 }
[states]
x = { initial = "1" }
v = { initial = "0" }
[derivatives]
x = "v"
v = "-2"
[[events]]
name = "impact"
when = "x - 0.3"
direction = "falling"
set = { v = "-r*v" }
[outputs]
x_end = { final = "x" }
[holds]
above = { condition = "x >= 0.3" }
downward = { condition = "v < 0 or x > 0.3 or v > 0 and t > 0" }
"""


@pytest.mark.parametrize("method", ["rk54", "rk4", "dop853"])
def test_zero_has_a_width(method: str) -> None:
    r = np.linspace(0.7, 1.0, 40)
    motion = points(tomllib.loads(FLOOR), method, {"r": r}, window_end=4.0, **control(method))
    assert not motion.status.any()


def test_a_run_prints_what_is_violated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "swing.toml"
    model.write_text(SWING)
    file = tmp_path / "sweep.toml"
    file.write_text(
        'format = 1\nmodel = "./swing.toml"\n[parameters]\nwindow_end = 1.5\n[axes]\n'
        "a = { values = [0.2, 0.6, 0.7] }\n"
    )
    for arguments in (["run", "-o", str(tmp_path / "a.zarr")], ["trace", "--at", "a=0.6"]):
        status = main([arguments[0], str(file), *arguments[1:]])
        printed = " ".join("".join(capsys.readouterr()).split())
        assert "near: it swings too far" in printed, status
