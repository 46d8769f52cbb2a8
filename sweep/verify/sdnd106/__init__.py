"""SDND106: two masses joined by a spring, of which one rubs (Code_Aster)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import xarray as xr

from sweep.verify.document import Rows, constants, csv_rows, record_of
from sweep.verify.record import Record, Row
from sweep.verify.runs import computed
from sweep.verify.sdnd106.plain import central_differences

FOLDER = Path(__file__).parent
PUBLISHED = [cells for _, cells in csv_rows(FOLDER / "published.csv")]
SYSTEM = constants(FOLDER / "system.csv")
CODE_ASTER = constants(FOLDER / "code_aster.csv")
NAMES = {
    "rubbing_position": "x₁ [m]",
    "rubbing_speed": "v₁ [m/s]",
    "pulled_position": "x₂ [m]",
}
TIMES = sorted({float(row["time"]) for row in PUBLISHED})  # s


def compare() -> Record:
    """Every figure of the test beside ours; takes some seconds, compilation included."""
    return record_of(FOLDER, compute())


def compute() -> Rows:
    """The rows of the tables."""
    ours = _computed({})
    arrests = ours["arrest_times"].to_numpy()[-1]
    last = float(arrests[arrests == arrests][-1])
    arrest = {"event": "the first mass sticks for good", "time": last}
    return {"figures": [*_figures(ours)], "arrests": [arrest]}


def _figures(ours: xr.Dataset) -> Iterator[Row]:
    """Every figure of the test: the force ends at once, in a microsecond, or half a step later."""
    ramped = _computed({"unload_time": CODE_ASTER["unload_time"]})
    held = _computed({"load_time": SYSTEM["load_time"] + CODE_ASTER["step"] / 2})
    stepped = central_differences(SYSTEM, CODE_ASTER, TIMES)
    for row in PUBLISHED:
        name, time = row["figure"], float(row["time"])
        at = TIMES.index(time)
        yield {
            "figure": NAMES[name],
            "time": time,
            "document": float(row["document"]),
            "code_aster": float(row["code_aster"]),
            "ours": float(ours[name][at]),
            "ramped": float(ramped[name][at]),
            "held": float(held[name][at]),
            "stepped": stepped[name, time],
        }


def _computed(changes: Mapping[str, float]) -> xr.Dataset:
    """By the model in this folder, over the times."""
    parameters = {**SYSTEM, "relative_tolerance": 1e-12, **changes}
    model, outputs = str(FOLDER / "two_masses.toml"), (*NAMES, "arrest_times")
    return computed(model, "dop853", outputs, parameters, {"window_end": TIMES})
