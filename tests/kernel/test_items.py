"""Methods that sum over items: each item counts once; the motion of the items is accurate."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.kernel.backend import Stopped
from sweep.kernel.cpu import CpuBackend
from sweep.kernel.source import kernel_of
from sweep.request.chunk import Column, Points
from tests.cases import compute, sweep_of
from tests.cases.mdr_contact import slipping_share
from tests.kernel.kernel_probe import Entry, compile_probe
from tests.oracles import mdr_time_stepping

METHODS = {"time_stepping": mdr_time_stepping.paper, "time_stepping_2": mdr_time_stepping.split}
COUNTS = (20, 21, 31, 32, 33, 63, 64, 65, 97, 128, 200, 700)
every_method = pytest.mark.parametrize("method", METHODS)


def _points() -> dict[str, NDArray[np.float64]]:
    """Points of every regime and several profiles, with springs that fill lanes and groups or not.

    Where too few springs would slip, contact is lost, so that all slip.
    """
    random = np.random.default_rng(5)
    n = 45
    beta = 10.0 ** random.uniform(-2, 1.5, n)
    beta[::15] = 0.0
    beta[7::15] = np.inf
    points = {
        "phase": random.uniform(-4, 4, n),
        "beta": beta,
        "delta": 10.0 ** random.uniform(-1.5, 0.3, n),
        "profile_exponent": random.choice([1.0, 2.0, 2.0, 3.3], n),
        "steps_per_cycle": random.choice([8.0, 63.0, 64.0, 65.0, 129.0, 300.0], n),
        "springs": random.choice(np.array(COUNTS, np.float64), n),
        "cycles": random.choice([2.0, 3.0], n),
    }
    few = slipping_share(points) * points["springs"] < 21
    points["delta"][few] = random.uniform(1, 3, n)[few]
    return points


POINTS = _points()


def _compute(method: str, **how: Any) -> dict[str, NDArray[Any]]:
    return compute(POINTS, model="mdr_contact", method=method, **how)


@pytest.fixture(scope="module")
def bits() -> dict[str, dict[str, NDArray[Any]]]:
    return {method: _compute(method) for method in METHODS}


def test_the_points_are_of_every_regime(bits: Any) -> None:
    for outputs in bits.values():
        assert (outputs["status"] == 0).all()
        assert set(outputs["regime"]) >= {1, 2, 3}


@every_method
def test_every_spring_is_counted_once(method: str, bits: Any) -> None:
    """Compared with the plain algorithm: one spring more or less would show."""
    names = ("beta", "delta", "phase", "profile_exponent", "steps_per_cycle", "springs", "cycles")
    energies = bits[method]["normalized_energy"]
    for i, point in enumerate(zip(*(POINTS[name] for name in names), strict=True)):
        *physics, steps, springs, cycles = point
        with np.errstate(invalid="ignore"):  # 0 times inf in a branch that is not used
            expected = METHODS[method](*physics, int(steps), int(springs), int(cycles))
        assert energies[i] == pytest.approx(expected, rel=1e-11, abs=1e-12), f"point {i}"


@every_method
def test_a_stop_takes_effect_within_a_point(method: str) -> None:
    """A point that takes hours, and no more memory than a small one."""
    values = {"phase": 1.0, "beta": 0.5, "delta": 1.5, "springs": 1e9, "steps_per_cycle": 1e9}
    sweep = sweep_of(values, "mdr_contact", method)
    columns = {p.name: Column(np.array([values.get(p.name, p.default)])) for p in sweep.parameters}
    backend = CpuBackend()
    assert backend.library(kernel_of(sweep)).state_bytes < 1 << 16
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    with pytest.raises(Stopped):
        backend.compute(sweep, Points(n_points=1, columns=columns), stop)
    timer.join()


@every_method
def test_the_stick_radius_encloses_the_springs_that_stick(method: str) -> None:
    """Springs below 2 b = R_A + R_B slip; seen at the ends of steps h only, b is h²/8 less."""
    random = np.random.default_rng(9)
    n, steps, springs = 200, 400, 5000
    beta, phase = 10.0 ** random.uniform(-1, 1.5, n), random.uniform(0, np.pi, n)
    delta, exponent = random.uniform(0.02, 0.99, n), random.choice([1.0, 2.0, 3.3], n)
    values = {"beta": beta, "phase": phase, "delta": delta, "profile_exponent": exponent}
    controls = {"steps_per_cycle": np.array([steps]), "springs": np.array([springs])}
    outputs = compute({**values, **controls}, model="mdr_contact", method=method)
    least = 0.5 * (abs(np.exp(1j * phase) - beta) + abs(np.exp(1j * phase) + beta)) * delta / beta
    width = (1 + delta) ** (1 / exponent) / springs
    seen_least = least * (1 - (2 * np.pi / steps) ** 2 / 8)
    inner, outer = (np.maximum(1 - x, 0) ** (1 / exponent) for x in (least, seen_least))
    assert (outputs["stick_radius"] >= inner - 0.501 * width).all()
    assert (outputs["stick_radius"] <= outer + 0.501 * width).all()
    assert ((outputs["regime"] == 2) == (outputs["stick_radius"] == 0)).all()
    assert np.count_nonzero(outputs["regime"] == 2) > 10
    assert np.count_nonzero(outputs["regime"] == 1) > 10


# The motion.

MOTION = Entry(
    2,
    2,
    """
    using namespace mdr_contact;
    Steps steps = steps_of(in[0], angle_of(in[1]));
    double worst[2] = {0.0, 0.0};
    Angle anchor{1.0, 0.0};
    for (int64 segment = 0; segment * segment_steps < steps.count; ++segment) {
        if (segment) anchor = next_anchor(steps, segment, anchor);
        Motion now = motion_at(steps, anchor);
        for (int64 k = 1; k <= segment_steps; ++k) {
            now = after(now, steps);
            long double part = (long double)(segment * segment_steps + k) / steps.count;
            long double t = part * 6.28318530717958647692528676655900577L;
            long double error[2] = {now.cosine - __builtin_cosl(t),
                                    now.place - __builtin_cosl(t + (long double)lane(in[1], 0))};
            for (int i = 0; i < 2; ++i) {
                double size = (double)__builtin_fabsl(error[i]);
                if (size > worst[i]) worst[i] = size;
            }
        }
    }
    out[0] = worst[0];
    out[1] = worst[1];
    """,
)


def test_the_motion_keeps_its_accuracy(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The error stated in motion.h holds at every step of a cycle, by extended precision."""
    folder = tmp_path_factory.mktemp("probe")
    header = "models/mdr_contact/motion.h"
    probe = compile_probe(folder, header, {"motion": MOTION}, width=1, pack=1)
    random = np.random.default_rng(2)
    steps = np.array([8.0, 100.0, 1000.0, 4096.0, 9973.0, 1e5, 1e6, *random.integers(8, 20000, 40)])
    worst = probe("motion", steps, random.uniform(-3, 3, len(steps)))
    assert worst.max() <= 2e-14
    assert worst.max() >= 1e-15  # otherwise nothing was measured
