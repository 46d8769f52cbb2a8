"""Our figures for the comparison: by the model in this folder, and as Code_Aster steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sweep.verify.document import constants, csv_rows
from sweep.verify.runs import computed
from sweep.verify.sdnd106 import plain

FOLDER = Path(__file__).parent
SYSTEM = constants(FOLDER / "system.csv")
CODE_ASTER = constants(FOLDER / "code_aster.csv")
OUTPUTS = ("rubbing_position", "rubbing_speed", "pulled_position", "arrest_times")

Place = tuple[str, float]  # the figure and its time [s]


@dataclass(frozen=True)
class Published:
    """One line of the test."""

    document: float
    code_aster: float


@dataclass(frozen=True)
class Figures:
    """Figures in SI units by name and time."""

    published: Mapping[Place, Published]
    ours: Mapping[Place, float]  # the force ends at once
    ramped: Mapping[Place, float]  # it ends within a microsecond, as in the test
    held: Mapping[Place, float]  # it ends half a step of Code_Aster later
    stepped: Mapping[Place, float]  # central differences with Code_Aster's step and friction
    arrest: float  # s: when the first mass sticks for good


def compute() -> Figures:
    """All figures; takes some seconds, compilation included."""
    published = {
        (row["figure"], float(row["time"])): Published(
            float(row["document"]), float(row["code_aster"])
        )
        for _, row in csv_rows(FOLDER / "published.csv")
    }
    times = sorted({time for _, time in published})
    ramp, step = CODE_ASTER["unload_time"], CODE_ASTER["step"]
    ours, arrest = _computed(times, {})
    return Figures(
        published=published,
        ours=ours,
        ramped=_computed(times, {"unload_time": ramp})[0],
        held=_computed(times, {"load_time": SYSTEM["load_time"] + step / 2})[0],
        stepped=plain.central_differences(SYSTEM, CODE_ASTER, times),
        arrest=arrest,
    )


def _computed(times: list[float], changes: Mapping[str, float]) -> tuple[dict[Place, float], float]:
    """The figures at these times, and when the first mass stuck last."""
    parameters = {**SYSTEM, "relative_tolerance": 1e-12, **changes}
    model = str(FOLDER / "two_masses.toml")
    results = computed(model, "dop853", OUTPUTS, parameters, {"window_end": times})
    found = {
        (name, time): float(results[name].to_numpy()[i])
        for name in OUTPUTS[:3]
        for i, time in enumerate(times)
    }
    arrests = results["arrest_times"].to_numpy()[-1]
    return found, float(arrests[arrests == arrests][-1])
