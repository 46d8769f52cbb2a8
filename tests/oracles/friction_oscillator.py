"""The friction oscillator in arbitrary precision: the slow and plain truth for the `exact` method.

Scaled by time 1/ω and length a0/ω² (κ = k/mω², γ = c/mω, η = μg/a0, ν = μa_v/a0, τ = ωt):

    stuck     |κu + sin τ| ≤ η + ν sin(τ + φ)
    slipping  s' = −γs − κp − σ sin τ − (η + ν sin(τ + φ)),   p = σu, s = p' > 0, σ = ±1

A slip is marched by its Taylor series, which has no special cases: no spring, no damper, critical
damping and resonance all are the same recursion. Nothing here is approximate beyond the working
precision:

- Onset comes from the required force, a sinusoid while stuck, by its arcsine.
- With |s⁽ⁿ⁾| ≤ M rⁿ a step is 1/r long and its series is cut where 1/n! is below the precision.
- The first zero of the speed is isolated by bisection with a bound on the second derivative: an
  interval is dropped only when that bound excludes a zero, and accepted only when it makes the
  function monotone. A speed that touches zero closer than half the working digits can tell
  raises ArithmeticError instead of guessing.

The work grows with the cycles up to the window's end times 1 + c/mω + √(k/m)/ω.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import gmpy2
from gmpy2 import mpc, mpfr

GUARD_DIGITS = 25
"""Digits beyond those asked for: grazing onsets and near-grazing slips amplify early rounding."""


@dataclass
class Oscillator:
    """The scaled equation of motion, and how finely its Taylor series must be taken."""

    stiffness: mpfr  # κ
    damping: mpfr  # γ
    friction: mpfr  # η
    shaking: mpfr  # ν
    phase: mpfr  # φ
    step: mpfr = field(init=False)
    order: int = field(init=False)

    def __post_init__(self) -> None:
        """Bound the derivatives, |s⁽ⁿ⁾| ≤ M rⁿ for all n once r ≥ 1 + γ + κ/r, and stop at 1/n!."""
        half = (1 + self.damping) / 2
        self.step = 1 / (half + gmpy2.sqrt(half**2 + self.stiffness))
        self.order, rest = 0, mpfr(1)
        while rest > mpfr(2) ** -gmpy2.get_context().precision:
            self.order += 1
            rest /= self.order

    def excess(self, time: mpfr, place: mpfr, sense: int) -> mpfr:
        """How far the required force in one sense exceeds the friction bound, in units of m a0."""
        required = sense * (self.stiffness * place + gmpy2.sin(time))
        return required - self.friction - self.shaking * gmpy2.sin(time + self.phase)

    def onset(self, time: mpfr, place: mpfr) -> tuple[mpfr, int]:
        """First time from now on that the mass, stuck at `place`, slips, and which way it goes."""
        crossings = [(self._crossing(time, place, sense), -sense) for sense in (1, -1)]
        return min(crossings)

    def _crossing(self, time: mpfr, place: mpfr, sense: int) -> mpfr:
        """When excess(·, place, sense) = R sin(τ + ψ) − E next rises through zero; or infinity."""
        sine = sense - self.shaking * gmpy2.cos(self.phase)
        cosine = -self.shaking * gmpy2.sin(self.phase)
        bound = self.friction - sense * self.stiffness * place
        height = gmpy2.hypot(sine, cosine)
        if bound >= height:
            return gmpy2.inf()
        turn = 2 * gmpy2.const_pi()
        ahead = gmpy2.asin(bound / height) - gmpy2.atan2(cosine, sine) - time
        return time + ahead - turn * gmpy2.floor(ahead / turn)

    def series(self, time: mpfr, place: mpfr, speed: mpfr, sense: int) -> list[mpfr]:
        """Taylor coefficients of the speed s about `time`; `place` and `speed` along the slip."""
        sine, cosine = gmpy2.sin_cos(time)
        load_sine, load_cosine = gmpy2.sin_cos(time + self.phase)
        push = sense * sine + self.shaking * load_sine
        slope = sense * cosine + self.shaking * load_cosine
        forcing = (push, slope, -push, -slope)
        steady, factorial = self.friction, mpfr(1)
        coefficients = [speed]
        for n in range(self.order):
            load = forcing[n % 4] / factorial + steady
            rise = -self.damping * speed - self.stiffness * place - load
            place, speed = speed / (n + 1), rise / (n + 1)
            steady, factorial = mpfr(0), factorial * (n + 1)
            coefficients.append(speed)
        return coefficients


@dataclass
class Tally:
    """What happened between `start` and `end`, in scaled units."""

    start: mpfr
    end: mpfr
    phase: mpfr
    weighs: bool
    """Whether the normal load varies, so that `shaken` is wanted."""

    def __post_init__(self) -> None:
        self.stuck = self.slipping = self.distance = self.shaken = self.peak = mpfr(0)
        self.slips = 0

    def rest(self, time: mpfr, end: mpfr) -> None:
        """Count the rest from `time` to `end`."""
        self.stuck += max(mpfr(0), min(end, self.end) - max(time, self.start))

    def begin(self, time: mpfr) -> None:
        """Count a slip that begins at `time`."""
        self.slips += self.start <= time < self.end

    def slip(self, time: mpfr, span: mpfr, speed: list[mpfr]) -> None:
        """Count a piece of slip that does not reach across an edge of the window."""
        if time < self.start:
            return
        self.slipping += span
        self.distance += integral(speed, span)
        self.peak = max(self.peak, greatest(speed, span, self.peak))
        if self.weighs:
            self.shaken += moment(speed, span, time + self.phase)


def exact(
    m: float, g: float, mu: float, k: float, c: float, a0: float, w: float, av: float, phi: float,
    t0: float, t1: float, digits: int = 40,
) -> dict[str, float | int | str]:  # fmt: skip
    """All outputs over [t0, t1], each real one the nearest double to the value in `digits` digits.

    The arguments count as the exact values of the doubles given, in SI units. A slip counts in
    slip_phases if it begins in [t0, t1); a reversal begins a new one.
    Raises ValueError if the mass lifts off or the window is empty, ArithmeticError if the motion
    grazes a decision more closely than the digits can tell.
    """
    if not abs(av) < g or not t1 > t0 >= 0:
        raise ValueError(f"lift-off or empty window: av={av!r}, g={g!r}, t0={t0!r}, t1={t1!r}")
    with gmpy2.context(precision=int((digits + GUARD_DIGITS) * 3.33)):
        m, g, mu, k, c, a0, w, av, phi, t0, t1 = map(mpfr, (m, g, mu, k, c, a0, w, av, phi, t0, t1))
        tally = Tally(w * t0, w * t1, phi, weighs=bool(av != 0))
        if a0 > 0:
            march(Oscillator(k / (m * w**2), c / (m * w), mu * g / a0, mu * av / a0, phi), tally)
        else:
            tally.rest(tally.start, tally.end)
        length = a0 / w**2
        wear_power = m * length * (g * tally.distance + av * tally.shaken) / (t1 - t0)
        return {
            "wear_power": float(wear_power),
            "friction_power": float(mu * wear_power),
            "slip_distance": float(length * tally.distance),
            "stick_fraction": float(tally.stuck / (tally.end - tally.start)),
            "slip_phases": int(tally.slips),
            "peak_slip_speed": float(length * w * tally.peak),
            "regime": regime(tally),
        }


def regime(tally: Tally) -> str:
    """Whether the mass ever slips and ever sticks in the window."""
    if not tally.slipping:
        return "stick"
    return "stick_slip" if tally.stuck else "slip_slip"


def march(oscillator: Oscillator, tally: Tally) -> None:
    """Follow the motion from rest at time 0 to the window's end."""
    time = place = mpfr(0)
    while time < tally.end:
        onset, sense = oscillator.onset(time, place)
        tally.rest(time, onset)
        time, known_zeros = onset, 2
        while sense and time < tally.end:
            tally.begin(time)
            time, place = slip(oscillator, tally, time, place, sense, known_zeros)
            sense = -sense if oscillator.excess(time, place, sense) > 0 else 0
            known_zeros = 1


