"""SDNL112: the bend of a steam-generator tube in a flow, with a stop (Code_Aster). SI units.

The tube is in the plane of y and z, its ends are clamped; x is across this plane. A stop at the
apex limits x on both sides, and rubs against motions in the plane.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.oracles.curved_tubes import Tube, modes
from tests.oracles.random_forcing import amplitudes
from tests.validation.comparison import Ours, computed, constants, csv_rows, figures
from tests.validation.modal import Modes, Values, modal_model

SYSTEM = constants("sdnl112/system.csv")
DIAMETER, RADIUS, STRAIGHT = (SYSTEM[each] for each in ("outer_diameter", "radius", "straight"))
LEG, ARCH = 6, 48  # elements of each straight leg, and of the bend
NODES = 2 * LEG + ARCH + 1
APEX, COUNT = NODES // 2, 4
SPACING = (SYSTEM["last_frequency"] - SYSTEM["first_frequency"]) / (SYSTEM["lines"] - 1)
DURATION = 1 / SPACING
SUBDIVISION = 20  # of an element, for integrals along the tube
DRAWS = 256
DOCUMENTED, AMPLITUDES = 1.0, (45.0, 90.0, 180.0)  # factors of the forces
STOP = (
    "stop_stiffness", "stop_damping", "tangential_stiffness", "tangential_damping", "friction",
)  # fmt: skip
GRIP = "spring + tangential_damping*speed"  # the friction force while the tube sticks
RATE = 4000  # samples of the forces per second


def compute() -> Ours:
    bend = Bend()
    published = figures("sdnl112/published.csv")
    ours = _draws(bend, [DOCUMENTED, *AMPLITUDES], 1.0)
    across = _draws(bend, [AMPLITUDES[1]], 0.0)
    levels: list[dict[str, Any]] = []
    for amplitude, at in ours.groupby("amplitude"):
        level: dict[str, Any] = {"amplitude": float(amplitude)}
        for name, unit in (("rms", 1e3), ("closed", 1.0), ("wear_power", 1.0)):
            quantiles = np.quantile(at[name], [0.05, 0.5, 0.95]) * unit
            level |= {f"{name}_{q}": float(v) for q, v in zip((5, 50, 95), quantiles, strict=True)}
        levels.append(level)
    singles = [
        {
            "version": version,
            **single,
            "amplitude": amplitude,
            **_place(ours.sel(amplitude=amplitude), single),
        }
        for (version, single), amplitude in zip(
            published.items(), (DOCUMENTED, AMPLITUDES[1]), strict=True
        )
    ]
    squares = ours["rms"].sel(amplitude=DOCUMENTED).to_numpy().ravel() ** 2
    expected = expected_square(bend)
    error = squares.std(ddof=1) / math.sqrt(DRAWS)
    linear = [{
        "exact": math.sqrt(expected) * 1e3,
        "ours": math.sqrt(squares.mean()) * 1e3,
        "errors": float((squares.mean() - expected) / error),
    }]  # fmt: skip
    frequency = bend.modes()[0].angular_frequency / (2 * math.pi)
    shorter = (SYSTEM["length_of_document"] - 2 * STRAIGHT) / math.pi
    others = {f"frequency_{i}": float(f) for i, f in enumerate(frequency, 1)}
    others["frequency_of_document"] = float(
        Bend(shorter).modes()[0].angular_frequency[-1] / (2 * math.pi)
    )
    others["wear_across"] = float(abs(across["wear_power"]).max())
    others["draws"] = DRAWS
    return Ours(
        {"shapes": _sums(bend), "linear": linear, "ensemble": levels, "singles": singles}, others
    )


def _sums(bend: Bend) -> list[dict[str, Any]]:
    """Sums of the absolute values of shapes, beside the printed ones."""
    shapes = bend.modes()[1]
    return [
        {
            "shape": row["shape"],
            "code_aster": float(row["code_aster"]),
            "ours": float(abs(shapes[int(row["mode"]) - 1, :, int(row["component"])]).sum()),
        }
        for row in csv_rows("sdnl112/shapes.csv")
    ]


def _place(draws: Any, single: Mapping[str, float]) -> dict[str, float]:
    """The share of the time with x < 0, in draws and of the angle of a printed one: 0° or 180°."""
    negative = draws["negative"].to_numpy().ravel()
    share = (single["angle"] / 180) ** 2
    low, high = np.quantile(negative, [0.025, 0.975])
    below = float((draws["rms"].to_numpy() < single["rms"]).mean())
    return {"share": share, "low": float(low), "high": float(high), "below": below}


class Bend:
    """The tube, and the flow at its nodes."""

    def __init__(self, radius: float = RADIUS) -> None:
        straight, arch = np.linspace(0, STRAIGHT, LEG + 1), np.linspace(0, math.pi, ARCH + 1)
        self.radius = radius
        self.along = np.concatenate([
            straight, STRAIGHT + radius * arch[1:], math.pi * radius + STRAIGHT + straight[1:],
        ])  # fmt: skip
        leg, zeros = np.zeros(LEG), np.zeros(NODES)
        self.angle = np.concatenate([leg, arch, leg + math.pi])  # of the tube from the z axis
        height = np.concatenate([straight, STRAIGHT + radius * np.sin(arch[1:]), straight[-2::-1]])
        self.nodes = np.array([zeros, radius * (1 - np.cos(self.angle)), height]).T
        self.density, self.flow = _profile("density"), _profile("flow")

    def modes(self) -> tuple[Modes, Values]:
        """The lowest modes; their shapes, (COUNT, NODES, 6), have a largest translation of 1."""
        tube = Tube(*(SYSTEM[each] for each in Tube._fields))
        pitch = (1.07 + 0.56 * SYSTEM["pitch"]) * SYSTEM["pitch"]
        added = (pitch**2 + 1) / (pitch**2 - 1)  # Pettigrew: mass of the fluid around a tube
        inside = np.interp(
            self.along, self.along[[0, -1]],
            [SYSTEM["fluid_inside_first"], SYSTEM["fluid_inside_last"]],
        )  # fmt: skip
        mass = tube.density * tube.area + math.pi / 4 * (
            inside * tube.inner_diameter**2 + added * self.density * tube.outer_diameter**2
        )
        frequency, shapes = modes(tube, self.nodes, (mass[1:] + mass[:-1]) / 2, COUNT)
        flat = shapes[..., :3].reshape(COUNT, -1)
        largest = np.take_along_axis(flat, abs(flat).argmax(axis=1)[:, None], axis=1)
        frequency, masses = _digits(frequency), _digits(1 / largest[:, 0] ** 2)
        damping = 2 * SYSTEM["damping_ratio"] * masses * frequency
        return Modes(masses, frequency, damping), np.round(shapes / largest[..., None], 9)

    def correlated(self, shapes: Values) -> Values:
        """The double integral of the shapes with the correlation of the forces, (COUNT, COUNT).

        Forces across the plane act on modes 1 and 3, forces in it, across the tube, on 2 and 4.
        """
        first, *_, last = np.flatnonzero(self.flow)
        zone = slice(first, last + 1)
        mean = np.trapezoid(self.flow[zone], self.along[zone]) / np.ptp(self.along[zone])
        fine = np.linspace(first, last, SUBDIVISION * (last - first) + 1)
        at, weight, normal = (
            np.interp(fine, np.arange(NODES), values)
            for values in (self.along, self.density * (self.flow / mean) ** 2, self.angle)
        )
        across = np.array([np.ones_like(at), np.cos(normal), -np.sin(normal)])
        moved = np.array([
            sum(n * np.interp(at, self.along, shape[:, i]) for i, n in enumerate(across))
            for shape in shapes
        ])  # fmt: skip
        step = np.gradient(at)
        step[[0, -1]] /= 2
        length = SYSTEM["correlation_length"] * DIAMETER
        decay = np.exp(-abs(at[:, None] - at) / length)
        integrals = (moved * weight * step) @ decay @ (moved * weight * step).T
        return _digits(integrals * (np.arange(COUNT)[:, None] % 2 == np.arange(COUNT) % 2))

    def spectrum(self, frequency: Values) -> Values:
        """The power spectral density for a double integral of 1, over the frequency in Hz.

        Source: Code_Aster R4.07.02, U4.44.31: correlation length, model 4 (two-phase flow).
        """
        void, speed = SYSTEM["void_fraction"], SYSTEM["velocity"]
        powers = void ** np.array([0.5, 1.5, 2.5, 3.5])
        level = 10 ** (powers @ [24.042, -50.421, 63.483, -33.284]) / 0.068
        flux = self.density[self.flow != 0].mean() * speed
        reduced = frequency * DIAMETER / speed
        shape = reduced ** SYSTEM["frequency_exponent"] * flux ** SYSTEM["flow_exponent"]
        return _digits(DIAMETER**3 * speed**3 / 4 * level / shape)


def _digits(values: Values) -> Values:
    """Nine digits: motions with contacts amplify last bits, which depend on the machine."""
    return np.array([float(f"{value:.8e}") for value in values.flat]).reshape(values.shape)


def _profile(name: str) -> Values:
    """Values at the nodes."""
    rows = [row for row in csv_rows("sdnl112/profiles.csv") if row["profile"] == name]
    nodes, values = ([float(row[each]) for row in rows] for each in ("node", "value"))
    return np.interp(np.arange(1, NODES + 1), nodes, values)


# --- By a text model ---


def model(bend: Bend) -> dict[str, Any]:
    """The content of a model file of the bend and its stop."""
    its_modes, shapes = bend.modes()
    integrals = bend.correlated(shapes)
    size = np.sqrt(np.diag(integrals))
    lines = SYSTEM["first_frequency"] + SPACING * np.arange(int(SYSTEM["lines"]))
    stops = ("gap", *STOP)
    content = modal_model(
        "bend_in_a_flow",
        its_modes,
        {
            "across": shapes[:, APEX, 0],
            "along": shapes[:, APEX, 1:3] @ [-SYSTEM["normal_z"], SYSTEM["normal_y"]],
            "in_plane": np.arange(COUNT) % 2,
        },
        force="amplitude*where(in_plane == 1, share_in_plane, 1)*turbulence"
        " - across*side*normal - along*rub",
        definitions={
            "x": "sum(mode, across*q)",
            "side": "where(x > 0, 1, -1)",
            "push": "stop_stiffness*(side*x - gap) + stop_damping*side*sum(mode, across*v)",
            "normal": "where(contact == open, 0, push)",
            "speed": "sum(mode, along*v)",
            "spring": "tangential_stiffness*grip",
            "slide": "where(contact == plus, 1, where(contact == minus, -1, 0))",
            "rub": f"where(slide == 0, where(contact == stick, {GRIP}, 0), slide*friction*normal)",
            "creep": "where(slide == 0, where(contact == stick, speed, 0),"
            " (rub - spring)/tangential_damping)",
        },
        outputs={
            "rms": {"rms": "x"},
            "negative": {"share": "x < 0"},
            "closed": {"share": "contact != open"},
            "wear_power": {"mean": "where(slide == 0, 0, normal*abs(speed - creep))"},
        },
        parameters=["draw", "amplitude", "share_in_plane", *stops],
        scale=1e-3,
    )
    content["states"]["grip"] = {"initial": "0", "scale": "1e-3"}
    content["derivatives"]["grip"] = "creep"
    content["switches"] = {
        "contact": {"values": ["open", "stick", "plus", "minus"], "start": "open"}
    }
    content["events"] = [
        {"name": name, "in": within, "when": when, "direction": direction, **more}
        for name, within, when, direction, more in (
            ("part", "contact != open", "push", "falling",
             {"set": {"contact": "open", "grip": "0"}}),
            ("touch", "contact == open", "side*x - gap", "rising",
             {"set": {"contact": "stick", "grip": "0"}}),
            ("slip_plus", "contact == stick", f"{GRIP} - friction*push", "rising",
             {"at_entry": True, "set": {"contact": "plus"}}),
            ("slip_minus", "contact == stick", f"{GRIP} + friction*push", "falling",
             {"at_entry": True, "set": {"contact": "minus"}}),
            ("stick_plus", "contact == plus", f"{GRIP} - friction*push", "falling",
             {"set": {"contact": "stick"}}),
            ("stick_minus", "contact == minus", f"{GRIP} + friction*push", "rising",
             {"set": {"contact": "stick"}}),
        )
    ]  # fmt: skip
    content["signals"] = {
        "turbulence": {
            "over": "mode", "duration": DURATION, "rate": RATE, "draw": "draw",
            "correlation": (integrals / np.outer(size, size)).tolist(),
            "spectrum": {
                "frequencies": lines.tolist(),
                "densities": np.outer(size**2, bend.spectrum(lines)).tolist(),
            },
        },
    }  # fmt: skip
    return content


def _draws(bend: Bend, factors: Sequence[float], share_in_plane: float) -> Any:
    """The outputs of every draw at each factor of the forces."""
    parameters = {name: SYSTEM[name] for name in ("gap", *STOP)}
    parameters |= {"window_end": DURATION, "share_in_plane": share_in_plane}
    axes = {"amplitude": factors, "draw": range(DRAWS)}
    outputs = ["rms", "negative", "closed", "wear_power"]
    return computed(model(bend), "dop853", outputs, parameters, axes)


# --- The linear motion ---


def expected_square(bend: Bend) -> float:
    """The expected mean of x² without a stop, from rest on: each harmonic has a random phase."""
    its_modes, shapes = bend.modes()
    integrals, at_apex = bend.correlated(shapes), shapes[:, APEX, 0]
    lines = SYSTEM["first_frequency"] + SPACING * np.arange(int(SYSTEM["lines"]))
    count = int(SYSTEM["last_frequency"] * DURATION)
    squares = amplitudes(lines, bend.spectrum(lines), DURATION, count) ** 2 / 2
    times = np.linspace(0, DURATION, 4097)
    total = np.zeros_like(times)
    for k in np.flatnonzero(squares):
        rate = 2 * math.pi * (k + 1) / DURATION
        response = at_apex[:, None] * _from_rest(its_modes, rate, times)
        total += squares[k] * np.einsum("it,ij,jt->t", response, integrals, response.conj()).real
    return float(np.trapezoid(total, times) / DURATION)


def _from_rest(its_modes: Modes, rate: float, times: Values) -> Values:
    """The modal motions under a force exp(i rate t) that begins at t = 0, (COUNT, n_times)."""
    mass, omega, damping = (each[:, None] for each in its_modes)
    decay = damping / (2 * mass)
    own = np.sqrt(omega**2 - decay**2)
    free = np.cos(own * times) + (decay + 1j * rate) / own * np.sin(own * times)
    steady = 1 / (mass * (omega**2 - rate**2) + 1j * rate * damping)
    return steady * (np.exp(1j * rate * times) - np.exp(-decay * times) * free)
