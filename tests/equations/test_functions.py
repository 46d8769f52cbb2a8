"""The functions of expressions: mpmath is the oracle; what lies outside their ranges is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.integrate import solve_ivp

from sweep.equations.cpp_struct import LONG
from sweep.model.table import Status
from tests.equations.examples import first_methods, points, with_events
from tests.kernel.kernel_probe import Entry, Probe, compile_probe, compilers
from tests.model.test_elementary_header import (
    DIGITS,
    POINTS,
    Column,
    errors,
    positive,
    spread,
    stated_errors,
)

ONE = (
    "sinh",
    "cosh",
    "tanh",
    "tan",
    "atan",
    "log",
    "sign",
    "floor",
    "sqrt",
    "asin",
    "acos",
    "asinh",
    "acosh",
    "atanh",
)
TWO = ("hypot", "pow", "atan2")
POWERS = (-1 / 8, -1 / 10, -1 / 16, 1.0, -1.0)
ENTRIES = {
    **{name: Entry(1, 1, f"out[0] = functions::{name}(in[0]);") for name in ONE},
    **{name: Entry(2, 1, f"out[0] = functions::{name}(in[0], in[1]);") for name in TWO},
    "sincos": Entry(1, 2, "functions::sincos(in[0], out[0], out[1]);"),
    "rough_power": Entry(
        1,
        len(POWERS),
        "".join(f"out[{i}] = systems::rough_power(in[0], {p!r});" for i, p in enumerate(POWERS)),
    ),
}
HEADERS = (
    f'portable.h"\n#define LONG {LONG}\n#include "systems/functions.h"\n#include "systems/control.h'
)
ULP = {
    "tan": 2.6,
    "hypot": 1.9,
    "sinh": 1.5,
    "cosh": 1.3,
    "tanh": 2.5,
    "asinh": 2.0,
    "acosh": 2.6,
    "atanh": 2.2,
}  # as the comments say
BELOW_ONE = math.nextafter(1.0, 0.0)
INHERITED = {"atan": 2.0, "log": 0.8}  # from elementary.h


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Probe:
    return compile_probe(tmp_path_factory.mktemp("probes"), HEADERS, ENTRIES)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture(autouse=True)
def digits() -> Iterable[None]:
    with mpmath.workdps(DIGITS):
        yield


def test_comments_state_the_errors_asserted_here() -> None:
    assert stated_errors("systems/functions.h") == {name: (ulp,) for name, ulp in ULP.items()}


@pytest.mark.parametrize(
    ("name", "oracle", "bounds", "edges"),
    [
        ("sinh", mp.sinh, (1.2, 3.0, 25.0, 709.0), (0.5, 1.0)),
        ("cosh", mp.cosh, (1.2, 3.0, 25.0, 709.0), (0.5, 1.0)),
        ("tanh", mp.tanh, (1.2, 3.0, 25.0, 1e3), (0.5, 1.0, 20.0)),
        ("tan", mp.tan, (0.8, 1.57, 10.0), (0.5, 0.785, 1.57)),
        ("atan", mp.atan, (0.6, 1.0, 3.0, 1e100), (0.5, 1.0)),
        ("asinh", mp.asinh, (1e-6, 1.0, 3.0, 1e9, 1e300), (1e-8, 0.5, 1.0, 1e8, 1e154)),
        ("atanh", mp.atanh, (1e-6, 0.5, 0.9, BELOW_ONE), (1e-8, 0.25, 0.5, BELOW_ONE)),
    ],
)
def test_errors(
    probe: Probe,
    rng: np.random.Generator,
    name: str,
    oracle: Callable[[mpf], mpf],
    bounds: tuple[float, ...],
    edges: tuple[float, ...],
) -> None:
    for bound in bounds:
        x = spread(rng, bound, *edges)
        assert errors(probe(name, x)[0], oracle, x).max() <= (ULP | INHERITED)[name], bound


def test_acosh(probe: Probe, rng: np.random.Generator) -> None:
    for least, most in ((-16, 0), (-3, 3), (0, 308)):
        x = 1.0 + 10.0 ** rng.uniform(least, most, POINTS)
        x = np.concatenate([x, [1.0, np.nextafter(1.0, 2.0), 1e8, np.nextafter(1e8, 0.0), 1e308]])
        assert errors(probe("acosh", x)[0], mp.acosh, x).max() <= ULP["acosh"], most


@pytest.mark.parametrize("compiler", [*compilers()])
@pytest.mark.parametrize("width", [1, 4])
def test_bits_of_area_functions_depend_on_no_compiler_or_width(
    probe: Probe, rng: np.random.Generator, tmp_path: Path, compiler: str, width: int
) -> None:
    other = compile_probe(tmp_path, HEADERS, ENTRIES, width=width, pack=1, compiler=compiler)
    x = spread(rng, 3.0, 0.5, 1.0)
    for name, argument in (("asinh", x * 1e4), ("acosh", 1 + x**10), ("atanh", x / 3)):
        here, there = (np.nan_to_num(each(name, argument)[0]) for each in (probe, other))
        assert here.tobytes() == there.tobytes(), name


def test_hypot(probe: Probe, rng: np.random.Generator) -> None:
    """Also where squares would overflow or underflow."""
    x = 10.0 ** rng.uniform(-290, 290, POINTS)
    for y in (x * rng.uniform(0.1, 10.0, POINTS), x * 10.0 ** rng.uniform(-10, 10, POINTS)):
        assert errors(probe("hypot", x, y)[0], mp.hypot, x, y).max() <= ULP["hypot"]
    ends = probe("hypot", [3.0, 0.0, -5.0, math.inf, 1e308], [-4.0, 0.0, 0.0, 1.0, 1e308])[0]
    np.testing.assert_allclose(ends, [5.0, 0.0, 5.0, math.inf, math.sqrt(2) * 1e308], rtol=1e-15)


def test_log_and_pow(probe: Probe, rng: np.random.Generator) -> None:
    x = positive(rng)
    assert errors(probe("log", x)[0], mp.log, x).max() <= INHERITED["log"]
    y = rng.uniform(-0.9, 0.9, len(x))
    assert errors(probe("pow", x, y)[0], mp.power, x, y).max() <= 1.5
    assert probe("pow", [0.0, 2.0, 1.0], [0.5, 3.0, -7.0])[0].tolist() == [0.0, 8.0, 1.0]


def test_sign_and_floor_are_exact(probe: Probe, rng: np.random.Generator) -> None:
    edges = [*(2.0**k + half for k in (50, 51, 52, 53) for half in (-1.5, -0.5, 0.0, 0.5)), 0.0]
    x: Column = np.concatenate([spread(rng, 1e3, *map(float, range(9))), edges, [1e300, math.inf]])
    for values in (x, -x):
        np.testing.assert_array_equal(probe("floor", values)[0], np.floor(values))
        np.testing.assert_array_equal(probe("sign", values)[0], np.sign(values))


OUTSIDE = {
    "sincos": [1.0000001e9, -1.0000001e9, math.inf],
    "tan": [1.0000001e9, -1.0000001e9, math.inf],
    "asin": [1.0000000000000002, -2.0, math.inf],
    "acos": [1.0000000000000002, -2.0, math.inf],
    "acosh": [BELOW_ONE, 0.0, -1.0, -3.0, -math.inf],
    "atanh": [1.0, -1.0, 2.0, -3.0, math.inf, -math.inf],
    "sqrt": [-5e-324, -1.0, -math.inf],
    "log": [0.0, -1.0, 1e-310, math.inf],
}


@pytest.mark.parametrize("name", [*ONE, *TWO, "sincos"])
def test_outside_their_ranges_they_give_nan(probe: Probe, name: str) -> None:
    x = [math.nan, *OUTSIDE.get(name, [])]
    for arguments in [(x, np.ones(len(x))), (np.ones(len(x)), x)] if name in TWO else [(x,)]:
        assert np.isnan(probe(name, *arguments)).all(), (name, arguments)


def test_powers_that_do_not_exist_are_nan(probe: Probe) -> None:
    base = [-1.0, -1e-300, 0.0, 0.0, 0.0, 1e-310, math.inf]
    exponent = [0.5, 2.0, -1.0, -0.5, 0.0, 0.5, 0.5]
    assert np.isnan(probe("pow", base, exponent)).all()


def test_overflow_is_infinite(probe: Probe) -> None:
    assert probe("sinh", [710.0, -710.0, math.inf])[0].tolist() == [math.inf, -math.inf, math.inf]
    assert probe("cosh", [710.0, -710.0, math.inf])[0].tolist() == [math.inf] * 3
    assert probe("tanh", [710.0, -math.inf])[0].tolist() == [1.0, -1.0]
    assert probe("asinh", [math.inf, -math.inf])[0].tolist() == [math.inf, -math.inf]
    assert probe("acosh", [math.inf])[0].tolist() == [math.inf]


def test_rough_power(probe: Probe, rng: np.random.Generator) -> None:
    """Within 0.1 %, as the comment says."""
    x = np.concatenate([np.linspace(0.5, 4.0, 100_000), 10.0 ** rng.uniform(-300, 300, 10_000)])
    for rough, power in zip(probe("rough_power", x), POWERS, strict=True):
        assert np.abs(rough / x**power - 1).max() < 1e-3, power


# Whole powers.

POWERS_OF_X = {
    "x**2**3": 8, "x**-2**2": -4, "x**(1 + 1)": 2, "x**(6/2)": 3, "x**(2**3 - 1)": 7,
    "x**(0.5*30)": 15, "x**-(10 - 2**3)": -2, "x**64": 64, "x**-64": -64, "x**2**6": 64,
    "x**65": 65, "x**-2**7": -128, "x**101": 101, "x**(0*5)": 0,
}  # fmt: skip
POWERS_MODEL = """
[parameters]
start = {{ unit = "1", meaning = "x at t = 0" }}
[states]
x = {{ initial = "start", meaning = "a state that moves away from 0" }}
{states}
[derivatives]
x = "x"
{rates}
[outputs]
{outputs}
"""


INTEGRATED = ("x**2**3", "x**-64", "x**65")  # with rodas4 their derivatives, too


@pytest.mark.parametrize("method", ["rodas4", pytest.param("rk54", marks=pytest.mark.broad)])
def test_whole_powers_of_negative_numbers_have_a_value(method: str) -> None:
    """However the whole number is written. y' = x^n with x = x0 e^t: y = x0^n (e^(n t) - 1)/n."""
    rates = {f"y{i}": text for i, text in enumerate(INTEGRATED)}
    finals = {f"final_{i}": text for i, text in enumerate(POWERS_OF_X)}
    text = POWERS_MODEL.format(
        states="\n".join(f'{y} = {{ initial = "0", meaning = "integral" }}' for y in rates),
        rates="\n".join(f'{y} = "{rate}"' for y, rate in rates.items()),
        outputs="\n".join(
            f'{name} = {{ final = "{text}" }}'
            for name, text in (*((f"{y}_end", y) for y in rates), *finals.items())
        ),
    )
    starts, end = (-0.9, 0.9), 0.25
    dataset = points(text, method, {"start": starts}, window_end=end, relative_tolerance=1e-9)
    assert (dataset.status == Status.ok).all()
    x0 = [mpf(start) for start in starts]
    for name, text in finals.items():
        expected = [float((x * mp.exp(end)) ** POWERS_OF_X[text]) for x in x0]
        np.testing.assert_allclose(dataset[name], expected, rtol=1e-6, err_msg=text)
    for y, text in rates.items():
        n = POWERS_OF_X[text]
        expected = [float(x**n * mp.expm1(n * mpf(end)) / n) for x in x0]
        np.testing.assert_allclose(dataset[f"{y}_end"], expected, rtol=1e-6, err_msg=text)


