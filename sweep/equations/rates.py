"""`rate(expression)`: its derivative along the motion, written out in a model's expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from sweep.equations.expressions import ONE, ZERO, Call, Expression, Name, inlined, names_in, walk
from sweep.equations.functions import RATE, RATE_CALL, derivative, where
from sweep.equations.system import System
from sweep.errors import Fault, FaultError

MAX_PARTS = 5_000  # of a rate that is written out


def has_rate(expression: Expression) -> bool:
    """Whether an expression has a `rate(...)` in it."""
    return any(isinstance(part, Call) and part.function == RATE_CALL for part in walk(expression))


def written_out(system: System) -> System:
    """The system without `rate(...)`, and with the signals marked whose rates are taken."""
    if not any(map(has_rate, _expressions(system))):
        return system
    rates = _Rates(system)

    def each(expression: Expression | None, mode: str | None = None) -> Expression | None:
        return None if expression is None else rates.written_out(expression, mode)

    def table(entries: Mapping[str, Expression], mode: str | None = None) -> dict[str, Expression]:
        return {name: rates.written_out(value, mode) for name, value in entries.items()}

    return replace(
        system,
        definitions=tuple(
            replace(d, value=rates.written_out(d.value, None)) for d in system.definitions
        ),
        modes={mode: table(own, mode) for mode, own in system.modes.items()},
        events=tuple(
            replace(
                event,
                when=rates.written_out(event.when, None),
                condition=each(event.condition),
                sets=table(event.sets),
            )
            for event in system.events
        ),
        outputs=tuple(
            replace(
                rule,
                expression=each(rule.expression),
                repeats=tuple(rates.written_out(part, None) for part in rule.repeats),
            )
            for rule in system.outputs
        ),
        signals=tuple(
            replace(signal, has_rate=signal.name in rates.of_signals) for signal in system.signals
        ),
    )


def rate_faults(system: System) -> Iterator[Fault]:
    """What is wrong with each `rate(...)` of a system whose names are known."""
    rates = _Rates(system)
    for line in system.lines if system.modes else ():
        if not has_rate(line.expression):
            continue
        if line.scope == "constant":
            yield Fault(line.place, "rate() of what is constant", "write 0")
            continue
        try:
            rates.written_out(line.expression, None)
        except FaultError as error:
            yield Fault(line.place, error.what, error.cure)


def _expressions(system: System) -> Iterator[Expression]:
    """Every expression of a system that may have a rate."""
    yield from (each.value for each in system.definitions)
    for own in system.modes.values():
        yield from own.values()
    for event in system.events:
        yield event.when
        yield from filter(None, [event.condition, *event.sets.values()])
    for rule in system.outputs:
        yield from filter(None, [rule.expression, *rule.repeats])


class _Rates:
    """Rates of a system's expressions, in a mode or in whatever mode holds."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.of_signals: dict[str, None] = {}  # the signals whose rates are taken
        self._definitions = {each.name: each.value for each in system.definitions}
        self._signals = {*system.signal_names}
        self._states = {each.name for each in system.states}
        self._known: dict[tuple[str, str | None], Expression] = {}
        self._open: dict[str, None] = {}  # states whose derivatives are being written out

    def written_out(self, expression: Expression, mode: str | None) -> Expression:
        """The expression without `rate(...)`; FaultError if one of them has no value."""
        if not isinstance(expression, Call) or not has_rate(expression):
            return expression
        arguments = expression.arguments
        if expression.function != RATE_CALL:
            parts = tuple(self.written_out(each, mode) for each in arguments)
            return replace(expression, arguments=parts)
        inner = self.written_out(inlined(arguments[0], self._definitions), mode)
        rates: dict[str, Expression] = {"t": ONE}
        for name in names_in(inner):
            if name.startswith(RATE):
                what = f"{name.removeprefix(RATE)} is a signal, whose rate has no rate"
                raise FaultError(what, "make it a state that follows the signal")
            if name in self._signals:
                self.of_signals[name] = None
                rates[name] = Name(RATE + name)
            elif name in self._states:
                rates[name] = self._of_state(name, mode)
        rate = derivative(inner, rates)
        if len(list(islice(walk(rate), MAX_PARTS + 1))) > MAX_PARTS:
            raise FaultError(f"a rate of more than {MAX_PARTS:,} parts", "use shorter expressions")
        return rate

    def _of_state(self, name: str, mode: str | None) -> Expression:
        """The derivative of a state, without definitions."""
        if mode is None:
            *others, last = [(each, self._of_state(name, each)) for each in self.system.modes]
            rate = last[1]
            for each, own in reversed(others):
                rate = where(Name(each), own, rate)
            return rate
        if (name, mode) not in self._known:
            if name in self._open:
                circle = " uses ".join(f"rate({each})" for each in (*self._open, name))
                raise FaultError(f"a rate is defined by itself: {circle}", "write it without")
            self._open[name] = None
            own = inlined(self.system.modes[mode].get(name, ZERO), self._definitions)
            try:
                self._known[name, mode] = self.written_out(own, mode)
            finally:
                del self._open[name]
        return self._known[name, mode]
