"""SDND122: the non-linear mode of a mass that strikes an elastic stop (Code_Aster)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from sweep.theory import impact_oscillator as theory
from sweep.verify import document
from sweep.verify.record import Record, Row
from sweep.verify.runs import computed
from sweep.work import Values

FOLDER = Path(__file__).parent
PAIRS = document.figures(FOLDER / "pairs.csv", str)  # by model
SYSTEM = document.constants(FOLDER / "system.csv")
CODE_ASTER = document.constants(FOLDER / "code_aster.csv")
STABLE_RANGES = document.figures(FOLDER / "stable_ranges.csv", str)  # by end

ENERGIES = [pair["energy"] for pair in PAIRS.values()]  # J
OUTPUTS = ("frequency", "floquet_modulus", "floquet_trace")  # always: one kernel per method
HARMONICS = (5, 10, 20, 40)
N_ENERGIES = 2001  # in the document's stable range
MEAN_ENERGY = {"regularization": 0.0}  # the true law; the mean of the energy is the default
AS_CODE_ASTER = {name: CODE_ASTER[name] for name in ("regularization", "energy_instant")}
NEWMARK = {"steps_per_period": CODE_ASTER["points"]}
METHODS = {
    "exact": "exact",
    "newmark": "newmark, 1000 points, mean stiffness around each",
    "sampled": "newmark, 1000 points, stiffness sampled at each (Code_Aster)",
    "harmonic_balance": "harmonic balance, 40 harmonics",
}


@dataclass(frozen=True, eq=False)
class Figures:
    """Frequencies in Hz, at the document's three energies unless another energy is named."""

    exact: Values
    newmark: Values
    balance: Mapping[int, Values]  # number of harmonics -> frequencies; true law, mean energy
    as_code_aster: Mapping[int, Values]  # the same with Code_Aster's law and instant
    traces: Mapping[str, Values]  # of the monodromy matrix over the stable range, by method
    moduli: Mapping[str, Values]  # of the greatest multiplier over the stable range, by method
    right: Values  # by the correct closed form
    formula: Values  # by the document's formula
    range_frequencies: Values  # at the ends of the document's range of energies, by closed form
    range_energies: Values  # at the ends of its range of frequencies


def compute() -> Figures:
    """All figures; takes some seconds, compilation included."""
    low, high = (end["energy"] for end in STABLE_RANGES.values())
    energies = np.linspace(low, high, N_ENERGIES)
    methods: dict[str, Mapping[str, float]] = {
        "exact": {}, "newmark": NEWMARK, "harmonic_balance": {},
    }  # fmt: skip
    ranges = {name: _run(name, each, energies.tolist()) for name, each in methods.items()}
    moduli = {name: outputs["floquet_modulus"].to_numpy() for name, outputs in ranges.items()}
    moduli["sampled"] = _sampled_multipliers(energies)
    frequencies = [end["frequency"] for end in STABLE_RANGES.values()]
    return Figures(
        exact=_frequencies("exact", {}),
        newmark=_frequencies("newmark", NEWMARK),
        balance={n: _balanced(n, MEAN_ENERGY) for n in HARMONICS},
        as_code_aster={n: _balanced(n, AS_CODE_ASTER) for n in HARMONICS},
        traces={name: outputs["floquet_trace"].to_numpy() for name, outputs in ranges.items()},
        moduli=moduli,
        right=theory.frequency(**SYSTEM, energy=ENERGIES),
        formula=theory.document_frequency(**SYSTEM, energy=ENERGIES),
        range_frequencies=theory.frequency(**SYSTEM, energy=[low, high]),
        range_energies=theory.energy_at(**SYSTEM, frequency=frequencies),
    )


