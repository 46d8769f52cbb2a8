"""Largest and smallest values of expressions that bend, jump, or turn several times in a step.

The states are sines, so that the expressions are known functions of time: references are taken
from a fine grid of times, in whose intervals of 2e-5 no expression changes by more than 1e-4.
"""

from __future__ import annotations

import functools
import time

import numpy as np
import pytest

from sweep.model.table import Status
from tests.equations.examples import methods, points

PULSATIONS = (1.0, 1.7, 2.3)
PHASES = np.arange(16) * 0.4
START, END = 1.0, 7.0
EXPRESSIONS = (
    "max(u0, u1)",
    "u0*u1*u2",
    "abs(u0) - abs(u1)",
    "cos(5*u0)",
    "sin(4*u1)*u0",
    "max(u0*u2, u1)",
    "where(u1 > 0, 1 + u0, u0)",
    "u0*where(u2 > 0.2, 1, -1)",
    "floor(2.9*u0) + u1",
    "max(u0 - 0.5, 0) - max(u1 - 0.5, 0)",
    "sqrt(abs(u0))*sign(u2)",
)
IN_NUMPY = {
    "abs": np.abs, "max": np.maximum, "min": np.minimum, "cos": np.cos, "sin": np.sin,
    "where": np.where, "floor": np.floor, "sign": np.sign, "sqrt": np.sqrt,
}  # fmt: skip
MODEL = "\n".join(
    [
        "[parameters]\nphase = {}\n[states]",
        *(
            f'u{i} = {{ initial = "sin({i + 1}*phase)" }}\n'
            f'v{i} = {{ initial = "{pulsation}*cos({i + 1}*phase)" }}'
            for i, pulsation in enumerate(PULSATIONS)
        ),
        "[derivatives]",
        *(f'u{i} = "v{i}"\nv{i} = "-{w}**2*u{i}"' for i, w in enumerate(PULSATIONS)),
        "[outputs]",
        *(
            f'high{i} = {{ maximum = "{text}" }}\nlow{i} = {{ minimum = "{text}" }}'
            for i, text in enumerate(EXPRESSIONS)
        ),
    ]
)


@methods("dop853", without="rk4")
def test_they_are_those_of_a_fine_grid(method: str) -> None:
    times = {"window_start": START, "window_end": END}
    ds = points(MODEL, method, {"phase": PHASES}, **times, relative_tolerance=1e-8)
    assert (ds.status == Status.ok).all()
    t = np.linspace(START, END, 300_001)
    for k, phase in enumerate(PHASES):
        states = {f"u{i}": np.sin(w * t + (i + 1) * phase) for i, w in enumerate(PULSATIONS)}
        for i, text in enumerate(EXPRESSIONS):
            values = eval(text, {}, {**IN_NUMPY, **states})
            found = [float(ds[f"{end}{i}"][k]) for end in ("high", "low")]
            assert found == pytest.approx([values.max(), values.min()], abs=2e-4), text


def test_the_end_of_a_window_counts_exactly() -> None:
    text = (
        '[parameters]\na = {}\n[states]\nx = { initial = "0" }\n[derivatives]\nx = "1"\n[outputs]\n'
        'last = { maximum = "t" }\nabove = { maximum = "abs(t - a)" }\nfirst = { minimum = "t*t" }'
    )
    ds = points(text, "rk54", {"a": [0.0, 1.0]}, window_start=2.0, window_end=5.0)
    assert ds.last.values.tolist() == [5, 5]
    assert ds.above.values.tolist() == [5, 4]
    assert ds["first"].values.tolist() == [4, 4]


SHORT_STEPS = """
[states]
x = { initial = "0" }
v = { initial = "1" }
s = { initial = "0" }
[derivatives]
x = "v"
v = "-x + 0.1*sign(sin(7.1*t))"
s = "floor(4*x)"
[outputs]
high = { maximum = "floor(4*x) + v" }
[[events]]
name = "level"
when = "floor(4*x) - 0.5"
direction = "both"
set = { s = "s + 1" }
"""


def test_kinks_are_not_sought_in_the_rounding_of_steps_that_are_nothing() -> None:
    """Between an event and a relation that change at one time; it took 5 s in place of 0.03 s."""
    run = functools.partial(points, SHORT_STEPS, "dop853", maximum_step=0.05)
    run(window_end=0.1)  # compiled
    began = time.process_time()
    run(window_end=20.0)
    assert time.process_time() - began < 1.5
