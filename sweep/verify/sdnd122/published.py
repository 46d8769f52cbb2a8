"""What the document says, as it prints it, and what Code_Aster's own runs of it give."""

from __future__ import annotations

SOURCE = "Code_Aster SDND122, EDF R&D"

SYSTEM = {"mass": 1.0, "stiffness": 10.0, "wall_stiffness": 50.0, "gap": 0.01}

ENERGIES = (6.50108331624e-3, 6.5812965423810e-3, 6.47656819016e-3)  # J, models A, B and C
FREQUENCIES = (0.64622, 0.64661, 0.64610)  # Hz
LAST_PLACE = 1e-5  # Hz
STABLE_ENERGIES = (6.2e-3, 6.9e-3)  # J, section 2.2
STABLE_FREQUENCIES = (0.644, 0.6475)  # Hz, the same place

# What Code_Aster computes at the three energies; what its test reads off its table at the first.
COMPUTED = (0.646703, 0.647088, 0.646585)  # Hz
INTERPOLATED = 0.646694  # Hz
TOLERANCE = 1e-3  # relative, of its tests

# How it computes: MODE_NON_LINE, and CALC_STABILITE over 1000 points.
HARMONIC_BALANCE = {"harmonics": 5.0, "regularization": 5e-5, "energy_instant": 0.25}
POINTS = 1000
STABLE_BELOW = 1.01
