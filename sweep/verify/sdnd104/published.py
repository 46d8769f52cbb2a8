"""What the document says, as it prints it: V5.01.104, and values published since.

Wear powers in W over base accelerations in m/s², in the order of AMPLITUDES.
"""

from __future__ import annotations

import math

SOURCE = "Code_Aster V5.01.104 (SDND104), EDF R&D, editions of 2003 and 2017"

AMPLITUDES = (15.0, 1.5, 1.01, 0.99)  # m/s²
SYSTEM = {
    "mass": 1.0,
    "gravity": 10.0,
    "friction": 0.1,
    "angular_frequency": 2 * math.pi,
    "window_start": 4.0,
}
SPRING = 3e-5  # N/m, section 1.2
WINDOW_ENDS = (12.0, 11.99)  # s: of the numbers in the table of section 2.1, and of its heading

REFERENCE = (15.26709959, 0.40906245, 2.261641e-4, 0.0)  # section 2.1
LAST_PLACES = (1e-8, 1e-8, 1e-10, 0.0)  # W: one in the last place of those
PROSE_REFERENCE = 15.257521794  # end of section 2, at 15 m/s²
ASYMPTOTIC = 15.1146144886  # the same place
CRITICAL_RATIO = 0.537  # η*

TANGENTIAL_STIFFNESS = 900_000.0  # N/m, section 3.1
STABLE_BELOW = 7e-4  # s, the same place: min(2/√(K/M), 2/√(K_N/M))
STEP = 3e-5  # s, the same place

COLUMNS = {  # section 4.1, edition of 2017
    "adapt_ordre2": (15.2661, 0.409067, 2.2715e-4, 0.0),
    "devogelaere": (15.2665, 0.409067, 2.26108e-4, 0.0),
    "euler": (15.2668, 0.409067, 2.26112e-4, 0.0),
    "rk54": (15.2655, 0.409071, 2.26105e-4, 0.0),
    "rk32": (15.2661, 0.409068, 2.31715e-4, 0.0),
}
GREATEST = (0.0065, 0.0078, 2.45, 0.0)  # %, the table's last column

EARLIER_COLUMNS = {  # section 4.1, edition of 2003
    "adapt_ordre2": (15.2660, 0.409077, 2.26164e-4, 0.0),
    "devogelaere": (15.2665, 0.409077, 2.26164e-4, 0.0),
    "euler": (15.2668, 0.409077, 2.26316e-4, 0.0),
}

EULER_SINCE = (15.2667964799, 0.409077335988, 2.26326449113e-4, 0.0)  # constant h = 1e-4 s

# What the runs of the columns used, where the document does not say, or says otherwise.
USED_STIFFNESS = 9e6  # N/m
BLOCKS = 8
FIRST_STEP, LONGEST_STEP = 1e-5, 1e-4  # s
TABLE_INTERVALS, TABLE_LENGTH = 10_000, 12.0  # of the excitation; s

NAMES = {
    "adapt_ordre2": "ADAPT_ORDRE2",
    "devogelaere": "DEVOGE",
    "euler": "EULER",
    "rk54": "RK54",
    "rk32": "RK32",
}
