"""Random models with events whose exact motion is known: their texts, and points for the oracle.

A structure is a model's text: states, modes and events, with parameters for rates, levels, starts
and what sets do. Each of its many points is a model of its own, and all are one sweep. Parameters
of most points are small multiples of 1/4 or of 1/10, so that events coincide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from tests.oracles.piecewise_linear import Affine, Event, Model, Unclear, follow

Values = Mapping[str, Fraction]
LONGEST = Fraction(8)  # the latest end of a window
DIRECTIONS = {1: "rising", -1: "falling", 0: "both"}


@dataclass(frozen=True)
class Expression:
    """A sum of terms: a number times a parameter (or "") times a state or t (or "")."""

    terms: tuple[tuple[Fraction, str, str], ...]

    @property
    def text(self) -> str:
        parts = []
        for number, *names in self.terms:
            factors = [repr(float(abs(number))), *(name for name in names if name)]
            factors = factors[1:] if abs(number) == 1 and len(factors) > 1 else factors
            parts.append(("-" if number < 0 else "+") + "*".join(factors))
        return "".join(parts).removeprefix("+") or "0"

    def at(self, values: Values) -> Affine:
        affine: dict[str, Fraction] = {}
        for number, parameter, name in self.terms:
            factor = number * (values[parameter] if parameter else 1)
            affine[name] = affine.get(name, Fraction(0)) + factor
        return affine


def sum_of(*terms: tuple[float, str, str]) -> Expression:
    return Expression(tuple((Fraction(number), *names) for number, *names in terms))


@dataclass(frozen=True)
class EventForm:
    """An event of a structure; all expressions of `condition` are positive where it holds."""

    name: str
    when: Expression
    turned: bool  # written as the negative of `when`
    direction: int  # of `when` itself
    modes: tuple[str, ...]
    condition: tuple[Expression, ...]
    sets: Mapping[str, Expression]
    then: str | None
    at_entry: bool
    stop_after: int | None

    def at(self, values: Values) -> Event:
        return Event(
            self.name, self.when.at(values), self.direction, frozenset(self.modes), self.when.text,
            tuple(each.at(values) for each in self.condition),
            {name: each.at(values) for name, each in self.sets.items()},
            self.then, self.at_entry, self.stop_after,
        )  # fmt: skip

    @property
    def text(self) -> str:
        when = f"-({self.when.text})" if self.turned else self.when.text
        direction = DIRECTIONS[-self.direction if self.turned else self.direction]
        sets = ", ".join(f'{name} = "{each.text}"' for name, each in self.sets.items())
        conditions = " and ".join(f"{each.text} > 0" for each in self.condition)
        lines = {
            "name": f'"{self.name}"',
            "when": f'"{when}"',
            "direction": f'"{direction}"',
            "in": str(list(self.modes)).replace("'", '"') if self.modes != ("",) else "",
            "if": f'"{conditions}"' if conditions else "",
            "set": f"{{ {sets} }}" if sets else "",
            "then": f'"{self.then}"' if self.then else "",
            "at_entry": "true" if self.at_entry else "",
            "stop_after": str(self.stop_after) if self.stop_after else "",
        }
        return "\n".join(
            ["[[events]]", *(f"{key} = {line}" for key, line in lines.items() if line)]
        )


@dataclass(frozen=True)
class Structure:
    """A model of parameters; `share` is the expression whose share above 0 is an output."""

    kinds: Mapping[str, str]  # of parameters, as of RANGES
    initial: Mapping[str, Expression]
    modes: Mapping[str, Mapping[str, Expression]]
    events: tuple[EventForm, ...]
    share: Expression

    def at(self, values: Values) -> Model:
        starts = {name: each.at(values).get("", Fraction(0)) for name, each in self.initial.items()}
        modes = {
            mode: {name: rate.at(values) for name, rate in rates.items()}
            for mode, rates in self.modes.items()
        }
        return Model(starts, modes, tuple(event.at(values) for event in self.events))

    @property
    def text(self) -> str:
        lines = ["[parameters]"]
        lines += [f"{name} = {{}}" for name in self.kinds]
        lines.append("[states]")
        lines += [f'{n} = {{ initial = "{each.text}" }}' for n, each in self.initial.items()]
        for mode, rates in self.modes.items():
            lines.append(f"[modes.{mode}]" if mode else "[derivatives]")
            lines += [f'{name} = "{rate.text}"' for name, rate in rates.items()]
        lines += [event.text for event in self.events]
        lines.append("[outputs]")
        for name in self.initial:
            lines.append(f'{name}_end = {{ final = "{name}" }}')
        lines += [
            'x_mean = { mean = "x" }',
            'y_size = { mean = "abs(y)" }',
            'x_largest = { maximum = "x" }',
            'y_largest = { maximum = "y" }',
            f'above = {{ share = "{self.share.text} > 0" }}',
        ]
        lines += [f'share_{mode} = {{ share = "{mode}" }}' for mode in self.modes if mode]
        for event in self.events:
            name = event.name
            lines += [
                f'{name}_count = {{ count = "{name}" }}',
                f'{name}_times = {{ values = "t", every = "{name}", keep = 4 }}',
                f'{name}_sum = {{ at = "{name}", sum = "x + 2*y" }}',
            ]
        return "\n".join(lines)


class _Draft:
    """A structure that is being written."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.kinds: dict[str, str] = {}
        count = self.random.choice((1, 2, 2, 2, 3))
        self.modes = ["one", "two", "three"][:count] if count > 1 else [""]
        self.states = ["x", "y", "z"][: self.random.choice((2, 3))]
        self.falls = self.random.random() < 0.3  # x'' is constant in each mode
        self.moving = [*self.states, *(["v"] if self.falls else [])]
        self.signs = {  # of rates
            (mode, name): self.random.choice((1, 1, -1, -1, 0))
            for mode in self.modes
            for name in self.moving
        }

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def parameter(self, kind: str) -> str:
        """A parameter of a kind: one in three times one that there is."""
        known = [name for name, of in self.kinds.items() if of == kind]
        if known and self.chance(1 / 3):
            return self.random.choice(known)
        name = f"{kind}{len(known)}"
        self.kinds[name] = kind
        return name

    def initial(self) -> dict[str, Expression]:
        starts = {name: sum_of((1, self.parameter("start"), "")) for name in self.moving}
        return {**starts, "n": sum_of()}

    def rates(self, mode: str) -> dict[str, Expression]:
        rates = {"n": sum_of()}
        for name in self.moving:
            number = self.signs[mode, name]
            rates[name] = sum_of((number, self.parameter("rate"), "")) if number else sum_of()
        return {**rates, "x": sum_of((1, "", "v"))} if self.falls else rates

    def when(self, x: str, sign: int) -> Expression:
        """A state that moves to a level, or a sum or a difference of two, or t."""
        y = self.random.choice([name for name in self.states if name != x])
        forms = {
            "state": ((1, "", x),),
            "difference": ((1, "", x), (-1, "", y)),
            "sum": ((1, "", x), (1, "", y)),
            "mixture": ((2, "", x), (-1, "", y)),
            "time": ((1, "", "t"),),
        }
        kind = self.random.choice(("state", "state", "state", "state", *forms))
        if kind in ("state", "difference") and self.chance(0.3):
            return sum_of(*forms[kind])
        return sum_of(*forms[kind], (-sign, self.parameter("level"), ""))

    def set(self, x: str, sign: int) -> dict[str, Expression]:
        """What an event sets that x meets on its way up or down: often back, by an amount."""
        y = self.random.choice([name for name in self.states if name != x])
        counted = {"n": sum_of((1, "", "n"), (1, "", ""))}
        kind = self.random.choice(("back",) * 4 + ("zero", "turned", "fixed", "swapped", "copied"))
        chosen = {
            "back": lambda: {x: sum_of((1, "", x), (-sign, self.parameter("amount"), ""))},
            "zero": lambda: {x: sum_of()},
            "turned": lambda: {x: sum_of((-1, self.parameter("gain"), x))},
            "fixed": lambda: {x: sum_of((1, self.parameter("start"), ""))},
            "swapped": lambda: {x: sum_of((1, "", y)), y: sum_of((1, "", x))},
            "copied": lambda: {x: sum_of((1, "", y), (-sign, self.parameter("amount"), ""))},
        }[kind]()
        if self.chance(0.2):
            return counted
        return {**chosen, **counted} if self.chance(0.4) else chosen

    def condition(self, x: str) -> tuple[Expression, ...]:
        y = self.random.choice([name for name in self.states if name != x])
        kind = self.random.randrange(4)
        if kind == 0:
            return (sum_of((1, "", y), (-1, self.parameter("start"), "")),)
        return (
            (sum_of((4.5, "", ""), (-1, "", "n")),),
            (sum_of((1, "", "n"), (-1.5, "", "")),),
            (sum_of((1, "", x), (-1, "", y), (0.0625, "", "")),),
        )[kind - 1]

    def event(self, name: str, before: list[EventForm]) -> EventForm:
        """An event; one in three has the expression of the event before."""
        random = self.random
        x, mode = random.choice(self.moving), random.choice(self.modes)
        sign = self.signs[mode, x] or random.choice((1, -1))
        when, turned, direction = self.when(x, sign), False, random.choice((sign,) * 6 + (0, -sign))
        if before and self.chance(1 / 3):
            when, turned = before[-1].when, self.chance(0.5)
            direction = random.choice((before[-1].direction,) * 3 + (0, 1, -1))
        inside = tuple(m for m in self.modes if m == mode or self.chance(0.3))
        others = [m for m in self.modes if m not in inside]
        back = [m for m in others if self.signs[m, x] == -sign]
        then = random.choice(back or others) if others and self.chance(0.7) else None
        alone = not before or when != before[-1].when or not before[-1].at_entry
        return EventForm(
            name, when, turned, direction, inside,
            self.condition(x) if self.chance(0.2) else (),
            self.set(x, sign) if self.chance(0.4 if then else 0.85) else {},
            then,
            at_entry=len(inside) == 1 and alone and self.chance(0.3),
            stop_after=random.choice((1, 2, 4, 8)) if self.chance(0.1) else None,
        )  # fmt: skip


