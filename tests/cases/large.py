"""Models with many events, of which results should come soon: as mappings, to read like files."""

from __future__ import annotations

import tomllib
from typing import Any

from sweep.model.shipped import configs_folder

LETTERS = "abcde"


def five_modes() -> dict[str, Any]:
    """An oscillator with five modes, each of which two events end."""
    modes, events = "", ""
    for i, name in enumerate(LETTERS):
        after, before = LETTERS[(i + 1) % 5], LETTERS[i - 1]
        modes += f'[modes.{name}]\nx = "v"\nv = "cos(w*t) - 0.{i + 1}*v - {i + 1}*x"\n'
        events += f"""
[[events]]
name = "up_{name}"
in = "{name}"
when = "x - 0.{i + 1}"
direction = "rising"
then = "{after}"
[[events]]
name = "down_{name}"
in = "{name}"
when = "v + 0.0{i + 1}"
direction = "falling"
then = "{before}"
"""
    return tomllib.loads(f"""
format = 1
name = "five_modes"
time_unit = "1"
[parameters]
w = {{}}
[states]
x = {{ initial = "0.2" }}
v = {{ initial = "0" }}
{modes}
{events}
[outputs]
rises = {{ count = "up_a" }}
x_rms = {{ rms = "x" }}
v_max = {{ maximum = "v" }}
power = {{ mean = "v**2" }}
""")


def driven_tube() -> dict[str, Any]:
    """The shipped tube under a harmonic force, whose shares in the modes are the table `drive`."""
    text = (configs_folder() / "models" / "tube.toml").read_text(encoding="utf-8")
    model = tomllib.loads(text)
    del model["tests"], model["signals"]
    for name, wave in {"force_y": "sin", "force_z": "cos"}.items():
        value = f"drive*force*{wave}(angular_frequency*t)"
        model["definitions"][name] = {"over": "mode", "value": value, "unit": "N"}
    model["parameters"] |= {"force": {"unit": "N"}, "angular_frequency": {"unit": "rad/s"}}
    return model


def tube_on_one_support() -> dict[str, Any]:
    """A driven tube with five modes along y and four along z: 19 states and 6 events."""
    model = driven_tube()
    model["indices"] = {"mode": 5, "side_mode": 4, "support": ["middle"]}
    omega = [190.0, 620.0, 1290.0, 2200.0, 3360.0]
    shape, drive = [0.9, 0.6, -0.7, -0.9, 0.3], [1.0, 0.1, -1.0, 0.2, 0.9]
    tables: dict[str, Any] = {}
    for end, index, count in (("", "mode", 5), ("_z", "side_mode", 4)):
        tables[f"omega{end}"] = {"over": index, "values": omega[:count], "unit": "rad/s"}
        tables[f"mass{end}"] = {"over": index, "values": [0.15] * count, "unit": "kg"}
        tables[f"shape{end}"] = {"over": ["support", index], "values": [shape[:count]]}
        tables[f"drive{end}"] = {"over": index, "values": drive[:count]}
    model["tables"] = tables
    for state, scale in (("r", "0.01*largest_y"), ("rv", "0.01*largest_y*omega_z")):
        model["states"][state] |= {"over": "side_mode", "scale": scale}
    for name, state in (("z", "r"), ("zv", "rv")):
        model["definitions"][name]["value"] = f"sum(side_mode, shape_z*{state})"
    model["definitions"]["force_z"] |= {
        "over": "side_mode", "value": "drive_z*force*cos(angular_frequency*t)",
    }  # fmt: skip
    model["derivatives"]["rv"] = (
        "-omega_z**2*r - 2*damping*omega_z*rv + (force_z - sum(support, shape_z*rub))/mass_z"
    )
    return model
