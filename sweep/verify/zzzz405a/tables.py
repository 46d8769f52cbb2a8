"""The expected volumes and depths beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.verify.record import Row
from sweep.verify.zzzz405a.figures import LENGTH, Figures, cases


def volumes(figures: Figures) -> Iterator[Row]:
    """Every worn volume."""
    for (case, years), expected in figures.published.items():
        if "volume" in expected:
            yield {
                "case": case,
                "years": float(years),
                "law": cases()[case].law,
                "code_aster": expected["volume"],
                "ours": figures.volume[case, years],
            }


def bars(figures: Figures) -> Iterator[Row]:
    """Every depth on a bar."""
    for key, expected in figures.published.items():
        if "depth" in expected and key in figures.small:
            yield {
                "case": key[0],
                "years": float(key[1]),
                "code_aster": expected["depth"],
                "small": figures.small[key],
                "exact": figures.depth[key],
            }


def holes(figures: Figures) -> Iterator[Row]:
    """Every depth in a hole."""
    for key, expected in figures.published.items():
        if "depth" in expected and key in figures.half:
            yield {
                "case": key[0],
                "years": float(key[1]),
                "code_aster": expected["depth"],
                "half": figures.half[key],
                "exact": figures.depth[key],
            }


def inclinations(figures: Figures) -> Iterator[Row]:
    """The greatest depth of each case with an inclined bar, and L θ."""
    for name, case in cases().items():
        if "angle" in case.size:
            depths = [depth for (other, _), depth in figures.small.items() if other == name]
            yield {
                "case": name,
                "deepest": case.worn * max(depths),
                "rise": LENGTH * case.size["angle"],
            }
