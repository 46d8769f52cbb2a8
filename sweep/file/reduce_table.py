"""The table [reduce]: along which axes points are reduced, and which statistics are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from sweep.errors import FaultError
from sweep.file.draft import Draft
from sweep.file.keys import REDUCE
from sweep.file.quantities import as_written, number
from sweep.model.table import Model, Output, Parameter
from sweep.request.sweeps import MAX_EXACT_POINTS, POINT, AnySweep, Sweep
from sweep.statistics.outputs import OF_FLAGS, PLAIN, WITH_NUMBER, reduced
from sweep.text.reader import Table
from sweep.text.wording import listed, nearest, written

INDICES = "sobol_indices"
DRAWN = "a [sample] whose parameters are drawn, not read from a file"  # for indices
MAX_BINS = 4096  # of a histogram: each is an array of the results
STATISTICS = (*PLAIN, OF_FLAGS, *WITH_NUMBER)
EXAMPLES = {
    "quantile": '"quantile 0.95"',
    "share above": '"share above 2"',
    "share below": '"share below 2"',
    "histogram": '"histogram 64"',
}


def reduced_of(
    draft: Draft, outputs: Sequence[Output] | None, sweep: Sweep | None
) -> AnySweep | None:
    """The sweep reduced as [reduce] asks for; unchanged without that table.

    Without a sweep, or without `outputs`, which are faulty then, the table is checked as far as
    that is possible, and there is no reduced sweep.
    """
    if (table := draft.reduce) is None:
        return sweep
    given = table.values(REDUCE.keys)
    names = _over(draft, table, given["over"])
    statistics = _all_statistics(draft, table, outputs)
    need = _need_of_indices(draft, names)
    for name, texts in statistics.items():
        if need and INDICES in texts:
            table.fault(name, f"{INDICES} need {need}")
    _check_quantiles(draft, table, given, statistics)
    if sweep is None or table.is_faulty:
        return None
    computed = tuple(output for output in sweep.outputs if output.name in statistics)
    over = [axis for axis in sweep.axes if axis.name in names]
    cells = [axis for axis in sweep.axes if axis.name not in names]
    made = reduced(
        replace(sweep, axes=(*cells, *over), outputs=computed),
        len(over),
        {output.name: statistics[output.name] for output in computed},
        exact_quantiles=given["exact_quantiles"],
        quantile_bits=given["quantile_bits"],
    )
    count = made.scramblings
    if draft.sample and count > 1 and over[-1].size % count:
        what = f"{count} scramblings need a multiple of {count} points, to be reduced"
        draft.sample.fault("points", what)
    if made.exact_quantiles and made.size > MAX_EXACT_POINTS:
        what = f"a cell has {made.size:,} points, and {MAX_EXACT_POINTS:,} can be sorted at once"
        cure = "remove it: quantiles are then right to 2^-8 of their value, or 2^-quantile_bits"
        table.fault("exact_quantiles", what, cure)
        return None
    return made


def _check_quantiles(
    draft: Draft, table: Table, given: Mapping[str, Any], statistics: Mapping[str, Sequence[str]]
) -> None:
    """Check that there are quantiles, if the table says how exact they are."""
    wanted = [text for texts in statistics.values() for text in texts]
    has_some = draft.model is None or any(text.startswith("quantile") for text in wanted)
    for key in ("exact_quantiles", "quantile_bits"):
        if given[key] and not has_some:
            table.fault(key, "there is no quantile", "remove it")
    if given["exact_quantiles"] and given["quantile_bits"]:
        table.fault("quantile_bits", "exact quantiles have no bins", "keep one of the two")


def wants_indices(table: Mapping[str, object] | None) -> bool:
    """Whether a table [reduce], right or wrong, asks for Sobol' indices of an output."""
    values = (table or {}).values()
    lists = (cast("list[object] | str", each) for each in values if isinstance(each, (list, str)))
    return any(INDICES in each for each in lists)


def _over(draft: Draft, table: Table, over: Sequence[str] | None) -> Sequence[str]:
    """The names of the axes to reduce; by default that of the sample."""
    names = draft.dimensions
    if over is None:
        if draft.sample is None and not table.has("over"):
            cure = f"name the axes whose points are reduced: one or more of {listed(names)}"
            table.fault("over", "missing, and there is no [sample]", cure)
        return [POINT] if draft.sample is not None else []
    if not over:
        table.fault("over", "empty", f"name one or more of {listed(names)}")
    constant = {*(draft.known or {}), *draft.parameters.mapping} - {*names}
    wrong = {n: (f"{n!r} has one value", "give it several, or remove it") for n in constant}
    if POINT not in names:
        wrong[POINT] = ("'point' is the axis of a [sample], and there is none", "remove it")
    table.names("over", over, names, wrong, "no axis")
    return over


