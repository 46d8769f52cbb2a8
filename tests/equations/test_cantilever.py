"""A cantilever with a friction element: its steady motion under a force at the tip.

The data are those of NLvib's example 08 (M. Krack and J. Gross, Harmonic Balance for Nonlinear
Vibration Problems, Springer 2019). The values are of an exact piecewise-linear motion: matrix
exponentials between events, roots by Brent.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import sweep

LENGTH, MODULUS, DENSITY, WIDTH, HEIGHT = 2.0, 185e9, 7830.0, 0.3, 0.1
ELEMENTS, MODES = 8, 8
FRICTION_NODE, FIXED = 3, 248.97320477  # rad/s: the first frequency if that node is held

MODEL: dict[str, Any] = {
    "format": 1,
    "name": "cantilever",
    "period": "6.283185307179586/rate",
    "indices": {"mode": MODES},
    "parameters": {
        "rate": {"unit": "rad/s"},
        "beta": {"unit": "s"},
        "unit_mass": {"unit": "kg", "default": 1},
        "stiffness": {"unit": "N/m", "default": 1e9},
        "limit": {"unit": "N", "default": 1.5},
        "force": {"unit": "N", "default": 0.2},
    },
    "states": {
        "q": {"over": "mode", "unit": "m", "initial": "0", "scale": "1e-8"},
        "v": {"over": "mode", "unit": "m/s", "initial": "0", "scale": "1e-5"},
        "grip": {"unit": "N", "initial": "0", "scale": "1"},
    },
    "switches": {"contact": {"values": ["stick", "plus", "minus"], "start": "stick"}},
    "definitions": {
        "speed": {"value": "sum(mode, element*v)", "unit": "m/s"},
        "friction": {
            "value": "where(contact == stick, grip, where(contact == plus, limit, -limit))",
            "unit": "N",
        },
        "place": {"value": "sum(mode, tip*q)", "unit": "m"},
    },
    "derivatives": {
        "q": "v",
        "v": "-omega**2*(q + beta*v) + (tip*force*cos(rate*t) - element*friction)/unit_mass",
        "grip": "where(contact == stick, stiffness*speed, 0)",
    },
    "events": [
        {"name": "slip_plus", "in": "contact == stick", "when": "grip - limit",
         "direction": "rising", "at_entry": True, "set": {"contact": "plus"}},
        {"name": "slip_minus", "in": "contact == stick", "when": "grip + limit",
         "direction": "falling", "at_entry": True, "set": {"contact": "minus"}},
        {"name": "grip_plus", "in": "contact == plus", "when": "speed",
         "direction": "falling", "set": {"contact": "stick", "grip": "limit"}},
        {"name": "grip_minus", "in": "contact == minus", "when": "speed",
         "direction": "rising", "set": {"contact": "stick", "grip": "-limit"}},
    ],
    "outputs": {
        "mean_square": {"mean": "place**2", "unit": "m^2"},
        "friction_power": {"mean": "where(contact == stick, 0, friction*speed)", "unit": "W"},
        "slip_share": {"share": "contact != stick"},
    },
}  # fmt: skip


def modes() -> tuple[Any, Any]:
    """Angular frequencies [rad/s] and shapes, (displacement and slope by node, mode), mass 1 kg."""
    size = LENGTH / ELEMENTS
    area, inertia = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12
    bend = np.array([
        [12, 6 * size, -12, 6 * size],
        [6 * size, 4 * size**2, -6 * size, 2 * size**2],
        [-12, -6 * size, 12, -6 * size],
        [6 * size, 2 * size**2, -6 * size, 4 * size**2],
    ])  # fmt: skip
    inert = np.array([
        [156, 22 * size, 54, -13 * size],
        [22 * size, 4 * size**2, 13 * size, -3 * size**2],
        [54, 13 * size, 156, -22 * size],
        [-13 * size, -3 * size**2, -22 * size, 4 * size**2],
    ])  # fmt: skip
    stiffness, mass = (np.zeros((2 * ELEMENTS + 2,) * 2) for _ in range(2))
    for each in range(ELEMENTS):
        here = slice(2 * each, 2 * each + 4)
        stiffness[here, here] += MODULUS * inertia / size**3 * bend
        mass[here, here] += DENSITY * area * size / 420 * inert
    free: Any = slice(2, None)
    squares, shapes = scipy.linalg.eigh(stiffness[free, free], mass[free, free])
    return np.sqrt(squares), shapes


@pytest.mark.broad
@pytest.mark.parametrize("method", ["rk54", "dop853"])
def test_the_steady_motion_is_the_exact_one(method: str) -> None:
    omega, shapes = modes()
    np.testing.assert_allclose(omega[:2], [123.34059121, 773.02248587], rtol=1e-10)
    rows = {"omega": omega, "element": shapes[2 * FRICTION_NODE - 2], "tip": shapes[-2]}
    units = {"omega": "rad/s"}
    tables = {
        name: {"over": "mode", "values": row[:MODES].tolist(), "unit": units.get(name, "1")}
        for name, row in rows.items()
    }
    controls = {"relative_tolerance": 1e-10, "start_cycle": 600.0, "end_cycle": 620.0}
    request = {
        "model": {**MODEL, "tables": tables},
        "method": method,
        "parameters": {"rate": FIXED, "beta": 2e-2 / FIXED, **controls},
    }
    ds = sweep.run(request, store=None, progress=False)
    assert int(ds["status"]) == 0
    assert math.sqrt(float(ds["mean_square"])) == pytest.approx(6.0588845e-8, rel=1e-8)
    assert float(ds["friction_power"]) == pytest.approx(1.77998510592e-6, rel=1e-8)
    assert float(ds["slip_share"]) == pytest.approx(0.50949832, rel=2e-8)
