"""Our figures for the comparison, and what the test expects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sweep.theory import wear
from sweep.verify.document import csv_rows

FOLDER = Path(__file__).parent

POWER = 0.5  # W, of all cases
RADIUS, LENGTH = 1.0, 10.0  # m, of all tubes
YEAR = 31_536_000.0  # s: 365 days, or 12 of the test's months


@dataclass(frozen=True)
class Case:
    """One call of POST_USURE; angles in rad."""

    law: str
    coefficient: float
    geometry: str
    size: Mapping[str, float]
    worn: int


@dataclass(frozen=True)
class Figures:
    """Volumes [m³] and depths [m] of the tube by case and years."""

    published: Mapping[tuple[str, int], Mapping[str, float]]  # "volume", "depth" where expected
    volume: Mapping[tuple[str, int], float]
    depth: Mapping[tuple[str, int], float]
    small: Mapping[tuple[str, int], float]  # by the formulas for shallow scars; not in a hole
    half: Mapping[tuple[str, int], float]  # of half the volume, in a hole


def cases() -> dict[str, Case]:
    """The cases by name."""
    return {row["case"]: _case(row) for _, row in csv_rows(FOLDER / "cases.csv")}


def compute() -> Figures:
    """All figures."""
    known = cases()
    published = {
        (row["case"], int(row["years"])): {
            name: float(row[name]) for name in ("volume", "depth") if row[name]
        }
        for _, row in csv_rows(FOLDER / "published.csv")
    }
    points = {key: known[key[0]] for key in published}
    volume = {key: _volume(case, key[1]) for key, case in points.items()}
    bars = {key: case for key, case in points.items() if case.geometry != "tube_hole"}
    holes = {key: case for key, case in points.items() if case.geometry == "tube_hole"}
    return Figures(
        published=published,
        volume=volume,
        depth={key: _depth(case, volume[key]) for key, case in points.items()},
        small={key: _depth(case, volume[key], small=True) for key, case in bars.items()},
        half={key: _depth(case, volume[key] / 2) for key, case in holes.items()},
    )


def _case(row: Mapping[str, str]) -> Case:
    size = {"radius": RADIUS, "length": LENGTH}
    if row["angle"]:
        size["angle"] = math.radians(float(row["angle"]))
    if row["hole_radius"]:
        size["hole_radius"] = float(row["hole_radius"])
    return Case(row["law"], float(row["coefficient"]), row["geometry"], size, int(row["worn"]))


def _volume(case: Case, years: int) -> float:
    seconds = years * YEAR
    return float(wear.volume(case.law, POWER, seconds, coefficient=case.coefficient))


def _depth(case: Case, volume: float, *, small: bool = False) -> float:
    """The tube's share of the depth that all worn volume makes together, as in Code_Aster."""
    together = wear.depth(case.geometry, case.worn * volume, **case.size, small=small)
    return float(together) / case.worn