def _all_statistics(
    draft: Draft, table: Table, outputs: Sequence[Output] | None
) -> dict[str, tuple[str, ...]]:
    """The statistics of each output that is reduced."""
    entries = {name: value for name, value in table.mapping.items() if name not in REDUCE.keys}
    if not entries:
        cure = 'name outputs and their statistics, such as wear_power = ["mean", "quantile 0.95"]'
        table.fault("", "no statistics", cure)
    if draft.model is None:
        return {}
    requested = draft.top.mapping.get("outputs")
    known = [each for each in draft.model.outputs if each.name in _names(requested)]
    computed = {output.name: output for output in outputs or known or draft.model.outputs}
    for output in outputs or () if requested is not None else ():
        if output.name not in entries:
            cure = "name its statistics here, or remove it from outputs"
            table.fault(output.name, "listed in outputs, without a statistic", cure)
    statistics: dict[str, tuple[str, ...]] = {}
    for name, value in entries.items():
        if name in computed:
            statistics[name] = _statistics(table, computed[name], value)
        else:
            _add_unknown(table, name, draft.model, computed)
    return statistics


def _add_unknown(table: Table, name: str, model: Model, computed: Mapping[str, Output]) -> None:
    """Add the fault of an output that is not computed."""
    if name == "status":
        what = "points are always counted by status, as points_by_status"
        table.fault(name, what, "remove it here")
    elif name in {output.name for output in model.outputs}:
        table.fault(name, "not computed", "add it to outputs")
    else:
        table.unknown(name, "no such output or key", (*computed, *REDUCE.keys))


def _statistics(table: Table, output: Output, value: object) -> tuple[str, ...]:
    """The statistics of an output as `statistics.outputs` reads them."""
    texts = cast("list[object]", value) if isinstance(value, list) else [value]
    known = _known(output)
    if not all(isinstance(text, str) for text in texts):
        cure = f'write {output.name} = ["{known[0]}"]'
        table.fault(output.name, f"{written(cast(object, value))} is not a list of names", cure)
        return ()
    if not texts:
        table.fault(output.name, "empty", f"name one or more of {listed(known)}")
    statistics: list[str] = []
    for text in map(str, texts):
        statistic = table.read(output.name, _statistic, text, output)
        if statistic in statistics:
            table.fault(output.name, f"{written(text)} is listed more than once", "list it once")
        elif statistic is not None:
            statistics.append(statistic)
    if sum(each.startswith("histogram") for each in statistics) > 1:
        table.fault(output.name, "two histograms", "keep one")
    return tuple(sorted(statistics))


def _known(output: Output) -> list[str]:
    """The statistics that an output may have."""
    return [OF_FLAGS] if output.kind == "flag" else [s for s in STATISTICS if s != OF_FLAGS]


def _statistic(text: str, output: Output) -> str:
    """One statistic, with its number in SI units."""
    words = " ".join(text.split())
    name = next((s for s in (*PLAIN, *WITH_NUMBER) if f"{words} ".startswith(f"{s} ")), words)
    if name not in STATISTICS:
        cure = nearest(words, _known(output))
        raise FaultError(f"{written(text)} is not a statistic", cure)
    if name in PLAIN and words != name:
        raise FaultError(f"{written(text)}: {name} takes no number", "remove it")
    if output.kind == "flag" and words != OF_FLAGS:
        cure = f"write {OF_FLAGS!r}, the only statistic of a flag"
        raise FaultError(f"{written(text)} is not for flags", cure)
    if words == OF_FLAGS and output.kind != "flag":
        cure = 'write "share above 2" or "share below 2"'
        raise FaultError(f"{written(text)} is for flags", cure)
    if name not in WITH_NUMBER:
        return name
    amount = words.removeprefix(name).strip()
    if not amount:
        raise FaultError(f"{written(text)} lacks its number", f"write {EXAMPLES[name]}")
    if name.startswith("share"):
        return f"{name} {_number(text, amount, output.unit)!r}"
    value = _number(text, amount, "1")
    if name == "quantile":
        if not 0 < value <= 1:
            raise FaultError(
                f"{written(text)} is out of range", "give a number above 0 and at most 1"
            )
        return f"{name} {value!r}"
    if not (value.is_integer() and 2 <= value <= MAX_BINS):
        cure = f"give a whole number of bins from 2 to {MAX_BINS:,}"
        raise FaultError(f"{written(text)} is out of range", cure)
    return f"{name} {int(value)}"


def _number(text: str, amount: str, unit: str) -> float:
    try:
        return number(as_written(amount), Parameter(name="", symbol="", unit=unit, meaning=""))
    except FaultError as error:
        raise FaultError(f"{written(text)}: {error.what}", error.cure) from None


def _need_of_indices(draft: Draft, over: Sequence[str]) -> str:
    """What Sobol' indices over these axes lack; "" if nothing."""
    if [*over] != [POINT]:
        return 'over = ["point"], a [sample] alone'
    return DRAWN if draft.sample is None or draft.sample.has("file") else ""


def _names(requested: object) -> Collection[object]:
    return cast("list[object]", requested) if isinstance(requested, list) else ()
