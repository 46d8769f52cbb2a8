"""Sines and cosines of phases that grow evenly with time, which rk4 turns from node to node."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sweep.equations.cpp_header import header_of
from sweep.equations.system_file import system_of_text
from tests.equations.examples import points

FORCED = """
format = 1
name = "forced"
title = "an integral of waves"
time_unit = "1"
[parameters]
omega = {}
shift = { default = 0.3 }
[definitions]
phase = { value = "shift - omega*t/2" }
[states]
y = { initial = 0 }
[derivatives]
y = "cos(omega*t) + 2*sin(phase)"
[outputs]
final_y = { final = "y" }
"""
OMEGA = np.array([0.1, 1.0, 7.0, 300.0])


def simpson(omega: float, shift: float, step: float, steps: int) -> float:
    """The steps of rk4 where rates depend on time alone, each sine computed anew."""

    def rate(t: float) -> float:
        return math.cos(omega * t) + 2 * math.sin(shift - 0.5 * omega * t)

    times = [step * i for i in range(steps)]
    return math.fsum(
        step / 6 * (rate(t) + 4 * rate(t + 0.5 * step) + rate(t + step)) for t in times
    )


@pytest.mark.parametrize("steps", [1, 2, 31, 33, 20_000])
def test_waves_stay_those_of_their_phases(steps: int) -> None:
    """A step is 2⁻¹⁰, so that times are exact and rounding is that of sums and waves alone."""
    step = 2.0**-10
    motion = points(FORCED, "rk4", {"omega": OMEGA}, step=step, window_end=steps * step)
    expected = [simpson(omega, 0.3, step, steps) for omega in OMEGA]
    error = np.abs(motion["final_y"].values - expected)
    assert error.max() < 1e-15 + 2e-14 * 3 * steps * step


def test_strides_and_single_steps_have_the_same_bits() -> None:
    """Among points that end at other times, a point takes single steps in place of strides."""
    ends = np.linspace(20.0, 60.0, 40)
    together, *alone = (
        points(FORCED, "rk4", {"omega": OMEGA[3:], "window_end": some}, step=2.0**-4)
        for some in (ends, *(ends[[i]] for i in range(0, 40, 3)))
    )
    final_values = [float(each["final_y"].item()) for each in alone]
    assert final_values == together["final_y"].values.squeeze()[::3].tolist()


def waves_in(rate: str, method: str = "rk4") -> int:
    text = FORCED.replace("cos(omega*t) + 2*sin(phase)", rate)
    header = header_of(system_of_text(text), ["final_y"], method)
    (line,) = (line for line in header.splitlines() if line.startswith("constexpr int waves"))
    return int(line.removesuffix(";").rpartition(" ")[2])


@pytest.mark.parametrize(
    ("rate", "number"),
    [
        ("cos(omega*t) + 2*sin(phase)", 2),
        ("sin(omega*t)*cos(omega*t)", 1),
        ("sin(-(t*omega + 1)/3 - t)", 1),
        ("cos(omega*t**2)", 0),
        ("cos(floor(t))", 0),
        ("cos(t*t)", 0),
        ("cos(omega/t)", 0),
        ("cos(y*t)", 0),
        ("cos(t + y)", 0),
        ("cos(shift)", 0),
        ("cos(where(t < 1, t, 2*t))", 0),
    ],
)
def test_expressions_linear_in_time_are_waves(rate: str, number: int) -> None:
    assert waves_in(rate) == number
    assert waves_in(rate, "rk54") == 0
