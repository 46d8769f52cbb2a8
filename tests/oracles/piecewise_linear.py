"""Models with events whose motion between events is a parabola or a line, in exact arithmetic.

Rates are affine in the states and t, and such that the motion is a polynomial of at most the
second degree; events, conditions and sets are affine, too. All numbers are fractions, so "at the
same time" and "exactly zero" mean what they say. What has more than 200 bits behind the point, as
the roots of parabolas, is rounded to them.

The rules are those of docs/how_to/write_a_model_file.md:

- An event happens where the motion takes its expression to zero from the other side, in a mode of
  `in`, if its condition holds. An expression that starts a piece of the motion at zero has not
  crossed it, and one that a `set` moves over zero has not either.
- Events at one time happen in the order of the file, each judged after the ones before. Those with
  the same expression (`group`) are judged together, before any of their sets.
- An event with `at_entry` also happens where its mode is entered, or the motion starts, past zero
  or exactly at zero and on its way in its direction.

A model whose answer depends on rounding or on what the rules leave open raises `Unclear`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isqrt

import numpy as np

Affine = Mapping[str, Fraction]  # coefficients by state, of "t", and the constant by ""
Polynomial = tuple[Fraction, Fraction, Fraction]  # by powers of the time since a piece began
States = dict[str, Fraction]

ZERO, ONE = Fraction(0), Fraction(1)
BITS = 200
TINY = Fraction(1, 2**80)  # times and values below it are zero but for that rounding
CLOSE = Fraction(1, 10**9)  # what is not zero but smaller may be zero to a solver
GRAZING = Fraction(1, 10**8)  # a parabola with an extreme closer to zero touches it to a solver
SLOW = Fraction(1, 1000)  # a rate below which the time of a crossing is known badly
MAX_EVENTS = 200
MAX_GROWTH = 1e4  # of a rounding until the end; the errors of a solver stay below 1e-10 then
MAX_GROWTH_AT_COINCIDENCE = 50.0  # for events at one time to be within a few roundings


class Unclear(Exception):
    """The answer depends on rounding, or on what the rules leave open."""


@dataclass(frozen=True)
class Event:
    """An event of a model; all expressions of `condition` are positive where it holds."""

    name: str
    when: Affine
    direction: int  # 1 rising, -1 falling, 0 both
    modes: frozenset[str]
    group: str  # events with the same text of `when`, or its negative with the direction turned
    condition: tuple[Affine, ...] = ()
    sets: Mapping[str, Affine] = field(default_factory=dict)
    then: str | None = None
    at_entry: bool = False
    stop_after: int | None = None

    @property
    def acts(self) -> bool:
        return bool(self.sets or self.then or self.stop_after)


@dataclass(frozen=True)
class Model:
    """A model at one point; `modes` has the rate of each state in each mode, the first starts."""

    initial: Mapping[str, Fraction]
    modes: Mapping[str, Mapping[str, Affine]]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Piece:
    """The motion from `start` to `end` in one mode."""

    start: Fraction
    end: Fraction
    mode: str
    states: Mapping[str, Polynomial]

    @property
    def length(self) -> Fraction:
        return self.end - self.start

    def polynomial(self, expression: Affine) -> Polynomial:
        """An affine expression over this piece."""
        clock, constant = (self.start, ONE, ZERO), (ONE, ZERO, ZERO)
        lines = {**self.states, "t": clock, "": constant}
        terms = [(factor, lines[name]) for name, factor in expression.items()]
        a, b, c = (sum((factor * p[k] for factor, p in terms), ZERO) for k in range(3))
        return a, b, c


@dataclass(frozen=True)
class Occurrence:
    """An event that happened, with the states right before its set."""

    time: Fraction
    event: str
    before: Mapping[str, Fraction]

    def value(self, expression: Affine) -> Fraction:
        return evaluate(expression, self.before, self.time)


@dataclass(frozen=True)
class Motion:
    """A whole motion: it ends at `end`, or sooner if an event stopped it."""

    pieces: Sequence[Piece]
    occurrences: Sequence[Occurrence]
    end: Fraction
    final: Mapping[str, Fraction]  # after all events at the end


def follow(model: Model, end: Fraction) -> Motion:
    """The motion from t = 0 to `end`."""
    walk = _Walk(model)
    walk.enter("")
    while walk.time < end and not walk.stopped:
        walk.advance(end)
    return Motion(walk.pieces, walk.occurrences, walk.time, walk.states)


# Polynomials.


def at(p: Polynomial, s: Fraction) -> Fraction:
    return p[0] + s * (p[1] + s * p[2])


def slope_at(p: Polynomial, s: Fraction) -> Fraction:
    return p[1] + 2 * s * p[2]


def sign(value: Fraction) -> int:
    """The sign of a number that is zero or clearly not."""
    if abs(value) < TINY:
        return 0
    if abs(value) < CLOSE:
        raise Unclear("a number is close to zero")
    return 1 if value > 0 else -1


def rounded(value: Fraction) -> Fraction:
    if value.denominator.bit_length() <= BITS:
        return value
    return Fraction(round(value * 2**BITS), 2**BITS)


def square_root(value: Fraction) -> Fraction:
    """Exact if it is rational; otherwise rounded."""
    over = value.denominator
    root = isqrt(value.numerator * over)
    if root * root == value.numerator * over:
        return Fraction(root, over)
    return Fraction(isqrt((value.numerator << 2 * BITS) // over), 1 << BITS)


def roots(p: Polynomial) -> list[Fraction]:
    """Where a polynomial changes its sign, in order; none if it rests at zero."""
    c, b, a = p
    if a == 0:
        return [-c / b] if b != 0 else []
    turn, extreme = -b / (2 * a), c - b * b / (4 * a)
    if extreme * a >= 0:
        return []
    half = square_root(-extreme / a)
    return [turn - half, turn + half]


def grazes(p: Polynomial, until: Fraction) -> bool:
    """Whether it turns so close to zero that rounding decides whether it crosses."""
    c, b, a = p
    if a == 0 or not TINY < -b / (2 * a) <= until + CLOSE:
        return False
    return abs(c - b * b / (4 * a)) < GRAZING


def evaluate(expression: Affine, states: Mapping[str, Fraction], time: Fraction) -> Fraction:
    values = {**states, "t": time, "": ONE}
    return sum((factor * values[name] for name, factor in expression.items()), ZERO)


def motion_of(rates: Mapping[str, Affine], states: States, time: Fraction) -> dict[str, Polynomial]:
    """The states as polynomials, by Picard's iteration, which has to end."""
    path = {name: (value, ZERO, ZERO) for name, value in states.items()}
    for _ in range(3):
        piece = Piece(time, time, "", path)
        slopes = {name: piece.polynomial(rates.get(name, {})) for name in states}
        assert all(slope[2] == 0 for slope in slopes.values()), "a motion of the third degree"
        path = {name: (states[name], slopes[name][0], slopes[name][1] / 2) for name in states}
    return path


