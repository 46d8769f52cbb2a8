"""SDND104: the wear power of a mass rubbing under harmonic seismic excitation (Code_Aster).

Powers in W. `a0` is the amplitude of the base acceleration in m/s².
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import xarray as xr
from numpy.typing import NDArray

import sweep
from sweep.analysis.traces import plot_trace
from sweep.theory.friction_oscillator import CRITICAL_RATIO, asymptotic_wear_power, slip_duration
from sweep.theory.stability import longest_step
from tests.oracles import penalised_schemes
from tests.validation.comparison import Ours, Row, computed, constants, figures, number
from tests.validation.sdnd104 import table_excitation

CONSTANTS = constants("sdnd104/constants.csv")
RUNS = constants("sdnd104/runs.csv")
REFERENCE, EDITION_2017, EDITION_2003, NEWER_VERSIONS = (
    figures(f"sdnd104/{name}.csv", float)  # by a0
    for name in ("reference", "edition_2017", "edition_2003", "newer_versions")
)
AMPLITUDES = tuple(REFERENCE)  # m/s²
SLIPPING = AMPLITUDES[:3]  # m/s², at which the mass slips
SYSTEM = {
    **{name: CONSTANTS[name] for name in ("mass", "gravity", "friction", "window_start")},
    "angular_frequency": 2 * math.pi,
}
MASS, OMEGA = SYSTEM["mass"], SYSTEM["angular_frequency"]
GRIP = SYSTEM["friction"] * SYSTEM["gravity"]  # m/s², greatest acceleration due to friction
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
N_REVERSALS = 48
REVERSALS_SHOWN = (1, 2, 3, 4, 8, 16, 32, 48)


def compute() -> Ours:
    """Takes a minute, longer if kernels must be compiled."""
    powers = Powers()
    amplitudes, schemes = [*_amplitudes(powers)], [*_schemes(powers)]
    of_amplitudes = (
        "reference", "since", "shares", "stiffness", "instability", "powers",
    )  # fmt: skip
    rows = {
        **dict.fromkeys(of_amplitudes, amplitudes),
        **dict.fromkeys(("columns", "equal_steps"), schemes),
        "windows": [*_windows(powers)],
        "earlier": [row for row in schemes if row["document_2003"] is not None],
        "stability": [*_stability()],
        "tabulated": [*_tabulated(powers)],
        "unexplained": [*_unexplained(powers)],
        "greatest": [*_greatest(powers)],
        "closed_forms": _closed_forms(powers),
        "reversals": [*_reversals(reversals(15.0))],
    }
    pictures = {
        "sdnd104_stick_slip.png": lambda path: plot_trace(velocities(1.5), path),
        "sdnd104_slip_slip.png": lambda path: plot_trace(velocities(15.0), path),
    }
    return Ours(rows, _cited(powers), pictures)


# --- Wear powers ---


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


# --- The motion over time, by method exact (section 2) ---


def velocities(a0: float) -> xr.Dataset:
    """Velocities of mass and plane over the first three periods."""
    motion = _motion(a0, np.linspace(0, 3 * 2 * math.pi / OMEGA, 1501))
    mass = motion["base_velocity"] + motion["velocity"]
    mass.attrs = {"long_name": "velocity of the mass, fixed frame", "units": "m/s"}
    return motion[["base_velocity", "stuck", "status"]].assign(mass_velocity=mass)


def reversals(a0: float) -> NDArray[np.float64]:
    """The instants t_n [s], n = 1, 2, …, at which the slip changes direction."""
    end = (N_REVERSALS + 2) * math.pi / OMEGA
    coarse = np.linspace(0, end, round(end / 1e-3) + 1)  # no slip is as short as that
    brackets = _crossings(_velocity(a0, coarse))[:N_REVERSALS]
    fine = np.linspace(coarse[brackets - 1], coarse[brackets + 1], 2001).T.ravel()
    velocity = _velocity(a0, fine)
    last = _crossings(velocity)  # the slope has a step at the crossing, so it is taken before it
    slope = (velocity[last] - velocity[last - 1]) / (fine[last] - fine[last - 1])
    return fine[last] - velocity[last] / slope


def _motion(a0: float, times: NDArray[np.float64]) -> xr.Dataset:
    parameters = {**SYSTEM, "base_acceleration": a0, "window_end": float(times[-1]) + 5}
    request = {"model": "friction_oscillator", "method": "exact", "parameters": parameters}
    return sweep.trace(request, times=times)


def _velocity(a0: float, times: NDArray[np.float64]) -> NDArray[np.float64]:
    return _motion(a0, times)["velocity"].to_numpy()


def _crossings(velocity: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indices of the samples after which the velocity crosses zero."""
    return np.flatnonzero(velocity[:-1] * velocity[1:] < 0)


