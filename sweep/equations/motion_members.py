"""Members of `struct System` for the motion: rates, their derivatives, where they end."""

from __future__ import annotations

from collections.abc import Iterable

from sweep.equations.derivatives import ONE, derivative
from sweep.equations.expressions import Call, Name
from sweep.equations.members import MOTION, TABLE, Writer, function


def rates(writer: Writer) -> Iterable[str]:
    """The derivatives of the states in whatever mode holds, by time or by a moment's waves."""
    rates = [writer.by_mode(name) for name in writer.states]
    yield writer.vector("rates", rates, MOTION)
    if writer.turns:
        code = writer.code(writer.phases)
        code.lines.append("real t = now.t;")
        moment = "Moment const& now, Vector<states> const& y"
        yield writer.vector("rates", rates, moment, code=code)
        writer.arithmetic = not any("functions::" in line for line in code.lines)
    slopes = [derivative(writer.inlined(phase), {"t": ONE}) for phase in writer.phases]
    turned = [Call("*", (slope, Name("t"))) for slope in slopes]
    yield writer.vector("phases", writer.phases, "real t", size="waves")
    yield writer.vector("turns_in", turned, "real t", size="waves")


def jacobian(writer: Writer) -> Iterable[str]:
    """The partial derivatives of the rates by the states, and by time."""
    rates = [writer.inlined(writer.by_mode(name)) for name in writer.states]
    code = writer.code()
    sets = [
        f"rows[{i}][{j}] = {code.value(derivative(rate, {name: ONE}))};"
        for i, rate in enumerate(rates)
        for j, name in enumerate(writer.states)
    ]
    head = f"void jacobian({MOTION}, Vector<states>* rows) const"
    yield function(head, [*code.lines, *sets])
    by_time = [derivative(rate, writer.by_time()) for rate in rates]
    yield writer.vector("rates_by_time", by_time, MOTION)


def outside(writer: Writer) -> str:
    """Where an argument has left the range of its function."""
    code = writer.code()
    for name in writer.states:
        code.outside(writer.by_mode(name))
    for event in writer.events[: writer.acting]:
        code.outside(event.when)
    ends = [
        f"outside = outside | functions::outside_signal<{TABLE}{signal.name}>(t);"
        for signal in writer.system.signals
    ]
    lines = ["mask outside = false;", *ends, *code.lines, "return outside;"]
    return function(f"mask outside({MOTION}) const", lines)
