"""The models of configs/models/, each written down again and solved by SciPy or in closed form.

Each function takes the point of a test (`at`) and returns outputs by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import atan, exp, inf, log, pi, sin, sqrt
from typing import Any

import numpy as np
from scipy.special import ellipj

from tests.oracles.rigid_stops import Oscillator
from tests.oracles.scipy_pieces import State, Switch, final, largest, mean, solve
from tests.oracles.structures import chain, gear, tube

Point = Mapping[str, float]
Outputs = dict[str, Any]  # a number, or a list of them


def belt(at: Point) -> Outputs:
    m, k, u = at["mass"], at["stiffness"], at["belt_speed"]
    static, kinetic = at["static_force"], at["kinetic_force"]
    decay = at.get("friction_decay", 0.0)
    if decay == 0:
        delta, omega = (static - kinetic) / k, sqrt(k / m)
        slip, stick = 2 / omega * (pi - atan(delta * omega / u)), 2 * delta / u
        assert abs(at["window_start"] - static / k / u) < 1e-12
        periods = (at["window_end"] - at["window_start"]) / (slip + stick)
        assert abs(periods - round(periods)) < 1e-12
        return {
            "amplitude": kinetic / k + sqrt(delta**2 + (u / omega) ** 2),
            "wear_power": kinetic * (u * slip + 2 * delta) / (slip + stick),
            "stuck": stick / (slip + stick),
            "captures": round(periods),
        }
    release = static / k / u
    capture = Switch(lambda _, y: u - y[1], -1, stops=True)
    slip_pieces = solve(
        lambda _, y: [y[1], (kinetic / (1 + decay * (u - y[1])) - k * y[0]) / m],
        [static / k, u], 60.0, (capture,), max_step=0.01,
    )  # fmt: skip
    assert capture.times[0] + release < at["window_end"]
    return {"amplitude": largest(slip_pieces, lambda _, y: y[0])}


def lorenz(at: Point) -> Outputs:
    sigma, rho, beta = 10.0, at["rho"], 8 / 3
    start, end = at.get("window_start", 0.0), at["window_end"]
    pieces = solve(
        lambda _, y: [sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]],
        [1, 1, 1],
        end,
    )
    x, y, z = final(pieces)
    return {
        "final_x": x,
        "final_y": y,
        "final_z": z,
        "mean_z": mean(pieces, lambda _, y: y[2], start, end),
        "rms_x": sqrt(mean(pieces, lambda _, y: y[0] ** 2, start, end)),
        "largest_z": largest(pieces, lambda _, y: y[2], start),
    }


def duffing(at: Point) -> Outputs:
    if at.get("force", 0) == 0 and at["damping"] == 0:
        a, alpha, beta = at["start_x"], at["linear"], at["cubic"]
        omega = sqrt(alpha + beta * a**2)
        sn, cn, dn, _ = ellipj(omega * at["window_end"], beta * a**2 / (2 * omega**2))
        return {"final_x": float(a * cn), "final_v": float(-a * omega * sn * dn)}
    assert at["cubic"] == 0
    return _linear(at["force"], at["linear"], at["damping"], at["omega"])


def _linear(force: float, stiffness: float, damping: float, omega: float) -> Outputs:
    """The steady motion of x'' + damping x' + stiffness x = force cos(omega t)."""
    amplitude = force / sqrt((stiffness - omega**2) ** 2 + (damping * omega) ** 2)
    return {
        "largest_x": amplitude,
        "smallest_x": -amplitude,
        "rms_x": amplitude / sqrt(2),
        "power": damping * (omega * amplitude) ** 2 / 2,
    }


def van_der_pol(at: Point) -> Outputs:
    mu = at["mu"]
    pieces = solve(
        lambda _, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]],
        [2, 0],
        at["window_end"],
        method="DOP853" if mu < 10 else "Radau",
        rtol=1e-13 if mu < 10 else 1e-10,
        atol=1e-14 if mu < 10 else 1e-10,
    )
    if mu < 10:
        return {"amplitude": largest(pieces, lambda _, y: y[0], at["window_start"])}
    # v = 0 at a maximum; the largest x at a step is within 1e-8, since x is flat there
    (piece,) = pieces
    return {"amplitude": float(np.max(piece.y[0][piece.t > at["window_start"]]))}


def bouncing_ball(at: Point) -> Outputs:
    g, h, e, end = at.get("gravity", 9.81), at["drop_height"], at["restitution"], at["window_end"]
    time, speed, impacts, lost_energy = sqrt(2 * h / g), sqrt(2 * g * h), 0, 0.0
    first = time
    assert end < first * (1 + e) / (1 - e), "beyond the accumulation of impacts"
    while time <= end:
        impacts += 1
        lost_energy += 0.5 * (1 - e**2) * speed**2
        speed *= e
        last, time = time, time + 2 * speed / g
    flight = end - last
    return {
        "impacts": impacts,
        "final_height": speed * flight - g * flight**2 / 2,
        "final_velocity": speed - g * flight,
        "lost": lost_energy,
    }