# The motion from event to event.


class _Walk:
    """A motion that is being followed."""

    def __init__(self, model: Model) -> None:
        self.model, self.mode, self.time = model, next(iter(model.modes)), ZERO
        self.states: States = dict(model.initial)
        self.pieces: list[Piece] = []
        self.occurrences: list[Occurrence] = []
        self.counts = dict.fromkeys((event.name for event in model.events), 0)
        self.now: set[str] = set()  # events that have acted at this time
        self.settled: set[str] = set()  # groups whose events have just happened
        self.stopped = False
        self.errors = _Errors(list(self.states))

    def advance(self, end: Fraction) -> None:
        """Move to the next event and let all that are due then happen; or move to the end."""
        piece = self.ahead(end)
        crossings = {event.name: self.crossing(event, piece) for event in self.watched()}
        times = [time for time in crossings.values() if time is not None]
        piece = replace(piece, end=min(times, default=end))
        due = [event for event in self.watched() if _same(crossings[event.name], piece.end)]
        self.check(piece, due)
        self.pieces.append(piece)
        self.time, self.now = piece.end, set()
        self.states = {name: rounded(at(p, piece.length)) for name, p in piece.states.items()}
        self.settled = {event.group for event in due}
        if due:
            self.errors.reach(due, piece, self.model.modes[self.mode])
            self.happen(due)
            self.errors.leave(self.ahead(end))

    def ahead(self, end: Fraction) -> Piece:
        """The motion in this mode up to `end`, if nothing happens."""
        path = motion_of(self.model.modes[self.mode], self.states, self.time)
        return Piece(self.time, end, self.mode, path)

    def watched(self) -> list[Event]:
        return [event for event in self.model.events if self.mode in event.modes]

    def crossing(self, event: Event, piece: Piece) -> Fraction | None:
        """When the motion next takes the event's expression over zero in its direction."""
        p = piece.polynomial(event.when)
        if sign(p[0]) == 0 and event.group not in self.settled:
            self.errors.coincide()
        for s in roots(p):
            if TINY < s < CLOSE:
                raise Unclear("an event is right behind another")
            late = rounded(piece.start + s) - piece.end
            right_way = event.direction in (0, 1 if slope_at(p, s) > 0 else -1)
            if s > TINY and right_way and late < CLOSE:
                if TINY <= abs(late) < CLOSE:
                    raise Unclear("an event is close to the end")
                return piece.end + late if late < -TINY else piece.end
        return None

    def check(self, piece: Piece, due: list[Event]) -> None:
        """That no rounding can let another event happen on a piece, or one that is due not."""
        for event in self.watched():
            p = piece.polynomial(event.when)
            if grazes(p, piece.length):
                raise Unclear("a parabola touches zero")
            sign(at(p, piece.length))
            if event in due and abs(slope_at(p, piece.length)) < SLOW:
                raise Unclear("an expression crosses zero slowly")
        if len(self.occurrences) > MAX_EVENTS:
            raise Unclear("there are too many events")

    def happen(self, due: list[Event]) -> None:
        """Let events that are due happen in the order of the file."""
        mode, judged = self.mode, dict[str, list[Event]]()
        late = False  # whether an event happened after one that changed the mode
        for event in due:
            if event.group not in judged:
                same = [other for other in due if other.group == event.group]
                judged[event.group] = [other for other in same if self.allowed(other)]
            if event in judged[event.group]:
                late = late or self.mode != mode
                self.act(event)
            if self.stopped:
                return
        if self.mode != mode:
            self.enter("an event at an entry and one after a change of mode" if late else "")
        elif late:
            raise Unclear("a mode is left and entered at one time")

    def enter(self, unclear: str) -> None:
        """Let events with `at_entry` happen; `unclear` says why their order may not be."""
        for _ in range(10):
            mode = self.mode
            for event in self.model.events:
                if event.at_entry and self.past_zero(event) and self.allowed(event):
                    if unclear:
                        raise Unclear(unclear)
                    self.act_at_entry(event)
                if self.stopped or self.mode != mode:
                    break
            if self.stopped or self.mode == mode:
                return
        raise Unclear("modes follow each other without end")

    def act_at_entry(self, event: Event) -> None:
        """Let an event happen that changes nothing for others with its expression and at_entry."""
        behind = self.model.events[self.model.events.index(event) + 1 :]
        others = [other for other in behind if other.at_entry and other.group == event.group]
        before = [self.past_zero(other) and self.allowed(other) for other in others]
        self.act(event)
        if before != [self.past_zero(other) and self.allowed(other) for other in others]:
            raise Unclear("events with one expression at an entry")

    def allowed(self, event: Event) -> bool:
        """Whether the mode is one of the event's and its condition holds."""
        if self.mode not in event.modes:
            return False
        values = [evaluate(each, self.states, self.time) for each in event.condition]
        if any(abs(value) < CLOSE for value in values):
            raise Unclear("a condition is close to its limit")
        return all(value > 0 for value in values)

    def past_zero(self, event: Event) -> bool:
        """At an entry: past zero, or exactly at zero and on its way in the event's direction."""
        if self.mode not in event.modes:
            return False
        p = self.ahead(self.time).polynomial(event.when)
        side = next((s for s in map(sign, p) if s != 0), 0)
        return side != 0 and event.direction in (0, side)

    def act(self, event: Event) -> None:
        """Let one event happen."""
        if event.name in self.now and event.acts:
            raise Unclear("an event happens twice at one time")
        if event.name in self.now:
            return
        self.now.add(event.name)
        self.occurrences.append(Occurrence(self.time, event.name, dict(self.states)))
        values = {name: evaluate(e, self.states, self.time) for name, e in event.sets.items()}
        self.states |= values
        self.errors.set(event.sets)
        self.mode = event.then or self.mode
        self.counts[event.name] += 1
        self.stopped = self.counts[event.name] == event.stop_after


