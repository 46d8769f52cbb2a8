"""Fig. 2: which springs stick, slip or leave contact, from the first cycle on.

The paper's algorithm in NumPy, for the springs near the edge, where all slip occurs. It shares no
code with the kernels. Time is in units of 1/ω, displacements are in units of Δx.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Values = NDArray[np.float64]
EXPONENT = 2.0  # of a sphere's profile
N_SPRINGS = 800
N_STEPS = 4000  # per cycle
N_CYCLES = 3
INNERMOST = 0.977  # radius of the innermost spring over the contact radius at mean indentation
STATES = "no_contact stick slip"


@dataclass(frozen=True)
class Cycles:
    """The first cycles of a contact that starts with all springs relaxed."""

    energies: tuple[float, ...]  # normalized, dissipated by friction in each cycle
    slipping: tuple[float, ...]  # share of each cycle in which any spring slips
    map: xr.Dataset  # states of the springs over the first two cycles, as `sweep.trace` has them


def first_cycles(beta: float, delta: float, phase: float) -> Cycles:
    """The cycles of a sphere; the phase is in rad."""
    outermost = (1 + delta) ** (1 / EXPONENT)
    width = (outermost - INNERMOST) / N_SPRINGS
    radius = INNERMOST + width * (np.arange(N_SPRINGS) + 0.5)
    offset = (1 - radius**EXPONENT) / delta  # of the bound, which is β (offset + cos t)
    time = np.linspace(0, 2 * math.pi * N_CYCLES, N_CYCLES * N_STEPS + 1)
    travel = np.cos(time + phase)
    bound = np.maximum(beta * (offset + 1), 0.0)
    elongation = np.zeros(N_SPRINGS)
    states = np.ones((time.size, N_SPRINGS), np.uint8)
    work = np.zeros(time.size)
    for i in range(1, time.size):
        previous, bound = bound, np.maximum(beta * (offset + math.cos(time[i])), 0.0)
        trial = elongation + travel[i] - travel[i - 1]
        elongation = np.clip(trial, -bound, bound)
        work[i] = np.sum(np.abs(trial - elongation) * (previous + bound) / 2)
        states[i] = np.where(bound > 0, np.where(trial == elongation, 1, 2), 0)
    states[0] = offset + 1 > 0
    unit = 16 / 3 * delta / EXPONENT / (2 * width)  # springs on both sides; W_ref over G* a0 Δx²
    slips: NDArray[np.bool_] = np.any(states == 2, axis=1)
    cycles = [slice(n * N_STEPS + 1, (n + 1) * N_STEPS + 1) for n in range(N_CYCLES)]
    return Cycles(
        energies=tuple(float(np.sum(work[cycle])) / unit for cycle in cycles),
        slipping=tuple(float(np.mean(slips[cycle])) for cycle in cycles),
        map=_map(time, radius, states, delta, phase),
    )


def _map(
    time: Values, radius: Values, states: NDArray[np.uint8], delta: float, phase: float
) -> xr.Dataset:
    shown = slice(0, 2 * N_STEPS + 1, 8)
    normal, tangential = 1 + delta * np.cos(time[shown]), np.cos(time[shown] + phase)
    motion = xr.Dataset(
        {
            "normal_displacement": ("time", normal, _of("normal displacement, over d0")),
            "tangential_displacement": (
                "time", tangential, _of("tangential displacement, over Delta_x"),
            ),
            "spring_state": (("time", "spring"), states[shown], _of("state of the spring")),
            "status": ((), np.uint8(0)),
        },
        {
            "time": ("time", time[shown], _of("phase of the normal motion", "rad")),
            "spring": ("spring", radius, _of("place of the spring")),
        },
        {"model": "mdr_contact", "method": "plain NumPy"},
    )  # fmt: skip
    motion["spring_state"].attrs |= {"flag_values": [0, 1, 2], "flag_meanings": STATES}
    return motion


def _of(name: str, unit: str = "1") -> dict[str, object]:
    return {"long_name": name, "units": unit}
