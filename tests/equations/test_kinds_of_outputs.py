"""Outputs of intervals, rates, sums at samples and periods, against SciPy and closed forms."""

from __future__ import annotations

import math
import tomllib

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sweep.model.table import Status
from tests.equations.examples import methods, model, points, with_events
from tests.equations.good_model import POWER, SAMPLES, changed, faults_of, good, read_system

CONTROLS = {
    "rk54": {"relative_tolerance": 1e-11}, "dop853": {"relative_tolerance": 1e-11},
    "rodas4": {"relative_tolerance": 1e-10}, "rk4": {"step": 2e-3},
}  # fmt: skip

# A ball whose impacts are known, and events that are only seen: x = sin(t^2/2) crosses zero at
# t = sqrt(2 pi k).
BALL = with_events(
    """
[parameters]
restitution = {}
[states]
x = { initial = "5" }
v = { initial = "0" }
[derivatives]
x = "v"
v = "-10"
[outputs]
mean = { interval = "impact", take = "mean" }
shortest = { interval = "impact", take = "minimum" }
longest = { interval = "impact", take = "maximum" }
last = { interval = "impact", take = "last" }
never = { interval = "missed", take = "mean" }
once = { interval = "apex_of_six", take = "last" }
gain = { rate = "v" }
""",
    ("impact", "x", "falling", 'set = { v = "-restitution*v" }'),
    ("missed", "x - 6", "rising"),
    ("apex_of_six", "t - 4", "rising"),
)
CHIRP = with_events(
    """
[states]
x = { initial = "0" }
[derivatives]
x = "t*cos(t*t/2)"
[outputs]
mean = { interval = "zero", take = "mean" }
shortest = { interval = "zero", take = "minimum" }
longest = { interval = "zero", take = "maximum" }
last = { interval = "zero", take = "last" }
undecided = { interval = "guarded", take = "mean" }
gain = { rate = "x" }
""",
    ("zero", "sin(t*t/2)", "both"),
    ("guarded", "sin(t*t/2)", "both", 'if = "sqrt(4 - t) > -1"'),
)


def intervals(times: np.ndarray, start: float, end: float) -> dict[str, float]:
    between = np.diff(times[(times >= start) & (times <= end)])
    return {
        "mean": between.mean(), "shortest": between.min(), "longest": between.max(),
        "last": between[-1],
    }  # fmt: skip


@methods("rk54", "rk4")
def test_intervals_are_the_times_between_occurrences_in_the_window(method: str) -> None:
    restitutions, start, end = (0.8, 0.9), 1.5, 7.0
    found = points(
        BALL, method, {"restitution": restitutions}, window_start=start, window_end=end,
        **CONTROLS[method],
    )  # fmt: skip
    for e in restitutions:
        point = found.sel(restitution=e)
        times, flights = [1.0], [2 * e]  # it falls for 1 s, with 10 m/s
        while times[-1] < end and flights[-1] > 1e-3:
            times.append(times[-1] + flights[-1])
            flights.append(e * flights[-1])
        for name, value in intervals(np.array(times), start, end).items():
            assert float(point[name]) == pytest.approx(value, rel=1e-9), (name, e)
        assert math.isnan(point.never)
        assert math.isnan(point.once), "one occurrence has no interval"
        k = int(np.searchsorted(times, end)) - 1
        v_end = 10 * e ** (k + 1) - 10 * (end - times[k])
        v_start = 10 * e - 10 * (start - 1)
        assert float(point.gain) == pytest.approx((v_end - v_start) / (end - start), rel=1e-8)


@methods("rk54", without="rodas4")
def test_intervals_of_events_that_change_nothing(method: str) -> None:
    start, end = 2.0, 9.0
    steps = {"step": 2e-3} if method == "rk4" else {"relative_tolerance": 1e-9}
    steps |= {} if method == "rk4" else {"maximum_step": 0.05}
    found = points(CHIRP, method, window_start=start, window_end=end, **steps)
    times = np.sqrt(2 * np.pi * np.arange(1, 40))
    for name, value in intervals(times, start, end).items():
        assert float(found[name]) == pytest.approx(value, rel=1e-6), name
    assert math.isnan(found.undecided), "an event that may have happened leaves no interval known"
    gain = (math.sin(end**2 / 2) - math.sin(start**2 / 2)) / (end - start)
    assert float(found.gain) == pytest.approx(gain, rel=1e-6)