# Statuses of points. Those of one model have the rate that `which` counts.

FAST = ("sin(1e9*x)", "tan(1e9*x)")  # too fast for dop853 and rodas4, which do not get there
GUARDED = "where(x > speed - 1.5, log(x), 1)"
RATES = {
    **dict.fromkeys(["sqrt(1 - x)", "log(x)", "x**-0.5", "asin(x)"], Status.outside_validity),
    **dict.fromkeys(["acos(x)", "(1 - x)**1.5", "log(1 - x)"], Status.outside_validity),
    **dict.fromkeys(FAST, Status.outside_validity),
    # A comparison with NaN is false, and decides nothing.
    "where(sqrt(1 - x) > 0.5, 1, 0)": Status.outside_validity,
    "where(not sqrt(1 - x) > 0.5, 1, 0)": Status.outside_validity,
    "min(log(1 - x), 5)": Status.outside_validity,
    "where(x < 1, sqrt(1 - min(x, 1)), 0)": Status.ok,
    "1": Status.ok,
    # The steps of y' = y^2 become shorter than time can tell, long before y overflows.
    **dict.fromkeys(["y**2", "exp(exp(3*y))"], Status.diverged),
}


def chosen(rates: list[str]) -> str:
    """The rate that `which` counts, by branches of which one is taken."""
    text = rates[-1]
    for i, rate in reversed([*enumerate(rates[:-1])]):
        text = f"where(which == {i}, {rate}, {text})"
    return text


