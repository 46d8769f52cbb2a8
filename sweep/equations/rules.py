"""What some outputs in a model's file have beside an expression: when values are taken, of what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sweep.equations.entries import ModelTable
from sweep.equations.event_entries import AN_EVENT
from sweep.equations.output_kinds import KINDS, TIME
from sweep.equations.system import PERIOD, SAMPLES_OF, Line, Rule
from sweep.text.wording import written

MAX_PERIOD = 256  # in which twice as many values are compared, of up to 8 expressions
MAX_REPEATS = 8
SIGNAL = ("a signal", "write one with times and values in [signals]")


def taken_at(
    table: ModelTable, events: Sequence[str], has_period: bool
) -> tuple[str | None, str | None]:
    """When values are taken, and the event that says so if one does."""
    every = table.get("every")
    if every is None:
        table.missing("every", f'write every = "{PERIOD}" or the name of an event')
    elif every == PERIOD and not has_period:
        cure = 'write period = "..." at the top of the file'
        table.fault("every", "the model has no period", cure)
    elif every != PERIOD:
        return cast("str | None", every), table.reference("every", events, *AN_EVENT)
    return PERIOD, None


def signal_sampled(table: ModelTable, signals: Sequence[str]) -> str | None:
    """The signal at whose samples an output is taken; None if it is not taken at any."""
    at = table.get("at")
    if not isinstance(at, str) or not at.startswith(SAMPLES_OF):
        return None
    signal = at.removeprefix(SAMPLES_OF)
    table.refer("at", signal, signals, *SIGNAL)
    return signal


def interval_rule(
    name: str, table: ModelTable, events: Sequence[str], unit: str, meaning: str
) -> Rule:
    """The rule of an output of the times between occurrences of an event."""
    place = table.place_of("interval")
    table.reading.lines.append(Line(place, TIME, "number", "motion", name, 0))
    return Rule(
        name=name,
        kind="interval",
        expression=TIME,
        event=table.reference("interval", events, *AN_EVENT),
        take=table.choice("take", tuple(KINDS["interval"].taken), None),
        unit=unit,
        meaning=meaning,
    )


def period_rule(
    name: str, table: ModelTable, events: Sequence[str], has_period: bool, unit: str, meaning: str
) -> Rule:
    """The rule of an output of how many periods or events pass until values repeat."""
    value = table.get(PERIOD)
    is_list = isinstance(value, (list, tuple))
    texts = [*cast("Sequence[object]", value)] if is_list else []
    if not 1 <= len(texts) <= MAX_REPEATS or None in texts:
        what = f"{written(value)} is not a list of 1 to {MAX_REPEATS} expressions"
        table.fault(PERIOD, what, f'write {PERIOD} = ["x", "v"]')
        texts = []
    parts = [table.child({PERIOD: text}, table.name, table.position) for text in texts]
    every, event = taken_at(table, events, has_period)
    tolerance = table.number("tolerance", 1e-6) or 0.0
    if tolerance <= 0:
        table.fault("tolerance", f"{tolerance!r} is not above 0", "write 1e-6, for example")
    return Rule(
        name=name,
        kind=PERIOD,
        repeats=tuple(part.expression(PERIOD) for part in parts),
        every=every,
        event=event,
        most=table.whole("most", 1, MAX_PERIOD) or 16,
        tolerance=tolerance,
        unit=unit,
        meaning=meaning,
    )
