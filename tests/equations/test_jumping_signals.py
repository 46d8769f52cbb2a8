"""Signals that jump: motions, events and outputs on both sides of each jump, against SciPy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import sweep
from sweep.file import load
from sweep.kernel.cpu import CpuTarget
from sweep.kernel.gpu import GpuBackend
from sweep.model.table import Status
from sweep.points.chunking import chunk_at
from sweep.points.columns import points as columns_of
from tests.cases import Case, bits_of, differing
from tests.equations.examples import methods, model, points, with_events
from tests.gpu.twin import TwinDevice
from tests.kernel.same_bits import target_faults
from tests.oracles.jumping_signals import Driven, Piece, Samples

START, END = 0.8, 6.9
LOAD = Samples([0, 0.7, 1.6, 2.2, 3.5, 3.6, 5.1, 9], [2, -1, 4, 0.25, 1, -2, 3, 0], stays=True)
RAMP = Samples([0, 1, 1, 2.6, 4.1, 4.1, 9], [-1, 0.5, 2, -1.5, 1, -1, 2])
DRIVEN = with_events(
    f"""
[signals]
load = {{ times = {LOAD.times}, values = {LOAD.values}, interpolation = "previous" }}
ramp = {{ times = {RAMP.times}, values = {RAMP.values} }}
[parameters]
stop = {{}}
[states]
x = {{ initial = "0" }}
v = {{ initial = "0" }}
[derivatives]
x = "v"
v = "-9*x - 0.3*v + load + max(ramp - x, 0)"
[outputs]
x_end = {{ final = "x" }}
v_end = {{ final = "v" }}
work = {{ integral = "load*v + abs(ramp)" }}
most = {{ maximum = "load - 2*x" }}
highest = {{ maximum = "ramp" }}
lowest = {{ minimum = "ramp*x" }}
strengths = {{ count = "strong" }}
strong_at = {{ values = "t", every = "strong", keep = 4 }}
loads = {{ values = "load", every = "strong", keep = 4 }}
overtakes = {{ count = "over" }}
last_over = {{ values = "t", every = "over", keep = 3 }}
shortest = {{ interval = "impact", take = "minimum" }}
longest = {{ interval = "impact", take = "maximum" }}
usual = {{ interval = "impact", take = "mean" }}
recent = {{ interval = "impact", take = "last" }}
growth = {{ rate = "x*x + t" }}
samples = {{ sum = "load + 10*x", at = "samples of load" }}
ramps = {{ sum = "ramp*t", at = "samples of ramp" }}
slope = {{ mean = "rate(ramp*t)" }}
steepest = {{ maximum = "rate(ramp)" }}
""",
    ("impact", "x - stop", "rising", 'set = { v = "-0.7*v" }'),
    ("strong", "load - 0.5", "rising"),
    ("over", "ramp - x", "rising"),
)
STOPS = (0.35, 0.52)
CONTROLS = {
    "rk54": {"relative_tolerance": 1e-11}, "dop853": {"relative_tolerance": 1e-11},
    "rodas4": {"relative_tolerance": 1e-10}, "rk4": {"step": 5e-4},
}  # fmt: skip


def solved(stop: float) -> Driven:
    driven = Driven(LOAD, RAMP, stop, END)
    driven.solve()
    return driven


def load_less(piece: Piece, t: float) -> float:
    return piece.load(t) - 2 * piece.motion(t)[0]


def expected(driven: Driven) -> dict[str, object]:
    strong = driven.crossings(lambda p, t: p.load(t) - 0.5, START)
    over = driven.crossings(lambda p, t: p.ramp(t) - p.motion(t)[0], START)
    intervals = np.diff([t for t in driven.impacts if t >= START])
    x, v = driven.pieces[-1].motion(END)
    before = driven.state(START)[0]
    inside = {t for t in LOAD.times if START <= t <= END}
    inside_ramp = {t for t in RAMP.times if START <= t <= END}
    length = END - START
    work = driven.integral(lambda p, t: p.load(t) * p.motion(t)[1] + abs(p.ramp(t)), START)
    slopes = [(p, (p.ramp(p.end) - p.ramp(p.start)) / (p.end - p.start)) for p in driven.pieces]
    late = [(max(p.start, START), p, slope) for p, slope in slopes if p.end > START]
    ramp_times = sum(p.ramp(p.end) * p.end - p.ramp(a) * a for a, p, _ in late)
    return {
        "x_end": x, "v_end": v, "work": work,
        "most": driven.largest(load_less, START),
        "highest": driven.largest(lambda p, t: p.ramp(t), START),
        "lowest": -driven.largest(lambda p, t: -p.ramp(t) * p.motion(t)[0], START),
        "strengths": len(strong), "strong_at": strong, "loads": [LOAD.at(t) for t in strong],
        "overtakes": len(over), "last_over": over[-3:],
        "shortest": intervals.min(), "longest": intervals.max(), "usual": intervals.mean(),
        "recent": intervals[-1],
        "growth": (x**2 + END - before**2 - START) / length,
        "samples": sum(LOAD.at(t) + 10 * driven.state(t)[0] for t in inside),
        "ramps": sum(RAMP.at(t) * t for t in inside_ramp),
        "slope": ramp_times / length, "steepest": max(slope for _, _, slope in late),
    }  # fmt: skip


@methods("rk54", "rk4")
def test_motions_events_and_outputs_see_both_sides_of_each_jump(method: str) -> None:
    dataset = points(
        DRIVEN, method, {"stop": STOPS}, window_start=START, window_end=END, **CONTROLS[method]
    )
    assert (dataset.status == Status.ok).all()
    for stop in STOPS:
        driven = solved(stop)
        assert len(driven.impacts) >= 3
        point = dataset.sel(stop=stop)
        for name, value in expected(driven).items():
            found = np.atleast_1d(point[name].values)
            found = found[~np.isnan(found)]
            np.testing.assert_allclose(
                found, np.atleast_1d(np.asarray(value)), rtol=2e-6, atol=2e-7, err_msg=name
            )


def test_bits_depend_on_no_width_budget_neighbour_or_gpu() -> None:
    parameters = {"window_start": START, "relative_tolerance": 1e-6}
    cases = {"stop": {"linspace": [0.3, 0.7, 9]}, "window_end": {"linspace": [2, 9, 9]}}
    planned = load(
        {"model": model(DRIVEN), "parameters": parameters, "axes": {"case": cases}}
    ).sweep
    shape = planned.grid.shape
    case = Case("driven", planned, columns_of(planned, chunk_at((0,), shape, shape)))
    small = CpuTarget(width=2, pack=1)
    bits = bits_of(planned, case.points, small)
    assert (bits["status"] == Status.ok).all()
    assert target_faults(case, bits, small) == []
    assert differing(bits, bits_of(planned, case.points)) == []
    on_gpu = dict(GpuBackend(TwinDevice(), 50).compute(planned, case.points).arrays)
    assert differing(bits, on_gpu) == []


# Closed forms. s is the integral of the load, which is 0 at one sample; the side of a relation in a
# derivative changes by jumps alone; period 0.5 meets jumps. The sine of c turns evenly with rk4.
STAIRS = with_events(
    """