ARGUMENT = """
[parameters]
which = {}
start = {}
speed = {}
[states]
x = { initial = "start", meaning = "argument" }
y = { initial = "1", meaning = "integral" }
[derivatives]
x = "speed"
y = "RATE"
[outputs]
y_end = { final = "y" }
"""


@pytest.mark.broad
@first_methods
def test_an_argument_outside_its_range_or_an_overflow_gives_a_status(method: str) -> None:
    """In the branch that is taken, and in no other; what a relation guards may leave its range."""
    met = [rate for rate in RATES if method in ("rk54", "rk4") or rate not in FAST]
    cases = [(rate, 0.0, 1.0, RATES[rate]) for rate in met]
    cases += [(GUARDED, 0.0, 2.0, Status.ok)]  # from 0.5 on
    cases += [(GUARDED, -1.0, 1.0, Status.outside_validity)]  # from -0.5 on
    rates, starts, speeds, _ = zip(*cases, strict=True)
    which = [[*RATES, GUARDED].index(rate) for rate in rates]
    steps = {"step": 0.01} if method == "rk4" else {"maximum_steps": 1e6}
    found = points(
        ARGUMENT.replace("RATE", chosen([*RATES, GUARDED])), method,
        rows={"which": which, "start": starts, "speed": speeds}, window_end=2.0, **steps,
    )  # fmt: skip
    statuses = map(Status, found.status.values.tolist())
    wrong = {
        case: status for case, status in zip(cases, statuses, strict=True) if status != case[3]
    }
    assert wrong == {}


