"""What a store holds, printed or as JSON: axes, outputs, statuses, and the next command."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from sweep.cli.printing import counted, print_first, print_section, print_table
from sweep.model.table import Status
from sweep.points.recipes import model_in
from sweep.request.sweeps import AnySweep
from sweep.results.causes import theory_of
from sweep.results.summary import Contents, Range, coordinates, labels
from sweep.statistics.outputs import POINTS_BY_STATUS
from sweep.statistics.quantiles import QUANTILE_BITS
from sweep.store.datasets import wear_of
from sweep.text.wording import escaped, share

WEIGHTING = {
    "cell area": "means and shares are of the map: each refined point counts by its cells' area",
    "points": "means and shares count all points the same, although refinement clusters them "
    "where outputs change; the finished sweep has those of the map",
}
MAX_LABELS = 6
PROVENANCE = ("references", "source", "method", "revision", "kernel_digest", "fingerprint")


def print_dataset(dataset: xr.Dataset) -> None:
    """Print the model, axes, parameters and provenance of results."""
    attributes = dataset.attrs
    print(escaped(f"{attributes['model']}: {attributes['title']}\n"))
    along, single = coordinates(dataset)
    if along:
        header = ("axis", "values", "least", "greatest", "unit", "meaning")
        print_section((_axis_row(*axis) for axis in along.items()), header)
    if label_values := labels(dataset):
        rows = (
            (name, _listed(values), *_described(values)) for name, values in label_values.items()
        )
        print_section(rows, ("label", "values", "unit", "meaning"))
    rows = ((name, _value_text(name, dataset), *_described(v)) for name, v in single.items())
    print_section(rows, ("parameter", "value", "unit", "meaning"))
    recipe = json.loads(attributes["recipe"])
    provenance = {key: str(attributes[key]) for key in PROVENANCE if key in attributes}
    if "reduce" in recipe and "quantile" in dataset.dims:
        bits = recipe["reduce"].get("quantile_bits", QUANTILE_BITS)
        exact = recipe["reduce"]["exact_quantiles"]
        provenance["quantiles"] = "exact" if exact else f"within {100 / 2**bits:.1g} %"
    print_section({**provenance, "stored as": recipe["dtype"]}.items())


def print_outputs(dataset: xr.Dataset, summary: Contents, kind: str = "output") -> None:
    """Print least, mean and greatest value of each output, and the shares of each flag."""
    rows = [
        (name, *_figure_texts(span), *_described(dataset[name]))
        for name, span in summary.ranges.items()
        if not (span.infinite and math.isnan(span.mean))
    ]
    n_ok, total = summary.counts.get(Status.ok, 0), sum(summary.counts.values())
    if 0 < n_ok < total:
        print(f"of the {n_ok:,} of {counted(total, 'point')} that are ok:")
    if rows:
        print_table(rows, (kind, "least", "mean", "greatest", "unit", "meaning"))
    for name, span in summary.ranges.items():
        if span.infinite:
            print(escaped(_infinite_values(dataset[name], span)))
    for name, shares in summary.shares.items():
        if not any(map(math.isnan, shares.values())):
            parts = ", ".join(f"{flag} {share(part)}" for flag, part in shares.items())
            print(escaped(f"{name}: {parts}"))
    if summary.weighted_by:
        print(WEIGHTING[summary.weighted_by])


def _figure_texts(span: Range) -> tuple[str, ...]:
    """Least, mean and greatest, or that there are no values; the statuses may say why."""
    if math.isnan(span.mean):
        return "no values", "", ""
    return tuple(f"{value:.6g}" for value in _figures(span).values())


def _infinite_values(output: xr.DataArray, span: Range) -> str:
    """How many values are infinite, and what the output's meaning says of that."""
    meaning = _described(output)[1].partition("; ")[2]
    reason = f" ({meaning})" if "inf " in meaning else ""
    if math.isnan(span.mean):
        return f"{output.name}: infinite wherever it has a value{reason}"
    return f"{output.name}: {counted(span.infinite, 'infinite value')} left out above{reason}"


def print_statuses(
    counts: Mapping[Status, int],
    sentences: Mapping[Status, str],
    causes: Mapping[str, int] | None = None,
    total: int | None = None,
    cells: int | None = None,
) -> None:
    """Print the number of points of each status, with its sentence, or the causes of those outside.

    By default, `total` is their sum. Of so many `cells` of reduced points, those pending count.
    """
    if cells is not None and (pending := counts.get(Status.pending)):
        counts = {status: n for status, n in counts.items() if status is not Status.pending}
        sentence = sentences.get(Status.pending, "run the sweep again to resume")
        print(f"{pending:,} of {counted(cells, 'cell')} pending: {sentence}")
    total = sum(counts.values()) if total is None else total
    for status, count in counts.items():
        sentence = f": {sentences[status]}" if status and status in sentences else ""
        if causes and status is Status.outside_validity:
            parts = [f"{n:,}: {cause}" for cause, n in causes.items()]
            if n_unknown := count - sum(causes.values()):
                parts.append(f"{n_unknown:,} for another reason{sentence}")
            several = "".join(f"\n  {part}" for part in parts)
            sentence = several if len(parts) > 1 else f": {next(iter(causes))}"
        print(f"{count:,} of {counted(total, 'point')} {status.name}{sentence}")


def sentences_of(dataset: xr.Dataset) -> dict[Status, str]:
    """What each status means for the results, and what to do; {} if the model is unknown."""
    model = model_in(dataset.attrs)
    sentences = dict(model.sentences) if model else {}
    if wear_of(dataset):
        from sweep.results import wear_over_years as wear

        sentence = sentences.get(Status.outside_validity)
        sentences[Status.outside_validity] = (
            f"{sentence}; or {wear.NEGATIVE}" if sentence else wear.NEGATIVE
        )
        sentences[Status.pending] = wear.INCOMPLETE
    return sentences


