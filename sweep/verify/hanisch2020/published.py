"""What the paper says, and how its damaged copies may be misread."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

SOURCE = (
    "T. Hanisch, I. Richter, Q. Li: Frictional energy dissipation in a contact of elastic bodies "
    "subjected to superimposed normal and tangential oscillations, 2020, "
    "DOI 10.24411/1683-805X-2020-12007"
)

FIGURE_2 = (0.7268, 0.01, math.pi / 2)  # β, δ, φ
XI_RANGE = (0.0, 4.0)  # of eq. 25
BETA_FROM = 0.1  # of eq. 27
PHASE = math.pi / 2  # of eq. 27, and of Figs. 2, 3 and 5
N_COEFFICIENTS = {"xi": 10, "beta": 7}  # of eqs. 25 and 27, their leading ones not counted
AMPLITUDES = (1e-4, 1e-3, 1e-2)  # δ of Fig. 3
AMPLITUDE = 1e-2  # of Fig. 4

ABOVE_25 = (4.858e-4, 0.2203, -0.2226, -0.1252, 0.1836, 0.0)  # the highest power first
BELOW_25 = (1.0, -1.932, 1.482, -0.5866, 0.0779, 0.0889)
ABOVE_27 = (1.0, 0.7169, 0.2668, 0.3342, -4.0017e-6)
BELOW_27 = (1.0, 0.5979, 1.335, -5.079e-5, 0.0)


def slip_transition_plus(xi: Values) -> Values:
    """Eq. 25 with a plus before 0.5866."""
    below = tuple(abs(c) if c == -0.5866 else c for c in BELOW_25)
    return np.polyval(ABOVE_25, xi) / np.polyval(below, xi)


def stick_transition_with(constant: float, beta: Values) -> Values:
    """Eq. 27 with another last constant."""
    above = (*ABOVE_27[:-1], constant)
    return np.polyval(above, beta) / np.polyval(BELOW_27, beta)
