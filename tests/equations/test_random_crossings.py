"""Several crossings of zero in one step: all of them count, and each has its time.

Schemes follow a cubic without error, so that a step may hold all of its three roots.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import xarray as xr
from scipy.interpolate import CubicSpline

from sweep.model.table import Status
from tests.equations.examples import first_method, methods, points, with_events

# x = (t - a)(t - b)(t - c), and its derivatives. The rate of y is one of t alone: it is the example
# of SciPy's issue 9228, (t - 2)(t - 6)(t - 10).
CUBIC = with_events(
    """
[parameters]
a = {}
b = {}
c = {}
[states]
x = { initial = "-a*b*c" }
v = { initial = "a*b + b*c + c*a" }
w = { initial = "-2*(a + b + c)" }
y = { initial = "-120" }
[derivatives]
x = "v"
v = "w"
w = "6"
y = "3*(t - 8)**2 + 12*(t - 8) - 4"
[outputs]
crossings = { count = "either" }
downs = { count = "down" }
times = { values = "t", every = "either", keep = 4 }
slopes = { values = "v", every = "either", keep = 4 }
last = { at = "second", maximum = "t" }
above = { share = "x > 0" }
size = { mean = "abs(x)" }
y_times = { values = "t", every = "of_y", keep = 4 }
y_above = { share = "y > 0" }
""",
    ("either", "x", "both"),
    ("second", "x", "rising", "stop_after = 2"),
    ("down", "x", "falling"),
    ("of_y", "y", "both"),
)
END = 12.0


def controls(method: str) -> dict[str, float]:
    """Nothing but a step longer than the distance of some roots."""
    return {"step": 0.7} if method == "rk4" else {}


def roots(count: int) -> np.ndarray:
    """Three increasing roots between 0.1 and 11.9 a row, 0.01 or more apart."""
    random = np.random.default_rng(35)
    rows = np.sort(random.uniform(0.1, 11.9, (4 * count, 3)))
    close = random.random(4 * count) < 0.3
    rows[close, 1] = rows[close, 0] + 10 ** random.uniform(-2, 0, close.sum())
    apart = (np.diff(rows) >= 0.01).all(axis=1)
    return np.concatenate([[[2.0, 6.0, 10.0]], rows[apart]])[:count]


def area(a: np.ndarray, b: np.ndarray, c: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The integral of (t - a)(t - b)(t - c) from 0 to t."""
    return t**4 / 4 - (a + b + c) * t**3 / 3 + (a * b + b * c + c * a) * t**2 / 2 - a * b * c * t


@first_method
def test_random_cubics_have_three_roots(method: str) -> None:
    """The motion ends at the third. Values there are of the order of 1e3, so their roundings are
    about 1e-12, and the slope at close roots is 1e-3 or more: times are right to 1e-8.
    """
    rows = roots(400)
    a, b, c = rows.T
    columns = {"a": a, "b": b, "c": c}
    ds = points(CUBIC, method, rows=columns, window_end=END, **controls(method))
    assert (ds.status == Status.ok).all()
    wrong = int(((ds.crossings != 3) | (ds.downs != 1)).sum())
    assert wrong == 0, f"{wrong} of {len(rows)} cubics have other numbers of crossings"
    times = np.column_stack([rows, np.full(len(rows), np.nan)])
    np.testing.assert_allclose(ds.times, times, rtol=0, atol=1e-8)
    np.testing.assert_allclose(ds["last"], c, rtol=0, atol=1e-8)
    slopes = np.column_stack([(a - b) * (a - c), (b - a) * (b - c), (c - a) * (c - b)])
    np.testing.assert_allclose(ds.slopes[:, :3], slopes, rtol=0, atol=1e-6)  # 2 * 12 * 1e-8
    np.testing.assert_allclose(ds.above, (b - a) / c, rtol=0, atol=1e-8)
    parts = np.diff([area(a, b, c, t) for t in (np.zeros_like(a), a, b, c)], axis=0)
    np.testing.assert_allclose(ds["size"], np.abs(parts).sum(axis=0) / c, rtol=1e-8)
    y_roots, end = np.array([2.0, 6.0, 10.0, np.inf]), c[1:, None]  # the first ends at a root of y
    expected = np.where(y_roots < end, y_roots, np.nan)
    np.testing.assert_allclose(ds.y_times[1:], expected, rtol=0, atol=1e-9)
    positive = np.clip(c, 2.0, 6.0) - 2.0 + np.maximum(c - 10.0, 0.0)
    np.testing.assert_allclose(ds.y_above, positive / c, rtol=0, atol=1e-9)


# u = cos(omega t), which exceeds the limit for a short time at each of its maxima.
PEAKS = with_events(
    """
[parameters]
omega = {}
limit = {}
[states]
u = { initial = "1" }
v = { initial = "0", scale = "omega" }
[derivatives]
u = "v"
v = "-omega**2*u"
[outputs]
above = { share = "u > limit" }
excess = { mean = "max(u - limit, 0)" }
peaks = { count = "over" }
""",
    ("over", "u - limit", "rising"),
)
PEAKS_END = 20.0


