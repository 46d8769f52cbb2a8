"""The rows of the tables: the document's wear powers beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.verify.document import relative
from sweep.verify.record import Row
from sweep.verify.sdnd104.figures import CONSTANT, SCHEMES, Figures, controls
from sweep.verify.sdnd104.published import (
    AMPLITUDES,
    EDITION_2003,
    EDITION_2017,
    LONGEST_STEP,
    NAMES,
    NEWER_VERSIONS,
    SPRING,
    STEP,
    WINDOW_ENDS,
)
from sweep.verify.sdnd104.published import reference as reference_power
from sweep.verify.writing import number


def reference(figures: Figures) -> Iterator[Row]:
    """Section 2.1, with the window that its values belong to."""
    for a0 in AMPLITUDES:
        yield {
            "base_acceleration": a0,
            "document": reference_power(a0),
            "exact": figures.exact_power(a0),
            "exact_shorter": figures.exact_power(a0, end=11.99),
            "sprung": figures.exact_power(a0, SPRING),
            "sprung_shorter": figures.exact_power(a0, SPRING, end=11.99),
        }


def columns(figures: Figures) -> Iterator[Row]:
    """Section 4.1, each scheme as Code_Aster ran it."""
    for a0 in AMPLITUDES:
        for scheme in SCHEMES:
            printed, ours = EDITION_2017[a0][scheme], figures.power(scheme, a0)
            yield {
                "base_acceleration": a0,
                "method": NAMES[scheme],
                "steps": _steps(scheme, a0),
                "reference": reference_power(a0),
                "document": printed,
                "ours": ours,
                "relative_with_table": relative(ours * (1 + figures.shift(a0)), printed),
                "time_mean": figures.power(scheme, a0, blocks=1),
            }


def since(figures: Figures) -> Iterator[Row]:
    """EULER's values from newer versions of Code_Aster."""
    for a0, published in NEWER_VERSIONS.items():
        yield {
            "base_acceleration": a0,
            "published": published["euler"],
            "ours": figures.power("euler", a0),
            "drifting": figures.drifting[a0],
            "time_mean": figures.power("euler", a0, blocks=1),
        }


def windows(figures: Figures) -> Iterator[Row]:
    """Every method over both windows."""
    for a0 in AMPLITUDES:
        exact_shorter = figures.exact_power(a0, end=11.99)
        for method, spring, (longer, shorter) in _by_method(figures, a0):
            yield {
                "base_acceleration": a0,
                "method": method,
                "stiffness": spring,
                "ours": longer,
                "from_reference": relative(longer, reference_power(a0)),
                "ours_shorter": shorter,
                "from_exact_shorter": relative(shorter, exact_shorter),
            }


def _by_method(figures: Figures, a0: float) -> Iterator[tuple[str, float, list[float]]]:
    for spring in (0.0, SPRING):
        yield "exact", spring, [figures.exact_power(a0, spring, end) for end in WINDOW_ENDS]
        yield "moreau", spring, [figures.moreau_power(a0, spring, end) for end in WINDOW_ENDS]
    for scheme in SCHEMES:
        powers = [figures.power(scheme, a0, blocks=1, end=end) for end in WINDOW_ENDS]
        yield NAMES[scheme], SPRING, powers


def equal_steps(figures: Figures) -> Iterator[Row]:
    """Every scheme at the step that the document names."""
    for a0 in AMPLITUDES:
        for scheme in SCHEMES:
            mean = figures.power(scheme, a0, blocks=1, constant_step=STEP)
            blocks = figures.power(scheme, a0, constant_step=STEP)
            yield {
                "base_acceleration": a0,
                "method": NAMES[scheme],
                "time_mean": mean,
                "from_reference": relative(mean, reference_power(a0)),
                "from_sprung": relative(mean, figures.exact_power(a0, SPRING)),
                "blocks": blocks,
                "from_column": relative(blocks, EDITION_2017[a0][scheme]),
            }


def earlier(figures: Figures) -> Iterator[Row]:
    """The edition of 2003."""
    for a0, printed in EDITION_2003.items():
        for scheme in ("adapt_ordre2", "devogelaere", "euler"):
            yield {
                "base_acceleration": a0,
                "method": NAMES[scheme],
                "document": printed[scheme],
                "ours": figures.power(scheme, a0),
            }


def _steps(scheme: str, a0: float) -> str:
    chosen = controls(scheme, a0)
    if chosen["tolerance"] == CONSTANT:
        return f"h = {number(chosen['step'], 3)} s"
    return f"tolerance {number(chosen['tolerance'], 3)}, h ≤ {number(LONGEST_STEP, 3)} s"
