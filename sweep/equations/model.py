"""A model from a file as a table, like those of the shipped models, and when its motion ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

from sweep.equations.cpp_code import REVISION
from sweep.equations.cpp_struct import PREFIX
from sweep.equations.derived import inputs, value_of
from sweep.equations.expressions import text_of
from sweep.equations.model_indices import Index
from sweep.equations.output_kinds import KINDS
from sweep.equations.rates import written_out
from sweep.equations.schemes import SCHEMES, Scheme
from sweep.equations.sides import Sides
from sweep.equations.system import HOLD, PERIOD, System
from sweep.equations.system_file import system_of_text
from sweep.errors import FaultError
from sweep.model.elements import base, element
from sweep.model.table import (
    Labels,
    Method,
    Model,
    Observable,
    Output,
    Parameter,
    Substitute,
    sentences,
)
from sweep.model.windows import IN_CYCLES, IN_TIME, RELATIONS, end_in_time

WINDOW = IN_TIME.parameter_set(
    "by_time",
    symbols=("t_0", "t_1"),
    meanings=(
        "start of the time over which outputs are taken",
        "end of the motion, and of the time over which outputs are taken",
    ),
    default_start=0.0,
)
CYCLES = IN_CYCLES.parameter_set(
    "by_cycles",
    symbols=("n_0", "n_1"),
    meanings=(
        "periods before the time over which outputs are taken",
        "periods until the end of the motion",
    ),
    default_start=0.0,
)

LEAST_CHUNK = 48  # whole packs of 2 and of 3 vectors, of up to 8 points each
PACKED_STATES = 4  # at most: with more, several vectors of points do not fit the registers
PACKED_VALUES = 1024  # kept at most: with more, they would not fit a thread's stack

SENTENCES = sentences(
    not_converged="more steps than maximum_steps or more events than maximum_events (raise these); "
    "events accumulate, as impacts do whose intervals shrink to nothing (end the motion before "
    "that by an event with stop, or give rest a mode); or the motion stays where a relation in a "
    "derivative changes, such as sign(v) at v = 0 (give sticking a mode)",
    diverged="a state overflows, or steps became shorter than rounding allows",
    outside_validity="an argument leaves the range of its function (a square root or "
    "logarithm of a negative number, an angle above 1e9), the samples of a signal end, the period "
    "is not above 0, the motion cannot start from its initial values, or the window is empty: it "
    "has to end after its start, and the motion must not stop before that; or the model has "
    "conditions in [holds] and one is violated",
)


@lru_cache(maxsize=64)
def model_of_text(text: str) -> Model:
    """The model of a canonical text, as a store has it. ConfigError if it is not."""
    return model_of(system_of_text(text))


def model_of(system: System) -> Model:
    """The table of a model from a file."""
    unit, written = system.time_unit, system.as_written
    sets = (WINDOW, CYCLES) if system.period is not None else (WINDOW,)
    return Model(
        name=system.name,
        title=system.title,
        source=system.source,
        parameters=system.parameters,
        parameter_sets=tuple(
            replace(each, parameters=_in_unit(each.parameters, unit)) for each in sets
        ),
        outputs=(
            *(
                Output(
                    name=rule.name,
                    unit=rule.unit,
                    long_name=rule.meaning,
                    kind="count" if KINDS[rule.kind].is_whole else "real",
                    optional=True,  # a quotient may be 0/0, an event may not happen
                    over=_labels(written, rule.name),
                    values=rule.keep or 0,
                )
                for rule in written.outputs
            ),
            *([Output(name=HOLD, unit="1", long_name=HOLD)] if system.names_hold else []),
        ),
        methods=tuple(
            _method(scheme, system)
            for scheme in SCHEMES.values()
            if len(system.states) <= scheme.max_states
        ),
        substitutes=tuple(
            Substitute(
                parameters=(each,),
                derived=dict.fromkeys(_elements(system, each.name), each.name),
                yields=True,
            )
            for each in written.parameters
            if each.name in written.over
        ),
        relations=RELATIONS,
        sentences=SENTENCES,
        observables=(
            *(
                _observable(written, each.name, each.unit, each.meaning)
                for each in (*written.states, *written.definitions)
            ),
            *(
                _observable(written, each.name, "1", each.name.replace("_", " "), each.values)
                for each in written.automata
            ),
        ),
        clock=Observable(name="time", unit=unit, long_name="time"),
        prefix=PREFIX,
        text=system.text,
    )


def _observable(
    written: System, name: str, unit: str, meaning: str, flags: tuple[str, ...] = ()
) -> Observable:
    """A state, definition or switch, with its elements if it has indices."""
    indices = _indices(written, name)
    places = product(*(index.places for index in indices))
    return Observable(
        name=name,
        unit=unit,
        long_name=meaning,
        flags=flags,
        over=_labels(written, name),
        elements=tuple(element(name, each) for each in places) if indices else (),
    )


def _elements(system: System, name: str) -> list[str]:
    """The elements of a parameter over indices."""
    return [each.name for each in system.parameters if each.name != name == base(each.name)]


def _indices(written: System, name: str) -> list[Index]:
    """The indices that a name has, in its order."""
    by_name = {index.name: index for index in written.indices}
    return [by_name[index] for index in written.over.get(name, ())]


def _labels(written: System, name: str) -> tuple[Labels, ...]:
    """The indices of a name as dimensions of results."""
    return tuple(
        Labels(
            index.name,
            index.labels or tuple(range(index.size)),
            index.name.replace("_", " "),
        )
        for index in _indices(written, name)
    )


def _in_unit(parameters: tuple[Parameter, ...], unit: str) -> tuple[Parameter, ...]:
    """The same parameters, with times in the unit of the model's time."""
    return tuple(replace(each, unit=unit) if each.unit == "s" else each for each in parameters)


