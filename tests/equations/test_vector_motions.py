"""Structures with contacts over indices, beside matrix exponentials and printed values."""

from __future__ import annotations

import math
import tomllib
from typing import Any

import numpy as np

import sweep
from tests.oracles import contact_chain

# Code_Aster's SDND125: three masses, springs to the walls at both ends, contacts beyond gaps.
CHAIN = """
format = 1
name = "chain"
[indices]
body = ["left", "middle", "right"]
joint = 2
[tables]
mass = { over = "body", values = [4.5, 10, 3.7], unit = "kg" }
wall = { over = "body", values = [1e3, 0, 1e3], unit = "N/m" }
pull = { over = "body", values = [0, 60, 0], unit = "N" }
[parameters]
contact = { over = "joint", unit = "N/m", default = 1e7 }
gap = { unit = "m", default = 0.1 }
rate = { unit = "rad/s", default = 12.566370614359172 }
[states]
x = { over = "body", unit = "m", initial = "0", scale = "1e-4" }
v = { over = "body", unit = "m/s", initial = "0", scale = "1e-3" }
[definitions]
overlap = { over = "joint", value = "x[joint] - x[joint + 1] - gap", unit = "m" }
push = { over = "joint", value = "where(overlap > 0, contact*overlap, 0)", unit = "N" }
from_left = { over = "body", value = "where(body > 0, push[body - 1], 0)", unit = "N" }
from_right = { over = "body", value = "where(body < size(body) - 1, push[body], 0)", unit = "N" }
[derivatives]
x = "v"
v = "(pull*sin(rate*t) - wall*x + from_left - from_right)/mass"
[[events]]
name = "touch"
over = "joint"
when = "overlap"
direction = "rising"
[outputs]
force = { over = "joint", final = "push", unit = "N" }
place = { over = "body", final = "x", unit = "m" }
touches = { over = "joint", count = "touch" }
onset = { over = "joint", at = "touch", maximum = "t", unit = "s" }
"""


def test_three_masses_meet_as_in_sdnd125() -> None:
    ends = [0.2300, 0.2320, 0.3900, 0.5, 0.68044]
    contacts = [1e7, 3e6]
    ds = sweep.run(
        {
            "model": tomllib.loads(CHAIN),
            "method": "dop853",
            "parameters": {"relative_tolerance": 1e-13, "contact[1]": contacts[1]},
            "axes": {"window_end": {"values": ends}},
        },
        store=None,
        progress=False,
    )
    assert (ds["status"] == 0).all()
    for i, end in enumerate(ends):
        expected, changes = contact_chain.motion(
            [4.5, 10, 3.7], [1e3, 0, 1e3], contacts, 0.1, [0, 60, 0], 4 * math.pi, end
        )
        np.testing.assert_allclose(ds["place"].values[i], expected[:3], rtol=1e-10, atol=1e-12)
        overlaps = expected[:2] - expected[1:3] - 0.1
        pushes = np.maximum(overlaps, 0) * contacts
        np.testing.assert_allclose(ds["force"].values[i], pushes, rtol=1e-8)
        onsets = [[t for t, joint, closes in changes if joint == k and closes] for k in (0, 1)]
        assert ds["touches"].values[i].tolist() == [len(times) for times in onsets]
        last: Any = [times[-1] if times else math.nan for times in onsets]
        np.testing.assert_allclose(ds["onset"].values[i], last, rtol=1e-11)
    force = float(ds["force"].sel(joint=0)[-1])
    assert math.isclose(force, 1698.44744133, rel_tol=1e-8)  # printed: 1698.44669074


# Code_Aster's SDND102: two oscillators, driven oppositely, that meet beyond a gap.
PAIR = """
format = 1
name = "pair"
[indices]
side = ["one", "two"]
[tables]
way = { over = "side", values = [1, -1] }
[parameters]
gap = { unit = "m", default = 1e-3 }
contact = { unit = "N/m", default = 2.88e7 }
stiffness = { unit = "N/m", default = 98696 }
mass = { unit = "kg", default = 25 }
ratio = { default = 0.07 }
strength = { unit = "m/s^2", default = 1 }
rate = { unit = "rad/s", default = 62.83185307179586 }
[states]
u = { over = "side", unit = "m", initial = "0", scale = "1e-7" }
w = { over = "side", unit = "m/s", initial = "0", scale = "1e-5" }
[definitions]
ground = { over = "side", value = "-way*strength*sin(rate*t)/rate**2", unit = "m" }
overlap = { value = "sum(side, way*(u + ground)) - gap", unit = "m" }
push = { value = "contact*max(overlap, 0)", unit = "N" }
damping = { value = "2*ratio*sqrt(stiffness*mass)", unit = "N*s/m" }
[derivatives]
u = "w"
w = "-way*strength*sin(rate*t) - (stiffness*u + damping*w + way*push)/mass"
[outputs]
last = { over = "side", final = "u", unit = "m" }
"""
SDND102 = {  # event-driven, to the digits shown
    0.05: -3.58004068958e-4, 0.25: -1.88701877989e-4,
    0.4: -1.89840074018e-4, 0.5: -7.0214753128e-5, 0.8: -1.10185926672e-4, 0.9: -1.1907225628e-4,
    1.0: -1.08559126595e-4,
}  # fmt: skip


def test_two_oscillators_meet_as_in_sdnd102() -> None:
    ds = sweep.run(
        {
            "model": tomllib.loads(PAIR),
            "method": "dop853",
            "parameters": {"relative_tolerance": 1e-13},
            "axes": {"window_end": {"values": [*SDND102]}},
        },
        store=None,
        progress=False,
    )
    expected = np.array([*SDND102.values()])
    np.testing.assert_allclose(ds["last"].sel(side="one"), expected, rtol=1e-8)
    np.testing.assert_allclose(ds["last"].sel(side="two"), -expected, rtol=1e-8)
