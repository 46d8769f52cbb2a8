"""ZZZZ405A: worn volumes and depths by POST_USURE (Code_Aster)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sweep.theory import wear
from tests.validation.comparison import Ours, Row, csv_rows

POWER = 0.5  # W, of all cases
RADIUS, LENGTH = 1.0, 10.0  # m, of all tubes


@dataclass(frozen=True)
class Case:
    """One call of POST_USURE; angles in rad."""

    law: str
    coefficient: float
    geometry: str
    size: Mapping[str, float]
    worn: int

    def volume(self, years: int) -> float:
        """Worn volume [m³] of the tube."""
        seconds = years * wear.YEAR  # or 12 of the test's months each
        return float(wear.volume(self.law, POWER, seconds, coefficient=self.coefficient))

    def depth(self, volume: float, *, small: bool = False) -> float:
        """The tube's share [m] of the depth that all worn volume makes together, as in Code_Aster.

        `small`: by the formulas for shallow scars, which are not for a hole.
        """
        together = wear.depth(self.geometry, self.worn * volume, **self.size, small=small)
        return float(together) / self.worn


def compute() -> Ours:
    cases = {row["case"]: _case(row) for row in csv_rows("zzzz405a/cases.csv")}
    rows: dict[str, list[Row]] = {"volumes": [], "bars": [], "holes": []}
    for printed in csv_rows("zzzz405a/published.csv"):
        case, years = cases[printed["case"]], int(printed["years"])
        volume = case.volume(years)
        row = {"case": printed["case"], "years": float(years)}
        if printed["volume"]:
            expected = float(printed["volume"])
            rows["volumes"].append({**row, "law": case.law, "code_aster": expected, "ours": volume})
        if printed["depth"]:
            row |= {"code_aster": float(printed["depth"]), "exact": case.depth(volume)}
            if case.geometry == "tube_hole":
                rows["holes"].append({**row, "half": case.depth(volume / 2)})
            else:
                rows["bars"].append({**row, "small": case.depth(volume, small=True)})
    return Ours({**rows, "inclinations": [*_inclinations(cases)]})


def _inclinations(cases: Mapping[str, Case]) -> Iterator[Row]:
    """The greatest depth of each case with an inclined bar, after 7 years, and L θ."""
    for name, case in cases.items():
        if "angle" in case.size:
            deepest = case.worn * case.depth(case.volume(7), small=True)
            yield {"case": name, "deepest": deepest, "rise": LENGTH * case.size["angle"]}


def _case(row: Mapping[str, str]) -> Case:
    size = {"radius": RADIUS, "length": LENGTH}
    if row["angle"]:
        size["angle"] = math.radians(float(row["angle"]))
    if row["hole_radius"]:
        size["hole_radius"] = float(row["hole_radius"])
    return Case(row["law"], float(row["coefficient"]), row["geometry"], size, int(row["worn"]))
