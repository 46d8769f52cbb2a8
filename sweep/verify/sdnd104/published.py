"""What V5.01.104 prints, and what has been published since; wear powers in W."""

from __future__ import annotations

import math
from pathlib import Path

from sweep.verify.document import constants, figures

FOLDER = Path(__file__).parent

CONSTANTS = constants(FOLDER / "constants.csv")
RUNS = constants(FOLDER / "runs.csv")

REFERENCE = figures(FOLDER / "reference.csv", float)  # this and the next by base acceleration
EDITION_2017 = figures(FOLDER / "edition_2017.csv", float)
EDITION_2003 = figures(FOLDER / "edition_2003.csv", float)
NEWER_VERSIONS = figures(FOLDER / "newer_versions.csv", float)

AMPLITUDES = tuple(REFERENCE)  # m/s²
SLIPPING = AMPLITUDES[:3]  # the amplitudes at which the mass slips
SYSTEM = {
    "mass": CONSTANTS["mass"],
    "gravity": CONSTANTS["gravity"],
    "friction": CONSTANTS["friction"],
    "angular_frequency": 2 * math.pi,
    "window_start": CONSTANTS["window_start"],
}
OMEGA = SYSTEM["angular_frequency"]
GRIP = SYSTEM["friction"] * SYSTEM["gravity"]  # m/s², greatest acceleration due to friction
LOAD = SYSTEM["mass"] * SYSTEM["gravity"]  # N
SPRING = CONSTANTS["spring"]  # N/m
WINDOW_ENDS = (CONSTANTS["window_end"], CONSTANTS["window_end_in_heading"])  # s

STEP = CONSTANTS["step"]  # s, the document's; the runs used LONGEST_STEP
FIRST_STEP, LONGEST_STEP = RUNS["first_step"], RUNS["longest_step"]  # s
TANGENTIAL_STIFFNESS = CONSTANTS["tangential_stiffness"]  # N/m, the document's
UNSTABLE_STIFFNESS = CONSTANTS["unstable_stiffness"]  # N/m, according to the document
USED_STIFFNESS = RUNS["tangential_stiffness"]  # N/m, of the runs
OTHER_STIFFNESSES = (TANGENTIAL_STIFFNESS, UNSTABLE_STIFFNESS, 10 * UNSTABLE_STIFFNESS)  # N/m
BLOCKS = int(RUNS["blocks"])
TABLE_INTERVALS, TABLE_LENGTH = int(RUNS["intervals"]), RUNS["length"]  # excitation; length in s

NAMES = {
    "adapt_ordre2": "ADAPT_ORDRE2",
    "devogelaere": "DEVOGE",
    "euler": "EULER",
    "rk54": "RK54",
    "rk32": "RK32",
}


def reference(amplitude: float) -> float:
    """The document's reference wear power."""
    return REFERENCE[amplitude]["wear_power"]
