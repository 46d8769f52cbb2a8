"""CSV files from outside: separators, decimal marks, units in headers, lines before the header."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.equations.system_file import system_of_text
from sweep.errors import FaultError, SweepWarning
from sweep.file import load
from sweep.file.csv_table import CsvTable, csv_table
from sweep.file.model_file import read_model
from sweep.file.quantities import number
from sweep.model.table import Parameter
from sweep.points.recipes import recipe
from tests.file.documents import PARAMETERS, faults, mapping

METRE = Parameter(name="path", symbol="s", unit="m", meaning="a length")
RATIO = Parameter(name="ratio", symbol="q", unit="1", meaning="a ratio")
FREQUENCY = Parameter(name="omega", symbol="w", unit="rad/s", meaning="an angular frequency")
PHASE = Parameter(name="phase", symbol="phi", unit="rad", meaning="an angle")
# What may separate cells with each decimal mark.
FORMS = [(",", "."), (";", "."), ("\t", "."), (";", ","), ("\t", ",")]
CONTACT = {
    "model": "mdr_contact",
    "parameters": {
        "youngs_modulus": 2e11, "poisson_ratio": 0.3, "radius": 0.01, "friction": 0.5,
        "phase": 1.0, "tangential_amplitude": 2e-8, "normal_amplitude": 1e-8,
    },
}  # fmt: skip


def table_of(folder: Path, text: str, **how: Any) -> CsvTable:
    (folder / "a.csv").write_text(text, encoding="utf-8")
    return csv_table(folder / "a.csv", **how)


def fault_of(folder: Path, text: str, name: str, parameter: Parameter, **how: Any) -> str:
    """The fault of a column without the name of the file."""
    with pytest.raises(FaultError) as caught:
        table_of(folder, text, **how).column(name, parameter)
    place = f"file {str(folder / 'a.csv')!r}"
    assert str(caught.value).startswith(place)
    return str(caught.value).removeprefix(place)


@settings(deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e200, 1e200)),
        min_size=1,
        max_size=8,
    )
)
def test_every_form_of_a_table_has_the_same_bits(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, float]]
) -> None:
    """Plain numbers are those of Python, numbers in mm those of texts such as "1.5 mm"."""
    folder = tmp_path_factory.mktemp("forms")
    plain = np.array([x + 0.0 for x, _ in rows])
    lengths = np.array([number(f"{y!r} mm", METRE) for _, y in rows])
    for separator, decimal in FORMS:
        lines = [
            separator.join([repr(x).replace(".", decimal), repr(y).replace(".", decimal)])
            for x, y in rows
        ]
        table = table_of(folder, "\n".join([f"q{separator}Weg [mm]", *lines]), decimal=decimal)
        assert table.column("q", RATIO).tobytes() == plain.tobytes()
        assert table.column("Weg", METRE).tobytes() == lengths.tobytes()
        assert table.numbers("Weg", "m").tobytes() == lengths.tobytes()


HEADERS: list[tuple[str, str, Parameter, float]] = [  # header, name, parameter, SI of 30
    ("Weg [mm]", "Weg", METRE, 0.03),
    ("Weg (mm)", "Weg", METRE, 0.03),
    ("Weg[µm]", "Weg", METRE, 3e-5),
    (" Weg  [ m ] ", "Weg", METRE, 30.0),
    ("f(x) [mm]", "f(x)", METRE, 0.03),
    ("mu [1]", "mu", RATIO, 30.0),
    ("mu [-]", "mu", RATIO, 30.0),
    ("mu []", "mu", RATIO, 30.0),
    ("mu [%]", "mu", RATIO, 0.3),
    ("n [rpm]", "n", FREQUENCY, math.pi),
    ("phi [deg]", "phi", PHASE, math.pi / 6),
    ("phi [rad]", "phi", PHASE, 30.0),  # without a warning of turns
    ("Weg, links [mm]", "Weg, links", METRE, 0.03),
    ("Weg [alt]", "Weg [alt]", METRE, 30.0),  # in full, so that nothing is converted
    ("Weg [N/(m s)]", "Weg [N/(m s)]", METRE, 30.0),
    ("Weg (a) (b)c", "Weg (a) (b)c", METRE, 30.0),
]


@pytest.mark.parametrize(("header", "name", "parameter", "si"), HEADERS)
def test_a_unit_in_the_header_is_read(
    tmp_path: Path, header: str, name: str, parameter: Parameter, si: float
) -> None:
    quoted = f'"{header}"' if "," in header else header
    table = table_of(tmp_path, f"{quoted};t\n30;1\n")
    np.testing.assert_allclose(table.column(name, parameter), [si], rtol=1e-15)


def test_a_column_without_brackets_has_the_name(tmp_path: Path) -> None:
    """As before units were read; the other one is found by its whole header."""
    table = table_of(tmp_path, "a [mm],a\n1,2\n")
    assert table.column("a", METRE).tolist() == [2.0]
    assert table.names == ("a [mm]", "a")


def test_a_column_named_with_its_unit_is_not_converted(tmp_path: Path) -> None:
    """As before units were read; now there is a warning, if the unit is not that of SI."""
    table = table_of(tmp_path, "Weg [mm],Zeit [m],x [N]\n1,2,3\n")
    assert table.column("Zeit [m]", METRE).tolist() == [2.0]
    assert table.column("x [N]", METRE).tolist() == [3.0]
    with pytest.warns(SweepWarning, match=r"'Weg \[mm\]' is taken for m; name it 'Weg' to convert"):
        assert table.column("Weg [mm]", METRE).tolist() == [1.0]


def test_cells_have_units_of_their_own_below_a_header_without_one(tmp_path: Path) -> None:
    table = table_of(tmp_path, "Weg;mu\n1,5 mm;0,5\n2;12,5 %\n", decimal=",")
    assert table.column("Weg", METRE).tolist() == [0.0015, 2.0]
    assert table.column("mu", RATIO).tolist() == [0.5, 0.125]


SEPARATED = [  # header, cells, names
    ("a,b", "1,2", ("a", "b")),
    ("a;b,c;d", "1;2;3", ("a", "b,c", "d")),
    ("a\tb c", "1\t2", ("a", "b c")),
    ("a\t,\tb", "1\t,\t2", ("a", "b")),  # aligned
    ('"a;b;c",d', "1,2", ("a;b;c", "d")),
    ("a,b;c", "1,2", ("a", "b;c")),  # as many of both
]


@pytest.mark.parametrize(("header", "cells", "names"), SEPARATED)
def test_the_separator_is_the_most_frequent_in_the_header(
    tmp_path: Path, header: str, cells: str, names: tuple[str, ...]
) -> None:
    table = table_of(tmp_path, f"# a;b;c;d\n{header}\n{cells}\n")
    assert table.names == names
    for value, name in enumerate(names, 1):
        assert table.column(name, RATIO).tolist() == [value]


def test_lines_before_the_header_are_skipped(tmp_path: Path) -> None:
    text = 'Prüfstand "3;;;;\n\n# radius = 1\n\na;b\n# c\n1;x\n'
    table = table_of(tmp_path, text, skip=3)
    assert table.column("a", RATIO).tolist() == [1.0]
    assert table.constants() == {}
    assert ", line 7: 'x' is not a number" in fault_of(tmp_path, text, "b", RATIO, skip=3)
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfrig\r\na\r\n1\r\n")
    assert csv_table(tmp_path / "a.csv", skip=1).column("a", RATIO).tolist() == [1.0]


COMMA = {"decimal": ","}
FAULTS: list[tuple[str, str, Parameter, dict[str, Any], str]] = [
    ("a\n1\n", "a", RATIO, {"skip": 2}, " has no header below the first 2 of its 2 lines; give a"),
    ("", "a", RATIO, {"skip": 2}, " is empty; name the columns in its first line"),
    ("# a\n  # b", "a", RATIO, {}, " is empty; name the columns in its first line"),
    ("a,b\n1,2\n", "a", RATIO, COMMA,
     ': columns are separated by commas; separate them by semicolons, or remove decimal = ","'),
    ("Rig 3, 12 May\na;b\n1;2\n", "a", RATIO, COMMA,
     ": its first line, 'Rig 3, 12 May', is no header; give the number of lines above the header"),
    ("a;b\n1;2;3\n", "a", RATIO, {}, ", line 2: 3 cells, but the header has 2; semicolons sep"),
    ("a\n1,5\n", "a", RATIO, {}, ', line 2: 2 cells, but the header has 1; commas separate cells, '
     'so write decimals with a point: 0.5, or give decimal = ","'),
    ("a;b\n1,5;2\n", "a", RATIO, {}, ", line 2: '1,5' is not a number; give decimal = \",\", or"),
    ("a;b\n1,5 mm;2\n", "a", METRE, {}, ", line 2: '1,5 mm' is not a number; give decimal = \",\""),
    ("a;b\n1,000,000;2\n", "a", RATIO, {}, ", line 2: '1,000,000' is not a number"),
    ("a\n1.5\n", "a", RATIO, COMMA,
     ", line 2: '1.5' has a point; decimal = \",\": write 1234,5 for 1234.5"),
    ("a\n1.234,5\n", "a", RATIO, COMMA, ", line 2: '1.234,5' has a point; decimal = \",\""),
    ("a\n1,234,5\n", "a", RATIO, COMMA, ", line 2: '1,234,5' is not a number"),
    ("a [mm]\n1\n2 mm\n", "a", METRE, {}, ", line 3: '2 mm' has a unit, and so has the header"),
    ("a [mm]\n1\nx\n", "a", METRE, {},
     ", line 3: 'x' is not a number; write a plain number, in mm as the header says"),
    ("a [mm]\n\n\nx\ny\n1,5;\n", "a", METRE, {}, ", line 6: 2 cells, but the header has 1"),
    ("a [N]\n1\n", "a", METRE, {},
     ", header: 'a [N]' has the wrong dimension; write [m], or another unit of path"),
    ("a [-]\n1\n", "a", METRE, {}, ", header: 'a [-]' has the wrong dimension; write [m]"),
    ("a [Hz]\n1\n", "a", FREQUENCY, {}, "'a [Hz]' has the wrong dimension; write [rad/s] or [tu"),
    ("a [sec]\n1\n", "a", METRE, {}, "'a [sec]' has the unknown unit 'sec'; did you mean"),
    ("a [N/(m s)]\n1\n", "a", METRE, {}, "'a [N/(m s)]' has no unit in its brackets; write [N/m/"),
    ("a [°C]\n1\n", "a", METRE, {}, "'a [°C]' has no unit in its brackets; write a unit such as"),
    ("a [m^0]\n1\n", "a", METRE, {}, ", header: 'a [m^0]' has no unit in its brackets"),
    ("a [mm],a [m]\n1,2\n", "a", METRE, {}, ": column 'a' occurs more than once; rename one"),
    ("Weg [mm]\n1\n", "weg", METRE, {}, ": column 'weg' is missing; did you mean 'Weg'?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "parameter", "how", "gist"), FAULTS)
def test_a_faulty_column_is_reported_with_its_line_and_a_cure(
    tmp_path: Path, text: str, name: str, parameter: Parameter, how: dict[str, Any], gist: str
) -> None:
    assert gist in fault_of(tmp_path, text, name, parameter, **how)


def test_several_faulty_cells_are_one_fault(tmp_path: Path) -> None:
    text = "a [mm]\n1,5\nx\n2 mm\n1.5\n"
    message = fault_of(tmp_path, text, "a", METRE, decimal=",")
    assert [f"line {k}" in message for k in range(1, 6)] == [False, False, True, True, True]


# Where files are named.


def test_an_axis_is_read_by_its_name_without_the_unit(tmp_path: Path) -> None:
    text = "Rig 7\n\nNr;Weg [mm]\n1;1,5\n2;0,25\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    entry = {"file": str(tmp_path / "a.csv"), "column": "Weg", "decimal": ",", "skip": 2}
    (axis,) = load({**CONTACT, "axes": {"indentation": entry}}).sweep.axes
    assert axis.columns["indentation"].tolist() == [0.0015, 0.00025]
    digest = hashlib.sha256(np.array([0.0015, 0.00025]).tobytes()).hexdigest()
    assert dict(axis.recipe) == {"file": {"sha256": digest, "count": 2}}


def test_a_sample_is_read_by_its_names_without_units(tmp_path: Path) -> None:
    """Its recipe is that of the same points in SI units."""
    request = {"model": "friction_oscillator", "parameters": PARAMETERS}
    texts = {
        "si.csv": "friction,base_acceleration\n0.5,3\n0.25,0.015\n",
        "own.csv": "x\nfriction [1]\tbase_acceleration [cm/s^2]\n0,5\t300\n0,25\t1,5\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    plain = {"file": str(tmp_path / "si.csv")}
    own = {"file": str(tmp_path / "own.csv"), "decimal": ",", "skip": 1}
    sampled = load({**request, "sample": own}).sweep
    (axis,) = sampled.axes
    assert {name: column[:].tolist() for name, column in axis.columns.items()} == {
        "base_acceleration": [3.0, 0.015], "friction": [0.5, 0.25],
    }  # fmt: skip
    assert recipe(sampled) == recipe(load({**request, "sample": plain}).sweep)
    chosen = load({**request, "sample": {**own, "columns": ["base_acceleration", "friction"]}})
    assert recipe(chosen.sweep) == recipe(sampled)
    unskipped = {**own, "skip": 0}
    changed = load({**request, "sample": unskipped}, ["sample.skip=1", "friction=0.5"]).sweep
    assert changed.axes[0].columns["base_acceleration"][:].tolist() == [3.0, 0.015]


def test_a_table_over_time_is_read_by_names_without_units(tmp_path: Path) -> None:
    text = "Messung\nZeit [ms];Beschleunigung (mm/s^2)\n0;1,5\n20000;-2\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    entry = {
        "file": str(tmp_path / "a.csv"), "time": "Zeit", "column": "Beschleunigung",
        "decimal": ",", "skip": 1,
    }  # fmt: skip
    parameters = {k: v for k, v in PARAMETERS.items() if k != "angular_frequency"}
    parameters |= {"base_acceleration": entry, "friction": 0.1, "step": 1e-3}
    table = load(
        {"model": "friction_oscillator", "method": "moreau", "parameters": parameters}
    ).sweep.table
    assert table is not None
    assert (table.times, table.values) == ((0.0, 20.0), (0.0015, -0.002))


SHAKEN: dict[str, Any] = {
    "format": 1, "name": "shaken",
    "parameters": {"rate": {"unit": "1/s"}, "skip": {"default": 1.0}, "decimal": {"default": 1.0}},
    "states": {"x": {"unit": "m", "initial": "0"}},
    "derivatives": {"x": "rate*skip*decimal*(ground - x)"},
    "outputs": {"last": {"final": "x", "unit": "m"}},
}  # fmt: skip


def test_a_signal_is_read_by_its_name_without_the_unit(tmp_path: Path) -> None:
    text = "Kanal 1\nZeit [min]\tWeg [mm]\n0\t-0,5\n0,5\t12\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    entry = {
        "file": "a.csv", "time": "Zeit", "column": "Weg", "unit": "m", "decimal": ",", "skip": 1,
    }  # fmt: skip
    read = read_model({**SHAKEN, "signals": {"ground": entry}}, tmp_path)
    values = {"times": [0, 30], "values": [-0.0005, 0.012], "unit": "m"}
    assert read.text == read_model({**SHAKEN, "signals": {"ground": values}}, tmp_path).text
    (signal,) = system_of_text(read.text).signals
    assert (signal.table.times, signal.table.values) == ((0.0, 30.0), (-0.0005, 0.012))


HOW = [("decimal", ";", "decimal: ';' is not the decimal mark of the file: \".\" or \",\""),
       ("decimal", 1, "decimal: 1 is not the decimal mark"),
       ("skip", -1, "skip: -1 is not the number of lines before the header of the file, from 0"),
       ("skip", "1", "skip: '1' is not the number of lines"),
       ("skip", 10_001, "skip: 10001 is not the number of lines")]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "gist"), HOW)
def test_a_wrong_decimal_mark_or_number_of_lines_is_one_fault(
    tmp_path: Path, key: str, value: object, gist: str
) -> None:
    (tmp_path / "a.csv").write_text("t,friction\n0,1\n20,2\n")
    file = {"file": str(tmp_path / "a.csv"), key: value}
    (message,) = faults(mapping(friction={**file, "column": "friction"}))
    assert message.startswith(f"[axes] friction: {gist}")
    parameters = {**PARAMETERS, "base_acceleration": 1}
    request = {"model": "friction_oscillator", "parameters": parameters, "sample": file}
    (message,) = faults(request)
    assert message.startswith(f"[sample] {gist}")
    parameters = {k: v for k, v in PARAMETERS.items() if k != "angular_frequency"}
    entry = {**file, "time": "t", "column": "friction"}
    parameters |= {"base_acceleration": entry, "friction": 0.1, "step": 1e-3}
    (message,) = faults(
        {"model": "friction_oscillator", "method": "moreau", "parameters": parameters}
    )
    assert message.startswith(f"[parameters] base_acceleration: {gist}")


@pytest.mark.parametrize(("key", "value"), [("decimal", ","), ("decimal", "."), ("skip", 0)])
def test_how_a_file_is_read_needs_a_file(key: str, value: object) -> None:
    (message,) = faults(mapping(friction={"values": [1, 2], key: value}))
    assert message == f"[axes] friction: {key} is only for file; remove it"
    drawn = {"method": "sobol", "points": 4, "friction": {"uniform": [0.1, 1]}, key: value}
    parameters = {**PARAMETERS, "base_acceleration": 1}
    request = {"model": "friction_oscillator", "parameters": parameters, "sample": drawn}
    assert faults(request) == [f"[sample] {key}: only for a sample from a file; remove it"]
    parameters = {k: v for k, v in PARAMETERS.items() if k != "angular_frequency"}
    entry = {"times": [0, 20], "values": [1, 2], key: value}
    parameters |= {"base_acceleration": entry, "friction": 0.1, "step": 1e-3}
    request = {"model": "friction_oscillator", "method": "moreau", "parameters": parameters}
    assert faults(request) == [f"[parameters] base_acceleration: {key} is only for file; remove it"]


def test_parameters_may_have_the_names_of_these_keys() -> None:
    """As models could before there were such keys."""
    ground = {"times": [0, 9], "values": [0, 1], "unit": "m"}
    model = {**SHAKEN, "signals": {"ground": ground}}
    request = {"model": model, "parameters": {"rate": 1, "window_end": 2}}
    drawn = {"method": "sobol", "points": 4, "skip": {"uniform": [1, 2]}}
    (axis,) = load({**request, "sample": {**drawn, "decimal": {"uniform": [0, 1]}}}).sweep.axes
    assert {*axis.columns} == {"skip", "decimal"}
    (axis,) = load({**request, "sample": drawn}).sweep.axes
    assert {*axis.columns} == {"skip"}
    for option in ("skip=2", "sample.skip={ uniform = [1, 2] }"):
        changed = load({**request, "sample": drawn, "parameters": {"rate": 1, "window_end": 2}},
                       [option, "rate={ uniform = [1, 2] }"]).sweep  # fmt: skip
        assert {*changed.axes[0].columns} == {"rate", *(["skip"] if "uniform" in option else [])}
    (axis,) = load({**request, "axes": {"case": {"skip": [1, 2], "decimal": [3, 4]}}}).sweep.axes
    assert {name: column[:].tolist() for name, column in axis.columns.items()} == {
        "decimal": [3.0, 4.0], "skip": [1.0, 2.0],
    }  # fmt: skip


def test_a_sample_whose_parameters_have_two_columns_is_refused(tmp_path: Path) -> None:
    """Of which neither may be ignored."""
    request: dict[str, object] = {
        "model": "friction_oscillator", "parameters": {**PARAMETERS, "base_acceleration": 1},
    }  # fmt: skip
    for header, gist in (
        ("friction,friction [1]", "the column 'friction [1]' of"),
        ("friction [%],friction [1]", "column 'friction' occurs more than once"),
    ):
        (tmp_path / "a.csv").write_text(f"{header}\n1,2\n")
        (message,) = faults({**request, "sample": {"file": str(tmp_path / "a.csv")}})
        assert gist in message
