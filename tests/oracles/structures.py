"""The models of structures in configs/models/, written down again and followed by their events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracles import beams
from tests.oracles.random_forcing import amplitudes, random_phasors, samples, spline
from tests.oracles.scipy_pieces import State, Switch, final, largest, mean, solve
from tests.oracles.switched_linear import Crossing, motion

Point = Mapping[str, float]
SPECTRUM = Path(__file__).parents[2] / "configs" / "models" / "tube_turbulence.csv"


def chain(at: Point) -> dict[str, Any]:
    """With the integral of the number of slipping blocks, and of whether all slip, as states."""
    n, coupling, leaf, static, kinetic = 5, 1.0, 0.3, 1.0, 0.7
    speed, end = at["speed"], at["window_end"]
    slips = [False] * n
    couplings = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    couplings[0, 0] = couplings[-1, -1] = 1

    def pulls(t: float, y: State) -> Any:
        return leaf * (speed * t - y[:n]) - coupling * couplings @ y[:n]

    def slope(t: float, y: State) -> Any:
        rates = [y[n : 2 * n] * slips, (pulls(t, y) - kinetic) * slips, [sum(slips), all(slips)]]
        return np.concatenate(rates)

    def release(i: int) -> Switch:
        def then(y: State) -> State:
            slips[i] = True
            return y

        return Switch(lambda t, y: -1.0 if slips[i] else pulls(t, y)[i] - static, 1, then)

    def arrest(i: int) -> Switch:
        def then(y: State) -> State:
            slips[i] = False
            y[n + i] = 0.0
            return y

        return Switch(lambda _, y: y[n + i] if slips[i] else 1.0, -1, then)

    def leaves(t: float, y: State) -> float:
        return leaf * float(np.sum(speed * t - y[:n]))

    start = np.concatenate([at.get("spread", 0.1) * np.sin(7 * np.arange(n)), np.zeros(n + 2)])
    releases = [release(i) for i in range(n)]
    switches = (*releases, *(arrest(i) for i in range(n)))
    pieces = solve(slope, start, end, switches, rtol=1e-12, atol=1e-13, max_step=0.2)
    last = final(pieces)
    mean_speed = (last[:n] - start[:n]) / end
    return {
        "slips": [len(each.times) for each in releases],
        "all_slips": sum(len(each.times) for each in releases),
        "mean_speed": mean_speed,
        "power": kinetic * mean_speed,
        "moving": last[2 * n] / end,
        "all_moving": last[2 * n + 1] / end,
        "largest_force": largest(pieces, leaves),
        "mean_force": mean(pieces, leaves, 0.0, end),
    }


def gear(at: Point) -> dict[str, Any]:
    """Linear between events: matrix exponentials, and roots by Brent's method."""
    inertia, k, c, b = 1e-3, 1e4, at.get("damping", 0.3), at.get("backlash", 1e-3)
    torque, ripple, w = 2.0, at["ripple"], at["angular_frequency"]
    end = at["end_cycle"] * 2 * pi / w

    def matrix(stiffness: float, offset: float) -> Any:
        a = np.zeros((5, 5))  # of twist, rate, 1, cos, sin
        a[0, 1] = 1
        a[1] = np.array([-stiffness, -c, torque + stiffness * offset, ripple, 0]) / inertia
        a[3, 4], a[4, 3] = -w, w
        return a

    front, back = np.array([1, 0, -b, 0, 0.0]), np.array([1, 0, b, 0, 0.0])
    found = motion(
        {"drive": matrix(k, b), "loose": matrix(0, 0), "back": matrix(k, -b)},
        [
            Crossing("meet", "loose", front, 1, "drive"),
            Crossing("meet_back", "loose", back, -1, "back"),
            Crossing("part", "drive", front, -1, "loose"),
            Crossing("part_back", "back", back, 1, "loose"),
        ],
        "drive",
        np.array([b, 0, 1, 1, 0.0]),
        end,
        5e-5,
    )
    meets = [t for name, t in found.events if name == "meet"]
    return {
        "meets": len(meets),
        "meets_back": sum(name == "meet_back" for name, _ in found.events),
        "spacing": (meets[-1] - meets[0]) / (len(meets) - 1),
        "loose": found.times["loose"] / end,
        "power": c * found.square / end,
        "final_twist": found.states[0],
    }