def _same(time: Fraction | None, other: Fraction) -> bool:
    """Whether two times are one; those that are close are unclear."""
    return time is not None and sign(time - other) == 0


class _Errors:
    """How roundings at each event grow: their sensitivities now, in floating point."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.eye = names, np.eye(len(names))
        self.all = self.eye[None]  # by event, of the states now to the states then
        self.before, self.gradient, self.jump = self.eye[0], self.eye[0], self.eye

    def reach(self, due: list[Event], piece: Piece, rates: Mapping[str, Affine]) -> None:
        """Take them to the end of a piece, where events are due."""
        matrix = np.array([self.row(rates.get(name, {})) for name in self.names])
        matrix *= float(piece.length)
        self.all = (self.eye + matrix + matrix @ matrix / 2) @ self.all
        if len({event.group for event in due}) > 1:
            self.coincide()
        slope = float(slope_at(piece.polynomial(due[0].when), piece.length))
        self.before, self.gradient = self.slopes(piece, piece.end), -self.row(due[0].when) / slope
        self.jump = self.eye

    def coincide(self) -> None:
        """Refuse to take two expressions for zero at one time after too many roundings."""
        if self.sum() > MAX_GROWTH_AT_COINCIDENCE:
            raise Unclear("a coincidence after many events")

    def set(self, sets: Mapping[str, Affine]) -> None:
        jump = self.eye.copy()
        for name, expression in sets.items():
            jump[self.names.index(name)] = self.row(expression)
        self.jump = jump @ self.jump

    def leave(self, piece: Piece) -> None:
        """Add what an event that is late or early changes: the rates before and after it differ."""
        change = self.jump @ self.before - self.slopes(piece, piece.start)
        step = self.jump + np.outer(change, self.gradient)
        self.all = np.concatenate([step @ self.all, self.eye[None]])
        if self.sum() > MAX_GROWTH:
            raise Unclear("roundings grow too much")

    def row(self, expression: Affine) -> np.ndarray:
        return np.array([float(expression.get(name, ZERO)) for name in self.names])

    def slopes(self, piece: Piece, time: Fraction) -> np.ndarray:
        s = time - piece.start
        return np.array([float(slope_at(piece.states[name], s)) for name in self.names])

    def sum(self) -> float:
        return float(np.abs(self.all).sum(axis=2).max(axis=1).sum())
