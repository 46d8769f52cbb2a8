"""The rows of the tables: the document's wear powers beside ours, and what explains them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from sweep.theory.friction_oscillator import (
    CRITICAL_RATIO,
    asymptotic_wear_power,
    slip_duration,
)
from sweep.theory.stability import longest_step
from sweep.verify.document import Rows
from sweep.verify.record import Row
from sweep.verify.sdnd104 import motion
from sweep.verify.sdnd104.published import (
    AMPLITUDES,
    CONSTANTS,
    EDITION_2003,
    EDITION_2017,
    LONGEST_STEP,
    NAMES,
    NEWER_VERSIONS,
    OMEGA,
    OTHER_STIFFNESSES,
    SPRING,
    STEP,
    SYSTEM,
    UNSTABLE_STIFFNESS,
    USED_STIFFNESS,
    WINDOW_ENDS,
    reference,
)
from sweep.verify.sdnd104.wear_powers import CONSTANT, SCHEMES, Figures, controls
from sweep.verify.writing import number


def rows(figures: Figures) -> Rows:
    """The rows of all tables."""
    functions = (
        amplitudes, schemes, earlier, windows, stability, reversals, tabulated, unexplained,
        greatest, closed_forms,
    )  # fmt: skip
    return {each.__name__: [*each(figures)] for each in functions}


def amplitudes(figures: Figures) -> Iterator[Row]:
    """The exact wear powers and those of EULER, at each amplitude."""
    for a0 in AMPLITUDES:
        exact, friction = figures.exact_power(a0), figures.exact_output("friction_power", a0)
        euler = partial(figures.power, "euler", a0)
        named, claimed, ten_times = OTHER_STIFFNESSES
        yield {
            "base_acceleration": a0,
            "reference": reference(a0),
            "exact": exact,
            "exact_shorter": figures.exact_power(a0, end=11.99),
            "sprung": figures.exact_power(a0, SPRING),
            "sprung_shorter": figures.exact_power(a0, SPRING, end=11.99),
            "friction_power": friction,
            "ratio": friction / exact if exact else None,
            "newer": NEWER_VERSIONS[a0]["euler"],
            "euler": euler(),
            "euler_mean": euler(blocks=1),
            "euler_named": euler(contact=named),
            "euler_claimed": euler(blocks=1, contact=claimed),
            "euler_ten_times": euler(blocks=1, contact=ten_times),
            "drifting": figures.drifting[a0],
        }


def schemes(figures: Figures) -> Iterator[Row]:
    """Section 4.1, each scheme as Code_Aster ran it, and at the step that the document names."""
    for a0 in AMPLITUDES:
        for scheme in SCHEMES:
            power = partial(figures.power, scheme, a0)
            yield {
                "base_acceleration": a0,
                "method": NAMES[scheme],
                "steps": _steps(scheme, a0),
                "reference": reference(a0),
                "sprung": figures.exact_power(a0, SPRING),
                "document": EDITION_2017[a0][scheme],
                "document_2003": EDITION_2003[a0].get(scheme),
                "ours": power(),
                "with_table": power() * (1 + figures.shift(a0)),
                "time_mean": power(blocks=1),
                "equal_steps_mean": power(blocks=1, constant_step=STEP),
                "equal_steps_blocks": power(constant_step=STEP),
            }


def earlier(figures: Figures) -> Iterator[Row]:
    """The schemes of the edition of 2003."""
    return (row for row in schemes(figures) if row["document_2003"] is not None)


def windows(figures: Figures) -> Iterator[Row]:
    """Every method over both windows."""
    for a0 in AMPLITUDES:
        for method, spring, (longer, shorter) in _by_method(figures, a0):
            yield {
                "base_acceleration": a0,
                "method": method,
                "stiffness": spring,
                "reference": reference(a0),
                "exact_shorter": figures.exact_power(a0, end=11.99),
                "ours": longer,
                "ours_shorter": shorter,
            }


def stability(_: Figures) -> Iterator[Row]:
    """The longest stable steps in stick, with critical damping, and the stiffness they allow."""
    for scheme in SCHEMES:
        used, claimed, ten_times = (
            longest_stable_step(scheme, contact)
            for contact in (USED_STIFFNESS, UNSTABLE_STIFFNESS, 10 * UNSTABLE_STIFFNESS)
        )
        yield {
            "method": NAMES[scheme],
            "used": used,
            "claimed": claimed,
            "ten_times": ten_times,
            "stiffest_short": USED_STIFFNESS * (used / STEP) ** 2,
            "stiffest_long": USED_STIFFNESS * (used / LONGEST_STEP) ** 2,
        }


def longest_stable_step(scheme: str, contact: float) -> float:
    """The longest stable step [s] in stick at this K_T [N/m] and its critical damping."""
    mass = SYSTEM["mass"]
    return longest_step(scheme, mass, SPRING, contact, 2 * (mass * (SPRING + contact)) ** 0.5)


def reversals(figures: Figures) -> Iterator[Row]:
    """Section 2: t_n − nπ/ω tends to ϑ in slip-slip."""
    limit, before = motion.limit(15.0), None
    for n, instant in enumerate(figures.reversals.tolist(), start=1):
        deviation = instant - n * math.pi / OMEGA - limit
        if n in (1, 2, 3, 4, 8, 16, 32, 48):
            yield {
                "n": str(n),
                "instant": instant,
                "shifted": deviation + limit,
                "limit": limit,
                "deviation": deviation,
                "ratio": deviation / before if before else None,
                "contraction": motion.contraction(15.0),
            }
        before = deviation


def tabulated(figures: Figures) -> Iterator[Row]:
    """The excitation read from 10000 intervals of 12 s."""
    for a0 in AMPLITUDES:
        sine, table = figures.exact_power(a0), figures.tabulated[a0]
        row = {"base_acceleration": a0, "sine": sine, "table": table}
        yield {**row, "method": "exact", "document": None}
        for scheme in ("euler", "devogelaere"):
            yield {
                "base_acceleration": a0,
                "method": NAMES[scheme],
                "sine": figures.power(scheme, a0),
                "table": figures.tabulated_schemes[scheme, a0],
                "document": EDITION_2017[a0][scheme],
            }


def unexplained(figures: Figures) -> Iterator[Row]:
    """The column values that no variant reproduces."""
    a0 = 1.01
    for scheme in ("adapt_ordre2", "rk32"):
        printed, powers = EDITION_2017[a0][scheme], variants(figures, scheme, a0)
        yield {
            "base_acceleration": a0,
            "method": NAMES[scheme],
            "document": printed,
            "least": min(powers),
            "greatest": max(powers),
            "variants": float(len(powers)),
            "nearest": min(powers, key=lambda power: abs(power - printed)),
            "reference": reference(a0),
        }


def variants(figures: Figures, scheme: str, a0: float) -> list[float]:
    """Our wear powers [W] at every step, tolerance, blocks and window, with and without table."""
    powers = figures.schemes[scheme].sel(base_acceleration=a0).values.ravel().tolist()
    return [power * scale for scale in (1.0, 1 + figures.shift(a0)) for power in powers]


def greatest(figures: Figures) -> Iterator[Row]:
    """The last column of section 4.1 in both editions, and what the other columns give."""
    for edition, columns in (("2017", EDITION_2017), ("2003", EDITION_2003)):
        for a0, printed in columns.items():
            schemes = [scheme for scheme in SCHEMES if scheme in printed]
            in_columns, widest = widest_difference(a0, {s: printed[s] for s in schemes})
            ours, widest_ours = widest_difference(a0, {s: figures.power(s, a0) for s in schemes})
            yield {
                "edition": edition,
                "base_acceleration": a0,
                "document": printed["greatest_difference"],
                "columns": in_columns,
                "widest": widest,
                "ours": ours,
                "widest_ours": widest_ours,
            }


def widest_difference(a0: float, powers: dict[str, float]) -> tuple[float, str | None]:
    """The greatest difference [%] of schemes from the reference, and the scheme's name."""
    if reference(a0) == 0:
        return max(powers.values()), None
    differences = {scheme: abs(power / reference(a0) - 1) for scheme, power in powers.items()}
    widest = max(differences, key=lambda scheme: differences[scheme])
    return 100 * differences[widest], NAMES[widest]