def slip(
    oscillator: Oscillator, tally: Tally, time: mpfr, place: mpfr, sense: int, known_zeros: int
) -> tuple[mpfr, mpfr]:
    """Time and place of the next zero of the speed, or of the window's end if that comes first.

    At the slip's start the first `known_zeros` Taylor coefficients of the speed are known to be
    zero: the speed itself, and after rest (where the force just balances) its slope too.
    """
    along, speed = sense * place, mpfr(0)
    while time < tally.end:
        series = oscillator.series(time, along, speed, sense)
        series[:known_zeros] = [mpfr(0)] * known_zeros
        span = min(oscillator.step, tally.end - time)
        if time < tally.start:
            span = min(span, tally.start - time)
        zero = next(zeros(series[known_zeros:], span), None)
        span = span if zero is None else zero
        tally.slip(time, span, series)
        time, along, speed = time + span, along + integral(series, span), value(series, span)
        if zero is not None:
            break
        known_zeros = 0
    return time, sense * along


def zeros(polynomial: list[mpfr], end: mpfr) -> Iterator[mpfr]:
    """All zeros in (0, end] of a polynomial, in order; ArithmeticError if one is not simple."""
    slope = derivative(polynomial)
    curvature = derivative(slope)
    bend = value([abs(coefficient) for coefficient in curvature], end)
    smallest = end * mpfr(2) ** (-gmpy2.get_context().precision // 2)
    intervals = [(mpfr(0), end)]
    while intervals:
        left, right = intervals.pop()
        middle, half = (left + right) / 2, (right - left) / 2
        rise = abs(value(slope, middle))
        if abs(value(polynomial, middle)) > half * (rise + bend * half / 2):
            continue
        if rise > bend * half:
            at_left, at_right = value(polynomial, left), value(polynomial, right)
            if at_right == 0 or at_left * at_right < 0:
                yield refined(polynomial, slope, left, right)
            continue
        if half < smallest:
            raise ArithmeticError(f"a double zero near {float(middle)!r}: use more digits")
        intervals += [(middle, right), (left, middle)]


def refined(polynomial: list[mpfr], slope: list[mpfr], left: mpfr, right: mpfr) -> mpfr:
    """The zero between `left` and `right`, where the polynomial is monotone."""
    falling = value(slope, (left + right) / 2) < 0
    guess, tolerance = (left + right) / 2, right * mpfr(2) ** (4 - gmpy2.get_context().precision)
    while right - left > tolerance:
        value_at_guess = value(polynomial, guess)
        if (value_at_guess > 0) == falling:
            left = guess
        else:
            right = guess
        step = value_at_guess / value(slope, guess)
        if abs(step) <= tolerance:
            return min(max(guess - step, left), right)
        guess -= step
        if not left < guess < right:
            guess = (left + right) / 2
    return guess


def greatest(speed: list[mpfr], span: mpfr, known: mpfr) -> mpfr:
    """The greatest speed in [0, span] if that is above `known`; otherwise nothing greater."""
    slope = derivative(speed)
    bend = value([abs(coefficient) for coefficient in derivative(slope)], span)
    ends = max(speed[0], value(speed, span))
    if ends + bend * span**2 / 8 <= known:
        return known
    skipped = 0 if slope[0] else 1
    return max([ends, *(value(speed, place) for place in zeros(slope[skipped:], span))])


def derivative(polynomial: Sequence[mpfr]) -> list[mpfr]:
    """Coefficients of the derivative."""
    return [n * coefficient for n, coefficient in enumerate(polynomial)][1:]


def value(polynomial: Sequence[mpfr], place: mpfr) -> mpfr:
    """The polynomial at `place`."""
    total = mpfr(0)
    for coefficient in reversed(polynomial):
        total = total * place + coefficient
    return total


def integral(polynomial: Sequence[mpfr], end: mpfr) -> mpfr:
    """The integral over [0, end]."""
    return end * value([a / (n + 1) for n, a in enumerate(polynomial)], end)


def moment(polynomial: Sequence[mpfr], end: mpfr, phase: mpfr) -> mpfr:
    """The integral of polynomial(x) sin(phase + x) over [0, end], by downward recursion.

    ∫xⁿe^{ix} = (endⁿ⁺¹e^{i end} − i∫xⁿ⁺¹e^{ix})/(n + 1): going down divides an error by n + 1.
    """
    turn, power = gmpy2.exp(mpc(0, end)), end ** len(polynomial)
    monomial = total = mpc(0)
    for n in reversed(range(len(polynomial))):
        monomial = (power * turn - 1j * monomial) / (n + 1)
        total += polynomial[n] * monomial
        power /= end
    return (total * gmpy2.exp(mpc(0, phase))).imag
