"""The rows of the tables: the document's wear powers beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sweep.verify.record import Row
from sweep.verify.sdnd104.published import (
    AMPLITUDES,
    EDITION_2003,
    EDITION_2017,
    LONGEST_STEP,
    NAMES,
    NEWER_VERSIONS,
    OTHER_STIFFNESSES,
    SPRING,
    STEP,
    WINDOW_ENDS,
    reference,
)
from sweep.verify.sdnd104.wear_powers import CONSTANT, SCHEMES, Figures, controls
from sweep.verify.writing import number


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
