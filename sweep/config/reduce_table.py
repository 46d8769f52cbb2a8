"""The table [reduce]: along which axes points are reduced, and which statistics are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from sweep.config.problems import (
    Check,
    Problem,
    check_names,
    in_table,
    readable,
)
from sweep.config.quantities import as_written, number
from sweep.config.schema import ReduceTable, TopLevel, checked
from sweep.errors import FaultError
from sweep.request import FOR_INDICES, POINT, Axis, Reduction, Sweep
from sweep.spec import Output, Parameter
from sweep.statistics.outputs import OF_FLAGS, PLAIN, WITH_NUMBER, statistic_outputs
from sweep.wording import listed, nearest, shown

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


def reduced(top: TopLevel, sweep: Sweep | None, *, has_axes: bool = True) -> Check[Sweep | None]:
    """The sweep with the reduction that [reduce] asks for; unchanged without that table.

    Without a sweep, whose problems come first, only the table itself is checked. Without
    `has_axes`, some of the sweep's axes are missing because they are faulty; then there is no
    reduced sweep, and no problem that follows from this.
    """
    if top.reduce is None:
        return sweep
    keys = ReduceTable.model_fields
    table, wrong = checked(ReduceTable, {k: v for k, v in top.reduce.items() if k in keys})
    yield from in_table("reduce", wrong)
    entries = {name: value for name, value in top.reduce.items() if name not in keys}
    if not entries:
        example = 'such as wear_power = ["mean", "quantile 0.95"]'
        yield Problem("reduce", "", f"no statistics; name outputs and their statistics, {example}")
    if sweep is None:
        return None
    names = [axis.name for axis in sweep.axes]
    if not has_axes:
        names = [*top.axes, *([] if top.sample is None else [POINT])]
    over = yield from _over(top, table, sweep, names, is_readable="over" not in wrong)
    reduced_axes = tuple(axis for axis in sweep.axes if axis.name in over)
    statistics: dict[str, tuple[str, ...]] = {}
    for name, value in entries.items():
        output = yield from _output(name, sweep)
        if output is not None:
            statistics[name] = yield from _statistics(output, value)
    for output in sweep.outputs if top.outputs is not None else ():
        if output.name not in entries:
            cure = "name its statistics here, or remove it from outputs"
            yield Problem("reduce", output.name, f"listed in outputs, without a statistic; {cure}")
    need = _need_of_indices(reduced_axes) if has_axes else ""
    for name, texts in statistics.items():
        if need and INDICES in texts:
            yield Problem("reduce", name, f"{INDICES} need {need}")
    wanted = [text for texts in statistics.values() for text in texts]
    if table.exact_quantiles and not any(text.startswith("quantile") for text in wanted):
        yield Problem("reduce", "exact_quantiles", "there is no quantile; remove it")
    if not has_axes:
        return None
    if not statistics or not reduced_axes:
        return sweep
    outputs = tuple(output for output in sweep.outputs if output.name in statistics)
    reduction = Reduction(
        axes=reduced_axes,
        outputs=outputs,
        statistics={output.name: statistics[output.name] for output in outputs},
        exact_quantiles=table.exact_quantiles,
    )
    count = reduction.scramblings
    if count > 1 and reduction.axes[-1].size % count:
        message = f"{count} scramblings need a multiple of {count} points, to be reduced"
        yield Problem("sample", "points", message)
    kept = tuple(axis for axis in sweep.axes if axis.name not in over)
    return replace(sweep, axes=kept, outputs=statistic_outputs(reduction), reduction=reduction)


def wants_indices(table: Mapping[str, object] | None) -> bool:
    """Whether a table [reduce], right or wrong, asks for Sobol' indices of an output."""
    values = (table or {}).values()
    lists = (cast("list[object] | str", each) for each in values if isinstance(each, (list, str)))
    return any(INDICES in each for each in lists)