# Periods. A driven pendulum-like oscillator with a soft spring: periods double as the force grows.
DUFFING = """
period = "2*pi/1.2"
[parameters]
force = {}
[states]
x = { initial = "0.5", scale = "0.5" }
v = { initial = "0" }
[derivatives]
x = "v"
v = "-0.3*v + x - x**3 + force*cos(1.2*t)"
[outputs]
repeats = { period = ["x", "v"], every = "period", most = 8, tolerance = 1e-4 }
rough = { period = ["x"], every = "period", most = 8, tolerance = 10 }
of_sine = { period = ["sin(x)", "x*v"], every = "period", most = 8, tolerance = 1e-4 }
recent = { values = "x", every = "period", keep = 16 }
"""
FORCES = (0.2, 0.28, 0.29, 0.37, 0.5, 0.65)


def least_period(values: np.ndarray, scales: np.ndarray, tolerance: float) -> int:
    """Of the rows of values; 0 if they do not repeat."""
    for p in range(1, len(values) // 2 + 1):
        change = np.abs(values[p:] - values[:-p])
        if (change <= tolerance * (scales + np.abs(values[p:]))).all():
            return p
    return 0


def strobed(force: float, cycles: int) -> np.ndarray:
    """(x, v) at the last 16 whole periods."""
    period = 2 * math.pi / 1.2
    times = np.arange(cycles - 15, cycles + 1) * period

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -0.3 * y[1] + y[0] - y[0] ** 3 + force * math.cos(1.2 * t)]

    solved = solve_ivp(rates, (0, times[-1]), [0.5, 0], "DOP853", times, rtol=1e-10, atol=1e-11)
    return solved.y.T


@methods("rk54", "rk4")
def test_the_period_of_a_driven_motion_is_that_of_its_strobed_states(method: str) -> None:
    cycles = 300
    found = points(
        DUFFING, method, {"force": FORCES}, end_cycle=cycles, start_cycle=1,
        **CONTROLS[method] | ({"step": 5e-3} if method == "rk4" else {}),
    )  # fmt: skip
    seen: set[int] = set()
    for force in FORCES:
        point, values = found.sel(force=force), strobed(force, cycles)
        period = least_period(values, np.array([0.5, 1.0]), 1e-4)
        seen.add(period)
        assert int(point.repeats) == period, force
        mixed = np.stack([np.sin(values[:, 0]), values[:, 0] * values[:, 1]], axis=1)
        assert int(point.of_sine) == least_period(mixed, np.array([1.0, 1.0]), 1e-4), force
        assert int(point.rough) == 1
    assert {0, 1, 2} <= seen, seen


# x counts events from 0 to n - 1 and begins again; y is it at the last multiple of 3.
COUNTER = with_events(
    """
period = "1"
[parameters]
n = {}
[states]
x = { initial = "0" }
[outputs]
of_cycles = { period = ["x"], every = "period", most = 6, tolerance = 1e-9 }
of_ticks = { period = ["x"], every = "tick", most = 6, tolerance = 1e-9 }
of_pairs = { period = ["x"], every = "second", most = 6, tolerance = 1e-9 }
missing = { period = ["sqrt(x - 0.5)"], every = "tick", most = 3 }
ticks = { count = "tick" }
""",
    ("tick", "sin(2*pi*t)", "falling", 'set = { x = "where(x + 1.5 > n, 0, x + 1)" }'),
    ("second", "sin(pi*t + 0.1)", "rising"),
)


@methods("rk54", "rk4")
def test_periods_count_cycles_or_events(method: str) -> None:
    steps = {"step": 0.01} if method == "rk4" else {"maximum_step": 0.1}
    numbers = (1, 2, 3, 4, 6, 7)
    found = points(COUNTER, method, {"n": numbers}, {"window_end": [40, 11.4]}, **steps)
    assert (found.status == Status.ok).all()
    for n in numbers:
        point = found.sel(n=n).isel(case=0)
        within = n if n <= 6 else 0
        assert int(point.of_cycles) == int(point.of_ticks) == within, n
        pairs = n // math.gcd(n, 2)
        assert int(point.of_pairs) == (pairs if pairs <= 6 else 0), n
        assert point.missing.isnull(), "x - 0.5 is negative at some"
    short = found.isel(case=1)
    assert short.of_ticks.isnull().all(), "11 values do not tell"
    assert (short.ticks == 11).all()


