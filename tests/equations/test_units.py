"""Units: what they are, whether they agree in every line, and what is said where they do not."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from fractions import Fraction

import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.equations.checks import dimensions_of
from sweep.equations.system_file import examine
from sweep.errors import FaultError
from sweep.model.shipped import configs_folder
from sweep.text.units import (
    NO_DIMENSION,
    PREFIXES,
    UNITS,
    dimensions,
    product,
    read_unit,
    unit_text,
)
from sweep.theory.wear import YEAR
from tests.equations.good_model import (
    FORCE,
    GOOD,
    HALT,
    MASS,
    POWER,
    PUSH,
    changed,
    faults_of,
    inline,
)

PINT = pint.UnitRegistry()


@pytest.mark.parametrize(
    "text",
    ["1", "m", "kg", "s", "N", "Pa", "J", "W", "V", "A", "K", "mol", "N/m", "N s/m", "m/s^2",
     "kg m^2/s^2", "W/m^2/K", "1/s", "/s", "Hz", "N·m", "m**2", "s^-1", "V A", "kg/mol"],
)  # fmt: skip
def test_coherent_units_have_the_dimensions_that_pint_gives_them(text: str) -> None:
    written = f"1{text}" if text.startswith("/") else text.replace("·", "*")
    expected = PINT.Quantity(1, PINT.parse_units(written)).to_base_units()
    names = {"kilogram": "kg", "meter": "m", "second": "s", "ampere": "A", "kelvin": "K",
             "mole": "mol"}  # fmt: skip
    bases = {names[name]: Fraction(e) for name, e in expected.units._units.items()}
    assert expected.magnitude == pytest.approx(1)
    assert dimensions_of(text) == dimensions(bases)
    assert dimensions_of(unit_text(dimensions_of(text))) == dimensions_of(text)


@pytest.mark.parametrize(
    "name",
    [*(unit for unit in UNITS if unit != "year"),
     *(each for others, _ in UNITS.values() for each in others.split() if "_per_" not in each),
     *(prefix + unit for names in PREFIXES for prefix in names for unit in ("m", "watts"))],
)  # fmt: skip
def test_every_name_and_prefix_has_the_factor_that_pint_gives_it(name: str) -> None:
    expected = PINT.Quantity(1, name).to_base_units()
    assert float(read_unit(name).factor) == pytest.approx(expected.magnitude, rel=1e-15)
    assert read_unit(name).dimensions[1] == expected.dimensionality["[length]"]


def test_a_year_has_the_days_that_years_of_wear_have() -> None:
    assert read_unit("years").factor == 365 * read_unit("days").factor == YEAR


def test_an_angle_counts_as_a_plain_number() -> None:
    assert dimensions_of("rad/s") == dimensions_of("1/s")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mm", "'mm' is not a coherent SI unit; write \"m\", and values in it"),
        ("g", "'g' is not a coherent SI unit; write \"kg\""),
        ("rpm", "'rpm' is not a coherent SI unit; write \"rad/s\""),
        ("deg", "'deg' is not a coherent SI unit; write \"rad\""),
        ("%", "'%' is not a coherent SI unit; write \"1\""),
        ("km/h", "'km/h' is not a coherent SI unit; write \"m/s\""),
        ("meeter", "'meeter' has the unknown unit 'meeter'; known units are m, g, s"),
        ("", "'' is not a unit; write one such as"),
        ("2 m", "'2 m' is not a unit"),
        ("m^x", "'m^x' is not a unit"),
        ("m + s", "'m + s' is not a unit"),
        ("m" * 100, "is not a unit"),
        ("N/m^1.5", "'N/m^1.5': exponents have to be whole numbers; raise a ratio to the power"),
        ("m^99*m^99", None),
        ("m^-2/1", None),
    ],
)
def test_other_units_are_refused(text: str, message: str | None) -> None:
    if message is None:
        dimensions_of(text)
        return
    with pytest.raises(FaultError) as error:
        dimensions_of(text)
    assert message in str(error.value)


# (a piece of the good file, what stands there instead, the place, what is said)
# fmt: off
WRONG = [
    (MASS, inline("mass", unit='"g"'), "parameters.mass.unit", "coherent SI unit; write \"kg\""),
    ("2*pi/omega", "omega/pi", "period", "omega/pi has the unit 1/s, but the unit s is needed"),
    ("2*pi/omega", "2*pi", "period", "2*pi has no unit, but the unit s is needed"),
    ('initial = "0", scale', 'initial = "1", scale', "states.x.initial", "1 has no unit, but"),
    ('initial = "0", scale', 'initial = "force", scale', "states.x.initial", "has the unit N"),
    ('scale = "gap"', 'scale = "gap*omega"', "states.x.scale", "has the unit m/s, but the unit m"),
    (PUSH, PUSH.replace("cos(omega*t)", "cos(t)"), "definitions.push.value",
     "column 11: t has the unit s, but cos() needs no unit"),
    (PUSH, PUSH.replace('"N"', '"W"'), "definitions.push.value", "has the unit N, but the unit W"),
    ('"total/mass"', '"total"', "modes.free.v", "total has the unit N, but the unit m/s^2"),
    ('"total/mass"', '"total/mass + v"', "modes.free.v",
     "column 14: total/mass + v combines the unit m/s^2 and the unit m/s, which have to agree"),
    ('"total/mass"', '"total/mass*x**0.5"', "modes.free.v", "has the unit m^(3/2)/s^2"),
    ('"total/mass"', '"total/mass*x**count"', "modes.free.v",
     "x has the unit m, but an exponent that is not a plain number needs a base without unit"),
    ('"total/mass"', '"total/mass*2**x"', "modes.free.v", "x has the unit m, but an exp"),
    ('"total/mass"', '"floor(v)*omega"', "modes.free.v", "m/s, but floor() needs no unit"),
    ('"total/mass"', '"where(x > v, 0, 0)"', "modes.free.v", "x > v combines the unit m and"),
    ('"total/mass"', '"where(free, x, v)*omega"', "modes.free.v", "combines the unit m and the un"),
    ('"total/mass"', '"omega*max(0, v, x)"', "modes.free.v", "max(0, v, x) combines the unit m/s"),
    ('"total/mass"', '"hypot(x, v)*omega"', "modes.free.v", "hypot(x, v) combines"),
    ('"total/mass"', '"atan2(x, v)*v*omega"', "modes.free.v", "atan2(x, v) combines"),
    ('"total/mass"', '"sqrt(v)"', "modes.free.v", "sqrt(v) has the unit m^(1/2)/s^(1/2), but"),
    ('"-0.5*v"', '"-0.5*x"', "events[1] 'impact'.set.v", "has the unit m, but the unit m/s"),
    ("abs(total) < 0.1*force", "abs(total) < 0.1", f"{HALT}.if", "combines the unit N and no unit"),
    (POWER, POWER.replace("W", "J"), "outputs.power.mean", "has the unit W, but the unit J"),
    ('{ count = "impact" }', '{ count = "impact", unit = "m" }', "outputs.impacts.unit", "no unit"),
    ('{ share = "held or x > gap" }', '{ share = "held", unit = "s" }', "outputs.held_share.unit",
     "'s': a share has no unit; remove it"),
    ('time_unit = "s"', 'time_unit = "1"', "modes.free.x", "v has the unit m/s, but the unit m"),
    # cures
    ('"x - gap"', '"x - 1"', "events[1] 'impact'.when",
     "agree; give 1 a name in [parameters], with the unit m and a default"),
    ('"held or x > gap"', '"held or -3 > x"', "outputs.held_share.share", "give -3 a name in [par"),
    ('"x - gap"', '"x - 1*sqrt(gap)"', "events[1] 'impact'.when", "m^(1/2), which have to agree"),
    (PUSH, PUSH.replace("force*cos(omega*t)", "293"), "definitions.push.value",
     "the unit N is needed; give 293 a name in [parameters], with the unit N and a default"),
    ('keep = 4, unit = "m"', "keep = 4", "outputs.samples.values", 'add unit = "m" to the output'),
    (POWER, 'power = { integral = "push*v" }', "outputs.power.integral",
     'but the unit 1/s is needed; add unit = "J" to the output'),
    (PUSH, PUSH.replace(', unit = "N"', ""), "definitions.push.value",
     'add unit = "N" to the definition'),
]
RIGHT = [
    (POWER, POWER.replace("mean", "integral").replace("W", "J")),
    ('"total/mass"', '"total/mass - omega**2*x"'),
    ('"total/mass"', '"0"'),
    ('"total/mass"', '"0*x + total/mass"'),
    ('"total/mass"', '"where(x > 0, 0, -omega*v)"'),
    ('"total/mass"', '"sign(x)*sqrt(x*gap)*omega**(4/2)"'),
    ('"total/mass"', '"x**0.5*gap**(1/2)*omega**2"'),
    ('"total/mass"', '"x**(2**3 - 7)*(x/gap)**-2**2*omega**2**1"'),
    ('"total/mass"', '"max(0, hypot(x, gap), 0)*omega*abs(-omega)*exp(x/gap)*count**count"'),
    ('"total/mass"', '"atan2(x, gap)*v/t + floor(omega*t)*v*omega"'),
    ('initial = "0", scale = "gap"', 'initial = "0*mass", scale = "0.5"'),
    ('"abs(total) < 0.1*force and not held"', '"0 <= total <= 2*force or x == gap"'),
]
# fmt: on


@pytest.mark.parametrize(("piece", "other", "place", "message"), WRONG)
def test_a_line_whose_units_do_not_agree_is_reported(
    piece: str, other: str, place: str, message: str
) -> None:
    faults = faults_of(changed(piece, other))
    at_place = [str(fault) for fault in faults if fault.where == place]
    assert any(message in each for each in at_place), "\n".join(map(str, faults))


@pytest.mark.parametrize(("piece", "other"), RIGHT)
def test_lines_whose_units_agree_are_left_alone(piece: str, other: str) -> None:
    assert faults_of(changed(piece, other)) == ()


def test_a_plain_number_has_no_unit_in_a_state_called_scale() -> None:
    scale = {"unit": "m", "initial": 0, "scale": 0.5}
    last = {"final": "scale", "unit": "m"}
    model = {"format": 1, "name": "m", "states": {"scale": scale}, "outputs": {"last": last}}
    _, faults = examine({**model, "derivatives": {"scale": 0.5}})
    assert [fault.where for fault in faults] == ["derivatives.scale"]


def test_a_unit_that_cannot_be_read_gives_one_fault() -> None:
    faults = faults_of(changed(FORCE, FORCE.replace("N", "Newton")))
    assert [fault.where for fault in faults] == ["parameters.force.unit"]


def test_units_that_disagree_are_told_beside_other_faults() -> None:
    text = changed('name = "rattle"', 'name = "my model"')
    text = changed("2*pi/omega", "2*pi^omega", text)
    text = changed(PUSH, PUSH.replace('"N"', '"kg"'), text)
    faults = faults_of(text)
    assert {"name", "period", "definitions.push.value"} <= {fault.where for fault in faults}


@pytest.mark.parametrize(
    ("piece", "other", "place"),
    [
        ('time_unit = "s"', 'time_unit = "ms"', "time_unit"),
        (MASS, "mass = 1", "parameters.mass"),
        (MASS, MASS.replace('"kg"', "5"), "parameters.mass.unit"),
        (PUSH, PUSH.replace("omega*t", "omega*x"), "definitions.push.value"),
        (PUSH, PUSH.replace("omega*t", "omega*(t"), "definitions.push.value"),
        ("{ mass = 1,", "{ mass = -1,", "tests[1].at.mass"),
    ],
)
def test_no_fault_of_units_follows_from_another(piece: str, other: str, place: str) -> None:
    faults = faults_of(changed(piece, other))
    assert [fault.where for fault in faults] == [place]


def test_a_name_given_twice_has_any_unit() -> None:
    text = changed(MASS, f'{MASS}\nv = {{ unit = "A" }}')
    faults = faults_of(text)
    assert [fault.where for fault in faults if fault.where != "tests[1].at.v"] == ["states.v"]


exponents = st.dictionaries(
    st.sampled_from(["kg", "m", "s", "A", "K", "mol"]), st.integers(-9, 9).map(Fraction)
)


@settings(deadline=None)
@given(exponents, exponents)
def test_texts_of_units_are_read_as_the_same_unit(
    a: dict[str, Fraction], b: dict[str, Fraction]
) -> None:
    first, second = dimensions(a), dimensions(b)
    assert dimensions_of(unit_text(first)) == first
    assert product(product(first, second), second, -1) == first
    assert product(first, first) == product(NO_DIMENSION, first, 2)


def test_a_model_is_read_without_large_libraries() -> None:
    code = (
        "import sys, tomllib; from sweep.equations.system_file import examine; "
        "examine(tomllib.load(open('models/belt.toml', 'rb'))); "
        "assert not {'numpy.testing', 'zarr'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=configs_folder())


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=40))
def test_any_text_is_a_unit_or_refused(text: str) -> None:
    tables = tomllib.loads(GOOD)
    tables["parameters"]["mass"]["unit"] = text
    assert all(map(str, examine(tables)[1]))