def tube(at: Point) -> dict[str, Any]:
    """With the integrals of wear, friction and time without contact as states."""
    n, n_supports, length, per_length, modulus, radius, wall = (
        6,
        3,
        2,
        1,
        1.95e11,
        9.525e-3,
        1.09e-3,
    )
    kn, kt, mu, zeta, gap = 1e6, 5e5, 0.3, 0.015, at.get("gap", 1e-4)
    bending = modulus * pi * (radius**4 - (radius - wall) ** 4) / 4
    ends = ("clamped", "clamped")
    numbers = beams.wave_numbers(ends, n)
    shapes = [beams.shape(ends, number) for number in numbers]
    omega = np.array([float(each) for each in numbers]) ** 2 / length**2
    omega *= np.sqrt(bending / per_length)
    mass = length * per_length
    support = np.array([[float(shape(x / length)) for shape in shapes] for x in (0.6, 1.05, 1.45)])
    force = turbulence(int(at["draw"]), n)
    level, end = at.get("turbulence", 1.0), at["window_end"]
    contact = ["open"] * n_supports

    def seen(y: State) -> tuple[Any, Any, Any, Any]:
        """Displacement less the gap and velocity along y, velocity along z and grip, by support."""
        q, qv, _, rv, grip = np.split(y[: 4 * n + n_supports], [n, 2 * n, 3 * n, 4 * n])
        return support @ q - gap, support @ qv, support @ rv, grip

    def slope(t: float, y: State) -> Any:
        depth, yv, zv, grip = seen(y)
        closed = np.array([each != "open" for each in contact])
        sticks = np.array([each == "stick" for each in contact])
        side = np.array([{"plus": 1, "minus": -1}.get(each, 0) for each in contact])
        normal = kn * depth * closed
        rub = np.where(sticks, grip, side * mu * normal)
        slip = np.where(side == 0, 0.0, zv - side * mu * kn * yv / kt)
        q, qv, r, rv = np.split(y[: 4 * n], 4)
        random_y, random_z = level * force(t).reshape(2, n)
        along_y, along_z = random_y - support.T @ normal, random_z - support.T @ rub
        return np.concatenate([
            qv, along_y / mass - omega**2 * q - 2 * zeta * omega * qv,
            rv, along_z / mass - omega**2 * r - 2 * zeta * omega * rv,
            kt * zv * sticks, normal * abs(slip), rub * slip, ~closed,
        ])  # fmt: skip

    def change(i: int, to: str, sign: int = 0) -> Any:
        """The friction force is sign times its limit where the tube sticks again."""

        def then(y: State) -> State:
            contact[i] = to
            depth, yv, zv, _ = seen(y)
            y[4 * n + i] = sign * mu * kn * depth[i] if to == "stick" else 0.0
            if to == "stick" and sign == 0 and kt * abs(zv[i]) > mu * kn * yv[i]:
                contact[i] = "plus" if zv[i] > 0 else "minus"
            return y

        return then

    # Where contacts change: from which states, zero of which combination of depth, yv, zv and grip.
    ramp = mu * kn
    rules = (
        (("open",), (1, 0, 0, 0), 1, ("stick", 0)),
        (("stick", "plus", "minus"), (1, 0, 0, 0), -1, ("open", 0)),
        (("stick",), (-ramp, 0, 0, 1), 1, ("plus", 0)),
        (("stick",), (ramp, 0, 0, 1), -1, ("minus", 0)),
        (("plus",), (0, -ramp, kt, 0), -1, ("stick", 1)),
        (("minus",), (0, ramp, kt, 0), 1, ("stick", -1)),
    )

    def switch(i: int, states: tuple[str, ...], factors: Any, direction: int, to: Any) -> Switch:
        def when(_: float, y: State) -> float:
            values = [each[i] for each in seen(y)]
            return float(np.dot(factors, values)) if contact[i] in states else -direction

        return Switch(when, direction, change(i, *to))

    switches = [switch(i, *rule) for rule in rules for i in range(n_supports)]
    pieces = solve(
        slope,
        np.zeros(4 * n + 4 * n_supports),
        end,
        switches,
        rtol=1e-10,
        atol=1e-14,
        max_step=2e-4,
    )
    last = final(pieces)
    wear, friction, opened = np.split(last[-3 * n_supports :] / end, 3)
    return {
        "wear_power": wear,
        "friction_power": friction,
        "open_share": opened,
        "touches": [len(each.times) for each in switches[:n_supports]],
        "hardest": [
            max(0.0, kn * largest(pieces, lambda _, y, i=i: seen(y)[0][i]))
            for i in range(n_supports)
        ],
        "final_y": seen(last)[0] + gap,
    }


def turbulence(draw: int, n_modes: int) -> Callable[[float], Any]:
    """The forces on the modes along y, then those along z, over time."""
    duration, n_samples, n_harmonics = 4.0, 4096, 400
    frequencies, densities = np.loadtxt(SPECTRUM, delimiter=",", comments=("#", "f"), unpack=True)
    amplitude = amplitudes(frequencies, densities, duration, n_harmonics)
    columns = [
        samples(
            random_phasors(
                n_harmonics, seed=0, draw=draw, signal=signal, element=mode, normal=True
            ),
            amplitude,
            n_samples,
        )
        for signal in range(2)
        for mode in range(n_modes)
    ]
    return spline(np.stack(columns, axis=1), duration)
