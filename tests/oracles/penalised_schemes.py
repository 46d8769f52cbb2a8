"""The friction oscillator under Code_Aster's penalised friction law, by its time schemes, plainly.

Sticking is a spring and damper of the law (`tangential_stiffness`, `tangential_damping`) about the
place where slip ended; the law remembers its last evaluation, so the order of evaluations counts.
`euler`, `devogelaere`, `adapt_ordre2`, `rk54`, `rk32` step that law; `moreau` has no such spring,
its friction impulse is implicit. All samples are kept, and every output is summed up from them.

    m ÿ = −c ẏ − k y − m a0 sin(ωt) + F,   |F| ≤ μ N(t),   N(t) = m (g + a_v sin(ωt + φ))

A point is a mapping with the names m, g, mu, k, c, a0, w, av, phi, t0, t1, all in SI units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import NamedTuple

Sine = Callable[[float], float]

ALWAYS_SLIPS = 1e-6  # m/s: a slipping mass faster than this is not tried for stick
NO_SENSE = 2.2e-16  # m/s: a speed whose sign means nothing
TINY = 1e-30  # m, m/s: below this a component's size does not count
ON_THE_END = 1e-9  # of a step: this near, the end of a stretch counts as met


class Memory(NamedTuple):
    """What the friction law knows of its last evaluation."""

    stuck: bool
    force: float  # N
    place: float  # m
    velocity: float  # m/s


class Sample(NamedTuple):
    """The state after a step; `step` is 0 for the one before the first."""

    time: float  # s
    step: float  # s
    velocity: float  # m/s
    stuck: bool
    rests: bool  # stuck, and friction could hold the mass without the law's spring
    heading: float  # m/s: the velocity that the law was asked with


class Oscillator:
    """The forces on the mass; it has the memory of the friction law, which evaluations change."""

    def __init__(
        self, point: Mapping[str, float], stiffness: float, damping: float, sine: Sine
    ) -> None:
        self.point, self.stiffness, self.damping, self.sine = point, stiffness, damping, sine
        self.memory = Memory(stuck=True, force=0.0, place=0.0, velocity=0.0)

    def normal_force(self, t: float) -> float:
        p = self.point
        if p["av"] == 0:
            return p["m"] * p["g"]
        return p["m"] * (p["g"] + p["av"] * math.sin(p["w"] * t + p["phi"]))

    def shaking(self, t: float) -> float:
        """The inertia force of the plane's acceleration, for each unit of mass."""
        return -self.point["a0"] * self.sine(self.point["w"] * t)

    def sample(self, y: float, v: float, t: float, step: float) -> Sample:
        """The mass after a step."""
        needed_force = self.point["k"] * y - self.point["m"] * self.shaking(t)
        held = abs(needed_force) <= self.point["mu"] * self.normal_force(t)
        stuck, heading = self.memory.stuck, self.memory.velocity
        return Sample(t, step, v, stuck, stuck and held, heading)

    def friction_force(self, y: float, v: float, t: float) -> float:
        """One evaluation of the law, which it remembers."""
        stuck, force, place, velocity = self.memory
        bound = self.point["mu"] * self.normal_force(t)
        if v * velocity >= 0 and not stuck and abs(v) > ALWAYS_SLIPS:
            slips = True
        else:
            trial = force - self.stiffness * (y - place) - self.damping * v
            slips = abs(trial) > bound
        if not slips:
            self.memory = Memory(True, force, place, v)
            return trial
        sense = 0.0 if abs(v) <= NO_SENSE else math.copysign(1.0, v)
        self.memory = Memory(False, -bound * sense, y, v)
        return -bound * sense

    def undamped(self, y: float, v: float, t: float) -> float:
        """The acceleration without the viscous damper c, but with that of the law."""
        p = self.point
        return (self.friction_force(y, v, t) - p["k"] * y) / p["m"] + self.shaking(t)

    def acceleration(self, y: float, v: float, t: float) -> float:
        return self.undamped(y, v, t) - self.point["c"] / self.point["m"] * v


# --- Schemes: start(oscillator, h) gives a state, step(...) the next and the error of the step ---


class Step(NamedTuple):
    """A step of time, in s; its end is told, since begin + length may round otherwise."""

    begin: float
    length: float
    end: float


