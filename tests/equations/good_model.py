"""A model file that uses everything, and its pieces, which tests replace by others."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from sweep.equations.system import System
from sweep.equations.system_file import examine
from sweep.errors import ConfigError, Fault

GOOD = """
format = 1
name = "rattle"
title = "mass on a spring between stops"
source = "made up for tests"
period = "2*pi/omega"
time_unit = "s"
start_mode = "free"

[parameters]
mass = { unit = "kg", minimum = 0, open_minimum = true, symbol = "m", meaning = "mass" }
stiffness = { unit = "N/m", minimum = 0 }
force = { unit = "N", default = 1, maximum = 10 }
omega = { unit = "rad/s", minimum = 0, open_minimum = true, default = 2 }
gap = { unit = "m", minimum = 0 }
count = { whole = true, minimum = 1, maximum = 9, default = 3 }

[states]
x = { unit = "m", initial = "0", scale = "gap", meaning = "displacement" }
v = { unit = "m/s", initial = "0" }

[definitions]
push = { value = "force*cos(omega*t)", unit = "N" }
total = { value = "push - stiffness*x", unit = "N" }

[modes.held]
x = "0"
v = "0"

[modes.free]
x = "v"
v = "total/mass"

[[events]]
name = "impact"
in = "free"
when = "x - gap"
direction = "rising"
set = { v = "-0.5*v" }

[[events]]
name = "halt"
in = ["free", "held"]
when = "v"
direction = "both"
then = "held"
if = "abs(total) < 0.1*force and not held"
stop_after = 7
at_entry = true

[outputs]
power = { mean = "push*v", unit = "W" }
held_share = { share = "held or x > gap" }
impacts = { count = "impact" }
hardest = { at = "impact", maximum = "v", unit = "m/s" }
samples = { values = "x", every = "period", keep = 4, unit = "m" }
speeds = { values = "v", every = "impact", keep = 2, unit = "m/s" }

[[tests]]
at = { mass = 1, stiffness = 4, gap = 0.1, end_cycle = 3, relative_tolerance = 1e-10 }
method = "rk54"
expect = { power = 0.25, samples = [1, 2, 3, 4] }
relative = 1e-9
"""

X = 'x = { unit = "m", initial = "0", scale = "gap", meaning = "displacement" }'
MASS = 'mass = { unit = "kg", minimum = 0, open_minimum = true, symbol = "m", meaning = "mass" }'
FORCE = 'force = { unit = "N", default = 1, maximum = 10 }'
PUSH = 'push = { value = "force*cos(omega*t)", unit = "N" }'
HALT = "events[2] 'halt'"
POWER = 'power = { mean = "push*v", unit = "W" }'
SAMPLES = 'samples = { values = "x", every = "period", keep = 4, unit = "m" }'
AT = "at = { mass = 1, stiffness = 4, gap = 0.1, end_cycle = 3, relative_tolerance = 1e-10 }"


def inline(name: str, **keys: str) -> str:
    return f"{name} = {{ {', '.join(f'{key} = {value}' for key, value in keys.items())} }}"


def faults_of(text: str) -> tuple[Fault, ...]:
    return examine(tomllib.loads(text))[1]


def changed(piece: str, other: str, text: str = GOOD) -> str:
    assert text.count(piece) >= 1, piece
    return text.replace(piece, other, 1)


def read_system(mapping: Mapping[str, object], source: str = "the model given") -> System:
    system, faults = examine(mapping)
    if system is None:
        raise ConfigError(source, faults)
    return system


def good(text: str = GOOD) -> System:
    return read_system(tomllib.loads(text), "good")