def closed_forms(figures: Figures) -> Iterator[Row]:
    """Section 2: the critical ratio, the asymptote, and the strictly periodic stick-slip."""
    system = (SYSTEM["friction"], SYSTEM["gravity"])
    asymptotic, in_prose = CONSTANTS["asymptotic"], CONSTANTS["prose_reference"]
    shorter = figures.exact_power(15.0, end=11.99)
    sticking = {a0: 1 - float(slip_duration(*system, a0)) / math.pi for a0 in (1.5, 1.01)}
    table: list[tuple[str, str, float | None, float | None, float | None]] = [
        ("η* = 2/√(π² + 4)", "1", CONSTANTS["critical_ratio"], CRITICAL_RATIO, None),
        ("wear power, slip-slip, asymptotic, a₀ = 15 m/s²", "W", asymptotic, steady(15.0), None),
        *(
            (f"wear power, stick-slip, a₀ = {a0:g} m/s²", "W",
             reference(a0), steady(a0), figures.exact_power(a0))
            for a0 in sticking
        ),
        *(
            (f"share of time stuck, a₀ = {a0:g} m/s²", "1",
             None, share, figures.exact_output("stick_fraction", a0))
            for a0, share in sticking.items()
        ),
        ("wear power on [4, 11.99] s, a₀ = 15 m/s²", "W", in_prose, None, shorter),
    ]  # fmt: skip
    columns = ("quantity", "unit", "document", "closed_form", "exact")
    return (dict(zip(columns, row, strict=True)) for row in table)


def steady(a0: float) -> float:
    """Mean wear power [W] of the steady motion, in closed form."""
    mass, gravity, friction = (SYSTEM[name] for name in ("mass", "gravity", "friction"))
    return float(asymptotic_wear_power(mass, gravity, friction, a0, OMEGA))


def _by_method(figures: Figures, a0: float) -> Iterator[tuple[str, float, list[float]]]:
    for spring in (0.0, SPRING):
        yield "exact", spring, [figures.exact_power(a0, spring, end) for end in WINDOW_ENDS]
        yield "moreau", spring, [figures.moreau_power(a0, spring, end) for end in WINDOW_ENDS]
    for scheme in SCHEMES:
        powers = [figures.power(scheme, a0, blocks=1, end=end) for end in WINDOW_ENDS]
        yield NAMES[scheme], SPRING, powers


def _steps(scheme: str, a0: float) -> str:
    chosen = controls(scheme, a0)
    if chosen["tolerance"] == CONSTANT:
        return f"h = {number(chosen['step'], 3)} s"
    return f"tolerance {number(chosen['tolerance'], 3)}, h ≤ {number(LONGEST_STEP, 3)} s"
