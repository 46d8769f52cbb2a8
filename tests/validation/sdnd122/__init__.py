"""SDND122: the non-linear mode of a mass that strikes an elastic stop (Code_Aster).

Frequencies in Hz, energies in J.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.theory import impact_oscillator as theory
from tests.validation.comparison import Ours, Row, computed, constants, figures

PAIRS = figures("sdnd122/pairs.csv")  # by model
SYSTEM = constants("sdnd122/system.csv")
CODE_ASTER = constants("sdnd122/code_aster.csv")
STABLE_RANGES = figures("sdnd122/stable_ranges.csv")  # by end

OUTPUTS = ("frequency", "floquet_modulus", "floquet_trace")  # always: one kernel per method
HARMONICS = (5, 10, 20, 40)
N_ENERGIES = 2001  # in the document's stable range
MEAN_ENERGY = {"regularization": 0.0}  # the true law; the mean of the energy is the default
AS_CODE_ASTER = {name: CODE_ASTER[name] for name in ("regularization", "energy_instant")}
NEWMARK = {"steps_per_period": CODE_ASTER["points"]}

Values = NDArray[np.float64]


def compute() -> Ours:
    energies = [pair["energy"] for pair in PAIRS.values()]
    right = theory.frequency(**SYSTEM, energy=energies)
    balance, as_code_aster = (
        {n: _run("harmonic_balance", energies, {**law, "harmonics": n}) for n in HARMONICS}
        for law in (MEAN_ENERGY, AS_CODE_ASTER)
    )
    by_method = {
        "formula": theory.document_frequency(**SYSTEM, energy=energies),
        "right": right,
        "exact": _run("exact", energies)["frequency"],
        "newmark": _run("newmark", energies, NEWMARK)["frequency"],
        "harmonic_balance": balance[HARMONICS[-1]]["frequency"],
        "as_code_aster": as_code_aster[HARMONICS[0]]["frequency"],
    }
    pairs = [
        {
            "model": model,
            "energy": pair["energy"],
            "document": pair["frequency"],
            "code_aster": pair["computed"],
            "energy_of_document": float(theory.energy_at(**SYSTEM, frequency=pair["frequency"])),
            **{name: float(values[i]) for name, values in by_method.items()},
        }
        for i, (model, pair) in enumerate(PAIRS.items())
    ]
    harmonics = [
        {
            "harmonics": float(n),
            "instant": float(as_code_aster[n]["frequency"][2] / right[2] - 1),
            "mean": float(balance[n]["frequency"][2] / right[2] - 1),
        }
        for n in HARMONICS
    ]
    ranges = [
        {
            "end": end,
            **row,
            "its_frequency": float(theory.frequency(**SYSTEM, energy=row["energy"])),
            "its_energy": float(theory.energy_at(**SYSTEM, frequency=row["frequency"])),
        }
        for end, row in STABLE_RANGES.items()
    ]
    rows = {"pairs": pairs, "methods": pairs, "harmonics": harmonics, "ranges": ranges}
    return Ours({**rows, "multipliers": _multipliers()}, CODE_ASTER)


def _multipliers() -> list[Row]:
    """Floquet's multipliers over the stable range of energies."""
    low, high = (end["energy"] for end in STABLE_RANGES.values())
    energies = np.linspace(low, high, N_ENERGIES)
    exact, balance = (_run(method, energies) for method in ("exact", "harmonic_balance"))
    newmark = _run("newmark", energies, NEWMARK)
    sampled = xr.Dataset({"floquet_modulus": ("energy", sampled_multipliers(energies))})
    by_method = {
        "exact": exact,
        "newmark, 1000 points, mean stiffness around each": newmark,
        "newmark, 1000 points, stiffness sampled at each (Code_Aster)": sampled,
        "harmonic balance, 40 harmonics": balance,
    }
    return [
        {
            "method": method,
            "greatest": float(results["floquet_modulus"].max()),
            "unstable": float((results["floquet_modulus"] >= CODE_ASTER["unstable_from"]).mean()),
            "trace": (
                float(abs(results["floquet_trace"] - 2).max())
                if "floquet_trace" in results
                else None
            ),
        }
        for method, results in by_method.items()
    ]


def _run(
    method: str, energies: Sequence[float] | Values, controls: Mapping[str, float] = {}
) -> xr.Dataset:
    parameters = {**SYSTEM, **controls}
    axes = {"energy": np.asarray(energies).tolist()}
    return computed("impact_oscillator", method, OUTPUTS, parameters, axes)


def sampled_multipliers(energies: Values) -> Values:
    """The modulus of the greatest multiplier at each energy, as in CALC_STABILITE.

    Newmark's average acceleration over the exact period, with the stiffness sampled at the points.
    It shares no code with the kernels.
    """
    points = int(CODE_ASTER["points"])
    contact = theory.contact_time(**SYSTEM, energy=energies)
    free = theory.free_time(SYSTEM["mass"], SYSTEM["stiffness"], SYSTEM["gap"], energies)
    h = (free + contact) / points

    def stiffness(point: int) -> Values:
        from_middle = h * min(point, points - point)  # of the nearest contact
        wall = np.where(from_middle < contact / 2, SYSTEM["wall_stiffness"], 0.0)
        return (SYSTEM["stiffness"] + wall) / SYSTEM["mass"]

    x, v = np.multiply.outer(np.eye(2), np.ones_like(h))  # of two disturbances
    for point in range(points):
        pull = stiffness(point) * x
        x = (x + h * v - h * h / 4 * pull) / (1 + h * h / 4 * stiffness(point + 1))
        v = v - h / 2 * (pull + stiffness(point + 1) * x)
    half = np.abs(x[0] + v[1]) / 2  # half the trace
    return np.maximum(half, 1.0) + np.sqrt(np.maximum(half * half - 1, 0.0))
