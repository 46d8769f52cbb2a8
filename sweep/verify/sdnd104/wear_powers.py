"""Our figures for the comparison, each computed once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import xarray as xr

from sweep.engine.crews import usable_processors
from sweep.verify.runs import computed
from sweep.verify.sdnd104 import motion, plain, table_excitation
from sweep.verify.sdnd104.published import (
    AMPLITUDES,
    BLOCKS,
    FIRST_STEP,
    LONGEST_STEP,
    NAMES,
    OTHER_STIFFNESSES,
    SPRING,
    STEP,
    SYSTEM,
    USED_STIFFNESS,
    WINDOW_ENDS,
)
from sweep.work import Values

CONSTANT = math.inf  # the tolerance that means steps of constant length
SCHEMES = tuple(NAMES)  # in the document's order
TOLERANCES = {"adapt_ordre2": 1.0, "rk54": 1e-6, "rk32": 1e-5}
TIGHT = 1e-7  # tolerance of the Runge–Kutta schemes where slips are short
TIGHT_AT = 1.01  # m/s²


@dataclass(frozen=True)
class Figures:
    """Wear powers in W; `exact` also has the friction power."""

    exact: xr.Dataset
    moreau: xr.DataArray
    schemes: Mapping[str, xr.DataArray]
    tabulated: dict[float, float]  # by amplitude: exact motion under the tabulated excitation
    tabulated_schemes: dict[tuple[str, float], float]  # the same, by scheme and amplitude
    motions: dict[float, xr.Dataset]  # by amplitude: velocities over the first periods
    reversals: Values  # s, of slip-slip at 15 m/s²
    drifting: dict[float, float]  # by amplitude: EULER in plain Python with accumulated time

    def exact_power(self, a0: float, spring: float = 0.0, end: float = 12.0) -> float:
        """Wear power by method exact over [4, end] s."""
        return self.exact_output("wear_power", a0, spring, end)

    def exact_output(self, output: str, a0: float, spring: float = 0.0, end: float = 12.0) -> float:
        """An output of method exact over [4, end] s."""
        return _at(self.exact[output], a0, stiffness=spring, window_end=end)

    def moreau_power(self, a0: float, spring: float = 0.0, end: float = 12.0) -> float:
        """Wear power by method moreau, h = 1e-4 s."""
        return _at(self.moreau, a0, stiffness=spring, window_end=end)

    def power(
        self,
        scheme: str,
        a0: float,
        *,
        blocks: int = BLOCKS,
        end: float = 12.0,
        constant_step: float | None = None,
        contact: float = USED_STIFFNESS,
    ) -> float:
        """Wear power by a scheme, with the steps of Code_Aster's run or with constant steps [s]."""
        steps = controls(scheme, a0, constant_step)
        fixed = {"window_end": end, "blocks": blocks, "tangential_stiffness": contact}
        return _at(self.schemes[scheme], a0, **fixed, **steps)

    def shift(self, a0: float) -> float:
        """Relative change of the exact wear power due to the tabulated excitation."""
        power = self.exact_power(a0)
        return self.tabulated[a0] / power - 1 if power else 0.0


def _at(values: xr.DataArray, a0: float, **point: float) -> float:
    return float(values.sel({"base_acceleration": a0, **point}))


def controls(scheme: str, a0: float, constant_step: float | None = None) -> dict[str, float]:
    """Step (s) and tolerance of Code_Aster's run of a scheme, or of constant steps."""
    if scheme not in TOLERANCES or constant_step is not None:
        return {"step": constant_step or LONGEST_STEP, "tolerance": CONSTANT}
    tight = scheme.startswith("rk") and a0 == TIGHT_AT
    return {"step": FIRST_STEP, "tolerance": TIGHT if tight else TOLERANCES[scheme]}


def compute() -> Figures:
    """All figures; takes half a minute on two cores, longer if kernels must be compiled."""
    window = (SYSTEM["window_start"], WINDOW_ENDS[0])
    sine = table_excitation.sine_table()
    schemes = {"euler": plain.euler, "devogelaere": plain.devogelaere}
    drifting = partial(plain.euler, drifts=True)
    springs = {"stiffness": (0.0, SPRING)}
    outputs = ("wear_power", "friction_power", "stick_fraction")
    moreau = _computed("moreau", {"step": (LONGEST_STEP,), **springs})
    return Figures(
        exact=_computed("exact", springs, outputs),
        moreau=moreau["wear_power"].squeeze("step"),
        schemes=_schemes(),
        tabulated={a0: table_excitation.wear_power(a0, window) for a0 in AMPLITUDES},
        tabulated_schemes={
            (name, a0): plain.wear_power(scheme, a0, sine, window)
            for name, scheme in schemes.items()
            for a0 in AMPLITUDES
        },
        motions={a0: motion.curves(a0) for a0 in motion.REGIMES},
        reversals=motion.reversals(15.0),
        drifting={
            a0: plain.wear_power(drifting, a0, table_excitation.true_sine, window)
            for a0 in AMPLITUDES
        },
    )


def _schemes() -> dict[str, xr.DataArray]:
    with ThreadPoolExecutor(usable_processors()) as executor:
        return dict(zip(SCHEMES, executor.map(_scheme, SCHEMES), strict=True))


def _scheme(scheme: str) -> xr.DataArray:
    axes: dict[str, Sequence[float]] = {
        "stiffness": (SPRING,),
        "tangential_stiffness": (USED_STIFFNESS,),
        "tolerance": (CONSTANT,),
        "step": (LONGEST_STEP, STEP, FIRST_STEP),
        "blocks": (1, BLOCKS),
    }
    if scheme == "euler":
        axes["tangential_stiffness"] = (USED_STIFFNESS, *OTHER_STIFFNESSES)
    if scheme in TOLERANCES:
        tight = (TIGHT,) if scheme.startswith("rk") else ()
        axes |= {"step": (STEP, FIRST_STEP), "tolerance": (CONSTANT, TOLERANCES[scheme], *tight)}
    return _computed(scheme, axes)["wear_power"].squeeze("stiffness")


def _computed(
    method: str, axes: Mapping[str, Sequence[float]], outputs: Sequence[str] = ("wear_power",)
) -> xr.Dataset:
    everywhere = {"window_end": WINDOW_ENDS, "base_acceleration": AMPLITUDES}
    return computed("friction_oscillator", method, outputs, SYSTEM, {**axes, **everywhere})