class Motion(NamedTuple):
    """State of `euler` and of the Runge–Kutta schemes."""

    place: float
    velocity: float
    acceleration: float


class HalfBefore(NamedTuple):
    """State of `devogelaere`: f without the damper c, and what it was half a step ago."""

    place: float
    velocity: float
    f: float
    f_before: float
    velocity_before: float


class Staggered(NamedTuple):
    """State of `adapt_ordre2`: the velocity half a step ago, and that given out."""

    place: float
    velocity: float
    acceleration: float
    velocity_before: float
    step_before: float


class Euler:
    """Symplectic Euler."""

    def start(self, oscillator: Oscillator, _h: float) -> Motion:
        return Motion(0.0, 0.0, oscillator.acceleration(0.0, 0.0, 0.0))

    def step(self, oscillator: Oscillator, state: Motion, step: Step) -> tuple[Motion, float]:
        v = state.velocity + step.length * state.acceleration
        y = state.place + step.length * v
        return Motion(y, v, oscillator.acceleration(y, v, step.end)), 0.0


class Devogelaere:
    """De Vogelaere's scheme of order 4, the viscous damper treated apart."""

    def start(self, oscillator: Oscillator, h: float) -> HalfBefore:
        f = oscillator.undamped(0.0, 0.0, 0.0)
        return HalfBefore(0.0, 0.0, f, f, -h / 2 * f)  # v0 = 0, so the damper does nothing yet

    def step(
        self, oscillator: Oscillator, state: HalfBefore, step: Step
    ) -> tuple[HalfBefore, float]:
        t, h, end = step
        y, v, f, f_before, v_before = state
        c = oscillator.point["c"] / oscillator.point["m"]
        y_half = y + h / 2 * v + h**2 / 24 * (4 * f - f_before - c * (4 * v - v_before))
        f_half = oscillator.undamped(y_half, (y_half - y) / (h / 2), t + h / 2)
        v_half = (4 * v + h * (f + f_half - c * v)) / (4 + h * c)
        y_end = y + h * v + h**2 / 6 * (f + 2 * f_half - c * (v + 2 * v_half))
        f_end = oscillator.undamped(y_end, (y_end - y_half) / (h / 2), end)
        v_end = (6 * v + h * (f + 4 * f_half + f_end - c * (v + 4 * v_half))) / (6 + h * c)
        return HalfBefore(y_end, v_end, f_end, f_half, v_half), 0.0


class AdaptOrdre2:
    """Central differences; the error is fifty times the step in apparent periods."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance

    def start(self, oscillator: Oscillator, h: float) -> Staggered:
        a = oscillator.acceleration(0.0, 0.0, 0.0)
        return Staggered(0.0, 0.0, a, -h / 2 * a, h)

    def step(self, oscillator: Oscillator, state: Staggered, step: Step) -> tuple[Staggered, float]:
        h = step.length
        v_half = state.velocity_before + state.acceleration * (state.step_before + h) / 2
        y = state.place + h * v_half
        v = v_half + h / 2 * state.acceleration
        a = oscillator.acceleration(y, v, step.end)
        moved = max(abs(y - state.place), 0.01 * abs(v_half) * h)
        change = abs(a - state.acceleration)
        frequency = math.sqrt(change / moved) / (2 * math.pi) if moved > 0 else 0.0
        return Staggered(y, v, a, v_half, h), 50 * frequency * h / self.tolerance


class RungeKutta:
    """An embedded pair whose last stage is the next step's first."""

    def __init__(
        self,
        stages: list[list[float]],
        nodes: list[float],
        difference: list[float],
        tolerance: float,
    ) -> None:
        """`stages[i]` weighs the derivatives before stage i + 1; its last row is the step."""
        self.stages, self.nodes = stages, nodes
        self.difference, self.tolerance = difference, tolerance

    def start(self, oscillator: Oscillator, _h: float) -> Motion:
        return Motion(0.0, 0.0, oscillator.acceleration(0.0, 0.0, 0.0))

    def step(self, oscillator: Oscillator, state: Motion, step: Step) -> tuple[Motion, float]:
        t, h, end = step
        y0, v0, a0 = state
        speeds, accelerations = [v0], [a0]
        for weights, node in zip(self.stages, self.nodes, strict=True):
            y, v = y0 + h * dot(weights, speeds), v0 + h * dot(weights, accelerations)
            time = end if node == 1 else t + node * h
            speeds.append(v)
            accelerations.append(oscillator.acceleration(y, v, time))
        errors = [
            h * dot(self.difference, slopes) / (self.tolerance * max(abs(x0), abs(x - x0), TINY))
            for slopes, x0, x in ((speeds, y0, y), (accelerations, v0, v))
        ]
        return Motion(y, v, accelerations[-1]), math.hypot(*errors) / math.sqrt(2)


