"""The boundaries of the regimes on maps."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sweep.theory.mdr_contact.body import Values, physical_numbers, values
from sweep.theory.mdr_contact.surface import slip_depth


def boundaries(parameters: Mapping[str, ArrayLike]) -> dict[str, Values]:
    """The boundaries of the model's regimes and the paper's regions: arrays that change sign there.

    `parameters` maps names of model parameters, dimensionless or physical, to values that broadcast
    together; the result is empty if some are missing. The boundary between gross and partial slip
    is ξ = (R_A + R_B)/2, jumping begins at δ = 1, and regions I, II and III (Hanisch et al. 2020,
    eq. 24) meet at β = δ/√8 and β = 1/(4 sin²φ).
    """
    numbers = physical_numbers(parameters)
    if {"beta", "delta"} <= parameters.keys():
        beta, delta = values(parameters["beta"]), values(parameters["delta"])
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = beta, delta, beta / delta
    if numbers is None or "phase" not in parameters:
        return {}
    beta, delta, xi = numbers
    phase = values(parameters["phase"])
    with np.errstate(invalid="ignore"):
        core = np.where(np.isinf(beta), 1 - delta, xi - slip_depth(beta, phase))
        borders = {
            "δ = 1": delta - 1,
            "ξ = (R_A + R_B)/2": np.where(delta < 1, core, np.nan),
            "β = δ/√8": beta - delta / math.sqrt(8),
            "4β sin²φ = 1": 4 * beta * np.sin(phase) ** 2 - 1,
        }
    shape = np.broadcast_shapes(*(line.shape for line in borders.values()))
    return {label: np.broadcast_to(line, shape) for label, line in borders.items()}
