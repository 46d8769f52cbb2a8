"""What the document prints, and what Code_Aster's own runs give."""

from __future__ import annotations

from pathlib import Path

from sweep.verify.document import constants, figures

FOLDER = Path(__file__).parent

PAIRS = figures(FOLDER / "pairs.csv", str)  # by model
ENERGIES = [pair["energy"] for pair in PAIRS.values()]  # J
SYSTEM = constants(FOLDER / "system.csv")
CODE_ASTER = constants(FOLDER / "code_aster.csv")
STABLE_RANGES = figures(FOLDER / "stable_ranges.csv", str)  # by end
STABLE_ENERGIES = [end["energy"] for end in STABLE_RANGES.values()]  # J
LAST_PLACE = 1e-5  # Hz, of the printed frequencies
