"""SDNL301: a tube is shaken between four pairs of stops (Code_Aster). SI units.

The tube is clamped at one end. Nodal forces push it to one side on the first and third quarter, to
the other one on the second and fourth; a pair of stops is at the end of each quarter.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import eigh

from tests.oracles.linear_contacts import (
    Contact,
    Motion,
    exponential,
    follow,
    row,
    start,
    structure,
)  # fmt: skip
from tests.validation.comparison import Ours, computed, constants, figures
from tests.validation.modal import Modes, Values, modal_model

SYSTEM = constants("sdnl301/system.csv")
LENGTH, GAP = SYSTEM["length"], SYSTEM["gap"]
STIFFNESS, DAMPER = SYSTEM["stop_stiffness"], SYSTEM["stop_damping"]
START, END = SYSTEM["window_start"], SYSTEM["window_end"]
STOPS = 4
NODES = 48  # of the test, besides the clamped one
CLOSEST_LOOK = 2e-5  # s; the contacts take some tenths of a millisecond
MESHES = ((NODES, 16), (NODES, 25), (2 * NODES, 25))  # elements and modes
SHARES = np.linspace(0.99, 1.01, 41)  # of the gap


def compute() -> Ours:
    ours, ensemble = (_by_model(gaps) for gaps in ([GAP], (SHARES * GAP).tolist()))
    exact = {mesh: forces(*mesh) for mesh in MESHES}
    published = figures("sdnl301/published.csv")
    none = dict.fromkeys(next(iter(published.values())))
    rows: list[dict[str, Any]] = []
    for i in range(STOPS):
        name, many = f"{LENGTH * (i + 1) / STOPS:.3f} m", ensemble[i]
        rows.append({
            "stop": name,
            **published.get(name, none),
            "ours": float(ours[i, 0]),
            **{f"exact_{e}_{n}": float(force[i]) for (e, n), force in exact.items()},
            "least": float(many.min()), "mean": float(many.mean()), "largest": float(many.max()),
        })  # fmt: skip
    frequencies = tube(NODES, 4)[0].angular_frequency / (2 * math.pi)
    others = {f"frequency_{i}": float(f) for i, f in enumerate(frequencies, 1)}
    return Ours({"forces": rows, "meshes": rows, "ensemble": rows}, others)


# --- Timoshenko beam elements, exact in statics, with rotatory inertia ---


def tube(elements: int, n: int) -> tuple[Modes, Values, Values]:
    """The lowest modes, their load, and their shapes at the stops, (STOPS, n)."""
    size = 2 * (elements + 1)
    stiffness, mass = np.zeros((size, size)), np.zeros((size, size))
    for matrix, element in zip((stiffness, mass), _element(LENGTH / elements), strict=True):
        for i in range(elements):
            matrix[2 * i : 2 * i + 4, 2 * i : 2 * i + 4] += element
    # As eigenvalues of the flexibility, low frequencies have the smallest relative errors.
    values, vectors = eigh(mass[2:, 2:], stiffness[2:, 2:])
    square = 1 / values[::-1][:n]
    shapes = vectors[::2, ::-1][:, :n] * np.sqrt(square)  # by node; each mass is 1 kg
    per_node, per_stop = elements // NODES, elements // STOPS
    at_nodes = shapes[per_node - 1 :: per_node]
    nodes = np.arange(1, NODES + 1)
    side = np.where((nodes - 1) // (NODES // STOPS) % 2 == 0, 1.0, -1.0)
    side[nodes % (NODES // STOPS) == 0] = 0
    damping = SYSTEM["stiffness_damping"] * square + SYSTEM["mass_damping"]
    modes = Modes(np.ones(n), np.sqrt(square), damping)
    return modes, SYSTEM["load"] * side @ at_nodes, shapes[per_stop - 1 :: per_stop]


def _element(h: float) -> tuple[Values, Values]:
    """Stiffness and mass of an element for (displacement, rotation) of both ends.

    Source: J. S. Przemieniecki, Theory of matrix structural analysis (1968), sections 5.6 and
    11.4; shear coefficient of a tube: G. R. Cowper, J. Appl. Mech. 33 (1966), 335.
    """
    nu, outer = SYSTEM["poisson_ratio"], SYSTEM["radius"]
    inner = outer - SYSTEM["thickness"]
    area, inertia = math.pi * (outer**2 - inner**2), math.pi / 4 * (outer**4 - inner**4)
    squares = (1 + (inner / outer) ** 2) ** 2
    hollow = (20 + 12 * nu) * (inner / outer) ** 2
    shear = 6 * (1 + nu) * squares / ((7 + 6 * nu) * squares + hollow)
    bending = SYSTEM["modulus"] * inertia
    p = 24 * (1 + nu) * inertia / (shear * area * h**2)
    stiffness = bending / (h**3 * (1 + p)) * _symmetric(
        [12, 6 * h, -12, 6 * h, (4 + p) * h**2, -6 * h, (2 - p) * h**2, 12, -6 * h, (4 + p) * h**2]
    )  # fmt: skip
    translation = _symmetric([
        13 / 35 + 7 * p / 10 + p**2 / 3, (11 / 210 + 11 * p / 120 + p**2 / 24) * h,
        9 / 70 + 3 * p / 10 + p**2 / 6, -(13 / 420 + 3 * p / 40 + p**2 / 24) * h,
        (1 / 105 + p / 60 + p**2 / 120) * h**2, (13 / 420 + 3 * p / 40 + p**2 / 24) * h,
        -(1 / 140 + p / 60 + p**2 / 120) * h**2, 13 / 35 + 7 * p / 10 + p**2 / 3,
        -(11 / 210 + 11 * p / 120 + p**2 / 24) * h, (1 / 105 + p / 60 + p**2 / 120) * h**2,
    ])  # fmt: skip
    rotation = _symmetric([
        6 / 5, (1 / 10 - p / 2) * h, -6 / 5, (1 / 10 - p / 2) * h,
        (2 / 15 + p / 6 + p**2 / 3) * h**2, -(1 / 10 - p / 2) * h,
        -(1 / 30 + p / 6 - p**2 / 6) * h**2, 6 / 5, -(1 / 10 - p / 2) * h,
        (2 / 15 + p / 6 + p**2 / 3) * h**2,
    ])  # fmt: skip
    density = SYSTEM["density"] / (1 + p) ** 2
    return stiffness, density * (area * h * translation + inertia / h * rotation)


def _symmetric(upper: list[float]) -> Values:
    matrix = np.zeros((4, 4))
    matrix[np.triu_indices(4)] = upper
    return matrix + np.triu(matrix, 1).T


# --- By a text model ---


def _by_model(gaps: list[float]) -> Values:
    """Root mean squares of the forces of the stops, (STOPS, n_gaps)."""
    modes, load, stops = tube(*MESHES[0])
    definitions: dict[str, Any] = {"drive": f"sin({SYSTEM['angular_frequency']}*t)"}
    at_stops = {
        "y": "sum(mode, shape*q)",
        "speed": "sum(mode, shape*v)",
        "right": f"max({STIFFNESS}*(y - gap) + {DAMPER}*speed, 0)",
        "left": f"min({STIFFNESS}*(y + gap) + {DAMPER}*speed, 0)",
        "push": "where(y > gap, right, where(y < -gap, left, 0))",
    }
    definitions |= {name: {"over": "stop", "value": value} for name, value in at_stops.items()}
    model = modal_model(
        "tube_between_stops", modes, {"load": load, "shape": stops},
        "load*drive - sum(stop, shape*push)", definitions,
        {"force": {"over": "stop", "rms": "push"}}, ["gap"], scale=GAP, stops=STOPS,
    )  # fmt: skip
    parameters = {"window_start": START, "window_end": END, "relative_tolerance": 1e-12}
    results = computed(model, "dop853", ["force"], parameters, {"gap": gaps})
    return results["force"].to_numpy().T


# --- The exact motion ---


def forces(elements: int, n: int) -> Values:
    """Root mean squares of the forces of the stops, (STOPS,)."""
    modes, load, stops = tube(elements, n)
    matrix = structure(*modes.matrices(), load, SYSTEM["angular_frequency"])
    contacts = [_contact(side * stop) for stop in stops for side in (1, -1)]
    begin = start(np.zeros(n), np.zeros(n))
    squares = _integrals(follow(matrix, contacts, begin, END, CLOSEST_LOOK), contacts)
    return np.sqrt(squares.reshape(STOPS, 2).sum(axis=1) / (END - START))


def _contact(shape: Values) -> Contact:
    overlap = row(shape, constant=-GAP)
    force = STIFFNESS * overlap + DAMPER * row(np.zeros_like(shape), shape)
    return Contact([overlap, force], force, row(np.zeros_like(shape), -shape))


def _integrals(motion: Motion, contacts: list[Contact]) -> Values:
    """The integrals of the squares of the forces, by Gauss's rule on intervals of 0.1 ms."""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    rows = np.array([contact.force for contact in contacts])
    total = np.zeros(len(contacts))
    for piece, end in zip(
        motion.pieces, [each.begin for each in motion.pieces[1:]] + [END], strict=True
    ):
        begin = max(piece.begin, START)
        if end <= begin or not any(piece.closed):
            continue
        count = math.ceil((end - begin) / 1e-4)
        length = (end - begin) / count
        state, step = piece.after(begin - piece.begin), exponential(piece.matrix, length)
        inner = [exponential(piece.matrix, length * (1 + node) / 2) for node in nodes]
        for _ in range(count):
            values = np.array([rows @ (each @ state) for each in inner])
            total += length / 2 * (weights @ values**2) * np.array(piece.closed)
            state = step @ state
    return total