# Identity and faults.

LOADED = changed(
    "[states]", '[signals]\nload = { times = [0, 1], values = [0, 1], unit = "N" }\n[states]'
)
KINDS = [
    'power = { interval = "impact", take = "last", unit = "s" }',
    'power = { rate = "push", unit = "N/s" }',
    'power = { sum = "load*v", at = "samples of load", unit = "W" }',
    'power = { period = ["x", "v + 0*v"], every = "impact", most = 4, tolerance = 0.001 }',
]


@pytest.mark.parametrize("output", KINDS)
def test_the_canonical_text_has_the_same_output(output: str) -> None:
    system = good(changed(POWER, output, LOADED))
    assert read_system(tomllib.loads(system.text)) == system
    (line,) = [line for line in system.text.splitlines() if line.startswith("power = ")]
    entry, written = tomllib.loads(line)["power"], tomllib.loads(output)["power"]
    assert {key: entry[key] for key in written} == written


def test_the_period_has_defaults() -> None:
    system = good(changed(POWER, 'power = { period = ["x"], every = "period" }'))
    (rule,) = [rule for rule in system.outputs if rule.name == "power"]
    assert (rule.most, rule.tolerance) == (16, 1e-6)


FAULTS = [
    ('{ interval = "bang", take = "mean" }', "interval", "'bang' is not an event"),
    ('{ interval = "impact" }', "take", "missing; choose one of mean, minimum, maximum"),
    ('{ interval = "impact", take = "sum" }', "take", "'sum' is unknown"),
    ('{ interval = "impact", take = "last", unit = "m" }', "interval",
     "t has the unit s, but the unit m is needed"),
    ('{ rate = "push", unit = "N" }', "rate", "push has the unit N, but the unit N s is needed"),
    ('{ rate = "x > gap" }', "rate", "x > gap is a condition, but a number is needed"),
    ('{ sum = "v", at = "samples of lod", unit = "m/s" }', "at", "'lod' is not a signal"),
    ('{ mean = "v", at = "samples of load", unit = "m/s" }', "at", "is not an event"),
    ('{ sum = "v", at = "samples of load" }', "sum", 'add unit = "m/s" to the output'),
    ('{ period = "x", every = "period" }', "period", "'x' is not a list of 1 to 8 expressions"),
    ('{ period = [], every = "period" }', "period", "[] is not a list of 1 to 8 expressions"),
    ('{ period = ["x", "y"], every = "period" }', "period", "'y' is unknown"),
    ('{ period = ["x", 2, ["v"]], every = "period" }', "period", "['v'] is not an expression"),
    ('{ period = ["x"] }', "every", "missing; write every = "),
    ('{ period = ["x"], every = "bang" }', "every", "'bang' is not an event"),
    ('{ period = ["x"], every = "period", most = 257 }', "most", "a whole number from 1 to 256"),
    ('{ period = ["x"], every = "period", tolerance = 0 }', "tolerance", "0.0 is not above 0"),
    ('{ period = ["x"], every = "period", unit = "s" }', "unit", "a period has no unit"),
    ('{ period = ["x"], rate = "x", every = "period" }', "", "rate, period exclude each other"),
]  # fmt: skip


@pytest.mark.parametrize(("output", "key", "message"), FAULTS)
def test_a_faulty_output_is_refused(output: str, key: str, message: str) -> None:
    faults = faults_of(changed(POWER, f"power = {output}", LOADED))
    place = f"outputs.power.{key}".rstrip(".")
    at_place = [str(fault) for fault in faults if fault.where == place]
    assert any(message in each for each in at_place), "\n".join(map(str, faults))


def test_periods_count_among_the_values_that_are_kept() -> None:
    many = 'power = { period = ["x", "v"], every = "period", most = 256 }'
    text = changed(POWER, many, changed(SAMPLES, SAMPLES.replace("4", "3100")))
    assert any("4,126 values of a point are kept in all" in str(f) for f in faults_of(text))


def test_a_model_without_a_period_has_none_to_repeat_after() -> None:
    document = model(COUNTER)
    del document["period"]
    with pytest.raises(Exception, match="every: the model has no period; write period = "):
        read_system(document)
