"""Integrals over kinks and jumps of the functions of expressions, against split quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from tests.equations.examples import first_method, points

# x = sin t, v = cos t. No two expressions have a kink at one time, so none is split for another.
CLOCK = """
[states]
x = { initial = "0" }
v = { initial = "1" }
[derivatives]
x = "v"
v = "-x"
[outputs]
"""
END = 10.0


class Moments(NamedTuple):
    """Times, and the states then."""

    t: np.ndarray
    x: np.ndarray
    v: np.ndarray


Function = Callable[[Moments], np.ndarray]
EXPRESSIONS: dict[str, Function] = {
    "max(0.11, x, v)": lambda m: np.maximum(0.11, np.maximum(m.x, m.v)),
    "min(2, x - 0.12, 0.5*v)": lambda m: np.minimum(m.x - 0.12, 0.5 * m.v),
    "max(x - 0.13, min(v, 0.9, x + 0.17), -0.5)": lambda m: np.maximum(
        np.maximum(m.x - 0.13, np.minimum(np.minimum(m.v, 0.9), m.x + 0.17)), -0.5
    ),
    "floor(5*x + 0.3)": lambda m: np.floor(5 * m.x + 0.3),
    "floor(30*v + 0.4)": lambda m: np.floor(30 * m.v + 0.4),
    "floor(3*t)": lambda m: np.floor(3 * m.t),
    "atan2(x, v)": lambda m: np.arctan2(m.x, m.v),
    "atan2(0, x - 0.19)": lambda m: np.arctan2(0, m.x - 0.19),
    "hypot(x - 0.23, 0)": lambda m: np.abs(m.x - 0.23),
    "hypot(0, v - 0.29)": lambda m: np.abs(m.v - 0.29),
    "hypot(x - 0.31, 2*x - 0.62)": lambda m: np.sqrt(5) * np.abs(m.x - 0.31),
    "sqrt((x - 0.37)**2)": lambda m: np.abs(m.x - 0.37),
    "((x - 0.41)*(x - 0.41))**0.5": lambda m: np.abs(m.x - 0.41),
    "sqrt(1 - cos(3*t - 0.1))": lambda m: np.sqrt(1 - np.cos(3 * m.t - 0.1)),
    "asin(cos(2*t - 0.2))": lambda m: np.arcsin(np.cos(2 * m.t - 0.2)),
    "acos(cos(2*t - 0.3))": lambda m: np.arccos(np.cos(2 * m.t - 0.3)),
    "abs(x - 0.43)": lambda m: np.abs(m.x - 0.43),
    "v*sign(x - 0.47)": lambda m: m.v * np.sign(m.x - 0.47),
    "where(x > 0.53 and v <= 0.59, 1, x)": lambda m: np.where((m.x > 0.53) & (m.v <= 0.59), 1, m.x),
}


def mean(function: Function) -> float:
    """Over 0 <= t <= END, by parting what is not smooth until it is short, at no jump's middle."""
    nodes, weights = np.linspace(0, 1, 5), np.array([7, 32, 12, 32, 7]) / 90  # Boole's rule

    def boole(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        t = a[:, None] + (b - a)[:, None] * nodes  # with both ends, so that no jump hides there
        return function(Moments(t, np.sin(t), np.cos(t))) @ weights * (b - a)

    total, edges = 0.0, np.linspace(0, END, 1001)
    a, b = edges[:-1], edges[1:]
    while a.size:
        cut = a + 0.382 * (b - a)
        parts = boole(a, cut) + boole(cut, b)
        settled = (np.abs(boole(a, b) - parts) < 1e-15) | (b - a < 1e-14)
        total += parts[settled].sum()
        a, b, cut = a[~settled], b[~settled], cut[~settled]
        a, b = np.concatenate([a, cut]), np.concatenate([cut, b])
    return total / END


@pytest.mark.broad
@first_method
def test_integrals_are_split_at_kinks_and_jumps(method: str) -> None:
    names = {f"mean_{i}": text for i, text in enumerate(EXPRESSIONS)}
    text = CLOCK + "".join(f'{n} = {{ mean = "{e}" }}\n' for n, e in names.items())
    controls = {"step": 1e-3} if method == "rk4" else {"relative_tolerance": 1e-11}
    motion = points(text, method, window_end=END, **controls)
    errors = {e: float(motion[n]) - mean(EXPRESSIONS[e]) for n, e in names.items()}
    assert {e: error for e, error in errors.items() if not abs(error) < 1e-9} == {}


def test_a_share_is_at_most_1() -> None:
    """The lengths of steps are rounded: their sum over the window exceeded its length."""
    text = CLOCK + 'always = { share = "x < 2" }\nnever = { share = "x > 2" }\n'
    ends = np.linspace(1.0, 9.0, 200).tolist()
    motions = points(text, "rk4", {"window_end": ends}, window_start=0.3, step=0.01)
    assert motions["always"].max() == 1
    np.testing.assert_allclose(motions["always"], 1.0, rtol=1e-13)
    np.testing.assert_array_equal(motions["never"], 0.0)
