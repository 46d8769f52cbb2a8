"""Compares a document's published figures with ours and writes the record.

A document is a folder. Its module has `compute() -> Ours`; the other files are text:

record.md     title, source, pictures, one section per table (its title, then its name), notes as
              bullets. In notes `{table|row|figure:3}` cites a figure with three significant
              digits, `{name:.2f}` one of no table. A row is cited by its first cells as printed.
columns.csv   columns of each table, text where `unit` is empty. `figure` is what they show of a
              row, by default the figure of the column's name. Numbers are rounded to multiples of
              `resolution`, below which differences are rounding errors, and to `digits`.
checks.csv    claims: the cited figure differs from `target` by at most `bound`. `*` stands for any
              cell; the largest difference counts.

A figure is an expression such as `ours / exact - 1`, of figures of the row or columns further left.
All other CSV files are published figures. A record is what its JSON file contains.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr

import sweep

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "results" / "verification"
CITATION = re.compile(r"\{([^{}:]*[a-z][^{}:]*)(?::([^{}]*))?\}")  # but no {3/2}

Cell = str | float | None  # None: there is no such figure
Row = Mapping[str, Cell]
Column = Mapping[str, str]  # a row of columns.csv
Record = Mapping[str, Any]


class Ours(NamedTuple):
    """What a document's module computes."""

    rows: Mapping[str, Sequence[Row]]  # by table
    others: Mapping[str, float] = {}  # figures that notes and checks cite and no table has
    pictures: Mapping[str, Callable[[Path], object]] = {}  # by file name: draws it at a path


# --- Published figures and ours ---


def csv_rows(path: str | Path) -> list[dict[str, str]]:
    """Cells by column; ValueError if a row lacks cells. Lines that begin with # are comments.

    Relative paths start in this folder.
    """
    lines = (HERE / path).read_text(encoding="utf-8").splitlines()
    header, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    return [dict(zip(header, row, strict=True)) for row in rows]


def figures(path: str | Path, key: Callable[[str], Any] = str) -> dict[Any, dict[str, float]]:
    """Published numbers by row and column; `key` makes the row's key of its first cell."""
    rows: dict[Any, dict[str, float]] = {}
    for (_, first), *others in (row.items() for row in csv_rows(path)):
        assert key(first) not in rows, f"{path}: two rows {first!r}"
        rows[key(first)] = {name: float(text) for name, text in others}
    return rows


def constants(path: str | Path) -> dict[str, float]:
    """The numbers of a file with the columns `name` and `value`."""
    return {name: row["value"] for name, row in figures(path).items()}


def computed(
    model: str | Mapping[str, Any],
    method: str,
    outputs: Sequence[str],
    parameters: Mapping[str, float],
    axes: Mapping[str, Sequence[float]],
) -> xr.Dataset:
    """The outputs over the grid of the axes, all points computed; SI units.

    `model` is a name, a model file's path, relative to this folder, or the content of one.
    """
    is_path = isinstance(model, str) and model.endswith(".toml")
    request = {
        "model": str(HERE / model) if is_path else model,
        "method": method,
        "outputs": list(outputs),
        "parameters": dict(parameters),
        "axes": {name: {"values": list(values)} for name, values in axes.items()},
    }
    dataset = sweep.run(request, store=None, progress=False)
    assert (dataset["status"] == 0).all(), f"{model} by {method}: points are not computed"
    return dataset


# --- Comparison ---


def compute(name: str) -> Ours:
    """What the module of a document computes."""
    return import_module(f"tests.validation.{name}").compute()


def record_of(name: str | Path, ours: Ours) -> Record:
    """The record of a document, by its name or folder."""
    folder = HERE / name
    head, *sections = (folder / "record.md").read_text(encoding="utf-8").split("\n## ")
    title, source, *pictures = head.strip().split("\n\n")
    *tables, (_, notes) = (section.strip().partition("\n\n")[::2] for section in sections)
    columns = csv_rows(folder / "columns.csv")
    unrounded: dict[str, list[dict[str, Any]]] = {}
    rounded: dict[str, dict[str, Any]] = {}
    for heading, table in tables:
        its_columns = [column for column in columns if column["table"] == table]
        unrounded[table] = [_known(row, its_columns) for row in ours.rows[table]]
        rounded[table] = {
            "name": table,
            "title": heading,
            "columns": [{key: c[key] for key in ("name", "title", "unit")} for c in its_columns],
            "rows": [
                {c["name"]: _rounded(row[c["name"]], c) for c in its_columns}
                for row in unrounded[table]
            ],
        }
    cited = partial(_cited, unrounded, rounded, dict(ours.others))
    checks = [_check(row, cited(row["cell"])) for row in csv_rows(folder / "checks.csv")]
    notes = CITATION.sub(lambda match: _formatted(cited(match[1]), match[2]), notes)
    failed = sum(check["holds"] != "yes" for check in checks)
    verdict = f"{failed} of {len(checks)} checks do not hold."
    captions = (picture[2:-1].split("](") for picture in pictures)
    return {
        "name": folder.name,
        "title": title.removeprefix("# "),
        "source": " ".join(source.split()),
        "holds": failed == 0,
        "verdict": verdict if failed else f"All {len(checks)} checks hold.",
        "checks": checks,
        "tables": [*rounded.values()],
        "notes": [" ".join(note.split()) for note in notes.removeprefix("- ").split("\n- ")],
        "pictures": [{"file": file, "caption": caption} for caption, file in captions],
    }