def forced_impact(at: Point) -> Outputs:
    zeta, omega, gap, r = at["damping"], at["omega"], at["gap"], at["restitution"]
    if gap > 5:
        return {"impacts": 0, **_linear(1.0, 1.0, 2 * zeta, omega)}
    end = at["window_end"]
    found = Oscillator(1.0, 2 * zeta, 1.0, omega, r, (-inf, gap)).motion(end)
    speeds = [speed for _, speed in found.speeds]
    return {
        "impacts": len(speeds),
        "hardest": max(speeds),
        "impact_loss": sum(0.5 * (1 - r**2) * speed**2 for speed in speeds),
        "resting": sum(found.resting.values()) / end,
        "final_x": found.final,
    }


def vibro_impact(at: Point) -> Outputs:
    zeta, r, end = at.get("damping", 0.05), at.get("restitution", 0.7), at["window_end"]
    stops = (-1.0, 1.0)
    found = Oscillator(-1.0, 2 * zeta, at["force"], at["omega"], r, stops).motion(end)
    speeds = [speed for _, speed in found.speeds]
    return {
        "impacts": [sum(place == stop for place, _ in found.speeds) for stop in stops],
        "hardest": max(speeds),
        "impact_loss": sum(0.5 * (1 - r**2) * speed**2 for speed in speeds),
        "resting": [found.resting.get(stop, 0.0) / end for stop in stops],
        "final_x": found.final,
    }


def relief_valve(at: Point) -> Outputs:
    kappa, beta, delta, r, q = 1.25, 20.0, 10.0, 0.8, at["flow"]
    impact = Switch(lambda _, y: y[0], -1, lambda y: [0.0, -r * y[1], y[2]])
    opening = Switch(lambda _, y: y[1], -1)
    pieces = solve(
        lambda _, y: [
            y[1],
            -kappa * y[1] - (y[0] + delta) + y[2],
            beta * (q - y[0] * sqrt(max(y[2], 0.0))),
        ],
        [0.2, 0, 0],
        at["window_end"],
        (impact, opening),
        max_step=0.02,
    )
    return {
        "impacts": len(impact.times),
        "impact_speed": max((-y[1] for y in impact.states), default=0.0),
        # SciPy counts the start too, where the velocity is 0 but crosses nothing.
        "openings": sum(time > 0 for time in opening.times),
        "final_displacement": final(pieces)[0],
        "final_pressure": final(pieces)[2],
    }


def lugre(at: Point) -> Outputs:
    k, static, coulomb, stribeck = 2.0, 1.5, 1.0, 0.001
    s0, s1, s2, u = 1e5, sqrt(1e5), 0.4, at["pulling_speed"]
    if u >= 1:
        force = coulomb + s2 * u
        spring = dict.fromkeys(("mean_force", "largest_force", "smallest_force"), force)
        return {**spring, "wear_power": force * u, "final_v": u}

    def slope(t: float, y: State) -> Any:
        x, v, z = y
        g = coulomb + (static - coulomb) * exp(-((v / stribeck) ** 2))
        dz = v - s0 * abs(v) * z / g
        return [v, k * (u * t - x) - s0 * z - s1 * dz - s2 * v, dz]

    pieces = solve(
        slope, [0, 0, 0], at["window_end"], method="Radau", rtol=1e-9,
        atol=np.array([1e-10, 1e-11, 1e-14]), max_step=0.1,
    )  # fmt: skip
    return {
        "largest_force": largest(pieces, lambda t, y: k * (u * t - y[0])),
        "peak_speed": largest(pieces, lambda _, y: y[1]),
        "final_x": final(pieces)[0],
    }


def bouc_wen(at: Point) -> Outputs:
    m, k, c, f = at["mass"], at["stiffness"], at["damping"], at["force"]
    omega, share, limit = at["angular_frequency"], at["elastic_share"], at["yield_displacement"]
    if share == 1:
        assert m == 1
        return {"amplitude": _linear(f, k, c, omega)["largest_x"]}

    def slope(t: float, y: State) -> Any:
        x, v, z = y
        dz = v / limit * (1 - (0.5 + 0.5 * np.sign(v * z)) * abs(z) ** 2)
        force = share * k * x + (1 - share) * k * limit * z
        return [v, (f * sin(omega * t) - c * v - force) / m, dz]

    end = at["end_cycle"] * 2 * pi / omega
    start = at.get("start_cycle", 0.0) * 2 * pi / omega
    pieces = solve(slope, [0, 0, 0], end, rtol=1e-12, atol=1e-13, max_step=0.05)
    return {
        "amplitude": largest(pieces, lambda _, y: y[0], start),
        "final_x": final(pieces)[0],
        "final_z": final(pieces)[2],
        "wear_power": mean(pieces, lambda _, y: (1 - share) * k * limit * y[2] * y[1], start, end),
    }


