"""The C++ header of a model from a file: its equations, events and outputs for kernels/systems/."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sweep.equations.members import PREFIX, TABLE, Writer, constants, flag, function
from sweep.equations.motion_members import (
    event_members,
    event_rule,
    forget,
    jacobian,
    next_sample,
    outside,
    rates,
    record,
)
from sweep.equations.output_members import (
    integrals,
    kink_rules,
    kinks_of,
    observables,
    periods,
    results,
    sampled,
    window,
)
from sweep.equations.schemes import SCHEMES
from sweep.equations.system import PERIOD, System
from sweep.equations.tabulated import table_text


def header_of(
    system: System, outputs: Collection[str], method: str, *, traced: bool = False
) -> str:
    """The text that stands where a shipped model has its header; only `outputs` are computed.

    With `traced`, the kernel also writes a log of the events.
    """
    scheme = SCHEMES[method]
    rules = [rule for rule in system.outputs if rule.name in outputs]
    writer = Writer(system, rules, traced=traced, turns=scheme.has_constant_steps)
    outputs_member = results(writer)  # first: it fills the sums
    members = [
        writer.vector("initial", [state.initial for state in system.states]),
        writer.vector("scales", [state.scale for state in system.states]),
        *rates(writer),
        *(jacobian(writer) if scheme.jacobian else ()),
        *event_members(writer),
        outside(writer),
        next_sample(writer),
        *integrals(writer),
        record(writer),
        forget(writer),
        *periods(writer),
        window(writer),
        outputs_member,
        observables(writer),
    ]
    return "\n".join(
        [
            '#include "systems/functions.h"',
            *(['#include "systems/signals.h"'] if system.signals else ()),
            *(table_text(f"{TABLE}{each.name}", each.table) for each in system.signals),
            '#include "systems/ring.h"',
            *(['#include "event_log.h"'] if traced else ()),
            "namespace equations {",
            "using systems::Vector;",
            *_numbers(writer),
            *(event_rule(writer, number) for number in range(len(writer.numbered_events))),
            "template <int k> struct KinkRule;",
            *kink_rules(writer),
            "struct System {",
            "Parameters const& p;",
            "real mode = 0.0;",
            "Vector<held> side;  // of relations in derivatives",
            "Vector<levels> level;  // of each floor in an integrand, along a part of a step",
            *_constants(writer),  # last: all members have asked for theirs
            *members,
            "};",
            "HD Span span(Parameters const& p) {",
            "    auto window = System(p).window();",
            "    return {window.start, window.end};",
            "}",
            "}  // namespace equations",
            f'#include "systems/{method}.h"',
            '#include "systems/motion.h"',
            '#include "method.h"',
            f"namespace {method} {{",
            f"METHOD(systems::Motion<systems::{scheme.struct}>)",
            "}",
            "",
        ]
    )


def _numbers(writer: Writer) -> Iterable[str]:
    """How many there are of everything, for the sizes of arrays."""
    kinks = kinks_of(writer)
    counts = {
        "states": len(writer.states),
        "events": len(writer.events) if writer.system.acting else 0,
        "observed": 0 if writer.system.acting else len(writer.events),
        "integrals": len(writer.sums.integrands),
        "extremes": len(writer.sums.extremes),
        "counts": len(writer.sums.counts),
        "event_sums": len(writer.sums.of_events),
        "kinks": len(kinks),
        "levels": max((kink.level + 1 for kink in kinks), default=0),
        "sides": len(writer.sides.watched),
        "held": len(writer.sides),
        "waves": len(writer.phases),
        "signals": len(writer.system.signals),
    }
    yield from (f"constexpr int {name} = {count};" for name, count in counts.items())
    yield "struct Waves { Vector<waves> sine, cosine; };"
    yield "struct Moment { real t; Waves waves; };"
    yield f"constexpr bool arithmetic = {flag(writer.arithmetic)};"
    entry = any(event.at_entry for event in writer.system.events)
    kept = {rule.name: rule.keep or 1 for rule in writer.rules if rule.kind == "values"}
    yield f"constexpr int most_kept = {max(kept.values(), default=0)};"
    yield f"constexpr bool periodic = {flag(bool(sampled(writer, PERIOD)))};"
    yield "struct Samples {"
    yield from (f"    systems::Ring<{keep}> {PREFIX}{name};" for name, keep in kept.items())
    clears = [f"{PREFIX}{name}.clear();" for name in kept]
    if writer.traced:
        yield "    real logged;"
        clears.append("logged = 0.0;")
    yield function("void clear()", clears)
    yield "};"
    yield f"constexpr double start_mode = {writer.modes.index(writer.system.start_mode)}.0;"
    yield f"constexpr bool hides_ranges = {flag(writer.sides.hide_ranges)};"
    yield f"constexpr bool entry_events = {flag(entry)};"
    yield "template <int i> struct EventSum { static constexpr bool maximum = false; };"
    for i, each in enumerate(writer.sums.of_events):
        if each.is_maximum:
            yield constants("EventSum", i, {"bool maximum": "true"})
    yield "template <int e> struct Rule;"


def _constants(writer: Writer) -> Iterable[str]:
    """Members for what is constant per point, and the constructor that computes them."""
    assignments: list[str] = []
    for line in writer.once.lines:
        if line.startswith("functions::"):
            assignments.append(line)
        elif " = " not in line:  # of sine and cosine
            yield line
        else:
            kind, rest = line.split(" ", 1)
            yield f"{kind} {rest.split(' ', 1)[0]};"
            assignments.append(rest)
    yield "HD explicit System(Parameters const& p) : p(p) {"
    yield from (f"    {line}" for line in assignments)
    yield "}"
