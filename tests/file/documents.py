"""A good sweep of the friction oscillator, as file and as mapping; the faults of any sweep."""

from __future__ import annotations

import pytest

from sweep.errors import ConfigError
from sweep.file import load

GOOD = """
format = 1
model = "friction_oscillator"
[run]
workers = 2
[axes]
friction = { geomspace = [0.01, 1.0, 5] }
base_acceleration = { values = [15.0, 1.5] }
[parameters]
mass = 1.0
gravity = 10.0
angular_frequency = 6.25
window_start = 4.0
window_end = 12.0
"""

# All but friction and base acceleration, which the tests choose.
PARAMETERS = {
    "mass": 1, "gravity": 10, "angular_frequency": 6.25, "window_start": 4, "window_end": 12,
}  # fmt: skip


def mapping(**axes: object) -> dict[str, object]:
    """A good sweep in which the named parameters are axes instead of constants."""
    constants = {**PARAMETERS, "friction": 0.1}
    return {
        "model": "friction_oscillator",
        "parameters": {name: value for name, value in constants.items() if name not in axes},
        "axes": {"base_acceleration": {"values": [15, 1.5]}, **axes},
    }


def faults(source: object, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(source, overrides)
    return [str(fault) for fault in caught.value.faults]
