"""The expected figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.verify.record import Row
from sweep.verify.sdnd106.figures import Figures

NAMES = {
    "rubbing_position": "x₁ [m]",
    "rubbing_speed": "v₁ [m/s]",
    "pulled_position": "x₂ [m]",
}


def figures(found: Figures) -> Iterator[Row]:
    """Every figure of the test."""
    for place, published in found.published.items():
        name, time = place
        yield {
            "figure": NAMES[name],
            "time": time,
            "document": published.document,
            "code_aster": published.code_aster,
            "ours": found.ours[place],
            "ramped": found.ramped[place],
            "held": found.held[place],
            "stepped": found.stepped[place],
        }


def arrests(found: Figures) -> Iterator[Row]:
    """When the first mass sticks for good."""
    yield {"event": "the first mass sticks for good", "time": found.arrest}
