"""ZZZZ405A: worn volumes and depths by POST_USURE (Code_Aster)."""

from __future__ import annotations

import math

from sweep.theory import wear
from tests.validation.comparison import Ours, Row, csv_rows

POWER = 0.5  # W, of all cases
RADIUS, LENGTH = 1.0, 10.0  # m, of all tubes

Case = dict[str, str]  # a row of cases.csv


def compute() -> Ours:
    cases = {case["case"]: case for case in csv_rows("zzzz405a/cases.csv")}
    rows: dict[str, list[Row]] = {"volumes": [], "bars": [], "holes": []}
    for printed in csv_rows("zzzz405a/published.csv"):
        case, years = cases[printed["case"]], float(printed["years"])
        volume = _volume(case, years)
        row = {"case": printed["case"], "years": years, "law": case["law"], "ours": volume}
        if printed["volume"]:
            rows["volumes"].append({**row, "code_aster": float(printed["volume"])})
        if printed["depth"]:
            row |= {"code_aster": float(printed["depth"]), "exact": _depth(case, volume)}
            if case["geometry"] == "tube_hole":
                rows["holes"].append({**row, "half": _depth(case, volume / 2)})
            else:
                rows["bars"].append({**row, "small": _depth(case, volume, small=True)})
    rows["inclinations"] = [
        {
            "case": name,
            "deepest": int(case["worn"]) * _depth(case, _volume(case, 7), small=True),
            "rise": LENGTH * math.radians(float(case["angle"])),
        }
        for name, case in cases.items()
        if case["angle"]
    ]
    return Ours(rows)


def _volume(case: Case, years: float) -> float:
    """Worn volume [m³] of the tube; a year is 12 of the test's months."""
    coefficient = float(case["coefficient"])
    return float(wear.volume(case["law"], POWER, years * wear.YEAR, coefficient=coefficient))


def _depth(case: Case, volume: float, *, small: bool = False) -> float:
    """The tube's share [m] of the depth that all worn volume makes together, as in Code_Aster.

    `small`: by the formulas for shallow scars, which are not for a hole.
    """
    size = {"radius": RADIUS, "length": LENGTH}
    if case["angle"]:
        size["angle"] = math.radians(float(case["angle"]))
    if case["hole_radius"]:
        size["hole_radius"] = float(case["hole_radius"])
    worn = int(case["worn"])
    return float(wear.depth(case["geometry"], worn * volume, **size, small=small)) / worn
