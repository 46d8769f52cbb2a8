"""The functions of expressions: mpmath is the oracle; what lies outside their ranges is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

import mpmath
import numpy as np
import pytest
import xarray as xr
from mpmath import mp, mpf
from scipy.integrate import solve_ivp

import sweep
from sweep.spec import MISSING_COUNT, Status
from tests.backends.kernel_probe import KERNELS, Entry, Probe, compile_probe
from tests.equations.examples import model, points
from tests.models.test_elementary_header import DIGITS, POINTS, Column, errors, spread

ONE = ("sinh", "cosh", "tanh", "tan", "atan", "log", "sign", "floor", "sqrt", "asin", "acos")
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
HEADERS = 'systems/functions.h"\n#include "systems/control.h'
ULP = {"tan": 2.6, "hypot": 1.9, "sinh": 1.5, "cosh": 1.3, "tanh": 2.5}  # as the comments say


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
    text = (KERNELS / "systems" / "functions.h").read_text()
    heads = re.findall(r"((?:^//.*\n)+)HD real (\w+)\(", text, re.MULTILINE)
    stated_errors = {
        name: float(match[1])
        for comment, name in heads
        if (match := re.search(r"(\d+\.\d+) ulp", comment))
    }
    assert stated_errors == ULP


@pytest.mark.parametrize(
    ("name", "oracle", "bounds", "edges"),
    [
        ("sinh", mp.sinh, (1.2, 3.0, 25.0, 709.0), (0.5, 1.0)),
        ("cosh", mp.cosh, (1.2, 3.0, 25.0, 709.0), (0.5, 1.0)),
        ("tanh", mp.tanh, (1.2, 3.0, 25.0, 1e3), (0.5, 1.0, 20.0)),
        ("tan", mp.tan, (0.8, 1.57, 10.0), (0.5, 0.785, 1.57)),
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
        assert errors(probe(name, x)[0], oracle, x).max() <= ULP[name], bound


def test_hypot(probe: Probe, rng: np.random.Generator) -> None:
    """Also where squares would overflow or underflow."""
    x = 10.0 ** rng.uniform(-290, 290, POINTS)
    for y in (x * rng.uniform(0.1, 10.0, POINTS), x * 10.0 ** rng.uniform(-10, 10, POINTS)):
        assert errors(probe("hypot", x, y)[0], mp.hypot, x, y).max() <= ULP["hypot"]
    ends = probe("hypot", [3.0, 0.0, -5.0, math.inf, 1e308], [-4.0, 0.0, 0.0, 1.0, 1e308])[0]
    np.testing.assert_allclose(ends, [5.0, 0.0, 5.0, math.inf, math.sqrt(2) * 1e308], rtol=1e-15)


def test_what_elementary_functions_give_is_passed_on(probe: Probe) -> None:
    """Their errors are those of test_elementary_header.py."""
    x = [0.3, 1.0, 2.5]
    for name, expected in (("atan", np.arctan(x)), ("log", np.log(x))):
        np.testing.assert_allclose(probe(name, x)[0], expected, rtol=1e-15)
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
format = 1
name = "powers"
time_unit = "1"
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


# Statuses of points.

MODEL = """
format = 1
name = "argument"
time_unit = "1"
[parameters]
start = {{ unit = "1", meaning = "x at t = 0" }}
speed = {{ unit = "1", default = 1, meaning = "rate of x" }}
which = {{ unit = "1", default = 0, meaning = "place of a rate" }}
[states]
x = {{ unit = "1", initial = "start", meaning = "argument" }}
y = {{ unit = "1", initial = "1", meaning = "integral" }}
[derivatives]
x = "speed"
y = "{rate}"
[outputs]
y_end = {{ final = "y", unit = "1", meaning = "integral" }}
other = {{ {output}, unit = "1", meaning = "another output" }}
"""


def status_of(
    rate: str, start: float, output: str = 'final = "x"', method: str = "rk54", **more: float
) -> Status:
    steps = {"step": 0.01} if method == "rk4" else {}
    text = MODEL.format(rate=rate, output=output)
    dataset = points(text, method, start=start, window_end=2.0, **steps, **more)
    return Status(int(dataset.status))


def one_of(expressions: Sequence[str]) -> str:
    """The expression whose place is the parameter `which`, so that one kernel has them all."""
    *some, last = expressions
    heads = "".join(f"where(which < {i}.5, {each}, " for i, each in enumerate(some))
    return heads + last + ")" * len(some)


RATES = {
    **dict.fromkeys(
        (
            *("sqrt(1 - x)", "log(x)", "x**-0.5", "asin(x)", "acos(x)"),
            *("(1 - x)**1.5", "log(1 - x)"),
        ),
        Status.outside_validity,
    ),
    # Its steps become shorter than time can tell, long before y overflows.
    "y**2": Status.diverged,
    "exp(exp(3*y))": Status.diverged,
    "1": Status.ok,
}


def test_a_point_whose_argument_leaves_the_range_is_outside_validity() -> None:
    """And one whose state overflows has diverged."""
    text = MODEL.format(rate=one_of([*RATES]), output='final = "x"')
    which, constants = {"which": range(len(RATES))}, {"window_end": 2.0, "maximum_steps": 1e4}
    dataset = points(text, "rk54", which, start=0.0, **constants)
    statuses = [Status(each) for each in dataset.status.values]
    assert dict(zip(RATES, statuses, strict=True)) == RATES


@pytest.mark.parametrize(
    "rate",
    [
        "min(log(1 - x), 5)",
        *(pytest.param(r, marks=pytest.mark.broad) for r in ("sin(1e9*x)", "tan(1e9*x)")),
    ],
)
def test_so_is_one_whose_kinks_or_waves_shorten_steps(rate: str) -> None:
    """Alone, since kinks are looked for in every branch, whichever is taken."""
    assert status_of(rate, 0.0) == Status.outside_validity


@pytest.mark.parametrize(
    "method", ["rk54", *(pytest.param(m, marks=pytest.mark.broad) for m in ("rk4", "rodas4"))]
)
def test_only_the_branch_that_is_taken_counts(method: str) -> None:
    rate = "where(x < 1, sqrt(1 - min(x, 1)), 0)"
    assert status_of(rate, 0.0, method=method) == Status.ok
    rate = "where(x > speed - 1.5, log(x), 1)"  # from 0.5 on, and from -0.5 on
    assert status_of(rate, 0.0, method=method, speed=2.0) == Status.ok
    assert status_of(rate, -1.0, method=method, speed=1.0) == Status.outside_validity


def test_an_output_whose_argument_leaves_the_range_is_missing() -> None:
    """The motion itself, and so the point, is valid."""
    outputs = ['mean = "sqrt(1 - x)"', 'maximum = "log(1 - x)"', 'final = "asin(x)"',
               'rms = "x**-0.5"', 'minimum = "min(sqrt(1 - x), 5)"']  # fmt: skip
    text = MODEL.format(rate="1", output=outputs[0])
    lines = [f'other_{i} = {{ {output}, unit = "1" }}' for i, output in enumerate(outputs)]
    dataset = points("\n".join([text, *lines]), "rk54", start=-0.5, window_end=2.0)
    assert int(dataset.status) == Status.ok
    assert float(dataset.y_end) == pytest.approx(3.0)
    assert [i for i in range(len(outputs)) if not math.isnan(float(dataset[f"other_{i}"]))] == []


# x = 1 - t, so that roots of x end at t = 1.
ENDING = """
format = 1
name = "ending"
time_unit = "1"
events = [{events}]
[parameters]
size = {{ unit = "1", default = 1, meaning = "of the argument of a scale" }}
which = {{ unit = "1", default = 0, meaning = "place of a decision" }}
[states]
x = {{ unit = "1", initial = "1", scale = "{scale}", meaning = "argument" }}
y = {{ unit = "1", initial = "0", meaning = "integral" }}
[derivatives]
x = "-1"
y = "{rate}"
[outputs]
y_end = {{ final = "y", unit = "1" }}
{outputs}
"""
LATE = 'when = "x + 0.5"'  # at t = 1.5


def ending(
    method: str,
    *events: str,
    which: Iterable[float] = (),
    scale: str = "1",
    rate: str = "0",
    outputs: str = "",
) -> xr.Dataset:
    tables = (f'{{ name = "e{i}", direction = "both", {each} }}' for i, each in enumerate(events))
    text = ENDING.format(scale=scale, rate=rate, events=", ".join(tables), outputs=outputs)
    steps = {"step": 0.01} if method == "rk4" else {"maximum_steps": 1e5}
    along = {"which": list(which)} if which else {}
    return points(text, method, along, window_end=2.0, **steps)


def test_no_motion_is_decided_by_an_argument_outside_its_range() -> None:
    """A comparison with NaN is false, and an event whose expression is NaN never crosses zero.

    One decision at each point: a scale, two branches, a crossing, a condition, a set; the last
    point decides nothing by a root, since guards hide them all.
    """
    dataset = ending(
        "rk4",
        'when = "where(which == 3, sqrt(x) - 2, 1)", set = { y = "1" }',
        LATE + ', if = "not which == 4 or sqrt(x) > 1", set = { y = "1" }',
        LATE + ', set = { y = "where(which == 5, sqrt(x), y)" }',
        which=range(7),
        scale="where(which == 0, sqrt(size - 2), 1)",
        rate=one_of(["0", "where(sqrt(x) > 0.5, 1, 0)", "where(not sqrt(x) > 0.5, 1, 0)", "0"]),
    )
    assert dataset.status.values.tolist() == [Status.outside_validity] * 6 + [Status.ok]


DECISIONS = {
    "scale": {"scale": "sqrt(size - 2)"},
    "branch": {"rate": "where(sqrt(x) > 0.5, 1, 0)"},
    "no branch": {"rate": "where(not sqrt(x) > 0.5, 1, 0)"},
    "crossing": {"event": 'when = "sqrt(x) - 2", set = { y = "1" }'},
    "condition": {"event": LATE + ', if = "sqrt(x) > 1", set = { y = "1" }'},
    "set": {"event": LATE + ', set = { y = "sqrt(x)" }'},
}


@pytest.mark.broad
@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("method", ["rk54", "dop853", "rodas4"])
def test_nor_is_one_with_steps_of_its_own(method: str, decision: str) -> None:
    """A model each, since kinks shorten these steps in every branch, whichever is taken."""
    parts = dict(DECISIONS[decision])
    events = [event] if (event := parts.pop("event", "")) else []
    assert ending(method, *events, **parts).status == Status.outside_validity


@pytest.mark.parametrize(
    "method", ["rodas4", *(pytest.param(m, marks=pytest.mark.broad) for m in ("rk54", "dop853"))]
)
def test_shares_end_at_kinks_that_a_guard_hides(method: str) -> None:
    """Until t = 0.75, though the step goes on to where the root has no value."""
    shares = ("x > 0 and sqrt(x) > 0.5", "not (x < 0 or sqrt(x) < 0.5)")
    outputs = "\n".join(f'early{i} = {{ share = "{share}" }}' for i, share in enumerate(shares))
    dataset = ending(method, outputs=outputs)
    for i in range(len(shares)):
        assert float(dataset[f"early{i}"]) == pytest.approx(0.375, rel=1e-9)


def test_outputs_that_an_argument_outside_its_range_decides_are_missing() -> None:
    """And no others: what is guarded may be outside its range, in events that act, too."""
    set_y = 'set = { y = "1" }'
    dataset = ending(
        "rk4",
        'when = "sqrt(x) - 2"',
        LATE + ', if = "sqrt(x) > 1"',
        LATE,
        f'{LATE}, if = "x > 0 and sqrt(x) > 1", {set_y}',
        f'{LATE}, if = "x < 0 or sqrt(x) > 1", {set_y}',
        outputs="""
