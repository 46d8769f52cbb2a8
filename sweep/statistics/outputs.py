"""Statistics as sweep files name them, and the outputs that a sweep has in place of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sweep.model.table import Labels, Output
from sweep.request.sweeps import Reduced, Sweep
from sweep.statistics.counts import STATUSES

PLAIN = ("mean", "standard_deviation", "minimum", "maximum", "sobol_indices")
WITH_NUMBER = ("quantile", "share above", "share below", "histogram")
OF_FLAGS = "share"
POINTS_BY_STATUS = "points_by_status"
QUANTILE = "quantile"  # the dimension that all outputs share
OF_VALUES = ", of the points that have a value"  # where some that are ok may have none


@dataclass(frozen=True)
class Wanted:
    """What is wanted of one output of the points."""

    output: Output
    names: frozenset[str]  # of the statistics, without their numbers
    levels: tuple[float, ...]  # of quantiles
    thresholds: tuple[float, ...]  # in the output's unit
    bins: int  # of a histogram; 0: none is wanted


def wanted(sweep: Reduced) -> tuple[Wanted, ...]:
    """What is wanted of each output that has a statistic, in the order of the outputs."""
    numbers = {name: _numbers(texts) for name, texts in sweep.statistics.items()}
    levels = sorted({level for each in numbers.values() for level in each.get("quantile", ())})
    return tuple(
        Wanted(
            output,
            frozenset(each),
            tuple(levels) if "quantile" in each else (),
            tuple(sorted({*each.get("share above", ()), *each.get("share below", ())})),
            int(max(each.get("histogram", [0]))),
        )
        for output in sweep.points.outputs
        if (each := numbers.get(output.name)) is not None
    )


def reduced(
    points: Sweep,
    n_over: int,
    statistics: Mapping[str, tuple[str, ...]],
    *,
    exact_quantiles: bool = False,
    quantile_bits: int | None = None,
) -> Reduced:
    """The reduction of points along their last `n_over` axes."""
    sweep = Reduced(
        points=points,
        n_over=n_over,
        statistics=statistics,
        outputs=(),
        exact_quantiles=exact_quantiles,
        quantile_bits=quantile_bits,
    )
    return replace(sweep, outputs=_statistic_outputs(sweep))


def _statistic_outputs(sweep: Reduced) -> tuple[Output, ...]:
    """The statistics as outputs; the last one counts points by status."""
    outputs = [made for each in wanted(sweep) for made in _outputs(each, sweep)]
    classes = Labels("status_class", tuple(s.name for s in STATUSES), "how points ended")
    points = "number of points by status"
    return (
        *outputs,
        Output(name=POINTS_BY_STATUS, unit="1", long_name=points, kind="number", labels=(classes,)),
    )


def _numbers(texts: Iterable[str]) -> dict[str, list[float]]:
    """The numbers of each statistic, which may be none."""
    numbers: dict[str, list[float]] = {}
    for text in texts:
        name, _, number = text.rpartition(" ")
        if name in WITH_NUMBER:
            numbers.setdefault(name, []).append(float(number))
        else:
            numbers[text] = []
    return numbers


def _outputs(each: Wanted, sweep: Reduced) -> Iterator[Output]:
    """All are optional where the output is, and where a statistic needs more than one value."""
    of, names = each.output, each.names
    for name, suffix, meaning, is_optional in (
        ("mean", "mean", "mean", False),
        ("mean", "mean_error", "standard error of the mean", True),
        ("standard_deviation", "standard_deviation", "standard deviation", True),
        ("minimum", "minimum", "minimum", False),
        ("maximum", "maximum", "maximum", False),
    ):
        if name in names:
            yield _real(of, suffix, meaning, optional=is_optional)
    if each.levels:
        levels = Labels(QUANTILE, each.levels, "share of the points that are at most as large")
        yield _real(of, "quantile", "quantile", (levels,))
    meaning = f"threshold of {_in_words(of)}"
    limits = Labels(f"{of.name}_threshold", each.thresholds, meaning, of.unit)
    for side in ("above", "below"):
        if f"share {side}" in names:
            yield _share(of, f"share_{side}", f"share of points {side} a threshold", limits)
    if each.bins:
        bins = Labels(f"{of.name}_bin", tuple(map(float, range(each.bins))), "number of the bin")
        counts = _share(of, "histogram", "number of points in each bin", bins)
        yield replace(counts, kind="number", optional=False)
        edges = replace(of, optional=False)  # they describe the bins, not points
        yield _real(edges, "histogram_start", "lower edge of the first bin", optional=True)
        yield _real(edges, "histogram_width", "width of every bin", optional=True)
    if OF_FLAGS in names:
        classes = Labels(f"{of.name}_class", of.flags, of.long_name)
        yield _share(of, "share", "share of points in each class", classes)
    if "sobol_indices" in names:
        yield from _indices(of, sweep)


def _indices(of: Output, sweep: Reduced) -> Iterator[Output]:
    names = tuple(name for axis in sweep.over for name in axis.columns)
    parameters = Labels("parameter", names, "parameter that varies")
    errors = [("", "")]
    if sweep.scramblings > 1:
        errors.append(("_error", "standard error of the "))
    for suffix, prefix in errors:
        for order in ("first", "total"):
            meaning = f"{prefix}{order}-order Sobol' index"
            share = _share(of, f"{order}_order{suffix}", meaning, parameters)
            yield replace(share, optional=True)


def _real(
    of: Output,
    suffix: str,
    meaning: str,
    labels: tuple[Labels, ...] = (),
    *,
    optional: bool = False,
) -> Output:
    may_lack_values = of.optional and of.kind == "real"
    return replace(
        of,
        name=f"{of.name}_{suffix}",
        long_name=f"{meaning} of {_in_words(of)}{OF_VALUES if may_lack_values else ''}",
        kind="real",
        flags=(),
        labels=labels,
        optional=optional or of.optional,
    )


def _in_words(of: Output) -> str:
    return of.name.replace("_", " ")


def _share(of: Output, suffix: str, meaning: str, labels: Labels) -> Output:
    return replace(_real(of, suffix, meaning, (labels,)), unit="1")
