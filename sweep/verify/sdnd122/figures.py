"""What is compared with the document: its energies by every method, and the multipliers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.theory import impact_oscillator as theory
from sweep.verify.runs import computed
from sweep.verify.sdnd122 import published, sampled
from sweep.verify.sdnd122.published import ENERGIES, STABLE_ENERGIES, SYSTEM

Values = NDArray[np.float64]

HARMONICS = (5, 10, 20, 40)
MANY = 2001  # energies of the document's range
ENERGY_MEAN = {"regularization": 0.0}  # the true law, the energy's mean: the defaults
NEWMARK = {"steps_per_period": float(published.POINTS)}


@dataclass(frozen=True, eq=False)
class Figures:
    """Frequencies in Hz, at the document's three energies unless they are told others."""

    exact: Values
    newmark: Values
    balance: Mapping[int, Values]  # number of harmonics -> frequencies; true law, mean energy
    as_code_aster: Mapping[int, Values]  # ... with its law and its instant's energy
    traces: Mapping[str, Values]  # of the monodromy matrix over the range, by method
    moduli: Mapping[str, Values]  # of the greatest multiplier, the same
    right: Values  # by the closed form
    formula: Values  # by the document's formula
    range_frequencies: Values  # of the ends of the document's range of energies, by closed form
    range_energies: Values  # of the ends of its range of frequencies


def compute() -> Figures:
    """All of it; some seconds, compilation included."""
    ranges = {name: _over_range(name) for name in ("exact", "newmark", "harmonic_balance")}
    energies = np.linspace(*STABLE_ENERGIES, MANY)
    moduli = {name: found["floquet_modulus"].to_numpy() for name, found in ranges.items()}
    moduli["sampled"] = sampled.multipliers(SYSTEM, energies, published.POINTS)
    return Figures(
        exact=_frequencies("exact", {}),
        newmark=_frequencies("newmark", NEWMARK),
        balance={n: _balanced(n, ENERGY_MEAN) for n in HARMONICS},
        as_code_aster={n: _balanced(n, published.HARMONIC_BALANCE) for n in HARMONICS},
        traces={name: found["floquet_trace"].to_numpy() for name, found in ranges.items()},
        moduli=moduli,
        right=theory.frequency(**SYSTEM, energy=ENERGIES),
        formula=theory.document_frequency(**SYSTEM, energy=ENERGIES),
        range_frequencies=theory.frequency(**SYSTEM, energy=STABLE_ENERGIES),
        range_energies=theory.energy_at(**SYSTEM, frequency=published.STABLE_FREQUENCIES),
    )


def _balanced(harmonics: int, how: Mapping[str, float]) -> Values:
    return _frequencies("harmonic_balance", {**how, "harmonics": float(harmonics)})


def _frequencies(method: str, controls: Mapping[str, float]) -> Values:
    return _run(method, ["frequency"], controls, list(ENERGIES))["frequency"].to_numpy()


def _over_range(method: str) -> xr.Dataset:
    controls = NEWMARK if method == "newmark" else {}
    energies = np.linspace(*STABLE_ENERGIES, MANY).tolist()
    return _run(method, ["floquet_modulus", "floquet_trace"], controls, energies)


def _run(
    method: str, outputs: list[str], controls: Mapping[str, float], energies: list[float]
) -> xr.Dataset:
    parameters = {**SYSTEM, **controls}
    return computed("impact_oscillator", method, outputs, parameters, {"energy": energies})
