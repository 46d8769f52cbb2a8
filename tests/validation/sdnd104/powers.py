"""What the document prints, what its runs used, and the wear powers of all methods.

Powers in W. `a0` is the amplitude of the base acceleration in m/s².
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import xarray as xr

from tests.oracles import penalised_schemes
from tests.validation.comparison import computed, constants, figures
from tests.validation.sdnd104 import table_excitation

CONSTANTS = constants("sdnd104/constants.csv")
RUNS = constants("sdnd104/runs.csv")
EDITION_2017, EDITION_2003 = (
    figures(f"sdnd104/edition_{year}.csv", float) for year in (2017, 2003)
)  # by a0, as the next two
NEWER_VERSIONS = figures("sdnd104/newer_versions.csv", float)
REFERENCE = {a0: row["wear_power"] for a0, row in figures("sdnd104/reference.csv", float).items()}
AMPLITUDES = tuple(REFERENCE)  # m/s²
SLIPPING = AMPLITUDES[:3]  # m/s², at which the mass slips
SYSTEM = {
    **{name: CONSTANTS[name] for name in ("mass", "gravity", "friction", "window_start")},
    "angular_frequency": 2 * math.pi,
}
MASS, OMEGA = SYSTEM["mass"], SYSTEM["angular_frequency"]
SPRING = CONSTANTS["spring"]  # N/m
LONGER, SHORTER = CONSTANTS["window_end"], CONSTANTS["window_end_in_heading"]  # s, end of window
STEP = CONSTANTS["step"]  # s, the document's; the runs used LONGEST_STEP
FIRST_STEP, LONGEST_STEP = RUNS["first_step"], RUNS["longest_step"]  # s
NAMED_STIFFNESS = CONSTANTS["tangential_stiffness"]  # N/m, in the document
UNSTABLE_STIFFNESS = CONSTANTS["unstable_stiffness"]  # N/m, according to the document
USED_STIFFNESS = RUNS["tangential_stiffness"]  # N/m, of the runs
BLOCKS = int(RUNS["blocks"])

NAMES = {  # in the document's order
    "adapt_ordre2": "ADAPT_ORDRE2",
    "devogelaere": "DEVOGE",
    "euler": "EULER",
    "rk54": "RK54",
    "rk32": "RK32",
}
CONSTANT = math.inf  # the tolerance that means steps of constant length
TOLERANCES = {"adapt_ordre2": 1.0, "rk54": 1e-6, "rk32": 1e-5}
TIGHT, TIGHT_AT = 1e-7, 1.01  # tolerance of rk54 and rk32 at this a0, where slips are short


class Powers:
    """Wear powers of all methods, each computed once."""

    def __init__(self) -> None:
        springs = {"stiffness": (0.0, SPRING)}
        outputs = ("wear_power", "friction_power", "stick_fraction")
        self.by_method = {
            "exact": _computed("exact", springs, outputs),
            "moreau": _computed("moreau", {"step": (LONGEST_STEP,), **springs}),
            **{scheme: _computed(scheme, _axes(scheme)) for scheme in NAMES},
        }
        self.exact_with_table = {a0: table_excitation.wear_power(a0) for a0 in AMPLITUDES}
        sine = penalised_schemes.tabulated_sine(OMEGA, RUNS["length"], int(RUNS["intervals"]))
        self.with_table = {
            (scheme, a0): plain_wear_power(scheme, a0, sine=sine)
            for scheme in ("euler", "devogelaere")
            for a0 in AMPLITUDES
        }
        self.drifting = {a0: plain_wear_power("euler", a0, drift=True) for a0 in AMPLITUDES}

    def of(self, method: str, a0: float, output: str = "wear_power", **point: float) -> float:
        """Without spring or as in Code_Aster's run of a scheme, except for the point's values."""
        usual = {
            "stiffness": SPRING if method in NAMES else 0.0,
            "window_end": LONGER,
            "blocks": BLOCKS,
            "tangential_stiffness": USED_STIFFNESS,
            **steps(method, a0),
        }
        whole = {**usual, **point, "base_acceleration": a0}
        values = self.by_method[method][output]
        return float(values.sel({name: whole[str(name)] for name in values.dims}))

    def shift(self, a0: float) -> float:
        """Relative change of the exact wear power due to the tabulated excitation."""
        power = self.of("exact", a0)
        return self.exact_with_table[a0] / power - 1 if power else 0.0

    def variants(self, scheme: str, a0: float) -> list[float]:
        """At every step, tolerance, blocks and window, with and without table."""
        powers = self.by_method[scheme]["wear_power"].sel(base_acceleration=a0).values.ravel()
        return [power * scale for scale in (1.0, 1 + self.shift(a0)) for power in powers.tolist()]


def _computed(
    method: str, axes: Mapping[str, Sequence[float]], outputs: Sequence[str] = ("wear_power",)
) -> xr.Dataset:
    everywhere = {"window_end": (LONGER, SHORTER), "base_acceleration": AMPLITUDES}
    return computed("friction_oscillator", method, outputs, SYSTEM, {**axes, **everywhere})


def _axes(scheme: str) -> dict[str, Sequence[float]]:
    axes: dict[str, Sequence[float]] = {
        "stiffness": (SPRING,),
        "tangential_stiffness": (USED_STIFFNESS,),
        "tolerance": (CONSTANT,),
        "step": (LONGEST_STEP, STEP, FIRST_STEP),
        "blocks": (1, BLOCKS),
    }
    if scheme == "euler":
        others = (NAMED_STIFFNESS, UNSTABLE_STIFFNESS, 10 * UNSTABLE_STIFFNESS)
        axes["tangential_stiffness"] = (USED_STIFFNESS, *others)
    if scheme in TOLERANCES:
        tight = (TIGHT,) if scheme.startswith("rk") else ()
        axes |= {"step": (STEP, FIRST_STEP), "tolerance": (CONSTANT, TOLERANCES[scheme], *tight)}
    return axes


def steps(scheme: str, a0: float) -> dict[str, float]:
    """Step (s) and tolerance of Code_Aster's run."""
    if scheme not in TOLERANCES:
        return {"step": LONGEST_STEP, "tolerance": CONSTANT}
    tight = scheme.startswith("rk") and a0 == TIGHT_AT
    return {"step": FIRST_STEP, "tolerance": TIGHT if tight else TOLERANCES[scheme]}


def plain_wear_power(scheme: str, a0: float, **excitation: object) -> float:
    """By a scheme in plain Python, with the steps of the runs, over [4, 12] s."""
    point = {
        "m": MASS, "g": SYSTEM["gravity"], "mu": SYSTEM["friction"], "k": SPRING, "c": 0.0,
        "a0": a0, "w": OMEGA, "av": 0.0, "phi": 0.0, "t0": SYSTEM["window_start"], "t1": LONGER,
    }  # fmt: skip
    settings = {
        "step": LONGEST_STEP, "tangential_stiffness": USED_STIFFNESS, "blocks": BLOCKS,
    }  # fmt: skip
    return penalised_schemes.run(scheme, point, **settings, **excitation)["wear_power"]