def dot(weights: list[float], values: list[float]) -> float:
    return sum(a * b for a, b in zip(weights, values, strict=True))


def dormand_prince(tolerance: float) -> RungeKutta:
    """Dormand and Prince 1980, RK5(4)7M."""
    fifth = [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
    fourth = [5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]
    stages = [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        fifth,
    ]
    difference = [a - b for a, b in zip([*fifth, 0.0], fourth, strict=True)]
    return RungeKutta(stages, [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1], difference, tolerance)


def bogacki_shampine(tolerance: float) -> RungeKutta:
    """Bogacki and Shampine 1989, RK3(2)."""
    third, second = [2 / 9, 1 / 3, 4 / 9], [7 / 24, 1 / 4, 1 / 3, 1 / 8]
    stages = [[1 / 2], [0.0, 3 / 4], third]
    difference = [a - b for a, b in zip([*third, 0.0], second, strict=True)]
    return RungeKutta(stages, [1 / 2, 3 / 4, 1], difference, tolerance)


# --- Controls of the step: told of each attempt, they say whether it holds ---


class RungeKuttaControl:
    """Accepts errors below 1 and aims at 0.9 of that."""

    def __init__(self, step: float, maximum_step: float, root: int) -> None:
        self.step, self.maximum_step, self.root = min(step, maximum_step), maximum_step, root

    def accepts(self, h: float, error: float, shortened: bool) -> bool:
        accepted = error < 1
        if not (accepted and shortened):
            factor = min(max(0.9 * error ** (-1 / self.root), 0.2), 5.0) if error > 0 else 5.0
            self.step = min(h * factor, self.maximum_step)
        return accepted


class AdaptOrdre2Control:
    """Shorter by 4/3 at once, longer by a tenth after five good steps running."""

    def __init__(self, step: float, maximum_step: float) -> None:
        self.step, self.maximum_step = min(step, maximum_step), maximum_step
        self.good = self.retries = 0

    def accepts(self, h: float, error: float, shortened: bool) -> bool:
        if error >= 1 and self.retries < 16:
            self.step = h / 1.3333334
            self.retries, self.good = self.retries + 1, 0
            return False
        self.retries = 0
        if not shortened:
            self.good = self.good + 1 if error < 0.75 else 0
            if self.good == 5:
                self.step, self.good = min(1.1 * self.step, self.maximum_step), 0
        return True


# --- Marches: one sample at time 0 and one after each accepted step ---


def equal_steps(h: float, ends: list[float]) -> Iterator[Step]:
    """The last step of a stretch is cut to land on its end."""
    for begin, stop in pairwise([0.0, *ends]):
        if stop == begin:
            continue
        n = max(1, math.ceil((stop - begin) / h - ON_THE_END))
        last = (stop - begin) - (n - 1) * h
        if abs(last - h) <= ON_THE_END * h:
            last = h
        for q in range(n - 1):
            yield Step(begin + q * h, h, begin + (q + 1) * h)
        yield Step(begin + (n - 1) * h, last, begin + (n - 1) * h + last)


def constant_steps(
    scheme, oscillator: Oscillator, h: float, ends: list[float], drift: bool
) -> Iterator[Sample]:
    """Equal steps; time is counted from the stretch's beginning, or with `drift` added up."""
    state = scheme.start(oscillator, h)
    yield oscillator.sample(state.place, state.velocity, 0.0, 0.0)
    time = 0.0
    for step in equal_steps(h, ends):
        if drift:
            step = Step(time, step.length, time + step.length)
        state, _ = scheme.step(oscillator, state, step)
        time = step.end
        yield oscillator.sample(state.place, state.velocity, time, step.length)


def controlled_steps(
    scheme, oscillator: Oscillator, control, ends: list[float]
) -> Iterator[Sample]:
    """Steps as the control wants them, shortened to land on the ends of the stretches."""
    state, t = scheme.start(oscillator, control.step), 0.0
    yield oscillator.sample(state.place, state.velocity, 0.0, 0.0)
    for stop in ends:
        while t < stop:
            shortened = t + control.step * (1 + ON_THE_END) >= stop
            h = stop - t if shortened else control.step
            end = stop if shortened else t + h
            before = oscillator.memory
            after, error = scheme.step(oscillator, state, Step(t, h, end))
            if control.accepts(h, error, shortened):
                state, t = after, end
                yield oscillator.sample(state.place, state.velocity, t, h)
            else:
                oscillator.memory = before


def moreau_steps(
    oscillator: Oscillator, h: float, ends: list[float], theta: float
) -> Iterator[Sample]:
    """Moreau and Jean's θ-method: the friction impulse stops the mass, or slows it down."""
    p, y, v = oscillator.point, 0.0, 0.0
    m, k, c = p["m"], p["k"], p["c"]
    yield Sample(0.0, 0.0, v, stuck=True, rests=True, heading=v)
    for t, step, end in equal_steps(h, ends):
        inertia = m + step * theta * c + (step * theta) ** 2 * k
        push = m * weighted(theta, oscillator.shaking(t), oscillator.shaking(end))
        free = v + step * (push - c * v - k * (y + step * theta * v)) / inertia
        load = weighted(theta, oscillator.normal_force(t), oscillator.normal_force(end))
        slack = inertia * abs(free) - p["mu"] * step * load
        after = 0.0 if slack <= 0 else math.copysign(slack / inertia, free)
        y, v = y + step * weighted(theta, v, after), after
        yield Sample(end, step, v, v == 0, rests=v == 0, heading=v)


def weighted(theta: float, before: float, after: float) -> float:
    return theta * after + (1 - theta) * before


# --- Outputs ---


class Interval(NamedTuple):
    """What a step in the window adds."""

    wear: float  # J
    distance: float  # m


def trapezoid(oscillator: Oscillator, before: Sample, after: Sample) -> Interval:
    """Nothing if the mass was stuck before the step."""
    if before.stuck:
        return Interval(0.0, 0.0)
    slow, fast = abs(before.velocity), abs(after.velocity)
    power = oscillator.normal_force(before.time) * slow + oscillator.normal_force(after.time) * fast
    return Interval(after.step * power / 2, after.step * (slow + fast) / 2)


def moreau_interval(
    oscillator: Oscillator, theta: float, before: Sample, after: Sample
) -> Interval:
    """The work of the step's own friction impulse."""
    n0, n1 = oscillator.normal_force(before.time), oscillator.normal_force(after.time)
    distance = after.step * abs(weighted(theta, before.velocity, after.velocity))
    return Interval(weighted(theta, n0, n1) * distance, distance)


def block_mean(intervals: list[Interval], steps: list[float], blocks: int) -> float:
    """Mean over blocks of equally many samples of each block's wear energy over its length.

    What is between two blocks, and after the last, is dropped.
    """
    samples = (len(intervals) + 1) // blocks
    if samples < 2:
        raise ValueError(f"blocks={blocks!r} is too many for {len(intervals)} steps")
    powers = []
    for block in range(blocks):
        part = slice(block * samples, (block + 1) * samples - 1)
        powers.append(math.fsum(each.wear for each in intervals[part]) / math.fsum(steps[part]))
    return math.fsum(powers) / blocks


def count_slips(samples: list[Sample], first: int) -> int:
    """Slips that begin after the first sample of the window: by a reversal, or out of rest.

    The mass is at rest after two samples running in which it rests, and at time 0.
    """
    slips, resting, last, rested = 0, True, 0, True
    for i, sample in enumerate(samples):
        if sample.stuck:
            resting = resting or (rested and sample.rests)
        else:
            sense = (sample.heading > 0) - (sample.heading < 0)
            slips += (resting or sense != last) and i > first
            resting, last = False, sense
        rested = sample.rests
    return slips


def sticking(window: list[Sample], length: float) -> dict[str, float | int]:
    """Share of the window between two samples at rest, and the regime that this makes."""
    rests = [after.step for before, after in pairwise(window) if before.rests and after.rests]
    slips = any(not sample.stuck for sample in window[:-1])
    regime = 0 if not slips else 1 if rests else 2
    return {"stick_fraction": math.fsum(rests) / length, "regime": regime}


def run(
    scheme: str,
    point: Mapping[str, float],
    *,
    step: float,
    tangential_stiffness: float = 0.0,
    tangential_damping: float | None = None,
    tolerance: float = math.inf,
    maximum_step: float = 1e-4,
    blocks: int = 1,
    sine: Sine = math.sin,
    drift: bool = False,
    theta: float = 0.5,
) -> dict[str, float | int]:
    """All outputs over the window [t0, t1].

    A finite `tolerance` lets adapt_ordre2, rk54 and rk32 vary their step, from `step` on.
    tangential_damping None is critical: 2√(m(k + K_T)). `sine` stands for sin ωt of the
    shaking, as a function of the angle ωt.
    Raises ValueError where a scheme has no step control, or a block fewer than two samples.
    """
    point = {name: float(value) for name, value in point.items()}  # none of NumPy's
    if tangential_damping is None:
        tangential_damping = 2 * math.sqrt(point["m"] * (point["k"] + tangential_stiffness))
    oscillator = Oscillator(point, tangential_stiffness, tangential_damping, sine)
    ends = [point["t0"], point["t1"]]
    if scheme == "moreau":
        march = moreau_steps(oscillator, step, ends, theta)
    elif math.isinf(tolerance):
        march = constant_steps(scheme_of(scheme, 1.0), oscillator, step, ends, drift)
    else:
        control, stepper = control_of(scheme, step, maximum_step), scheme_of(scheme, tolerance)
        march = controlled_steps(stepper, oscillator, control, ends)
    samples = list(march)
    energy = partial(moreau_interval, oscillator, theta)
    if scheme != "moreau":
        energy = partial(trapezoid, oscillator)
    return outputs(samples, energy, point, blocks)


def outputs(
    samples: list[Sample],
    energy: Callable[[Sample, Sample], Interval],
    point: Mapping[str, float],
    blocks: int,
) -> dict[str, float | int]:
    """What the samples sum up to in the window; one of them lies on its start."""
    first = min(range(len(samples)), key=lambda i: abs(samples[i].time - point["t0"]))
    window = samples[first:]
    intervals = [energy(before, after) for before, after in pairwise(window)]
    wear_power = block_mean(intervals, [sample.step for sample in window[1:]], blocks)
    return {
        "wear_power": wear_power,
        "friction_power": point["mu"] * wear_power,
        "slip_distance": math.fsum(each.distance for each in intervals),
        **sticking(window, point["t1"] - point["t0"]),
        "slip_phases": count_slips(samples, first),
        "peak_slip_speed": max((abs(s.velocity) for s in window if not s.stuck), default=0.0),
    }


def scheme_of(name: str, tolerance: float):
    return {
        "euler": Euler,
        "devogelaere": Devogelaere,
        "adapt_ordre2": partial(AdaptOrdre2, tolerance),
        "rk54": partial(dormand_prince, tolerance),
        "rk32": partial(bogacki_shampine, tolerance),
    }[name]()


def control_of(name: str, step: float, maximum_step: float):
    if name == "adapt_ordre2":
        return AdaptOrdre2Control(step, maximum_step)
    if name in ("rk54", "rk32"):
        return RungeKuttaControl(step, maximum_step, {"rk54": 6, "rk32": 4}[name])
    raise ValueError(f"{name!r} has no control of its step: tolerance must be inf")


def tabulated_sine(angular_frequency: float, end: float, intervals: int) -> Sine:
    """sin ωt as Code_Aster was given it: a table over [0, end] s, interpolated linearly."""
    spacing = end / intervals
    table = [math.sin(angular_frequency * i * spacing) for i in range(intervals + 1)]

    def sine(angle: float) -> float:
        place = angle / angular_frequency / spacing
        i = min(int(place), intervals - 1)
        return table[i] + (place - i) * (table[i + 1] - table[i])

    return sine
