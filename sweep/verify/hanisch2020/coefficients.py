"""What the paper prints, and how its damaged copies may be misread."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from sweep.verify.document import constants, figures
from sweep.work import Values

FOLDER = Path(__file__).parent

CONSTANTS = constants(FOLDER / "constants.csv")
COEFFICIENTS = figures(FOLDER / "coefficients.csv", int)  # by power, the highest first
READINGS = figures(FOLDER / "readings.csv", str)
PHASE = math.pi / 2  # of eq. 27, and of Figs. 2, 3 and 5
DELTAS = (1e-4, 1e-3, 1e-2)  # of Fig. 3
DELTA = 1e-2  # of Fig. 4


def equation_25(xi: Values, sign: float = -1.0) -> Values:
    """W̄δ by eq. 25, with this sign before the coefficient of ξ² below the fraction line."""
    below = {**_polynomial("below_25"), 2: sign * abs(COEFFICIENTS[2]["below_25"])}
    return _quotient(_polynomial("above_25"), below, xi)


def equation_27(beta: Values, constant: float) -> Values:
    """W̄ by eq. 27, with this last constant in the numerator."""
    above = {**_polynomial("above_27"), 0: constant}
    return _quotient(above, _polynomial("below_27"), beta)


def _polynomial(side: str) -> dict[int, float]:
    return {power: row[side] for power, row in COEFFICIENTS.items()}


def _quotient(above: dict[int, float], below: dict[int, float], x: Values) -> Values:
    return np.polyval([*above.values()], x) / np.polyval([*below.values()], x)