def above(angle: float, limit: float) -> tuple[float, float, int]:
    """By the angle: how long cos exceeds the limit, the integral of the excess, and the rises."""
    half = math.acos(limit)
    turns, rest = divmod(angle, 2 * math.pi)
    first, last = min(rest, half), max(rest - (2 * math.pi - half), 0.0)
    time = 2 * half * turns + first + last
    whole = 2 * (math.sin(half) - limit * half)
    part = math.sin(first) - limit * first
    part += math.sin(half) - math.sin(half - last) - limit * last
    return time, whole * turns + part, int(turns + (last > 0))


@methods("dop853", without="rk4")
@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_peaks_that_just_exceed_a_limit(tolerance: float, method: str) -> None:
    """An error e of u moves a crossing by e/sin(angle of the limit), the share by that over pi.

    e is a few times the tolerance at each of about 50 steps, below 1e3 times in all.
    """
    omegas = [0.7, 1.05, 1.3, 2.0, math.pi]
    limits = [-0.999, -0.9, 0.5, 0.9, 0.95, 0.99, 0.999]
    ds = points(
        PEAKS, method, {"omega": omegas, "limit": limits}, window_end=PEAKS_END,
        relative_tolerance=tolerance,
    )  # fmt: skip
    exact = np.array([[above(w * PEAKS_END, limit) for limit in limits] for w in omegas])
    angles = np.array(omegas)[:, None] * PEAKS_END
    assert exact[1, 4, 0] / angles[1, 0] == pytest.approx(0.105853, abs=1e-6)
    np.testing.assert_array_equal(ds.peaks, exact[:, :, 2])
    bounds = 1e3 * tolerance / np.sin(np.arccos(limits))
    assert (np.abs(ds.above - exact[:, :, 0] / angles) < bounds).all()
    assert (np.abs(ds.excess - exact[:, :, 1] / angles) < bounds).all()


# A signal of 37 noisy samples, one cubic from each to the next, which may turn twice between them.
RANDOM = np.random.default_rng(9)
TIMES = np.concatenate([[0.0], np.cumsum(RANDOM.uniform(0.1, 0.6, 36))])
SAMPLES = RANDOM.normal(0, 1, 37)
SPLINE = CubicSpline(TIMES, SAMPLES, bc_type="natural")
NOISE = with_events(
    """
[parameters]
height = {}
unrelated = {}
[signals]
s = { times = TIMES, values = VALUES, interpolation = "cubic" }
[states]
x = { initial = "1" }
[derivatives]
x = "-unrelated*x"
[outputs]
crossings = { count = "either" }
ups = { count = "up" }
times = { values = "t", every = "either", keep = 40 }
above = { share = "s > height" }
size = { mean = "abs(s - height)" }
""",
    ("either", "s - height", "both"),
    ("up", "height - s", "falling"),
)


def crossings(height: float, end: float) -> list[float]:
    """Where the spline is at a height, from the roots of each cubic."""
    found = []
    for (a, b), coefficients in zip(pairwise(TIMES), SPLINE.c.T, strict=True):
        shifted = np.roots(coefficients - [0, 0, 0, height])
        real = np.sort(shifted[np.abs(shifted.imag) < 1e-12].real)
        found += [float(a + s) for s in real if 0 < s <= b - a and a + s < end]
    return found


def noise_values(height: float, end: float) -> tuple[list[float], int, float, float]:
    times = crossings(height, end)
    ends = [0.0, *times, end]
    areas = [float(SPLINE.integrate(a, b)) - height * (b - a) for a, b in pairwise(ends)]
    lengths = np.diff(ends)[np.array(areas) > 0]
    ups = sum(area > 0 for area in areas[1:])
    return times, ups, lengths.sum() / end, np.abs(areas).sum() / end


@first_method
def test_a_cubic_signal_crosses_a_height_twice_between_two_samples(method: str) -> None:
    """The roots of the cubics; the state has nothing to do with them.

    rk4 has steps that end at no sample, so a step may have parts of two cubics; they are short
    against the distance of samples, and its integrals have errors of the fourth order of 1e-2.
    """
    end = float(TIMES[-1]) - 0.05
    heights = np.linspace(-1.43, 1.43, 24)
    text = NOISE.replace("TIMES", str(TIMES.tolist())).replace("VALUES", str(SAMPLES.tolist()))
    steps = {"step": 0.01} if method == "rk4" else {}
    ds = points(
        text, method, {"height": heights, "unrelated": [0.0, 0.5, 7.0]}, window_end=end, **steps
    )
    exact = [noise_values(height, end) for height in heights.tolist()]
    between = [np.searchsorted(TIMES, times) for times, *_ in exact]
    assert sum((np.diff(each) == 0).sum() for each in between) > 20, "in one step each"
    tight = 1e-6 if method == "rk4" else 1e-9
    for i, (times, ups, share, size) in enumerate(exact):
        for j in range(3):
            point: xr.Dataset = ds.isel(height=i, unrelated=j)
            assert (int(point.crossings), int(point.ups)) == (len(times), ups), (i, j)
            np.testing.assert_allclose(point.times[: len(times)], times, rtol=0, atol=1e-9)
            np.testing.assert_allclose(
                [point.above, point["size"]], [share, size], rtol=0, atol=tight
            )
