"""Columns of random points, of every distribution, as NumPy and a device draw them."""

from __future__ import annotations

from collections.abc import Mapping

from sweep.sampling.drawing import columns_of
from sweep.sampling.long_values import Drawn

SAMPLE = {"method": "random", "points": 10**7, "seed": 5}  # too many to be kept as an array

# The tails of a normal distribution, and numbers that are cut or rounded, are drawn in other ways.
FORMS: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("uniform", (-0.3, 0.7)),
    ("loguniform", (0.01, 3.0)),
    ("normal", (-2.0, 5.0)),
    ("lognormal", (0.1, 0.3)),
    ("lognormal", (1.0, 100.0)),
    ("truncated_normal", (0.3, 0.2, 0.1, 0.9)),
    ("truncated_normal", (0.0, 1.0, 5.0, 9.0)),
    ("truncated_normal", (0.0, 1.0, -30.0, -20.0)),
    ("triangular", (0.1, 0.2, 0.7)),
    ("triangular", (0.0, 2.0, 2.0)),
    ("weibull", (2.0, 1.7)),
    ("weibull", (0.5, 0.004)),
)
WHOLE: tuple[tuple[str, tuple[float, ...]], ...] = (
    ("uniform", (3, 8)),
    ("loguniform", (3, 800)),
    ("normal", (-2.0, 5.0)),
    ("triangular", (-3, 0, 4)),
)


def column_of(margins: Mapping[str, object], name: str = "x", whole: str = "") -> Drawn:
    """The column of one parameter of a sample."""
    column = columns_of({**SAMPLE, **margins}, [whole])[name]
    assert isinstance(column, Drawn)
    return column