# x = 1 - t, so that roots of x end at t = 1. What decides the motion there is the one that `which`
# counts, and nothing after them. The events of the others have no zero.
DECISIONS = ("scale", "crossing", "condition", "set")
ENDING = with_events(
    """
[parameters]
which = {}
[states]
x = { initial = "1", scale = "where(which == 0, sqrt(which - 2), 1)" }
y = { initial = "0" }
z = { initial = "0" }
[derivatives]
x = "-1"
[outputs]
z_end = { final = "z" }
early = { share = "x > 0 and sqrt(x) > 0.5" }
not_late = { share = "not (x < 0 or sqrt(x) < 0.5)" }
last = { at = "late", maximum = "x" }
crossings = { count = "unknown" }
conditional = { count = "unknown_condition" }
LACKING
""",
    ("crossing", "where(which == 1, sqrt(x) - 2, 1 + x**2)", "both", 'set = { y = "1" }'),
    (
        "condition",
        "where(which == 2, x + 0.5, 1 + x**2)",
        "both",
        'if = "sqrt(x) > 1"',
        'set = { y = "1" }',
    ),
    ("set", "where(which == 3, x + 0.5, 1 + x**2)", "both", 'set = { y = "sqrt(x)" }'),
    ("guarded_and", "x + 0.5", "both", 'if = "x > 0 and sqrt(x) > 1"', 'set = { z = "z + 10" }'),
    ("guarded_or", "x + 0.5", "both", 'if = "x < 0 or sqrt(x) > 1"', 'set = { z = "z + 1" }'),
    ("unknown", "sqrt(x) - 2", "both"),
    ("unknown_condition", "x + 0.5", "both", 'if = "sqrt(x) > 1"'),
    ("late", "x + 0.5", "both"),
)
LACKING = {
    'share = "sqrt(x) > 0.5"', 'share = "not sqrt(x) > 0.5"', 'at = "late", maximum = "sqrt(x)"',
    'mean = "where(sqrt(x) > 0.5, 1, 0)"', 'mean = "sqrt(x)"', 'maximum = "log(x)"',
    'final = "asin(x - 0.5)"', 'rms = "x**-0.5"', 'minimum = "min(sqrt(x), 5)"',
}  # fmt: skip