period = "0.5"
[signals]
load = { times = [0, 0.5, 1.25, 2, 3], values = [-1, 0, 2, -4, 5], interpolation = "previous" }
[states]
s = { initial = "0" }
signs = { initial = "0" }
c = { initial = "0" }
[derivatives]
s = "load"
signs = "where(load > 1, 1, -1)"
c = "load*cos(3*t)"
OUTPUTS
""",
    ("rises", "load", "rising"),
    ("falls", "load", "falling"),
)
INTEGRAL = -1 * 0.5 + 0 + 2 * 0.75 - 4 * 1
FINALS = """[outputs]
s_end = { final = "s" }
signs_end = { final = "signs" }
c_end = { final = "c" }
"""
MORE = """load_end = { final = "load" }
n_rises = { count = "rises" }
n_falls = { count = "falls" }
rise_at = { at = "rises", maximum = "t" }
total = { sum = "load", at = "samples of load" }
loads = { values = "load", every = "period", keep = 7 }
growth = { rate = "load" }
above = { share = "load > 1" }
"""


@methods("rk54", "rk4")
@pytest.mark.parametrize("outputs", [FINALS, FINALS + MORE], ids=["strides", "outputs"])
def test_stairs_are_exact(method: str, outputs: str) -> None:
    """With rk4 also where steps are taken at a stride."""
    text = STAIRS.replace("OUTPUTS", outputs)
    if outputs == FINALS:
        text = text.partition("[[events]]")[0]
    steps = {"step": 0.0123} if method == "rk4" else {}
    found = points(text, method, window_end=3, **steps)
    assert float(found.s_end) == pytest.approx(INTEGRAL, rel=1e-12)
    assert float(found.signs_end) == pytest.approx(0.75 - 2.25, rel=1e-12)
    ends = [math.sin(3 * t) for t in (0, 0.5, 1.25, 2, 3)]
    c_end = sum(y * (b - a) / 3 for y, (a, b) in zip((-1, 0, 2, -4), pairwise(ends), strict=True))
    assert float(found.c_end) == pytest.approx(c_end, rel=1e-7 if method == "rk4" else 1e-5)
    if outputs == FINALS:
        return
    assert float(found.load_end) == 5, "a signal has its last value at its last sample"
    assert (int(found.n_rises), int(found.n_falls)) == (2, 1), "after 0 it rises from below"
    assert float(found.rise_at) == 3
    assert float(found.total) == -1 + 0 + 2 - 4 + 5
    np.testing.assert_allclose(found.loads, [-1, 0, 0, 2, -4, -4, 5])
    assert float(found.growth) == pytest.approx((5 + 1) / 3)
    assert float(found.above) == pytest.approx(0.75 / 3, rel=1e-12)


@methods("rk54", "rk4")
def test_a_cubic_signal_has_a_spline_on_each_side_of_a_jump(method: str) -> None:
    times, values = [0.0, 0.4, 1.0, 1.5, 1.5, 2.1, 2.6, 3.0], [0.0, 1, -1, 2, -3, 0, 1, -1]
    sides = [
        CubicSpline(times[:4], values[:4], bc_type="natural"),
        CubicSpline(times[4:], values[4:], bc_type="natural"),
    ]
    text = f"""
    [signals]
    force = {{ times = {times}, values = {values}, interpolation = "cubic" }}
    [states]
    s = {{ initial = "0" }}
    [derivatives]
    s = "force"
    [[events]]
    name = "turn"
    when = "rate(force)"
    direction = "falling"
    [outputs]
    s_end = {{ final = "s" }}
    highest = {{ maximum = "force" }}
    fastest = {{ maximum = "rate(force)" }}
    turns = {{ values = "t", every = "turn", keep = 5 }}
    """
    steps = {"step": 1e-3} if method == "rk4" else {"relative_tolerance": 1e-9}
    found = points(text, method, window_end=3, **steps)
    ranges = ((0.0, 1.5), (1.5, 3.0))
    area = sum(float(side.integrate(*ends)) for side, ends in zip(sides, ranges, strict=True))
    assert float(found.s_end) == pytest.approx(area, rel=1e-7)
    fine = [np.linspace(*ends, 200_001) for ends in ranges]
    both = list(zip(sides, fine, strict=True))
    assert float(found.highest) == pytest.approx(max(side(t).max() for side, t in both), rel=1e-8)
    slopes = [side(t, 1) for side, t in both]
    assert float(found.fastest) == pytest.approx(max(each.max() for each in slopes), rel=1e-7)
    turns = [
        t[i]
        for t, slope in zip(fine, slopes, strict=True)
        for i in np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0))
    ]
    if slopes[0][-1] > 0 > slopes[1][0]:
        turns.append(1.5)
    kept = found.turns.values[~np.isnan(found.turns.values)]
    np.testing.assert_allclose(kept, sorted(turns), atol=2e-5)


def test_a_jump_sets_off_an_event_that_acts() -> None:
    """Once, and in the direction of the jump; a set at one jump holds until the next."""
    text = with_events(
        """
        [signals]
        gate = { times = [0, 1, 2, 3, 4], values = [-1, 1, -1, 1, 1], interpolation = "previous" }
        [states]
        x = { initial = "0" }
        speed = { initial = "1" }
        [derivatives]
        x = "speed"
        [outputs]
        x_end = { final = "x" }
        opened = { count = "opens" }
        between = { interval = "opens", take = "mean" }
        """,
        ("opens", "gate", "rising", 'set = { speed = "10*speed" }'),
    )
    found = points(text, "rk54", window_end=4)
    assert float(found.x_end) == pytest.approx(1 + 10 * 2 + 100, rel=1e-12)
    assert (int(found.opened), float(found.between)) == (2, pytest.approx(2.0))


def test_a_trace_has_the_value_after_a_jump_at_its_time() -> None:
    text = STAIRS.replace("OUTPUTS", FINALS + '[definitions]\nforce = { value = "load" }')
    request = {"model": model(text), "parameters": {"window_end": 3}}
    trace = sweep.trace(request, samples=13)
    expected = [-1, -1, 0, 0, 0, 2, 2, 2, -4, -4, -4, -4, 5]
    np.testing.assert_array_equal(trace["force"], expected)