def compare() -> Record:
    """Every figure of the document beside ours; about 10 s, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    rows = {
        "pairs": [_pair(figures, i, model) for i, model in enumerate(PAIRS)],
        "harmonics": [_harmonics(figures, count) for count in HARMONICS],
        "ranges": [_range(figures, i, end) for i, end in enumerate(STABLE_RANGES)],
        "multipliers": [_multipliers(figures, method) for method in METHODS],
    }
    printed = np.array([pair["frequency"] for pair in PAIRS.values()])
    code_aster = np.array([pair["computed"] for pair in PAIRS.values()])
    too_low, above = 1 - printed / figures.right, code_aster / printed - 1
    rest = code_aster / figures.right - 1
    extremes = {
        "least_error": too_low.min(),
        "greatest_error": too_low.max(),
        "least_above": above.min(),
        "greatest_above": above.max(),
        "least_rest": rest.min(),
        "greatest_rest": rest.max(),
        "tolerance": CODE_ASTER["tolerance"],
        "interpolated": CODE_ASTER["interpolated"],
        "low_energy": figures.range_energies[0] * 1e3,
        "high_energy": figures.range_energies[1] * 1e3,
    }
    return document.record_of(FOLDER, rows, extremes)


def _pair(figures: Figures, i: int, model: str) -> Row:
    """Sections 3.3, 4.3 and 5.3, and the same energies by every method."""
    pair = PAIRS[model]
    return {
        "model": model,
        "energy": pair["energy"],
        "document": pair["frequency"],
        "formula": float(figures.formula[i]),
        "right": float(figures.right[i]),
        "energy_of_document": float(theory.energy_at(**SYSTEM, frequency=pair["frequency"])),
        "exact": float(figures.exact[i]),
        "newmark": float(figures.newmark[i]),
        "harmonic_balance": float(figures.balance[HARMONICS[-1]][i]),
        "as_code_aster": float(figures.as_code_aster[HARMONICS[0]][i]),
        "code_aster": pair["computed"],
    }


def _harmonics(figures: Figures, count: int) -> Row:
    """Where Code_Aster's difference comes from."""
    instant, mean = figures.as_code_aster[count][2], figures.balance[count][2]
    return {
        "harmonics": float(count),
        "instant": float(instant / figures.right[2] - 1),
        "mean": float(mean / figures.right[2] - 1),
    }


def _range(figures: Figures, i: int, end: str) -> Row:
    """Section 2.2."""
    its_frequency, its_energy = figures.range_frequencies[i], figures.range_energies[i]
    ours = {"its_frequency": float(its_frequency), "its_energy": float(its_energy)}
    return {"end": end, **STABLE_RANGES[end], **ours}


def _multipliers(figures: Figures, method: str) -> Row:
    """Floquet's multipliers over the stable range of energies."""
    moduli, traces = figures.moduli[method], figures.traces.get(method)
    return {
        "method": METHODS[method],
        "greatest": float(moduli.max()),
        "unstable": float(np.mean(moduli >= CODE_ASTER["unstable_from"])),
        "trace": None if traces is None else float(np.abs(traces - 2).max()),
    }


def _balanced(harmonics: int, controls: Mapping[str, float]) -> Values:
    return _frequencies("harmonic_balance", {**controls, "harmonics": float(harmonics)})


def _frequencies(method: str, controls: Mapping[str, float]) -> Values:
    return _run(method, controls, ENERGIES)["frequency"].to_numpy()


def _run(method: str, controls: Mapping[str, float], energies: Sequence[float]) -> xr.Dataset:
    parameters, axes = {**SYSTEM, **controls}, {"energy": energies}
    return computed("impact_oscillator", method, OUTPUTS, parameters, axes)


def _sampled_multipliers(energies: Values) -> Values:
    """The modulus of the greatest multiplier at each energy (J), as in CALC_STABILITE.

    Newmark's average acceleration over the exact period, with the stiffness sampled at the points.
    It shares no code with the kernels.
    """
    points = int(CODE_ASTER["points"])
    contact = theory.contact_time(**SYSTEM, energy=energies)
    free = theory.free_time(SYSTEM["mass"], SYSTEM["stiffness"], SYSTEM["gap"], energies)
    period = free + contact
    step = period / points
    quarter = step * step / 4

    def stiffness(point: int) -> Values:
        from_middle = step * min(point, points - point)  # of the nearest contact
        wall = np.where(from_middle < contact / 2, SYSTEM["wall_stiffness"], 0.0)
        return (SYSTEM["stiffness"] + wall) / SYSTEM["mass"]

    position = np.stack([np.ones_like(period), np.zeros_like(period)])  # of two disturbances
    velocity = np.stack([np.zeros_like(period), np.ones_like(period)])
    acceleration = -stiffness(0) * position
    for point in range(1, points + 1):
        rate = stiffness(point)
        predicted = position + step * velocity + quarter * acceleration
        following = -rate / (1 + quarter * rate) * predicted
        velocity = velocity + step / 2 * (acceleration + following)
        position, acceleration = predicted + quarter * following, following
    half = np.abs(position[0] + velocity[1]) / 2  # half the trace
    return np.maximum(half, 1.0) + np.sqrt(np.maximum(half * half - 1, 0.0))
