"""The tables of speeds in README.md, docs/explanation/speed.md and `sweep bench`, from cpu.json.

The rows of the pages are those of speeds.csv. `sweep bench` prints the speeds of the shipped sweeps
beside those that it measures, from configs/speeds.csv.
"""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
README, SPEED = ROOT / "README.md", ROOT / "docs" / "explanation" / "speed.md"
SWEEPS = ROOT / "configs" / "speeds.csv"
SHIPPED = "shipped_speed"
HEADER = ("", "per second and core", "compared with")
BEGIN, END = "<!-- speeds, written by make bench -->\n", "<!-- end of speeds -->\n"
PRECISION = "work_precision"
OF_PRECISION = (
    "Points of the model file `lorenz` to t = 10 per second of processor time, at a given "
    "relative error that the tolerance is chosen for; a dash: at none is the program so inexact."
)
OURS = ": ours to "
SCALAR = "scalar build"  # our kernel compiled without vectors, a peer if there is no other

Record = Mapping[str, Any]  # what cpu.json has
Cells = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """What is computed, and the figure that says how fast."""

    benchmark: str
    figure: str
    in_readme: bool
    computed: str  # Markdown


def rows() -> list[Row]:
    """The rows of speeds.csv."""
    text = Path(__file__).with_name("speeds.csv").read_text(encoding="utf-8")
    lines = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return [
        Row(line["benchmark"], line["figure"], line["readme"] == "yes", line["computed"])
        for line in lines
    ]


def benchmarks() -> tuple[str, ...]:
    """The benchmarks that the tables need."""
    return tuple(dict.fromkeys([*(row.benchmark for row in rows()), PRECISION, SHIPPED]))


def pages(record: Record) -> dict[Path, str]:
    """The texts of both pages and of configs/speeds.csv, with these figures.

    KeyError if one is missing.
    """
    where = _conditions(record)
    short = table(HEADER, [cells(record, row) for row in rows() if row.in_readme])
    whole = table(HEADER, [cells(record, row) for row in rows()])
    more = "[all figures](docs/explanation/speed.md), `make bench` for yours."
    precision = _filled(OF_PRECISION) + _precision(record)
    speeds = [f"{n},{each['value']}\n" for n, each in _figures(record, SHIPPED).items()]
    blocks = {
        README: _filled(f"One core of {where}; {more}") + short,
        SPEED: _filled(f"One core of {where}.") + f"{whole}\n{precision}",
    }
    texts = {page: page.read_text(encoding="utf-8") for page in blocks}
    return {
        **{page: replaced(texts[page], BEGIN, END, block) for page, block in blocks.items()},
        SWEEPS: f"# one core of {where}\nsweep,points_per_second\n{''.join(speeds)}",
    }


def _precision(record: Record) -> str:
    """A row for each error, a column for each method and program that was measured."""
    speeds: dict[str, dict[str, str]] = {}
    for name, each in _figures(record, PRECISION).items():
        error, whose = name.removeprefix("error ").split(": ")
        if each["unit"] == "points/s":
            exponent = f"{float(error):.0e}".replace("e-0", "e-")
            speeds.setdefault(exponent, {})[whose] = short(each["value"])
    columns = dict.fromkeys(whose for row in speeds.values() for whose in row)
    lines = [(error, *(row.get(whose, "–") for whose in columns)) for error, row in speeds.items()]
    return table(("relative error", *columns), lines)


def _conditions(record: Record) -> str:
    """The processor, the compiler and the date, the first and the last if there are several."""
    machine = record["machine"]
    dates = {record["benchmarks"][name]["date"][:10] for name in benchmarks()}
    when = " to ".join(dict.fromkeys((min(dates), max(dates))))
    return f"{machine['processor']}; {machine['compiler']}; {when}"


def cells(record: Record, row: Row) -> Cells:
    """What is computed, how fast, and in proportion to which peer."""
    figures = _figures(record, row.benchmark)
    speed, peer = figures[row.figure], "no peer"
    for name in figures:
        if name.startswith(row.figure + OURS):
            other = name.removeprefix(row.figure + OURS).replace(SCALAR, f"our {SCALAR}")
            peer = f"{short(figures[name]['value'])} × {other}"
    return row.computed, f"{short(speed['value'])} {speed['unit'].removesuffix('/s')}", peer


def _figures(record: Record, benchmark: str) -> dict[str, Any]:
    return {each["name"]: each for each in record["benchmarks"][benchmark]["figures"]}


def short(value: float) -> str:
    """Two digits: 0.80, 1.0, 11, 130, 4.4e6."""
    mantissa, power = f"{value:.1e}".split("e")
    exponent = int(power)
    if exponent >= 3:
        return f"{mantissa}e{exponent}"
    return f"{float(f'{mantissa}e{exponent}'):.{max(1 - exponent, 0)}f}"


def table(header: Cells, lines: Iterable[Cells]) -> str:
    """A table in Markdown."""
    rule = ("---",) * len(header)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rule, *lines))


def _filled(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False) + "\n\n"


def replaced(text: str, begin: str, end: str, block: str) -> str:
    """The text of a page with another block between these two lines."""
    before, begun, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not ended:
        raise ValueError(f"the page has no lines {begin}{end}")
    return before + begun + block + ended + after