@pytest.mark.broad
@first_methods
def test_no_event_or_output_is_decided_by_an_argument_outside_its_range(method: str) -> None:
    """An event whose expression is NaN never crosses zero."""
    lacking = {f"lacking_{i}": output for i, output in enumerate(sorted(LACKING))}
    lines = "\n".join(f"{name} = {{ {output} }}" for name, output in lacking.items())
    steps = {"step": 0.01} if method == "rk4" else {"maximum_steps": 1e5}
    which = range(len(DECISIONS) + 1)
    dataset = points(
        ENDING.replace("LACKING", lines), method, {"which": which}, window_end=2.0, **steps
    )
    outside = [int(status) == Status.outside_validity for status in dataset.status]
    assert dict(zip(DECISIONS, outside, strict=False)) == dict.fromkeys(DECISIONS, True)
    free = dataset.isel(which=-1)
    assert free.status == Status.ok
    assert free.z_end == 1, "what is guarded in a condition may be outside its range"
    # Until t = 0.75; only steps of a length chosen end at a kink that a guard hides.
    tight = 1e-6 if method == "rk4" else 1e-9
    assert [float(free.early), float(free.not_late)] == pytest.approx([0.375] * 2, rel=tight)
    assert float(free["last"]) == pytest.approx(-0.5)
    for name in ("crossings", "conditional"):
        assert math.isnan(free[name]), name
    assert [output for name, output in lacking.items() if not math.isnan(free[name])] == []


SINGULAR = """
[parameters]
n = { meaning = "exponent" }
[states]
p = { initial = "0", meaning = "of a power" }
q = { initial = "0", meaning = "of a root" }
h = { initial = "0", meaning = "of a distance" }
a = { initial = "1", meaning = "of an angle" }
[derivatives]
p = "1 - abs(p)**n"
q = "1 - sqrt(q)"
h = "1 - hypot(h, p*t)"
a = "-0.1 - asin(a)"
[outputs]
p_end = { final = "p" }
q_end = { final = "q" }
h_end = { final = "h" }
a_end = { final = "a" }
"""


def test_a_jacobian_with_infinite_parts_is_no_obstacle() -> None:
    """Each state starts where the derivative of its rate is infinite or 0/0."""
    exponents = [0.5, 1.0, 1.7]
    dataset = points(SINGULAR, "rodas4", {"n": exponents}, window_end=2.0, relative_tolerance=1e-9)
    assert dataset.status.values.tolist() == [Status.ok] * len(exponents)
    for i, n in enumerate(exponents):

        def rates(t: float, y: np.ndarray, n: float = n) -> list[float]:
            p, q, h, a = y
            angle = math.asin(min(a, 1.0))
            return [1 - abs(p) ** n, 1 - math.sqrt(q), 1 - math.hypot(h, p * t), -0.1 - angle]

        end = solve_ivp(rates, (0, 2), [0, 0, 0, 1], "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
        for name, value in zip("pqha", end, strict=True):
            assert float(dataset[f"{name}_end"][i]) == pytest.approx(value, rel=1e-6), (n, name)
