"""Parts of the documents' figures that no check compares, against independent solutions."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

import sweep
from sweep.theory import mdr_contact as theory
from sweep.theory.friction_oscillator import asymptotic_wear_power
from tests.oracles.beams import wave_numbers
from tests.oracles.curved_tubes import Tube, modes
from tests.oracles.linear_contacts import exponential
from tests.oracles.random_forcing import amplitudes, random_phasors, spline
from tests.validation import hanisch2020, sdnl112, sdnl301
from tests.validation.comparison import RESULTS, computed
from tests.validation.hanisch2020.cycles import first_cycles
from tests.validation.sdnd104 import table_excitation
from tests.validation.sdnd104.motion import reversals
from tests.validation.sdnd106 import motion

# --- SDND104 ---


def test_slip_reverses_as_the_documents_recurrence_has_it() -> None:
    """The document's Maple program: lines of slope ±μg that meet the plane's velocity."""
    omega, a0, grip = 2 * math.pi, 15.0, 1.0

    def plane(time: float) -> float:
        return -a0 / omega * math.cos(omega * time)

    instant = math.asin(grip / a0) / omega
    for n, reversal in enumerate(reversals(a0)):
        sign, start = (-1) ** n, instant

        def apart(time: float, sign: int = sign, start: float = start) -> float:
            return plane(start) + sign * grip * (time - start) - plane(time)

        times = np.linspace(start + 0.1, start + 1, 901)  # no slip is shorter than 0.1 s
        gaps = np.array([apart(time) for time in times])
        bracket = np.flatnonzero(gaps[:-1] * gaps[1:] < 0)[0]
        instant = brentq(apart, times[bracket], times[bracket + 1], xtol=1e-14)
        assert reversal == pytest.approx(instant, abs=1e-9)


@pytest.mark.parametrize(("a0", "shift"), [(1.5, -2.4e-5), (1.01, -9.5e-4)])
def test_the_shift_by_the_table_is_of_second_order_in_its_intervals(
    a0: float, shift: float
) -> None:
    """The limit is the closed form of stick-slip: [4, 12] s is eight whole periods."""
    steady = float(asymptotic_wear_power(1.0, 10.0, 0.1, a0, 2 * math.pi))
    coarse, fine = (table_excitation.wear_power(a0, n) / steady - 1 for n in (10_000, 40_000))
    assert coarse == pytest.approx(shift, rel=0.03)
    assert coarse / fine == pytest.approx(16, rel=0.01)


def test_a_fine_table_gives_the_exact_power_in_slip_slip() -> None:
    """Against 50-digit arithmetic."""
    power = table_excitation.wear_power(15.0, 100_000)
    assert power == pytest.approx(15.267099589372, rel=1e-7)


# --- SDND106 ---


def test_the_closed_form_obeys_the_equations_of_motion() -> None:
    """Central differences, in every phase, of a motion whose force takes 20 ms to end."""
    closed, h = motion(0.2, 0.02), 1e-5
    for begin, end in pairwise([*closed.begins, 0.4]):
        before, after = np.array(closed.at(max(begin - 1e-12, 0))), np.array(closed.at(begin))
        assert after == pytest.approx(before, abs=1e-9)
        for time in np.linspace(begin + 2 * h, end - 2 * h, 7):
            x1, v1, x2, v2 = (float(each) for each in closed.at(time))
            before, after = np.array(closed.at(time - h)), np.array(closed.at(time + h))
            load = 3000 * min(max((0.22 - time) / 0.02, 0), 1)
            is_slip = closed.begins[1] < time < closed.begins[-1]
            first = (1e4 * (x2 - x1) - 2000) / 5 if is_slip else 0.0
            rates = (v1, first, v2, (load - 1e4 * (x2 - x1)) / 5)
            assert (after - before) / (2 * h) == pytest.approx(rates, rel=1e-6, abs=1e-4)
            assert v1 > 0 if is_slip else abs(x2 - x1) < 0.3


# --- SDNL301 ---


def test_the_frequencies_of_the_tube_are_those_of_a_timoshenko_beam() -> None:
    """By the transfer matrix from end to end; with shear, elements are of order 2 to 4."""
    system = sdnl301.SYSTEM
    nu, outer, inner = 0.3, system["radius"], system["radius"] - system["thickness"]
    area, inertia = math.pi * (outer**2 - inner**2), math.pi * (outer**4 - inner**4) / 4
    hollow, square = (20 + 12 * nu) * (inner / outer) ** 2, (1 + (inner / outer) ** 2) ** 2
    shear = 6 * (1 + nu) * square / ((7 + 6 * nu) * square + hollow)

    def determinant(omega: float) -> float:
        """For (displacement, rotation, moment, shear force): those clamped to those free."""
        rates = np.zeros((4, 4))
        rates[0, 1], rates[0, 3] = 1, 2 * (1 + nu) / (shear * system["modulus"] * area)
        rates[1, 2] = 1 / (system["modulus"] * inertia)
        rates[2, 1], rates[2, 3] = -system["density"] * inertia * omega**2, -1
        rates[3, 0] = -system["density"] * area * omega**2
        return float(np.linalg.det(exponential(rates, system["length"])[2:, 2:]))

    for coarse, fine in zip(
        *(sdnl301.tube(n, 6)[0].angular_frequency for n in (48, 96)), strict=True
    ):
        exact = brentq(determinant, 0.999 * fine, 1.001 * fine, rtol=1e-12)
        assert coarse == pytest.approx(exact, rel=5e-5)
        assert fine - exact == pytest.approx((coarse - exact) / 5, rel=0.06, abs=3e-8)


# --- SDNL112 ---

WIRE = Tube(2e-3, 1e-3, 2e11, 0.3, 8000.0)  # so slender that its shear does not matter
MASS = 3 * WIRE.density * WIRE.area
SPEED = math.sqrt(WIRE.modulus * WIRE.second_moment / MASS)


def test_a_straight_tube_has_the_frequencies_of_a_clamped_beam() -> None:
    nodes = np.outer(np.linspace(0, 2, 41), [1 / 3, 2 / 3, -2 / 3])
    exact = [SPEED * (float(each) / 2) ** 2 for each in wave_numbers(("clamped", "clamped"), 3)]
    frequencies = modes(WIRE, nodes, np.full(40, MASS), 6)[0]
    assert frequencies == pytest.approx(np.repeat(exact, 2), rel=4e-5)


def test_a_ring_has_the_frequencies_of_a_ring() -> None:
    """In and across its plane: A. E. H. Love, Mathematical theory of elasticity, section 293."""
    n, stiffer = np.array([2.0, 3.0, 4.0]), 1 + WIRE.poisson_ratio  # bending by torsion
    exact = [
        SPEED / 0.5**2 * n * (n**2 - 1) / np.sqrt(n**2 + each) for each in (1, 1, stiffer, stiffer)
    ]
    for count, error in ((48, 2.3e-3), (96, 5.8e-4)):  # of second order in the elements
        angle = 2 * math.pi * np.arange(count) / count
        nodes = 0.5 * np.array([np.cos(angle), 0.6 * np.sin(angle), 0.8 * np.sin(angle)]).T
        frequencies = modes(WIRE, nodes, np.full(count, MASS), 18, closed=True)[0]
        assert frequencies[6:] == pytest.approx(np.sort(np.ravel(exact)), rel=error)


@pytest.mark.broad
def test_a_draw_with_contacts_is_that_of_small_steps() -> None:
    """Runge-Kutta steps of 10 µs; the contact changes at their ends."""
    bend, end, amplitude, draw, step = sdnl112.Bend(), 1.0, 90.0, 7, 1e-5
    its_modes, shapes = bend.modes()
    integrals, system = bend.correlated(shapes), sdnl112.SYSTEM
    lines = 1 + sdnl112.SPACING * np.arange(2048)
    count, n_samples = int(system["last_frequency"] * sdnl112.DURATION), 2**15
    size = amplitudes(lines, bend.spectrum(lines), sdnl112.DURATION, count)
    phasors = np.linalg.cholesky(integrals) @ np.array([
        random_phasors(count, seed=0, draw=draw, element=i, normal=False) for i in range(4)
    ])  # fmt: skip
    harmonics = np.zeros((4, n_samples // 2 + 1), complex)
    harmonics[:, 1 : count + 1] = size * phasors * n_samples / 2
    forces = spline(np.fft.irfft(harmonics).T, sdnl112.DURATION)
    n_steps = round(end / step)
    loads = amplitude * forces(np.arange(2 * n_steps + 1) * step / 2)
    mass, omega, damping = its_modes
    across = shapes[:, sdnl112.APEX, 0]
    along = shapes[:, sdnl112.APEX, 1:3] @ [-system["normal_z"], system["normal_y"]]
    k, c, kt, ct, mu = (system[each] for each in sdnl112.STOP)
    state, contact = np.zeros(9), "open"

    def at_stop(y: np.ndarray) -> tuple[float, float, float, float]:
        """Signed distance beyond the gap, force of spring and damper, friction limit of stick."""
        side = 1.0 if across @ y[:4] > 0 else -1.0
        beyond = side * (across @ y[:4]) - system["gap"]
        speed = along @ y[4:8]
        return side, beyond, k * beyond + c * side * (across @ y[4:8]), kt * y[8] + ct * speed

    def rates(y: np.ndarray, load: np.ndarray) -> np.ndarray:
        side, _, push, stuck = at_stop(y)
        normal, rub, creep = 0.0, 0.0, 0.0
        if contact != "open":
            normal, rub, creep = push, stuck, along @ y[4:8]
        if contact in ("plus", "minus"):
            rub = mu * push * (1 if contact == "plus" else -1)
            creep = (rub - kt * y[8]) / ct
        force = load - across * side * normal - along * rub - damping * y[4:8]
        return np.concatenate([y[4:8], force / mass - omega**2 * y[:4], [creep]])

    square = closed = wear = 0.0
    for i in range(n_steps):
        before, middle, after = loads[2 * i : 2 * i + 3]
        k1 = rates(state, before)
        k2 = rates(state + step / 2 * k1, middle)
        k3 = rates(state + step / 2 * k2, middle)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + rates(state + step * k3, after))
        _, beyond, push, stuck = at_stop(state)
        if contact == "open" and beyond > 0 and push > 0:
            contact = "stick"
        if contact != "open" and push <= 0:
            contact, state[8] = "open", 0.0
        if contact != "open":
            contact = "plus" if stuck > mu * push else "minus" if stuck < -mu * push else "stick"
            closed += step
        if contact in ("plus", "minus"):
            wear += step * push * abs(along @ state[4:8] - rates(state, after)[8])
        square += step * (across @ state[:4]) ** 2
    outputs = ["rms", "closed", "wear_power"]
    parameters = {name: system[name] for name in ("gap", *sdnl112.STOP)}
    parameters |= {"window_end": end, "amplitude": amplitude, "share_in_plane": 1.0}
    ours = computed(sdnl112.model(bend), "dop853", outputs, parameters, {"draw": [draw]})
    assert ours["rms"].item() == pytest.approx(math.sqrt(square / end), rel=1e-4)
    assert ours["closed"].item() == pytest.approx(closed / end, rel=3e-3)
    assert ours["wear_power"].item() == pytest.approx(wear / end, rel=3e-3)


# --- Hanisch, Richter, Li 2020 ---


def test_the_second_cycle_of_figure_2_is_that_of_the_kernel() -> None:
    """The kernel's second-order springs: their state differs only where slip begins or ends."""
    contact = {"beta": 0.7268, "delta": 0.01, "phase": math.pi / 2}
    second = first_cycles(**contact).map.isel(time=slice(500, 1001, 10))
    request = {
        "model": "mdr_contact",
        "method": "time_stepping_2",
        "parameters": {**contact, "springs": 4000},
    }
    times = second["time"].to_numpy() - 2 * math.pi
    kernel = sweep.trace(request, times=np.clip(times, 0, 2 * math.pi))
    states = kernel["spring_state"].sel(spring=second["spring"].to_numpy(), method="nearest")
    differing = states.to_numpy() != second["spring_state"].to_numpy()
    assert differing.mean() < 0.01
    assert set(np.unique(second["spring_state"])) == {0, 1, 2}


