"""Models as text for tests, and a way to compute points of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
from sweep.equations.schemes import SCHEMES

EVERY = tuple(SCHEMES)


def with_events(text: str, *events: tuple[str, ...]) -> str:
    """The text with events: the name, `when` and direction of each, and its other lines."""
    blocks = [
        f'[[events]]\nname = "{name}"\nwhen = "{when}"\ndirection = "{direction}"\n'
        + "".join(f"{line}\n" for line in lines)
        for name, when, direction, *lines in events
    ]
    return text + "".join(blocks)


# y'' = -y + forcing, with the closed form y = cos t + 0.5 t sin t for forcing cos t.
RESONANCE = """
format = 1
name = "resonance"
time_unit = "1"
[parameters]
forcing = { unit = "1", default = 1, meaning = "amplitude of the forcing" }
[states]
y = { unit = "1", initial = "1", meaning = "position" }
v = { unit = "1", initial = "0", meaning = "velocity" }
[derivatives]
y = "v"
v = "-y + forcing*cos(t)"
[outputs]
y_end = { final = "y", unit = "1", meaning = "last position" }
v_end = { final = "v", unit = "1", meaning = "last velocity" }
mean = { mean = "y", unit = "1", meaning = "mean position" }
integral = { integral = "y", unit = "1", meaning = "integral of the position" }
rms = { rms = "y", unit = "1", meaning = "root mean square" }
largest = { maximum = "y", unit = "1", meaning = "largest position" }
smallest = { minimum = "y", unit = "1", meaning = "smallest position" }
mean_size = { mean = "abs(y)", unit = "1", meaning = "mean magnitude, with kinks" }
above = { share = "y > 0.5 and v > 0", unit = "1", meaning = "share of the window" }
"""

BALL = """
time_unit = "s"
[parameters]
gravity = { unit = "m/s^2", minimum = 0, open_minimum = true, meaning = "gravity" }
restitution = { unit = "1", minimum = 0, maximum = 1, meaning = "coefficient of restitution" }
height = { unit = "m", meaning = "height at the start" }
[states]
x = { unit = "m", initial = "height", meaning = "height" }
v = { unit = "m/s", initial = "0", meaning = "velocity" }
[derivatives]
x = "v"
v = "-gravity"
[[events]]
name = "impact"
when = "x"
direction = "falling"
set = { v = "-restitution*v" }
[outputs]
x_end = { final = "x", unit = "m", meaning = "last height" }
v_end = { final = "v", unit = "m/s", meaning = "last velocity" }
impacts = { count = "impact", meaning = "impacts" }
lowest = { minimum = "x", unit = "m", meaning = "smallest height" }
hardest = { at = "impact", maximum = "-v", unit = "m/s", meaning = "largest impact speed" }
mean_speed = { at = "impact", mean = "-v", unit = "m/s", meaning = "mean impact speed" }
total_speed = { at = "impact", sum = "-v", unit = "m/s", meaning = "sum of impact speeds" }
"""

# SDND104: a block on a plate that is shaken sideways and upwards, on a spring with a damper.
BLOCK = with_events(
    """
time_unit = "s"
[parameters]
mass = { unit = "kg", minimum = 0, open_minimum = true, meaning = "mass" }
gravity = { unit = "m/s^2", minimum = 0, open_minimum = true, meaning = "gravity" }
friction = { unit = "1", minimum = 0, open_minimum = true, meaning = "coefficient of friction" }
stiffness = { unit = "N/m", minimum = 0, default = 0, meaning = "stiffness" }
damping = { unit = "N*s/m", minimum = 0, default = 0, meaning = "damping" }
base_acceleration = { unit = "m/s^2", meaning = "amplitude sideways" }
vertical_acceleration = { unit = "m/s^2", default = 0, meaning = "amplitude upwards" }
angular_frequency = { unit = "rad/s", minimum = 0, open_minimum = true, meaning = "frequency" }
[states]
x = { unit = "m", initial = "0", meaning = "slip" }
v = { unit = "m/s", initial = "0", meaning = "slip speed" }
[definitions]
pressure = { value = "mass*(gravity + vertical_acceleration*sin(angular_frequency*t))", unit = "N" }
pull = { value = "-mass*base_acceleration*sin(angular_frequency*t) - stiffness*x", unit = "N" }
[modes.stick]
[modes.right]
x = "v"
v = "(pull - damping*v - friction*pressure)/mass"
[modes.left]
x = "v"
v = "(pull - damping*v + friction*pressure)/mass"
[outputs]
wear_power = { mean = "pressure*abs(v)", unit = "W", meaning = "mean wear power" }
stuck = { share = "stick", unit = "1", meaning = "share of stick" }
""",
    (
        "break_right",
        "pull - friction*pressure",
        "rising",
        'in = "stick"',
        "at_entry = true",
        'then = "right"',
    ),
    (
        "break_left",
        "pull + friction*pressure",
        "falling",
        'in = "stick"',
        "at_entry = true",
        'then = "left"',
    ),
    ("stop_right", "v", "falling", 'in = "right"', 'then = "stick"', 'set = { v = "0" }'),
    ("stop_left", "v", "rising", 'in = "left"', 'then = "stick"', 'set = { v = "0" }'),
)


def methods(*daily: str, without: str = "") -> pytest.MarkDecorator:
    """A test of every method but one; those that are not named are in the broad tests only."""
    others = [each for each in EVERY if each not in (*daily, without)]
    broad = [pytest.param(method, marks=pytest.mark.broad) for method in others]
    return pytest.mark.parametrize("method", [*daily, *broad])


# rk54 chooses its steps, rk4 has constant ones. What an event does is the same in all methods.
first_method, first_methods = methods("rk54"), methods("rk54", "rk4")


def model(text: str) -> dict[str, Any]:
    """The mapping of a model's text, which may lack a head and the rates of states that rest."""
    document: dict[str, Any] = {
        "format": 1,
        "name": "example",
        "time_unit": "1",
        **tomllib.loads(text),
    }
    at_rest = dict.fromkeys(document["states"], "0")
    if "modes" in document:
        document["modes"] = {mode: at_rest | own for mode, own in document["modes"].items()}
    else:
        document["derivatives"] = at_rest | document.get("derivatives", {})
    return document


def counted(text: str) -> dict[str, Any]:
    """The model, with an output n_NAME for each event NAME: how often it happens."""
    document = model(text)
    counts = {f"n_{event['name']}": {"count": event["name"]} for event in document["events"]}
    return document | {"outputs": document.get("outputs", {}) | counts}


def points(
    example: str | Mapping[str, Any],
    method: str,
    along: Mapping[str, Any] | None = None,
    rows: Mapping[str, Any] | None = None,
    **constants: float,
) -> xr.Dataset:
    """Points of a model or its text: constants, values along axes, and columns of `rows`."""
    axes: dict[str, Any] = {name: values_of(v) for name, v in (along or {}).items()}
    if rows:
        axes["case"] = {name: values_of(v) for name, v in rows.items()}
    return sweep.run(
        {
            "model": model(example) if isinstance(example, str) else example,
            "method": method,
            "parameters": constants,
            "axes": axes,
        },
        store=None,
        progress=False,
    )


def values_of(values: Any) -> dict[str, list[float]]:
    return {"values": np.atleast_1d(np.asarray(values, float)).tolist()}