# --- Rows of the tables ---


def _amplitudes(powers: Powers) -> Iterator[Row]:
    """The exact wear powers and those of EULER."""
    for a0 in AMPLITUDES:
        exact, friction = powers.of("exact", a0), powers.of("exact", a0, "friction_power")
        euler = partial(powers.of, "euler", a0)
        yield {
            "base_acceleration": a0,
            "reference": _reference(a0),
            "exact": exact,
            "exact_shorter": powers.of("exact", a0, window_end=SHORTER),
            "sprung": powers.of("exact", a0, stiffness=SPRING),
            "sprung_shorter": powers.of("exact", a0, stiffness=SPRING, window_end=SHORTER),
            "friction_power": friction,
            "ratio": friction / exact if exact else None,
            "newer": NEWER_VERSIONS[a0]["euler"],
            "euler": euler(),
            "euler_mean": euler(blocks=1),
            "euler_named": euler(tangential_stiffness=NAMED_STIFFNESS),
            "euler_claimed": euler(blocks=1, tangential_stiffness=UNSTABLE_STIFFNESS),
            "euler_ten_times": euler(blocks=1, tangential_stiffness=10 * UNSTABLE_STIFFNESS),
            "drifting": powers.drifting[a0],
        }


def _schemes(powers: Powers) -> Iterator[Row]:
    """Section 4.1, each scheme as Code_Aster ran it, and at the step that the document names."""
    equal_steps = {"step": STEP, "tolerance": CONSTANT}
    for a0 in AMPLITUDES:
        for scheme, name in NAMES.items():
            power = partial(powers.of, scheme, a0)
            yield {
                "base_acceleration": a0,
                "method": name,
                "steps": _steps(**steps(scheme, a0)),
                "reference": _reference(a0),
                "sprung": powers.of("exact", a0, stiffness=SPRING),
                "document": EDITION_2017[a0][scheme],
                "document_2003": EDITION_2003[a0].get(scheme),
                "ours": power(),
                "with_table": power() * (1 + powers.shift(a0)),
                "time_mean": power(blocks=1),
                "equal_steps_mean": power(blocks=1, **equal_steps),
                "equal_steps_blocks": power(**equal_steps),
            }


def _steps(step: float, tolerance: float) -> str:
    if tolerance == CONSTANT:
        return f"h = {number(step)} s"
    return f"tolerance {number(tolerance)}, h ≤ {number(LONGEST_STEP)} s"


def _windows(powers: Powers) -> Iterator[Row]:
    """Every method over both windows."""
    exact = [(method, spring) for spring in (0.0, SPRING) for method in ("exact", "moreau")]
    for a0 in AMPLITUDES:
        for method, spring in (*exact, *((scheme, SPRING) for scheme in NAMES)):
            power = partial(powers.of, method, a0, stiffness=spring, blocks=1)
            yield {
                "base_acceleration": a0,
                "method": NAMES.get(method, method),
                "stiffness": spring,
                "reference": _reference(a0),
                "exact_shorter": powers.of("exact", a0, window_end=SHORTER),
                "ours": power(),
                "ours_shorter": power(window_end=SHORTER),
            }