def _over(
    top: TopLevel, table: ReduceTable, sweep: Sweep, names: Sequence[str], *, is_readable: bool
) -> Check[Sequence[str]]:
    """The names of the axes to reduce, of those with these `names`; by default the sample's."""
    if table.over is None and top.sample is not None:
        return [POINT]
    if table.over is None:
        if is_readable:
            cure = f"name the axes whose points are reduced: one or more of {listed(names)}"
            yield Problem("reduce", "over", f"missing, and there is no [sample]; {cure}")
        return []
    if not table.over:
        yield Problem("reduce", "over", f"empty; name one or more of {listed(names)}")
    one = "has one value; give it several, or remove it"
    faults = {name: f"{name!r} {one}" for name in sweep.constants}
    if POINT not in names:
        faults[POINT] = "'point' is the axis of a [sample], and there is none"
    yield from check_names("reduce", "over", table.over, names, faults, "no axis")
    return table.over


def _output(name: str, sweep: Sweep) -> Check[Output | None]:
    """The output of that name, if it is computed."""
    computed = {output.name: output for output in sweep.outputs}
    if name in computed:
        return computed[name]
    if name == "status":
        message = "points are always counted by status, as points_by_status; remove it here"
    elif name in {output.name for output in sweep.model.outputs}:
        message = "not computed; add it to outputs"
    else:
        choices = (*computed, *ReduceTable.model_fields)
        message = f"no such output or key; {nearest(name, choices)}"
    yield Problem("reduce", name, message)
    return None


def _statistics(output: Output, value: object) -> Check[tuple[str, ...]]:
    """The statistics of an output as `statistics.outputs` reads them."""
    texts = cast("list[object]", value if isinstance(value, list) else [value])
    known = _known(output)
    if not all(isinstance(text, str) for text in texts):
        example = f'{output.name} = ["{known[0]}"]'
        yield Problem("reduce", output.name, f"{shown(texts)} is not a list of names; {example}")
        return ()
    if not texts:
        yield Problem("reduce", output.name, f"empty; name one or more of {listed(known)}")
    statistics: list[str] = []
    for text in map(str, texts):
        statistic = yield from readable("reduce", output.name, _statistic, text, output)
        if statistic in statistics:
            yield Problem(
                "reduce", output.name, f"{shown(text)} is listed more than once; list it once"
            )
        elif statistic is not None:
            statistics.append(statistic)
    if sum(each.startswith("histogram") for each in statistics) > 1:
        yield Problem("reduce", output.name, "two histograms; keep one")
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
        raise FaultError(f"{shown(text)} is not a statistic; {cure}")
    if name in PLAIN and words != name:
        raise FaultError(f"{shown(text)}: {name} takes no number; remove it")
    if output.kind == "flag" and words != OF_FLAGS:
        raise FaultError(f"{shown(text)}: write {OF_FLAGS!r}, the only statistic of a flag")
    if words == OF_FLAGS and output.kind != "flag":
        cure = 'write "share above 2" or "share below 2"'
        raise FaultError(f"{shown(text)} is for flags; {cure}")
    if name not in WITH_NUMBER:
        return name
    amount = words.removeprefix(name).strip()
    if not amount:
        raise FaultError(f"{shown(text)} lacks its number; write {EXAMPLES[name]}")
    if name.startswith("share"):
        return f"{name} {_number(text, amount, output.unit)!r}"
    value = _number(text, amount, "1")
    if name == "quantile":
        if not 0 < value <= 1:
            raise FaultError(f"{shown(text)}: give a number above 0 and at most 1")
        return f"{name} {value!r}"
    if not (value.is_integer() and 2 <= value <= MAX_BINS):
        raise FaultError(f"{shown(text)}: give a whole number of bins from 2 to {MAX_BINS:,}")
    return f"{name} {int(value)}"


def _number(text: str, amount: str, unit: str) -> float:
    try:
        return number(as_written(amount), Parameter(name="", symbol="", unit=unit, meaning=""))
    except FaultError as error:
        raise FaultError(f"{shown(text)}: {error}") from None


def _need_of_indices(axes: Sequence[Axis]) -> str:
    """What Sobol' indices over these axes lack; "" if nothing."""
    if [axis.name for axis in axes] != [POINT]:
        return 'over = ["point"], a [sample] alone'
    return "" if FOR_INDICES in axes[0].recipe else DRAWN