def spring_slider(at: Point) -> Outputs:
    """In the logarithm of V/V_p and the state θ itself, with the ageing or the slip law."""
    sigma, a, b, dc, v0, vp, eta = 50e6, 0.010, 0.015, 8e-3, 1e-6, 1e-9, 4.62e6
    k, slips = at["stiffness"], at.get("slip_law", 0.0) > 0

    def speed(y: State) -> float:
        return vp * exp(y[0])

    def slope(_: float, y: State) -> Any:
        v, theta = speed(y), y[1]
        ageing = -(v * theta / dc) * log(v * theta / dc) if slips else 1 - v * theta / dc
        dlog = (k * (vp - v) - sigma * b * ageing / theta) / (sigma * a + eta * v)
        return [dlog, ageing]

    def friction(_: float, y: State) -> float:
        return sigma * (a * log(speed(y) / v0) + b * log(v0 * y[1] / dc))

    onset = Switch(lambda _, y: speed(y) - 1e-3, 1)
    first = vp * exp(0.1)
    pieces = solve(
        slope, [0.1, dc / first], at["window_end"], (onset,), method="Radau", rtol=1e-10,
        atol=np.array([1e-10, 1e-12]),
    )  # fmt: skip
    return {
        "peak_speed": largest(pieces, lambda _, y: speed(y)),
        "earthquakes": len(onset.times),
        "largest_stress": largest(pieces, friction),
        "smallest_stress": -largest(pieces, lambda t, y: -friction(t, y)),
    }


def prandtl_tomlinson(at: Point) -> Outputs:
    """In units of the lattice's period and of 1 ms, and the spring's length in place of x."""
    mass, k, a, gamma, pull, depth = 1e-12, 1.0, 0.5e-9, 2e-6, 25e-9, at["depth"]
    unit, speed = 1e-3, pull * 1e-3 / a

    def slope(t: float, y: State) -> Any:
        length, rate = y[0], y[1]  # of the spring, and how fast it grows
        x = speed * t - length
        wall = pi * depth / a * sin(2 * pi * x) / a
        force = k * length - wall - gamma * (speed - rate) / unit
        return [rate, -force * unit**2 / mass]

    cycle = a / pull / unit
    start, end = at["start_cycle"] * cycle, at["end_cycle"] * cycle
    pieces = solve(slope, [0.0, speed], end, method="Radau", rtol=1e-9, atol=1e-12)
    return {
        "mean_force": k * a * mean(pieces, lambda _, y: y[0], start, end),
        "largest_force": k * a * largest(pieces, lambda _, y: y[0], start),
    }


def drill_string(at: Point) -> Outputs:
    """With angles of both ends in place of the twist, and the phases of the bit one by one."""
    top, bit, k, c, ct, cb = 2122.0, 471.97, 861.53, 172.31, 425.0, 50.0
    static, kinetic, decay = at["static_torque"], at["kinetic_torque"], 0.9
    torque, end = at["torque"], at["window_end"]

    def carried(y: State) -> float:
        return k * (y[0] - y[2]) + c * (y[1] - y[3])

    def slope(_: float, y: State) -> Any:
        friction = kinetic + (static - kinetic) * exp(-decay * y[3])
        rubbing = friction + cb * y[3]
        return [y[1], (torque - ct * y[1] - carried(y)) / top, y[3], (carried(y) - rubbing) / bit]

    def held(_: float, y: State) -> Any:
        return [y[1], (torque - ct * y[1] - carried(y)) / top, 0.0, 0.0]

    release = Switch(lambda _, y: carried(y) - static, 1, stops=True)
    arrest = Switch(lambda _, y: y[3], -1, stops=True)
    y, t, stuck, is_stuck, pieces = [0.0, 0.0, 0.0, 0.0], 0.0, 0.0, True, []
    while t < end - 1e-9:
        pieces += (part := solve(
            held if is_stuck else slope, y, end - t, (release if is_stuck else arrest,), rtol=1e-12
        ))  # fmt: skip
        t, y = t + part[-1].t[-1], final(part).copy()
        stuck += part[-1].t[-1] if is_stuck else 0.0
        is_stuck = not is_stuck
        if is_stuck:
            y[3] = 0.0
    return {
        "largest_torque": largest(pieces, lambda _, y: carried(y)),
        "fastest": largest(pieces, lambda _, y: y[3]),
        "stuck": stuck / end,
        "sticks": len(arrest.times),
        "turned": y[2],
    }


SOLVERS: dict[str, Callable[[Point], Outputs]] = {
    solver.__name__: solver
    for solver in (
        belt, bouc_wen, bouncing_ball, chain, drill_string, duffing, forced_impact, gear, lorenz,
        lugre, prandtl_tomlinson, relief_valve, spring_slider, tube, van_der_pol, vibro_impact,
    )
}  # fmt: skip
