"""What has to hold of our figures."""

from __future__ import annotations

from sweep.verify.record import Check
from sweep.verify.sdnd104 import published
from sweep.verify.sdnd104.causes import steady
from sweep.verify.sdnd104.figures import SCHEMES, Figures
from sweep.verify.sdnd104.published import (
    AMPLITUDES,
    EULER_SINCE,
    LAST_PLACES,
    NAMES,
    REFERENCE,
    SPRING,
    STEP,
    WINDOW_ENDS,
)

SINCE_BOUND = 1e-11  # the published values have 12 digits
CLOSED_FORM_BOUND = 1e-12
SCHEME_BOUNDS = (2e-4, 2e-4, 5e-3)  # relative; short slips are resolved worse


def checks(figures: Figures) -> tuple[Check, ...]:
    """All of them."""
    return (
        *_reference(figures),
        *_closed_forms(figures),
        *_since(figures),
        *_schemes(figures),
        Check("every method: no wear at a₀ = 0.99 m/s²", _stick(figures), 0.0, "W"),
    )


def _reference(figures: Figures) -> list[Check]:
    """A printed value is at most half its last place away from what it was rounded from."""
    found = [
        Check(
            f"exact, [4, 12] s: the table's value at a₀ = {a0:g} m/s², rounded",
            abs(figures.exact_power(a0) - printed), place / 2, "W",
        )
        for a0, printed, place in zip(AMPLITUDES, REFERENCE, LAST_PLACES, strict=True)
    ]  # fmt: skip
    prose = abs(figures.exact_power(15.0, end=WINDOW_ENDS[1]) - published.PROSE_REFERENCE)
    claim = "exact, [4, 11.99] s: the prose's value at a₀ = 15 m/s², rounded"
    return [*found, Check(claim, prose, 0.5e-9, "W")]


def _closed_forms(figures: Figures) -> list[Check]:
    asymptotic = abs(steady(15.0) - published.ASYMPTOTIC)
    claim = "asymptotic wear power at a₀ = 15 m/s², rounded"
    return [
        Check(claim, asymptotic, 0.5e-10, "W"),
        *(
            Check(
                f"exact and the closed form of stick-slip at a₀ = {a0:g} m/s², both to 13 digits",
                abs(_rounded(figures.exact_power(a0)) / _rounded(steady(a0)) - 1),
                CLOSED_FORM_BOUND,
            )
            for a0 in AMPLITUDES[1:3]
        ),
    ]  # fmt: skip


def _rounded(power: float) -> float:
    return float(f"{power:.12e}")


def _since(figures: Figures) -> list[Check]:
    return [
        Check(
            f"EULER, h = 1e-4 s, 8 blocks: the value published since at a₀ = {a0:g} m/s²",
            abs(figures.power("euler", a0) / printed - 1), SINCE_BOUND,
        )
        for a0, printed in zip(AMPLITUDES[:3], EULER_SINCE, strict=False)
    ]  # fmt: skip


def _schemes(figures: Figures) -> list[Check]:
    return [
        Check(
            f"{NAMES[scheme]}, h = 3e-5 s, mean over time: the reference at a₀ = {a0:g} m/s²",
            abs(figures.power(scheme, a0, blocks=1, constant_step=STEP) / printed - 1), bound,
        )
        for a0, printed, bound in zip(AMPLITUDES[:3], REFERENCE, SCHEME_BOUNDS, strict=False)
        for scheme in SCHEMES
    ]  # fmt: skip


def _stick(figures: Figures) -> float:
    """The greatest wear power at 0.99 m/s², of every method and variant."""
    a0 = AMPLITUDES[3]
    schemes = (float(f.sel(base_acceleration=a0).max()) for f in figures.schemes.values())
    others = (
        power(a0, spring, end)
        for power in (figures.exact_power, figures.moreau_power)
        for spring in (0.0, SPRING)
        for end in WINDOW_ENDS
    )
    return max(*schemes, *others)
