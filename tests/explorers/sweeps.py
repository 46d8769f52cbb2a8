"""A small sweep over three axes, of a kernel that compiles in a second; and readers of its page."""

from __future__ import annotations

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SWEEP: dict[str, Any] = {
    "format": 1,
    "model": "impact_oscillator",
    "outputs": ["frequency", "contact_fraction", "stable"],
    "parameters": {"mass": 1.0, "gap": 0.7},
    "axes": {
        "energy": {"geomspace": [1e-2, 1e2, 40]},
        "stiffness": {"linspace": [0.5, 3.0, 30]},
        "wall_stiffness": {"values": [2.0, 7.0, 1e14]},  # the last is outside validity
    },
}


# Statistics of a sample in each cell of a grid; kernel and outputs are those of SWEEP.
REDUCED: dict[str, Any] = {
    "format": 1,
    "model": "impact_oscillator",
    "parameters": {"mass": 1.0, "gap": 0.7},
    "axes": {"energy": {"geomspace": [1.0, 100.0, 12]}, "stiffness": {"linspace": [0.5, 3.0, 5]}},
    "sample": {"method": "sobol", "points": 32, "wall_stiffness": {"uniform": [2.0, 9.0]}},
    "reduce": {
        "frequency": ["mean", "quantile 0.1", "quantile 0.9", "histogram 16", "sobol_indices"],
        "stable": ["share"],
    },
}

# Three axes of a model with borders known from theory, which depend on a derived parameter.
BORDERS = """
format = 1
model = "friction_oscillator"
[parameters]
angular_frequency = "1 turn/s"
window_start = 4.0
window_end = 12.0
[derived]
gravity = "10*mass"
[axes]
mass = { values = [1.0, 2.0, 3.0] }
friction = { linspace = [0.1, 1.0, 16] }
base_acceleration = { linspace = [0.5, 15.0, 20] }
"""


# Three coupled oscillators between stops on both sides, and a count of fast moments.
LARGE_MODEL = """
format = 1
model = "large.toml"
method = "rk54"
[parameters]
window_end = 20.0
relative_tolerance = 1e-6
[axes]
omega = { linspace = [0.5, 3.0, 200] }
gap = { linspace = [0.1, 1.0, 150] }
"""
_NAMES = ("a", "b", "c")
LARGE_EQUATIONS = "\n".join(
    [
        'format = 1\nname = "large"\ntitle = "three oscillators between stops"\ntime_unit = "1"',
        '[parameters]\nomega = { minimum = 0, meaning = "angular frequency" }',
        'gap = { minimum = 0, open_minimum = true, meaning = "distance of the stops" }\n[states]',
        *(f'x{n} = {{ initial = "0", meaning = "displacement" }}' for n in _NAMES),
        *(f'v{n} = {{ initial = "0", meaning = "velocity" }}' for n in _NAMES),
        "[derivatives]",
        *(f'x{n} = "v{n}"' for n in _NAMES),
        'va = "cos(omega*t) - 0.1*va - 2*xa + xb"',
        'vb = "xa - 0.1*vb - 2*xb + xc - tanh(vb)"',
        'vc = "xb - 0.1*vc - 2*xc - sin(xc)"',
        *(
            f'[[events]]\nname = "{side}_{n}"\nwhen = "{sign}x{n} - gap"\ndirection = "rising"\n'
            f'set = {{ v{n} = "-0.7*v{n}" }}'
            for n in _NAMES
            for side, sign in (("upper", ""), ("lower", "-"))
        ),
        '[[events]]\nname = "fast"\nwhen = "va**2 + vb**2 + vc**2 - 1"\ndirection = "rising"',
        "[outputs]",
        *(f'largest_{n} = {{ maximum = "x{n}", meaning = "largest" }}' for n in _NAMES),
        *(f'impacts_{n} = {{ count = "upper_{n}", meaning = "impacts" }}' for n in _NAMES),
        'times_fast = { count = "fast", meaning = "how often the speed exceeds 1" }',
    ]
)


def contents_of(page: Path) -> dict[str, Any]:
    """What a page contains, read without its script."""
    match = re.search(r'id="contents">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert match
    return json.loads(match[1])


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text), -15)


def unshuffled(data: bytes, dtype: str) -> NDArray[Any]:
    """Numbers stored byte by byte: all first bytes, all second bytes, ..."""
    size = np.dtype(dtype).itemsize
    return np.frombuffer(np.frombuffer(data, np.uint8).reshape(size, -1).T.tobytes(), dtype)


def stored(contents: dict[str, Any], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A stored output of a page that is no flag, dimensions of the output alone first."""
    size = contents["preview"]["bytes"]
    codes = unshuffled(unpacked(contents["planes"][name]["packed"]), f"<u{size}")
    rows = np.cumsum(codes.reshape(-1, shape[-1] if shape else 1), axis=-1, dtype=np.uint32)
    leading = rows if size == 4 else rows << 16
    return leading.view(np.float32).astype(np.float64).reshape(-1, *shape)