def _known(row: Row, columns: Sequence[Column]) -> dict[str, Any]:
    """The row's figures and those of the columns; None where one is undefined."""
    known = dict(row)
    for column in columns:
        try:
            known[column["name"]] = eval(column["figure"] or column["name"], {}, known)
        except (TypeError, ZeroDivisionError):
            known[column["name"]] = None
    return known


def _check(row: Mapping[str, str], cited: Sequence[float]) -> dict[str, Cell]:
    target, bound = float(row["target"]), float(row["bound"])
    deviation = max(abs(value - target) for value in cited)
    return {
        "claim": row["claim"],
        "found": _rounded(deviation, {"digits": "2", "resolution": row["resolution"]}),
        "bound": _rounded(bound, {"digits": "2", "resolution": ""}),
        "unit": row["unit"],
        "holds": "yes" if deviation <= bound else "NO",
    }


def _cited(
    unrounded: Mapping[str, Sequence[dict[str, Any]]],
    rounded: Mapping[str, Mapping[str, Any]],
    others: dict[str, float],
    address: str,
) -> list[float]:
    """The figures at an address: `table|row|figure`, or a figure of no table."""
    if "|" not in address:
        return [eval(address, {}, others)]
    table, *keys, expression = address.split("|")
    return [
        float(eval(expression, {}, row))
        for row, printed in zip(unrounded[table], rounded[table]["rows"], strict=True)
        if all(key in ("*", _text(cell)) for key, cell in zip(keys, printed.values()))  # noqa: B905
    ]


def _formatted(values: Sequence[float], form: str | None) -> str:
    """One value, by a format, or with that many significant digits."""
    (value,) = values
    if form and form.isdigit():
        return number(_rounded(value, {"digits": form, "resolution": ""}))
    return format(value, form or "")


def _rounded(cell: Any, column: Column) -> Any:
    """A number to the nearest multiple of the resolution, then to that many significant digits."""
    if cell is None or isinstance(cell, str):
        return cell
    if column["resolution"]:
        resolution = float(column["resolution"])
        cell = round(cell / resolution) * resolution
    return float(f"{cell:.{int(column['digits']) - 1}e}")


# --- Writing: no times, no hosts ---


def save(record: Record, ours: Ours, folder: Path = RESULTS) -> None:
    """Write NAME.md, NAME.json and the pictures."""
    texts = {"md": markdown(record), "json": json_text(record)}
    for suffix, text in texts.items():
        (folder / f"{record['name']}.{suffix}").write_text(text, encoding="utf-8", newline="\n")
    for picture in record["pictures"]:
        ours.pictures[picture["file"]](folder / picture["file"])


def json_text(record: Record) -> str:
    """The record for programs."""
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def markdown(record: Record) -> str:
    """The record for readers."""
    parts = [f"# {record['title']}", f"Source: {record['source']}.", record["verdict"]]
    parts += [f"![{each['caption']}]({each['file']})" for each in record["pictures"]]
    for table in record["tables"]:
        parts += [f"## {table['title']}", _markdown_table(table["columns"], table["rows"])]
    units = {"claim": "", "found": "1", "bound": "1", "unit": "", "holds": ""}
    columns = [{"name": name, "title": name, "unit": unit} for name, unit in units.items()]
    parts += ["## Checks", _markdown_table(columns, record["checks"])]
    parts += ["## Notes", "\n".join(f"- {note}" for note in record["notes"])]
    return "\n\n".join(parts) + "\n"


def _markdown_table(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    heads = [
        c["title"] + (f" ({c['unit']})" if c["unit"] not in ("", "1") else "") for c in columns
    ]
    rules = ["--:" if c["unit"] else "---" for c in columns]
    cells = [[_text(row[c["name"]]) for c in columns] for row in rows]
    lines = ([cell.replace("|", r"\|") for cell in line] for line in (heads, rules, *cells))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(cell: Cell) -> str:
    if cell is None:
        return "–"
    return cell if isinstance(cell, str) else number(cell)


def number(value: float) -> str:
    """A number without trailing zeros: 2.26e-4, 15.2671, 9000000."""
    if value == 0:
        return "0"
    shortest = Decimal(repr(value)).normalize()
    mantissa, power = f"{shortest:e}".split("e")
    return f"{shortest:f}" if -4 < int(power) < 7 else f"{mantissa}e{int(power)}"