def _stability() -> Iterator[Row]:
    """The longest stable steps in stick, with critical damping, and the stiffness they allow."""
    for scheme, name in NAMES.items():
        used, claimed, ten_times = (
            longest_step(scheme, MASS, SPRING, contact, 2 * (MASS * (SPRING + contact)) ** 0.5)
            for contact in (USED_STIFFNESS, UNSTABLE_STIFFNESS, 10 * UNSTABLE_STIFFNESS)
        )
        yield {
            "method": name,
            "used": used,
            "claimed": claimed,
            "ten_times": ten_times,
            "stiffest_short": USED_STIFFNESS * (used / STEP) ** 2,
            "stiffest_long": USED_STIFFNESS * (used / LONGEST_STEP) ** 2,
        }


def _tabulated(powers: Powers) -> Iterator[Row]:
    """The excitation read from 10000 intervals of 12 s."""
    for a0 in AMPLITUDES:
        exact = {"sine": powers.of("exact", a0), "table": powers.exact_with_table[a0]}
        yield {"base_acceleration": a0, "method": "exact", "document": None, **exact}
        for scheme in ("euler", "devogelaere"):
            yield {
                "base_acceleration": a0,
                "method": NAMES[scheme],
                "sine": powers.of(scheme, a0),
                "table": powers.with_table[scheme, a0],
                "document": EDITION_2017[a0][scheme],
            }


def _unexplained(powers: Powers) -> Iterator[Row]:
    """The column values that no variant reproduces."""
    a0 = 1.01
    for scheme in ("adapt_ordre2", "rk32"):
        printed, variants = EDITION_2017[a0][scheme], powers.variants(scheme, a0)
        yield {
            "base_acceleration": a0,
            "method": NAMES[scheme],
            "document": printed,
            "least": min(variants),
            "greatest": max(variants),
            "variants": float(len(variants)),
            "nearest": min(variants, key=lambda power: abs(power - printed)),
            "reference": _reference(a0),
        }


def _greatest(powers: Powers) -> Iterator[Row]:
    """The last column of section 4.1 in both editions, and what the other columns give."""
    for edition, columns in (("2017", EDITION_2017), ("2003", EDITION_2003)):
        for a0, printed in columns.items():
            schemes = [scheme for scheme in NAMES if scheme in printed]
            in_columns, widest = _widest(a0, {s: printed[s] for s in schemes})
            ours, widest_ours = _widest(a0, {s: powers.of(s, a0) for s in schemes})
            yield {
                "edition": edition,
                "base_acceleration": a0,
                "document": printed["greatest_difference"],
                "columns": in_columns,
                "widest": widest,
                "ours": ours,
                "widest_ours": widest_ours,
            }


def _widest(a0: float, powers: Mapping[str, float]) -> tuple[float, str | None]:
    """The greatest difference [%] of schemes from the reference, and the scheme's name."""
    if _reference(a0) == 0:
        return max(powers.values()), None
    differences = {scheme: abs(power / _reference(a0) - 1) for scheme, power in powers.items()}
    widest = max(differences, key=differences.__getitem__)
    return 100 * differences[widest], NAMES[widest]


