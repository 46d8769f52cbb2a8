"""SDND104: the wear power of a mass rubbing under harmonic seismic excitation (Code_Aster).

Powers in W. `a0` is the amplitude of the base acceleration in m/s².
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

from sweep.pictures.traces import plot_trace
from sweep.theory.friction_oscillator import CRITICAL_RATIO, asymptotic_wear_power, slip_duration
from sweep.theory.stability import longest_step
from tests.validation.comparison import Ours, Row, number
from tests.validation.sdnd104 import motion
from tests.validation.sdnd104.powers import (
    AMPLITUDES,
    CONSTANT,
    CONSTANTS,
    EDITION_2003,
    EDITION_2017,
    LONGEST_STEP,
    MASS,
    NAMED_STIFFNESS,
    NAMES,
    NEWER_VERSIONS,
    OMEGA,
    REFERENCE,
    SHORTER,
    SLIPPING,
    SPRING,
    STEP,
    SYSTEM,
    UNSTABLE_STIFFNESS,
    USED_STIFFNESS,
    Powers,
    steps,
)


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
        "reversals": [*motion.reversal_rows(15.0)],
    }
    pictures = {
        "sdnd104_stick_slip.png": lambda path: plot_trace(motion.velocities(1.5), path),
        "sdnd104_slip_slip.png": lambda path: plot_trace(motion.velocities(15.0), path),
    }
    of_methods = (results["wear_power"] for results in powers.by_method.values())
    in_stick = max(float(each.sel(base_acceleration=0.99).max()) for each in of_methods)
    others = {**CONSTANTS, "used_stiffness": USED_STIFFNESS, "power_in_stick": in_stick}
    return Ours(rows, others, pictures)


def _amplitudes(powers: Powers) -> Iterator[Row]:
    """The exact wear powers and those of EULER."""
    for a0 in AMPLITUDES:
        exact, euler = (partial(powers.of, method, a0) for method in ("exact", "euler"))
        yield {
            "base_acceleration": a0,
            "reference": REFERENCE[a0],
            "exact": exact(),
            "exact_shorter": exact(window_end=SHORTER),
            "sprung": exact(stiffness=SPRING),
            "sprung_shorter": exact(stiffness=SPRING, window_end=SHORTER),
            "friction_power": exact("friction_power"),
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
                "reference": REFERENCE[a0],
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
                "reference": REFERENCE[a0],
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
            "reference": REFERENCE[a0],
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
    if REFERENCE[a0] == 0:
        return max(powers.values()), None
    differences = {scheme: abs(power / REFERENCE[a0] - 1) for scheme, power in powers.items()}
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
        rows.append((quantity, "W", REFERENCE[a0], steady[a0], powers.of("exact", a0)))
    for a0 in SLIPPING[1:]:
        share = 1 - float(slip_duration(friction, gravity, a0)) / math.pi
        exact = powers.of("exact", a0, "stick_fraction")
        rows.append((f"share of time stuck, a₀ = {a0:g} m/s²", "1", None, share, exact))
    shorter = powers.of("exact", 15.0, window_end=SHORTER)
    prose = CONSTANTS["prose_reference"]
    rows.append(("wear power on [4, 11.99] s, a₀ = 15 m/s²", "W", prose, None, shorter))
    columns = ("quantity", "unit", "document", "closed_form", "exact")
    return [dict(zip(columns, row, strict=True)) for row in rows]