early = { share = "x > 0 and sqrt(x) > 0.5" }
share = { share = "sqrt(x) > 0.5" }
other_share = { share = "not sqrt(x) > 0.5" }
mean = { mean = "where(sqrt(x) > 0.5, 1, 0)", unit = "1" }
crossings = { count = "e0" }
conditional = { count = "e1" }
highest = { at = "e2", maximum = "sqrt(x)", unit = "1" }
last = { at = "e2", maximum = "x", unit = "1" }
""",
    )
    assert dataset.status == Status.ok
    assert dataset.y_end == 1
    assert float(dataset.early) == pytest.approx(0.375)
    assert float(dataset["last"]) == pytest.approx(-0.5)
    for name in ("share", "other_share", "mean", "highest"):
        assert math.isnan(dataset[name]), name
    for name in ("crossings", "conditional"):
        assert dataset[name] == MISSING_COUNT, name


def test_statistics_leave_out_points_that_lack_a_value() -> None:
    """As they do points without an event."""
    outputs = 'root = { final = "sqrt(size - 1)", unit = "1" }'
    text = ENDING.format(scale="1", rate="0", events="", outputs=outputs)
    config = {
        "model": model(text), "method": "rk4", "outputs": ["root"],
        "parameters": {"window_end": 1.0, "step": 0.5},
        "sample": {"method": "sobol", "points": 64, "seed": 1, "size": {"uniform": [0, 2]}},
    }  # fmt: skip
    roots = sweep.run(config, store=None)["root"].values
    assert 0 < np.isnan(roots).sum() < len(roots)
    reduced = sweep.run(config | {"reduce": {"root": ["mean", "maximum"]}}, store=None)
    assert float(reduced["root_mean"]) == pytest.approx(np.nanmean(roots), rel=1e-14)
    assert float(reduced["root_maximum"]) == np.nanmax(roots)


SINGULAR = """
format = 1
name = "singular"
time_unit = "1"
[parameters]
n = { unit = "1", meaning = "exponent" }
[states]
p = { unit = "1", initial = "0", meaning = "of a power" }
q = { unit = "1", initial = "0", meaning = "of a root" }
h = { unit = "1", initial = "0", meaning = "of a distance" }
a = { unit = "1", initial = "1", meaning = "of an angle" }
[derivatives]
p = "1 - abs(p)**n"
q = "1 - sqrt(q)"
h = "1 - hypot(h, p*t)"
a = "-0.1 - asin(a)"
[outputs]
p_end = { final = "p", unit = "1", meaning = "p" }
q_end = { final = "q", unit = "1", meaning = "q" }
h_end = { final = "h", unit = "1", meaning = "h" }
a_end = { final = "a", unit = "1", meaning = "a" }
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


PERIODS = """
format = 1
name = "periods"
time_unit = "1"
period = "2*pi/omega"
[parameters]
omega = { unit = "1", meaning = "angular frequency" }
[states]
x = { unit = "1", initial = "1", meaning = "constant: steps are long" }
[derivatives]
x = "0"
[outputs]
last = { values = "x*t", every = "period", keep = 4, unit = "1", meaning = "last periods" }
"""


def test_periods_without_end_do_not_hang() -> None:
    """Of many periods within one step the last are taken; others than positive ones are refused."""
    many = 1e9 * 2 * math.pi
    dataset = points(PERIODS, "rk54", {"omega": [1.0, many, -1.0, 1e300]}, window_end=20.5)
    assert dataset.status.values.tolist() == [0, 0, 3, 3]
    np.testing.assert_allclose(dataset["last"][0], 2 * math.pi * np.arange(4))
    np.testing.assert_allclose(dataset["last"][1], 20.5 - 1e-9 * np.arange(3, -1, -1), rtol=1e-12)