def _closed_forms(powers: Powers) -> list[Row]:
    """Section 2: the critical ratio, the asymptote, and the strictly periodic stick-slip."""
    friction, gravity = SYSTEM["friction"], SYSTEM["gravity"]
    steady = {a0: float(asymptotic_wear_power(MASS, gravity, friction, a0, OMEGA))
              for a0 in SLIPPING}  # fmt: skip
    rows: list[tuple[str, str, float | None, float | None, float | None]] = [
        ("η* = 2/√(π² + 4)", "1", CONSTANTS["critical_ratio"], CRITICAL_RATIO, None),
        ("wear power, slip-slip, asymptotic, a₀ = 15 m/s²", "W",
         CONSTANTS["asymptotic"], steady[15.0], None),
    ]  # fmt: skip
    for a0 in SLIPPING[1:]:
        quantity = f"wear power, stick-slip, a₀ = {a0:g} m/s²"
        rows.append((quantity, "W", _reference(a0), steady[a0], powers.of("exact", a0)))
    for a0 in SLIPPING[1:]:
        share = 1 - float(slip_duration(friction, gravity, a0)) / math.pi
        exact = powers.of("exact", a0, "stick_fraction")
        rows.append((f"share of time stuck, a₀ = {a0:g} m/s²", "1", None, share, exact))
    shorter = powers.of("exact", 15.0, window_end=SHORTER)
    prose = CONSTANTS["prose_reference"]
    rows.append(("wear power on [4, 11.99] s, a₀ = 15 m/s²", "W", prose, None, shorter))
    columns = ("quantity", "unit", "document", "closed_form", "exact")
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _reversals(instants: NDArray[np.float64], a0: float = 15.0) -> Iterator[Row]:
    """Section 2: t_n − nπ/ω tends to ϑ in slip-slip.

    The line of slope μg through the plane's velocity at t_n meets that velocity again at t_(n+1).
    Linearized about ϑ, where the plane's acceleration is A, t_n − nπ/ω − ϑ changes by the factor
    −(A − μg)/(A + μg) per reversal.
    """
    limit = math.acos(GRIP * math.pi / (2 * a0)) / OMEGA
    acceleration = a0 * math.sin(OMEGA * limit)
    shifted = [t - n * math.pi / OMEGA for n, t in enumerate(instants.tolist(), start=1)]
    deviations = [each - limit for each in shifted]
    for n in REVERSALS_SHOWN:
        yield {
            "n": str(n),
            "instant": float(instants[n - 1]),
            "shifted": shifted[n - 1],
            "limit": limit,
            "deviation": deviations[n - 1],
            "ratio": deviations[n - 1] / deviations[n - 2] if n > 1 else None,
            "contraction": -(acceleration - GRIP) / (acceleration + GRIP),
        }


def _reference(a0: float) -> float:
    """The document's reference wear power."""
    return REFERENCE[a0]["wear_power"]


def _cited(powers: Powers) -> dict[str, float]:
    """Figures that the notes and a check cite and no table has."""
    newer = {a0: NEWER_VERSIONS[a0]["euler"] for a0 in SLIPPING}
    sprung, exact = (partial(powers.of, "exact", stiffness=k) for k in (SPRING, 0.0))
    variants = [p for s in ("adapt_ordre2", "rk32") for p in powers.variants(s, 1.01)]
    of_methods = (results["wear_power"] for results in powers.by_method.values())
    in_stick = max(float(each.sel(base_acceleration=0.99).max()) for each in of_methods)
    named = powers.of("euler", 1.01, tangential_stiffness=NAMED_STIFFNESS)
    return {
        "power_ratio": exact(15.0) / powers.of("exact", 15.0, "friction_power"),
        "named_error": 100 * (named / newer[1.01] - 1),
        "stable_below": CONSTANTS["stable_below"],
        "named_bound": 2 / (NAMED_STIFFNESS / MASS) ** 0.5,
        "used_bound": 2 / (USED_STIFFNESS / MASS) ** 0.5,
        "spring_15": sprung(15.0) / exact(15.0) - 1,
        "spring_1_5": sprung(1.5) / exact(1.5) - 1,
        "spring_1_01": sprung(1.01) / exact(1.01) - 1,
        "least_variant": min(variants),
        "greatest_variant": max(variants),
        "adapt_difference": 100 * abs(EDITION_2017[15.0]["adapt_ordre2"] / _reference(15.0) - 1),
        "ours_since": max(abs(powers.of("euler", a0) / newer[a0] - 1) for a0 in SLIPPING),
        "drifting_since": max(abs(powers.drifting[a0] / newer[a0] - 1) for a0 in SLIPPING),
        "power_in_stick": in_stick,
    }
