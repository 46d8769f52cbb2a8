"""One point of a sweep, observed while it advances: its motion over time as a Dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from operator import index
from pathlib import Path
from typing import cast

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from sweep.equations.system_file import system_of_text
from sweep.errors import SweepError
from sweep.file import load
from sweep.file.overrides import Changes
from sweep.kernel.source import kernel_of
from sweep.kernel.tracer import Seen, Span, Tracer
from sweep.model.table import DTYPES, MISSING, Observable
from sweep.model.windows import period_of
from sweep.points.chunking import chunk_at
from sweep.points.columns import points
from sweep.request.chunk import Values
from sweep.request.sweeps import VALUES_IN_MEMORY, Axis, Sweep
from sweep.store import layout
from sweep.text.wording import listed, shown

PROVENANCE = ("Conventions", "title", "source", "references", "model", "method", "revision")
MAX_SAMPLES = 10**8  # some gigabytes
MAX_CENTRE_SHIFT = (
    0.02  # share of its height by which a loop may be off centre: the error of few steps
)
SLACK = 1e-9  # how far beyond the ends a time may lie by rounding, over the last time


def trace(
    source: str | Path | Mapping[str, object],
    at: Mapping[str, float | str] | None = None,
    overrides: Changes = (),
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    start: float | None = None,
    end: float | None = None,
    cycles: float | None = None,
) -> xr.Dataset:
    """Trace the motion of one point of a sweep over time.

    `source` and `overrides` are as in sweep.run. `at` sets parameters, in SI units or as text with
    a unit: each one that has several values in the sweep, to any value, and others as needed.
    Parameters that vary together are set by the name of their axis and a number, from 0: {"case":
    2}, or {"point": 17} in a sample. The motion is sampled either at `times` (ascending, in s; rad
    for mdr_contact) or at `samples` times from `start` to `end`, by default the ends of the sweep's
    window, or over the last `cycles` of the excitation before the end. The attribute `cycle` is the
    duration of one, if there are any.

    The Dataset has the dimension `time`, the model's observables along it (`sweep models NAME`),
    every parameter as a scalar coordinate, and the point's `status` in the sweep. `exact`
    methods, `newmark` and `harmonic_balance` give the motion at the times themselves. Other methods
    with a step give the last of their states at or before each time, each state once; `time` is
    then the time of the state. If the computation ends early, later values are missing; a point
    without motion has none. If the model is a file with events, the attribute `events` lists them
    in JSON, [[time, name], ...]: those from the first to the last time, among the first 10,000 of
    the motion.
    SweepError if the request cannot be met.
    """
    if not isinstance(cast(object, at or {}), Mapping):
        raise SweepError(f"at={shown(at)} is not a mapping. Give values by name, as a dict")
    values = {
        name: value if isinstance(value, str) else np.asarray(value).tolist()
        for name, value in (at or {}).items()
    }
    sweep = load(source, overrides, at=values).sweep.points
    return trace_point(sweep, times=times, samples=samples, start=start, end=end, cycles=cycles)


def trace_point(
    sweep: Sweep,
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    start: float | None = None,
    end: float | None = None,
    cycles: float | None = None,
) -> xr.Dataset:
    """Trace a sweep of one point, as `trace` does; SweepError if it has more."""
    sweep = as_point(sweep)
    if not sweep.method.traced:
        methods = listed(method.name for method in sweep.model.methods if method.traced)
        raise SweepError(
            f"method {sweep.method.name!r} of {sweep.model.name} cannot be traced; override "
            f"`method` with one of {methods}"
        )
    moments = None if times is None else _numbers("times", times)
    if moments is not None and (samples, start, end, cycles) != (None, None, None, None):
        raise SweepError(
            "times cannot be combined with samples, start, end or cycles: leave out one or the "
            "other"
        )
    if cycles is not None and start is not None:
        raise SweepError("`cycles` cannot be combined with a first time: leave out one of the two")
    try:
        count = sweep.model.samples if samples is None else index(samples)
    except TypeError:
        raise SweepError(f"samples={shown(samples)} is not a whole number") from None
    start, end = _moment("start", start), _moment("end", end)
    tracer = Tracer(kernel_of(sweep), {**sweep.constants, **sweep.replaced_by_table})
    span, unit = tracer.span(), sweep.model.clock.unit
    has_motion = span.begin <= span.first < span.last
    if not has_motion and (status := tracer.look(np.empty(0)).status):
        moments = np.zeros(1) if moments is None else moments
        names = [n for each in sweep.model.observables_of(items=False) for n in each.recorded]
        rows = np.full((moments.size, 1 + len(names)), np.nan)
        return _dataset(sweep, moments, Seen(rows, 0, status))
    if moments is None:
        last = span.last if end is None else end
        if cycles is not None:
            start = last - _duration(sweep, span, cycles)
        moments = _spaced(count, span.first if start is None else start, last, unit)
    moments = _checked(moments, span, unit)
    dataset = _dataset(sweep, moments, tracer.look(moments))
    cycle = _cycle(sweep, span)
    return dataset if cycle is None else dataset.assign_attrs(cycle=cycle)


def _cycle(sweep: Sweep, span: Span) -> float | None:
    """The duration of a cycle of the excitation; None if there is none."""
    constants = sweep.constants
    if sweep.model.clock.unit == "rad":
        return 2 * np.pi
    if (cycle := period_of(constants, span.first, span.last)) is not None:
        return cycle
    if constants.get("angular_frequency"):
        return 2 * np.pi / constants["angular_frequency"]
    return None


def _duration(sweep: Sweep, span: Span, cycles: float) -> float:
    """The duration of a number of cycles; SweepError if the motion has none."""
    cycle, number = _cycle(sweep, span), _moment("cycles", cycles)
    if cycle is None or number is None:
        raise SweepError(
            f"the motion of {sweep.model.name} has no cycle of an excitation: give the "
            "first and the last time in place of `cycles`"
        )
    if number <= 0:
        raise SweepError(f"cycles={number!r} is out of range: give a number above 0")
    return number * cycle


def _numbers(name: str, values: ArrayLike) -> Values:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise SweepError(f"{name}={shown(values)} is not numeric: give plain numbers") from None


def _moment(name: str, moment: float | None) -> float | None:
    """The first or last time of a trace, or None."""
    value = None if moment is None else _numbers(name, moment)
    if value is not None and (value.ndim or not np.isfinite(value)):
        raise SweepError(f"{name}={shown(moment)} is not one finite number")
    return None if value is None else float(value)


def as_point(sweep: Sweep) -> Sweep:
    """The sweep of one point without axes; SweepError naming the axes if it has more."""
    long = {name: axis for axis in sweep.axes if axis.size > 1 for name in _names(axis)}
    if long:
        extents = "; ".join(_extent(name, axis) for name, axis in long.items())
        raise SweepError(
            f"a trace shows one point, and the sweep has several: {extents}. Give one value of "
            f"{listed(long)} (at)"
        )
    whole = chunk_at((0,) * len(sweep.axes), sweep.grid.shape, sweep.grid.shape)
    columns = points(sweep, whole).columns
    constants = {name: float(column.values[0]) for name, column in columns.items()}
    constants |= {n: v for n, v in sweep.constants.items() if n in sweep.replaced_by_table}
    return replace(sweep, constants=constants, axes=(), derived={})


def _names(axis: Axis) -> list[str]:
    """What a point of an axis is chosen by: its number, or the values of its parameters."""
    numbered = len(axis.columns) > 1 and axis.name not in axis.columns
    return [axis.name] if numbered else [*axis.columns]


def _extent(name: str, axis: Axis) -> str:
    if name not in axis.columns:
        return f"{name} has the numbers 0 to {axis.size - 1:,} ({listed(axis.columns)})"
    values = axis.columns[name][:VALUES_IN_MEMORY]
    extent = "" if axis.size > VALUES_IN_MEMORY else f" from {values.min():g} to {values.max():g}"
    return f"{name} has {axis.size:,} values{extent}"


def _spaced(samples: int, first: float, last: float, unit: str) -> Values:
    if not 2 <= samples <= MAX_SAMPLES:
        raise SweepError(
            f"samples={samples!r} is out of range: give a number from 2 to {MAX_SAMPLES:,}"
        )
    if not first < last:
        raise SweepError(
            f"a trace from {first!r} {unit} to {last!r} {unit} is empty: the end has to be later"
        )
    return np.linspace(first, last, samples)


def _checked(times: Values, span: Span, unit: str) -> Values:
    """The times, clipped to the span where rounding puts them beyond it."""
    if times.ndim != 1 or not times.size or not np.all(np.diff(times) >= 0):
        raise SweepError(
            f"times of shape {times.shape} are not a list of ascending numbers: sort them"
        )
    slack = SLACK * abs(span.last)
    if not (span.begin - slack <= times[0] and times[-1] <= span.last + slack):
        requested = f"from {float(times[0])!r} {unit} to {float(times[-1])!r} {unit}"
        raise SweepError(
            f"a trace {requested} is outside the computed range: choose times from "
            f"{span.begin!r} {unit} to {span.last!r} {unit}"
        )
    return np.clip(times, span.begin, span.last)


def _dataset(sweep: Sweep, times: Values, seen: Seen) -> xr.Dataset:
    times = np.concatenate([seen.rows[: seen.n_seen, 0], times[seen.n_seen :]])
    new = np.diff(times, prepend=-np.inf) > 0  # a state that covers several times is kept once
    status = layout.results(sweep)[-1]
    described = {key: text for key, text in status.attributes.items() if key != "coordinates"}
    observables = sweep.model.observables_of(items=False)
    ends = np.cumsum([len(each.recorded) for each in observables])
    columns = np.split(seen.rows[new, 1:], ends[:-1], axis=1)
    variables = {
        each.name: _variable(
            sweep,
            each,
            ("time", *(index.name for index in each.over)),
            values.reshape(-1, *(len(index.values) for index in each.over)),
        )
        for each, values in zip(observables, columns, strict=True)
    }
    variables["status"] = xr.Variable((), np.uint8(seen.status), described)
    coordinates = {
        c.name: xr.Variable((), value, dict(c.attributes))
        for c, value in layout.coordinates(sweep)
        if not c.dimensions  # not what only outputs have
    }
    coordinates["time"] = _variable(sweep, sweep.model.clock, ("time",), times[new])
    for labels in dict.fromkeys(labels for each in observables for labels in each.over):
        label, values = layout.label(labels)
        coordinates[labels.name] = xr.Variable(labels.name, values, dict(label.attributes))
    if seen.items is not None:
        item = sweep.method.items.removesuffix("s")
        unit = "1" if sweep.parameter_set.scaled else "m"
        described = {"long_name": f"place of the {item}", "units": unit}
        coordinates[item] = xr.Variable(item, seen.places, described)
        for i, each in enumerate(sweep.model.observables_of(items=True)):
            variables[each.name] = _variable(sweep, each, ("time", item), seen.items[new, :, i])
    attributes = layout.attributes(sweep, {})
    equations = {"equations": sweep.model.text} if sweep.model.text else {}
    provenance = {key: attributes[key] for key in PROVENANCE}
    dataset = xr.Dataset(
        variables, coordinates, provenance | equations | _events(sweep, times, seen)
    )
    return dataset.assign_attrs(_note(sweep, dataset))


def _note(sweep: Sweep, trace: xr.Dataset) -> dict[str, str]:
    """The attribute that says why the loop is not centred, if items remember the start."""
    if not (sweep.model.start_memory and sweep.model.loop and trace.sizes["time"]):
        return {}
    force = trace[sweep.model.loop[1]].values
    low, high = np.min(force), np.max(force)
    if not abs(low + high) > MAX_CENTRE_SHIFT * (high - low):  # NaN: no motion
        return {}
    for flag in sweep.model.observables_of(items=True):
        if flag.name not in trace:
            continue
        codes = trace[flag.name].values
        kept = codes[0, np.all(codes == codes[:1], axis=0)]
        for name, sentence in sweep.model.start_memory.items():
            if flag.flags.index(name) in kept:
                return {"note": sentence}
    return {}


def _events(sweep: Sweep, times: Values, seen: Seen) -> dict[str, str]:
    """The attribute with the events from the first to the last time, of a model that has events."""
    events = system_of_text(sweep.model.text).events if sweep.model.text else ()
    if not events or seen.events is None:
        return {}
    within = (seen.events[:, 0] >= times[0]) & (seen.events[:, 0] <= times[-1])
    rows = sorted(seen.events[within].tolist(), key=lambda row: row[0])  # seen step by step
    listed = [[time, events[int(number)].name] for time, number in rows]
    return {"events": json.dumps(listed)}


def _variable(
    sweep: Sweep, observable: Observable, dimensions: tuple[str, ...], values: NDArray[np.float64]
) -> xr.Variable:
    """An observable with its CF attributes, divided by its scale in a dimensionless sweep."""
    meaning, unit = observable.long_name, observable.unit
    if observable.flags:
        described = {"long_name": meaning, **layout.flags(dict(enumerate(observable.flags)))}
        codes = np.where(np.isnan(values), MISSING["flag"], values).astype(DTYPES["flag"])
        return xr.Variable(dimensions, codes, described)
    if observable.scale and sweep.parameter_set.scaled:
        meaning, unit = f"{meaning}, over {observable.scale}", "1"
    return xr.Variable(dimensions, values, {"long_name": meaning, "units": unit})