def _method(scheme: Scheme, system: System) -> Method:
    has_sides = len(Sides(written_out(system))) > 0
    return Method(
        name=scheme.name,
        revision=REVISION,
        summary=scheme.summary,
        parameters=_in_unit(scheme.controls, system.time_unit),
        registers=scheme.registers[has_sides] if scheme.registers else None,
        least_chunk=LEAST_CHUNK,
        traced=True,
    )


def pack_of(method: str, system: System, outputs: Collection[str]) -> int:
    """How many vectors of points a processor computes at a time."""
    if len(system.states) > PACKED_STATES or system.values_kept > PACKED_VALUES:
        return 1
    system = written_out(system)
    named = any(rule.event for rule in system.outputs if base(rule.name) in outputs)
    return SCHEMES[method].packs[system.acting or named or len(Sides(system)) > 0]


# When the motion ends, as far as its parameters tell before it is computed. Values are numbers, or
# arrays of one value for each point.


def causes_in_window(system: System, values: Mapping[str, Any]) -> dict[str, Any]:
    """By sentence, where the period or the end of a signal takes a point outside validity."""
    causes: dict[str, Any] = {}
    period = _period(system, values)
    counts = IN_CYCLES.end in values or any(rule.every == PERIOD for rule in system.outputs)
    if period is not None and counts:
        causes["the period has to be above 0"] = ~(period > 0)
    for name, last, end in signal_ends(system, values, by_draw=True):
        causes[f"{name} ends at {last!r} {system.time_unit}, before the motion"] = end > last
    return causes


def signal_ends(
    system: System, values: Mapping[str, Any], *, by_draw: bool = False
) -> Iterator[tuple[str, float, Any]]:
    """Each signal, its last time and the end of the motion, if no event may end that before.

    Signals by draw, whose time is their duration, are among them only if they are wanted.
    """
    end = end_in_time(values, _period(system, values))
    if end is None or any(event.stop_after for event in system.events):
        return
    for signal in system.signals:
        yield signal.name, signal.table.times[-1], end
    for signal in system.drawn if by_draw else ():
        yield signal.name, signal.duration, end


def _period(system: System, values: Mapping[str, Any]) -> Any:
    """The period; None without one, or if it has an input or a function whose value is unknown."""
    if system.period is None:
        return None
    text = text_of(system.period)
    try:
        return value_of(text, values) if values.keys() >= {*inputs(text)} else None
    except FaultError:
        return None