def print_summary(dataset: xr.Dataset, summary: Contents) -> None:
    """Print the figures of outputs, and the points of each status."""
    print_outputs(dataset, summary)
    cells = dataset["status"].size if POINTS_BY_STATUS in dataset else None
    print_statuses(summary.counts, sentences_of(dataset), summary.causes, cells=cells)


def print_errors(errors: Mapping[str, int], log: str = "") -> None:
    """Print the errors and their numbers of points, and the folder of receipts with the details."""
    print_first([f"{counted(points, 'point')}: {why}" for why, points in errors.items()], "errors")
    if errors and log:
        print(f"receipts: {log}")


def summary_json(dataset: xr.Dataset, summary: Contents) -> dict[str, Any]:
    """What `print_summary` prints."""
    statuses = counts_json(summary.counts, sentences_of(dataset), summary.causes)
    return {"outputs": outputs_json(dataset, summary), "status": statuses}


def dataset_json(dataset: xr.Dataset, summary: Contents) -> dict[str, Any]:
    """What `print_dataset` and `print_summary` print."""
    along, single = coordinates(dataset)
    return {
        "model": dataset.attrs["model"],
        "dimensions": {str(name): size for name, size in dataset.sizes.items()},
        "axes": [
            {"name": name, "dimension": ", ".join(map(str, values.dims)), "size": values.size}
            | {"least": float(values.min()), "greatest": float(values.max()), **_labels(values)}
            for name, values in along.items()
        ],
        "parameters": [
            {"name": name, "value": float(value), **_labels(value)}
            for name, value in single.items()
        ],
        "labels": [
            {"name": name, "values": values.values.tolist(), **_labels(values)}
            for name, values in labels(dataset).items()
        ],
        "outputs": outputs_json(dataset, summary),
        "weighted_by": summary.weighted_by,
        "status": counts_json(summary.counts, sentences_of(dataset), summary.causes),
        "provenance": dict(dataset.attrs),
    }


def outputs_json(dataset: xr.Dataset, summary: Contents) -> list[dict[str, Any]]:
    """Each output with its unit, and its least, mean and greatest value or its shares."""
    figures: dict[str, dict[str, Any]] = {
        **{name: {**_figures(span), **_infinite(span)} for name, span in summary.ranges.items()},
        **{name: {"shares": shares} for name, shares in summary.shares.items()},
    }
    names = [name for name in map(str, dataset.data_vars) if name in figures]
    return [{"name": name, **figures[name], **_labels(dataset[name])} for name in names]


def _figures(span: Range) -> dict[str, float]:
    """Least, mean and greatest by name, without negative zeros."""
    return {name: getattr(span, name) + 0.0 for name in ("least", "mean", "greatest")}


def _infinite(span: Range) -> dict[str, int]:
    return {"infinite": span.infinite} if span.infinite else {}


def counts_json(
    counts: Mapping[Status, int],
    sentences: Mapping[Status, str],
    causes: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The number of points of each status, its sentence, and those outside validity by cause."""
    entries: dict[str, Any] = {
        status.name: {"points": count, "sentence": sentences.get(status, "")}
        for status, count in counts.items()
    }
    if causes:
        entries["outside_validity"]["causes"] = dict(causes)
    return entries


def next_command(command: str, store: str | Path) -> str:
    """A command for a store, quoted for the shell."""
    return f"sweep {command} {shlex.quote(str(store))}"


def look_command(store: str | Path, sweep: AnySweep, counts: Mapping[Status, int]) -> str:
    """The command to look at results: a plot, or `sweep show` if there is nothing to draw."""
    drawable = sweep.n_points > 1 and Status.ok in counts
    return next_command("plot" if drawable else "show", store)


def _value_text(name: str, dataset: xr.Dataset) -> str:
    """A constant parameter; for a derived one the rule, with its value if that is constant."""
    value = float(dataset[name])
    model = model_in(dataset.attrs)
    methods = model.methods if model else ()
    rules = {each.name: each.derived for method in methods for each in method.parameters}
    if not (math.isnan(value) and rules.get(name)):
        return f"{value:.12g}"
    rule, derived = rules[name].partition(":")[0], _derived_values(dataset).get(name)
    return rule if derived is None else f"{rule}, {derived:.12g}"


def _derived_values(dataset: xr.Dataset) -> Mapping[str, float]:
    """The values that the model's theory gives parameters; none if they vary over the points."""
    derived = getattr(theory_of(str(dataset.attrs["model"])), "derived_parameters", None)
    single = {key: float(value) for key, value in coordinates(dataset)[1].items()}
    try:
        return derived(single) if derived else {}
    except KeyError:  # a parameter that they depend on is along an axis
        return {}


def _listed(values: xr.DataArray) -> str:
    """The first labels of a dimension."""
    texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in values.values]
    return ", ".join(texts[:MAX_LABELS]) + (", ..." if len(texts) > MAX_LABELS else "")


def _axis_row(name: str, values: xr.DataArray) -> tuple[str, ...]:
    ends = (f"{float(end):.6g}" for end in (values.min(), values.max()))
    return name, f"{values.size:,}", *ends, *_described(values)


def _described(variable: xr.DataArray) -> tuple[str, str]:
    return variable.attrs.get("units", "1"), variable.attrs.get("long_name", "")


def _labels(variable: xr.DataArray) -> dict[str, str]:
    unit, meaning = _described(variable)
    return {"unit": unit, "long_name": meaning}