def structure(seed: int) -> Structure:
    """A random structure with a lively motion: always the same one for a seed."""
    return next(
        each for each in map(drafted, range(1000 * seed, 1000 * (seed + 1))) if lively(each)
    )


def drafted(seed: int) -> Structure:
    draft = _Draft(seed)
    initial = draft.initial()
    modes = {mode: draft.rates(mode) for mode in draft.modes}
    events: list[EventForm] = []
    for number in range(draft.random.randint(2, 6)):
        events.append(draft.event(f"e{number}", events))
    share = sum_of((1, "", draft.random.choice(draft.states)), (-1, draft.parameter("limit"), ""))
    return Structure(draft.kinds, initial, modes, tuple(events), share)


def lively(structure: Structure) -> bool:
    """Whether three of four points have at least three events, and an answer."""
    random, happened = Random(0), 0
    for _ in range(4):
        try:
            motion = follow(structure.at(point(structure, random)), LONGEST)
        except Unclear:
            continue
        happened += len(motion.occurrences) >= 3
    return happened >= 3


# Values of parameters by grid: multiples of 1/4, of 1/10, or any.
STEPS = {"dyadic": Fraction(1, 4), "decimal": Fraction(1, 10)}
RANGES = {"rate": (0.25, 2.0), "level": (0.25, 1.25), "start": (-0.5, 0.5), "gain": (0.5, 1.0),
          "amount": (0.25, 1.5), "limit": (-1.0, 1.0)}  # fmt: skip


def point(structure: Structure, random: Random) -> dict[str, Fraction]:
    """Values of all parameters."""
    grid = random.choice(("dyadic", "dyadic", "decimal", "any"))
    return {name: _value(kind, grid, random) for name, kind in structure.kinds.items()}


def _value(kind: str, grid: str, random: Random) -> Fraction:
    value = Fraction(random.uniform(*RANGES[kind]))
    if grid in STEPS:
        value = round(value / STEPS[grid]) * STEPS[grid]
    return value + Fraction(1, 32) if kind == "limit" else value  # no state rests there
