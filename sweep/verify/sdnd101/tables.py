"""The expected figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.verify.document import csv_rows
from sweep.verify.record import Row
from sweep.verify.sdnd101.figures import FOLDER, Figures

UNITS = {"peak_time": "s", "peak_force": "N", "duration": "s", "impulse": "N s", "speed": "m/s"}


def contacts(figures: Figures) -> Iterator[Row]:
    """Every figure of the test."""
    for _, row in csv_rows(FOLDER / "published.csv"):
        number, name = int(row["contact"]) - 1, row["figure"]
        yield {
            "contact": row["contact"],
            "figure": f"{name.replace('_', ' ')} [{UNITS[name]}]",
            "document": float(row["document"]),
            "code_aster": float(row["code_aster"]),
            "exact": getattr(figures.exact[number], name),
            "ours": getattr(figures.ours[number], name),
            "stepped": getattr(figures.stepped[number], name),
        }


def impulses(figures: Figures) -> Iterator[Row]:
    """The impulses of both contacts, as Code_Aster sums them."""
    for number, contact in enumerate(figures.stepped):
        yield {
            "contact": f"{number + 1}",
            "stepped": contact.impulse,
            "exact": figures.exact[number].impulse,
        }