def test_the_published_coefficients_are_those_of_the_theory() -> None:
    xi, beta = np.linspace(0.01, 3.99, 50), np.geomspace(0.11, 100, 50)
    assert theory.slip_transition(xi) == pytest.approx(hanisch2020.equation_25(xi), rel=1e-13)
    as_printed = hanisch2020.equation_27(beta, -4.0017e-6)
    assert theory.stick_transition(beta) == pytest.approx(as_printed, rel=1e-12)


def test_the_coefficients_of_the_table_give_the_errors_of_the_table() -> None:
    """Evaluated as a reader of the record would, with its six digits."""
    record = json.loads((RESULTS / "hanisch2020.json").read_text(encoding="utf-8"))
    tables = {each["name"]: each["rows"] for each in record["tables"]}
    exact = {
        "W̄δ over ξ": hanisch2020.closed_form,
        "W̄ over β": lambda beta: theory.universal_surface(beta, math.pi / 2),
    }
    pieces = {(row["curve"], row["range"], row["form"]) for row in tables["coefficients"]}
    assert len(pieces) == 3
    for curve, span, form in pieces:
        low, high = map(float, span.split(" to "))
        x = np.linspace(low, min(high, 30), 300)[1:-1]
        prefactor, argument = (
            form.replace("√", "np.sqrt").replace("−", "-").split(" P(t)/Q(t), t = ")
        )
        t = eval(argument, {"x": x, "np": np})
        p, q = (
            np.polynomial.polynomial.polyval(t, [
                row["value"] for row in tables["coefficients"]
                if (row["curve"], row["range"], row["coefficient"][0]) == (curve, span, letter)
            ])
            for letter in "PQ"
        )  # fmt: skip
        error = np.max(np.abs(eval(prefactor, {"x": x}) * p / q / exact[curve](x) - 1))
        (worst,) = (
            row["greatest"] for row in tables["fits"]
            if (row["curve"], row["formula"]) == (curve, "ours, least squares")
        )  # fmt: skip
        assert error <= worst + 1e-5
