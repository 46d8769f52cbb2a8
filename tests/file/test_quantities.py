"""Numbers with units, to the last bit, and texts that are none."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import FaultError
from sweep.file.quantities import number
from sweep.model.table import Parameter

METRE, SECOND, PLAIN, RADIAN, PER_SECOND = (
    Parameter(name="length", symbol="l", unit="m", meaning="a length"),
    Parameter(name="time", symbol="t", unit="s", meaning="a time"),
    Parameter(name="ratio", symbol="q", unit="1", meaning="a ratio"),
    Parameter(name="angle", symbol="a", unit="rad", meaning="an angle"),
    Parameter(name="rate", symbol="w", unit="rad/s", meaning="an angular frequency"),
)
NEWTON_PER_METRE = Parameter(name="stiffness", symbol="k", unit="N/m", meaning="a spring")
DAMPER = Parameter(name="damping", symbol="c", unit="N s/m", meaning="a damper")
ACCELERATION = Parameter(name="gravity", symbol="g", unit="m/s^2", meaning="an acceleration")
MASS, PRESSURE, POWER, FREQUENCY, INFINITE = (
    Parameter(name="mass", symbol="m", unit="kg", meaning="a mass"),
    Parameter(name="pressure", symbol="p", unit="Pa", meaning="a pressure"),
    Parameter(name="power", symbol="P", unit="W", meaning="a power"),
    Parameter(name="frequency", symbol="f", unit="1/s", meaning="a frequency"),
    Parameter(name="beta", symbol="b", unit="1", meaning="a ratio", minimum=0, infinite=True),
)


@pytest.mark.parametrize(
    ("written", "parameter", "si"),
    [
        ("2 mm", METRE, 0.002),
        ("5 um", METRE, 5e-6),  # not 4.9999999999999996e-06
        ("7 µm", METRE, 7e-6),
        ("1.5e3 nm", METRE, 1.5e-6),
        (" 3 in ", METRE, 0.0762),
        ("3 m", METRE, 3.0),
        ("2 h", SECOND, 7200.0),
        ("3 t", MASS, 3000.0),
        ("1 lb", MASS, 0.45359237),  # the international pound
        ("2 bar", PRESSURE, 2e5),
        ("210 GPa", PRESSURE, 2.1e11),
        ("3 MJ/h", POWER, 2500 / 3),
        ("6 /min", FREQUENCY, 0.1),
        ("0.3", PLAIN, 0.3),
        ("12 %", PLAIN, 0.12),
        ("90 deg", RADIAN, math.pi / 2),
        ("-0.25 turn", RADIAN, -math.pi / 2),
        ("180°", RADIAN, math.pi),
        ("50 rad/s", PER_SECOND, 50.0),
        ("1 turn/s", PER_SECOND, 2 * math.pi),
        ("60 rpm", PER_SECOND, 2 * math.pi),
        ("70 rpm", PER_SECOND, 7.3303828583761845),  # 7 pi / 3 = 7.3303828583761842231, rounded
        ("60 turn/min", PER_SECOND, 2 * math.pi),
        ("0.5 cycles/s", PER_SECOND, math.pi),
        ("3 N/mm", NEWTON_PER_METRE, 3000.0),
        ("3 kN s/m", DAMPER, 3000.0),
        ("3 kg/s", DAMPER, 3.0),
        ("1 g_n", ACCELERATION, 9.80665),
        ("2 m s^-2", ACCELERATION, 2.0),
        ("2 m/s**2", ACCELERATION, 2.0),
        ("2 m/s²", ACCELERATION, 2.0),
        ("2 m·s^-2", ACCELERATION, 2.0),
        (3, METRE, 3.0),
        (10**20, METRE, 1e20),
        (math.inf, INFINITE, math.inf),
        (" inf ", INFINITE, math.inf),
    ],
)
def test_units(written: object, parameter: Parameter, si: float) -> None:
    assert number(written, parameter) == si  # to the last bit


@pytest.mark.parametrize(
    ("written", "parameter", "fragment"),
    [
        ("50 Hz", PER_SECOND, '"50 turn/s" (2 pi times larger) or "50 rad/s"'),
        ("3 kHz", PER_SECOND, '"3000 turn/s" (2 pi times larger) or "3000 rad/s"'),
        ("50 1/s", PER_SECOND, "may mean turns or radians"),
        ("0.5", RADIAN, '"0.5 turn" (2 pi times larger) or "0.5 rad"'),
        ("0.1 rad", PLAIN, "'0.1 rad' has the wrong dimension; write a plain number"),
        ("2 kg", METRE, "'2 kg' has the wrong dimension; write a number in m"),
        ("3 g", ACCELERATION, '"3 g_n"'),
        ("2", METRE, 'drop the quotes for a number in m, or write "2 m"'),
        ("2 meeter", METRE, "unknown unit 'meeter'; known units are m, g, s"),
        ("2 RPM", PER_SECOND, "did you mean 'rpm'?"),
        ("2 Kg", MASS, "did you mean 'kg'?"),
        ("2 sec", SECOND, "did you mean 's'?"),
        ("2 rev", RADIAN, "did you mean 'turn'?"),
        ("2 mpa", PRESSURE, "did you mean 'mPa' or 'MPa'?"),
        ("2 ft", METRE, "1 ft is 0.3048 m"),
        ("0,5 mm", METRE, 'write "0.5 mm"'),
        ("3 N/(m)", NEWTON_PER_METRE, 'write "3 N/m"'),
        ("2 m^3/(N m)", METRE, 'write "2 m^3/N/m"'),
        ("1,000.5 mm", METRE, "write a number in m"),
        ("mm", METRE, "'mm' is not a number with a unit"),
        ("1/0 m", METRE, "is not a number with a unit"),
        ("9**9**9**9 m", METRE, "is not a number with a unit"),  # would compute for ever
        ("1 m^999999999", METRE, "is not a number with a unit"),
        ("1e999 m", METRE, "is not a finite number"),
        ("1e99999999999999999999 m", METRE, "is not a finite number"),
        ("1 m^0", METRE, "is not a number with a unit"),
        ("inf m", METRE, "is not a number with a unit"),
        ("", METRE, "'' is not a number with a unit"),
        (math.nan, METRE, "nan is not a finite number"),
        (math.inf, METRE, "inf is not a finite number"),
        (-math.inf, INFINITE, "-inf is not a finite number"),
        (10**400, METRE, "is not a finite number"),
        ("0A²0", METRE, "has the wrong dimension"),
        (True, METRE, "true is not a number"),
        (None, METRE, "None is not a number"),
        (datetime.date(2020, 1, 2), METRE, "is not a number"),
    ],
)
def test_unreadable_quantities(written: object, parameter: Parameter, fragment: str) -> None:
    with pytest.raises(FaultError) as caught:
        number(written, parameter)
    assert fragment in str(caught.value)


RATIO = Parameter(name="q", symbol="q", unit="1", meaning="a ratio", minimum=0, maximum=2)


@pytest.mark.parametrize(
    ("parameter", "inside", "outside", "required"),
    [
        (METRE, [-1e308, 0.0], [math.nan, math.inf, -math.inf], "finite"),
        (RATIO, [0.0, 1.5, 2.0], [-1e-300, 2.1, math.inf], "at least 0 and at most 2"),
        (replace(RATIO, open_minimum=True), [1e-300, 2.0], [0.0], "above 0 and at most 2"),
        (replace(RATIO, open_maximum=True), [0.0, 1.9], [2.0], "at least 0 and below 2"),
        (replace(RATIO, whole=True, unit="m"), [0.0, 2.0], [0.5],
         "a whole number and at least 0 m and at most 2 m"),
        (replace(RATIO, infinite=True), [2.0, math.inf], [2.1, -math.inf, math.nan],
         "at least 0 and at most 2 and inf is allowed"),
        (replace(RATIO, minimum=math.inf, maximum=math.inf, infinite=True),
         [math.inf], [1e308], "inf"),
    ],
)  # fmt: skip
def test_ranges_and_their_wording_agree(
    parameter: Parameter, inside: list[float], outside: list[float], required: str
) -> None:
    assert parameter.requirement == required
    assert parameter.first_outside(np.array(inside)) is None
    for value in outside:
        assert parameter.first_outside(np.array([*inside, value, *inside, value])) == len(inside)


PIECES = [
    "1", "2e3", ".5", "-", " ", "m", "mm", "s", "Hz", "rad", "%", "°", "^", "**", "-1", "/", "*",
    "·", "g", "²", "(", ")", "99", "kilo", "_", "deg", "+", "e", "[length]",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=9).map("".join)),
    st.sampled_from([METRE, PLAIN, PER_SECOND]),
)
def test_any_text_is_a_finite_number_or_unreadable(written: str, parameter: Parameter) -> None:
    try:
        assert math.isfinite(number(written, parameter))
    except FaultError:
        pass
