"""The C++ header of a model from a file: its equations, events and outputs for kernels/systems/."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

from sweep.equations.cpp_code import Statements
from sweep.equations.cpp_events import (
    calls_events,
    event_members,
    event_rules,
    hold_members,
    starts,
)
from sweep.equations.cpp_kinks import (
    Kinks,
    extreme_rules,
    kink_members,
    kink_rules,
    kinks_of,
    n_levels,
)
from sweep.equations.cpp_struct import (
    FEW,
    LONG,
    MOTION,
    PREFIX,
    TABLE,
    Writer,
    choice,
    ends,
    function,
    jacobian,
    rates,
    sums_of,
    table,
)
from sweep.equations.expressions import ONE, ZERO
from sweep.equations.output_kinds import KINDS, EventSum
from sweep.equations.rates import written_out
from sweep.equations.schemes import SCHEMES
from sweep.equations.sides import Side
from sweep.equations.signals import DrawnSignal
from sweep.equations.system import PERIOD, Event, Rule, System
from sweep.equations.tabulated import jumps_text, table_text
from sweep.model.elements import base, is_of, spelled

REPEATS = "repeats_"  # of rings whose values give a period


def header_of(
    system: System, outputs: Collection[str], method: str, *, traced: bool = False
) -> str:
    """The text that stands where a shipped model has its header; only `outputs` are computed.

    With `traced`, the kernel also writes a log of the events.
    """
    scheme = SCHEMES[method]
    system = written_out(system)
    rules = [rule for rule in system.outputs if base(rule.name) in outputs]
    writer = Writer(system, rules, traced=traced, turns=scheme.has_constant_steps)
    outputs_member = _results(writer)  # first: it fills the sums
    kinks = kinks_of(writer)
    members = [
        writer.vector("initial", [state.initial for state in system.states]),
        writer.vector("scales", [state.scale for state in system.states]),
        *starts(writer),
        *rates(writer),
        *(jacobian(writer) if scheme.jacobian else ()),
        *event_members(writer),
        *ends(writer),
        *_integrals(writer, kinks),
        *hold_members(writer),
        *_at_events(writer),
        *_periods(writer),
        *_at_samples(writer),
        *_jumps(writer),
        _window(writer),
        outputs_member,
        writer.numbered("start", writer.sums.starts),
        _observables(writer),
    ]
    return "\n".join(
        [
            *(["#define CALLS_EVENTS"] if calls_events(writer) else ()),
            f"#define FEW {FEW}",
            f"#define LONG {LONG}",
            '#include "systems/functions.h"',
            *(['#include "systems/signals.h"'] if system.signals else ()),
            *(['#include "systems/drawn_signals.h"'] if system.drawn else ()),
            *(map(_drawn_text, system.drawn)),
            *(table_text(f"{TABLE}{each.name}", each.table) for each in system.signals),
            *([jumps_text("jumps_of_signals", writer.jumps)] if writer.jumps else ()),
            '#include "systems/ring.h"',
            *(['#include "event_log.h"'] if traced else ()),
            "namespace equations {",
            "using systems::Masks;",
            "using systems::Vector;",
            *_numbers(writer, kinks),
            event_rules(writer),
            kink_rules(writer, kinks),
            extreme_rules(writer),
            "struct System {",
            "Parameters const& p;",
            "Vector<switches> mode;",
            "Vector<held> side;  // of relations in derivatives",
            "Vector<levels> level;  // of each floor in an output or hold, along a part of a step",
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
            f"METHOD(systems::Motion<systems::{method.capitalize()}>)",
            "}",
            "",
        ]
    )


def _drawn_text(signal: DrawnSignal) -> str:
    """The struct of a signal by draw for kernels/systems/drawn_signals.h."""
    fields = {
        "int64 samples": signal.n_samples,
        "int64 elements": len(signal.elements),
        "double duration": repr(signal.duration),
        "double per_time": repr(signal.n_samples / signal.duration),
    }
    body = " ".join(f"static constexpr {name} = {value};" for name, value in fields.items())
    return f"struct {TABLE}{signal.name} {{ {body} }};"


def _numbers(writer: Writer, kinks: Kinks) -> Iterable[str]:
    """How many there are of everything, for the sizes of arrays."""
    counts = {
        "states": len(writer.states),
        "events": len(writer.events) if writer.system.acting else 0,
        "observed": 0 if writer.system.acting else len(writer.events),
        "integrals": len(writer.sums.integrands),
        "extremes": len(writer.sums.extremes),
        "straight_extremes": sum(map(writer.sides.is_affine, writer.sums.extremes)),
        "counts": len(writer.sums.counts),
        "event_sums": len(writer.sums.of_events),
        **{name: len(group) for name, group in kinks.items()},
        "holds": len(writer.system.holds),
        "levels": n_levels(kinks),
        "sides": len(writer.sides.watched),
        "seen": len(writer.watched),
        "held": len(writer.sides),
        "starts": len(writer.sums.starts),
        "sample_sums": len(writer.sums.of_samples),
        "sampled": len(writer.sums.sampled),
        "waves": len(writer.phases),
        "signals": len(writer.system.signals) + len(writer.system.drawn),
        "switches": len(writer.switches),
        "rests": sum(bool(event.rest) for event in writer.system.events),
        "entries": sum(event.at_entry for event in writer.system.events),
    }
    yield from (f"constexpr int {name} = {count};" for name, count in counts.items())
    yield "struct Waves { Vector<waves> sine, cosine; };"
    yield "struct Moment { real t; Waves waves; };"
    yield _flag("arithmetic", writer.arithmetic)
    yield _flag("jumps", bool(writer.jumps))
    kept = {rule.name: rule.keep or 1 for rule in writer.rules if rule.kind == "values"}
    periods = [rule for rule in writer.rules if rule.kind == PERIOD]
    most = max([*kept.values(), *(2 * (rule.most or 0) for rule in periods)], default=0)
    yield f"constexpr int most_kept = {most};"
    yield _flag("periodic", bool(_sampled(writer, PERIOD)))
    yield "struct Samples {"
    yield from (
        f"    systems::Ring<{keep}> {spelled(PREFIX, name)};" for name, keep in kept.items()
    )
    clears = [f"{spelled(PREFIX, name)}.clear();" for name in kept]
    for rule in periods:
        rings = spelled(REPEATS, rule.name)
        yield f"    systems::Ring<{2 * (rule.most or 0)}> {rings}[{len(rule.repeats)}];"
        clears.append(f"for (auto& ring : {rings}) ring.clear();")
    if writer.traced:
        yield "    real logged;"
        clears.append("logged = 0.0;")
    yield function("void clear()", clears)
    yield "};"
    yield _flag("hides_ranges", writer.sides.hide_ranges)
    yield _flag("names_hold", writer.system.names_hold)
    sums = [{"maximum": each.take == "maximum"} for each in writer.sums.of_events]
    yield table("EventSum", "sums_of_events", "bool maximum", sums)


def _flag(name: str, on: bool) -> str:
    return f"constexpr bool {name} = {str(on).lower()};"


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


def _integrals(writer: Writer, kinks: Kinks) -> Iterable[str]:
    """What is integrated, whose extremes are sought, and what has kinks."""
    yield writer.numbered("integrand", writer.sums.integrands)
    yield from writer.along("extreme", writer.sums.extremes)
    yield from kink_members(writer, kinks)


def _at_events(writer: Writer) -> Iterable[str]:
    """What is kept of each event from the state right before it, and what makes it NaN again.

    The latter is for where it cannot be said whether the event happens.
    """
    kept: list[list[str]] = []
    for event in writer.watched:
        body = _recorded(writer, event)
        if writer.traced and not isinstance(event, Side):  # its only lane has the event
            number = writer.system.events.index(event)
            body.append(f"log_event(sums.samples.logged, t, {number});")
        kept.append(body)
    arguments = f"Sums& sums, {MOTION}, mask here"
    yield choice("void record", arguments, kept, "", "class Sums")
    forgotten = [
        [f"{name} = select(here, missing(), {name});" for name in sums_of(writer, event)]
        for event in writer.watched
    ]
    yield choice("void forget", "Sums& sums, mask here", forgotten, "", "class Sums")


def _recorded(writer: Writer, event: Event) -> list[str]:
    code = writer.code()
    sets: list[str] = []
    of_event = sums_of(writer, event)
    # Intervals before the time from which the next one counts.
    for name, each in sorted(of_event.items(), key=lambda item: _is_time(item[1])):
        value = "1.0" if each is None else code.value(each.expression)
        here = "here"
        if each is not None and each.interval:
            (last,) = (name for name, other in of_event.items() if _is_time(other))
            value = f"({value} - {last})" if each.interval > 0 else f"({last} - {value})"
            here = f"here & (sums.count[{writer.sums.counts.index(event.name)}] > 1.0)"
        new = f"{name} + {value}"
        if each is not None and each.take != "sum":
            new = value if each.take == "last" else f"functions::max({value}, {name})"
        sets.append(f"{name} = select({here}, {new}, {name});")
    kept = _samples(writer, event.name, code)  # adds to the lines of `code`
    return [*code.lines, *sets, *kept]


def _is_time(each: EventSum | None) -> bool:
    """Whether it is the time of the last occurrence."""
    return each is not None and each.take == "last" and not each.interval


def _at_samples(writer: Writer) -> Iterable[str]:
    """The samples of signals at which something is summed, and the next jump of a signal."""
    tables = [f"{TABLE}{name}" for name in writer.sums.sampled]
    for word in ("from", "after"):
        bodies = [[f"return functions::sample_{word}<{table}>(t);"] for table in tables]
        yield choice(f"real sample_{word}", "real t", bodies, "return t;")
    adds: list[list[str]] = []
    for name in writer.sums.sampled:
        code = writer.code()
        sums: list[str] = []
        for i, (signal, each) in enumerate(writer.sums.of_samples):
            if signal == name:
                total = f"sums.of_samples[{i}]"
                sums.append(f"{total} = select(here, {total} + {code.value(each)}, {total});")
        adds.append([*code.lines, *sums])
    arguments = f"Sums& sums, {MOTION}, mask here"
    yield choice("void add_sample", arguments, adds, "", "class Sums")


def _jumps(writer: Writer) -> Iterable[str]:
    """When signals jump, and how a step that ends there sees them as they are before."""
    after, hold, passed = f"return {sys.float_info.max!r};", "", "return false;"
    if writer.jumps:
        after = "return functions::sample_after<jumps_of_signals>(t);"
        hold = "until = next_jump(t) * 0.9999999999999999;"  # the greatest number below it
        passed = "return t > until;"
        yield "real until;"
    yield function("real next_jump(real t) const", [after])
    yield function("void hold_signals(real t)", [hold])
    yield function("mask has_jumped(real t) const", [passed])


def _periods(writer: Writer) -> Iterable[str]:
    """The period, and the values taken at each."""
    period = writer.once.value(writer.system.period or ONE)
    yield function("real period() const", [f"return {period};"])
    code = writer.code()
    adds = _samples(writer, PERIOD, code)
    head = f"void sample(Sums& sums, {MOTION}, mask here) const"
    yield "template <class Sums>\n" + function(head, [*code.lines, *adds])


def _window(writer: Writer) -> str:
    """Start and end of the window, in the unit of time."""
    lines = ["return {p.window_start, p.window_end};"]
    if writer.system.period is not None:
        period = writer.once.value(writer.system.period)
        lines = [
            "if constexpr (parameter_set == ParameterSet::by_cycles)",
            f"    return {{p.start_cycle * {period}, p.end_cycle * {period}}};",
            "else",
            f"    {lines[0]}",
        ]
    return "struct Window { real start, end; };\n" + function("Window window() const", lines)


def _results(writer: Writer) -> str:
    """The outputs, from the sums and the last state."""
    code = writer.code()
    sets: list[str] = []
    numbers: dict[str, int] = {}
    for rule in writer.rules:
        name = base(rule.name)
        number = numbers[name] = numbers.get(name, -1) + 1
        out = f"out.{PREFIX}{name}"
        is_element = rule.name != name
        if rule.kind == "values":
            if is_element:  # a part of the array, as an array of its own
                keep = rule.keep or 1
                out = f"reinterpret_cast<real(&)[{keep}]>({out}[{number * keep}])"
            sets.append(f"sums.samples.{spelled(PREFIX, rule.name)}.write({out});")
            continue
        place = f"{out}{f'[{number}]' if is_element else ''}"
        if rule.kind == PERIOD:
            scales = [code.value(writer.typical_size(each)) for each in rule.repeats]
            reals = ", ".join(f"real({scale})" for scale in scales)
            rings, name = (
                f"sums.samples.{spelled(REPEATS, rule.name)}",
                spelled("scales_", rule.name),
            )
            sets.append(f"real const {name}[] = {{{reals}}};")
            result = f"systems::period_of({rings}, {name}, {rule.tolerance!r})"
        else:
            kind, expression = KINDS[rule.kind], rule.expression or ZERO
            result = kind.result(writer.sums, rule)
            if result is None:
                result = kind.at_end(writer.sums, expression, code.value(expression))
        sets.append(f"{place} = {result};")
    head = f"Outputs outputs(Sums const& sums, {MOTION}, real length) const"
    body = ["Outputs out;", *code.lines, *sets, "return out;"]
    return "template <class Sums>\n" + function(head, body)


def _observables(writer: Writer) -> str:
    """The states, the definitions and the switches, at one moment."""
    code = writer.code()
    values = {
        **{name: f"y[{i}]" for i, name in enumerate(writer.states)},
        **{each.name: code.value(each.value) for each in writer.system.definitions},
        **{name: f"mode[{k}]" for k, name in enumerate(writer.switches)},
    }
    sets = [f"seen.{spelled(PREFIX, name)} = {value};" for name, value in values.items()]
    head = f"Observables observables({MOTION}) const"
    return function(head, ["Observables seen;", *code.lines, *sets, "return seen;"])


def _sampled(writer: Writer, every: str) -> list[Rule]:
    """The outputs that have a value at every such event or period."""
    return [rule for rule in writer.rules if rule.every and is_of(every, rule.every)]


def _samples(writer: Writer, every: str, code: Statements) -> list[str]:
    """Statements that keep a value of each such output."""
    values = {
        spelled(PREFIX, rule.name) if rule.expression else f"{spelled(REPEATS, rule.name)}[{i}]": (
            code.value(v)
        )
        for rule in _sampled(writer, every)
        for i, v in enumerate([rule.expression] if rule.expression else rule.repeats)
    }
    return [f"sums.samples.{name}.add({v}, here);" for name, v in values.items()]
