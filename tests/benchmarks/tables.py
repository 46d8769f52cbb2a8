"""The tables of speeds in README.md, docs/explanation/speed.md and `sweep bench`, from one run.

The rows of the pages are those of speeds.csv. `sweep bench` prints the speeds of the shipped sweeps
beside those that it measures, from configs/speeds.csv; the second page has them, too.
"""

from __future__ import annotations

import csv
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
README, SPEED = ROOT / "README.md", ROOT / "docs" / "explanation" / "speed.md"
SWEEPS = ROOT / "configs" / "speeds.csv"
SHIPPED = "shipped_speed"
HEADER = ("", "per second and core", "compared with", "of its limit")
BEGIN, END = "<!-- speeds, written by make bench -->\n", "<!-- end of speeds -->\n"
PRECISION = "work_precision"
ERROR = re.compile(
    r"error (?P<error>\S+): (?P<ours>ours)?(?P<whose>.*)"
)  # of a figure: the error, and whose speed
OF_PRECISION = (
    "Points of the model file `lorenz` to t = 10 per second of processor time, at a given "
    "relative error that the tolerance is chosen for; a dash: at none is the program so inexact."
)
OF_SWEEPS = "Shipped sweeps, as `sweep bench` measures them; the share is the kernel's:"
SCALAR = "scalar build"  # our kernel compiled without vectors, a peer if there is no other
OURS, LIMIT = ": ours to ", ": share of the limit"

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
    return [
        Row(line["benchmark"], line["figure"], line["readme"] == "yes", line["computed"])
        for line in _lines("speeds.csv")
    ]


def _lines(name: str) -> list[dict[str, str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [*csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))]


def benchmarks() -> tuple[str, ...]:
    """The benchmarks that the tables need."""
    return tuple(dict.fromkeys([*(row.benchmark for row in rows()), SHIPPED]))


def pages(record: Record) -> dict[Path, str]:
    """The texts of both pages and of configs/speeds.csv, with these figures.

    ValueError if the figures are not of one run, KeyError if one is missing.
    """
    where = _conditions(record)
    short = table(HEADER, [cells(record, row) for row in rows() if row.in_readme])
    whole = table(HEADER, [cells(record, row) for row in rows()])
    speeds, sweeps = _sweeps(record)
    more = "[all figures](docs/explanation/speed.md), `make bench` for yours."
    parts = (whole, _filled(OF_PRECISION) + _precision(record), f"{OF_SWEEPS}\n\n{sweeps}")
    everything = _filled(f"One core of {where}.") + "\n".join(parts)
    return {
        README: _replaced(README, _filled(f"One core of {where}; {more}") + short),
        SPEED: _replaced(SPEED, everything),
        SWEEPS: f"# one core of {where}\n{speeds}",
    }


def _sweeps(record: Record) -> tuple[str, str]:
    """The shipped sweeps as CSV and as a table."""
    figures = _figures(record, SHIPPED)
    names = [name for name in figures if LIMIT not in name]
    lines = ["sweep,points_per_second,share_of_limit"]
    for name in names:
        share = figures.get(name + LIMIT, {"value": ""})
        lines.append(f"{name},{figures[name]['value']},{share['value']}")
    shown = [cells(record, Row(SHIPPED, name, False, f"`{name}`")) for name in names]
    header = ("sweep", *HEADER[1::2])
    return "\n".join([*lines, ""]), table(header, [(name, *more[::2]) for name, *more in shown])


def _precision(record: Record) -> str:
    """A row for each error, a column for each method and program that was measured."""
    speeds: dict[str, dict[str, str]] = {}
    for name, each in _figures(record, PRECISION).items():
        match = ERROR.fullmatch(name)
        if match and not match["ours"]:
            error = f"{float(match['error']):.0e}".replace("e-0", "e-")
            speeds.setdefault(error, {})[match["whose"]] = short(each["value"])
    columns = dict.fromkeys(whose for row in speeds.values() for whose in row)
    lines = [(error, *(row.get(whose, "–") for whose in columns)) for error, row in speeds.items()]
    return table(("relative error", *columns), lines)


def _conditions(record: Record) -> str:
    """The processor, the compiler and the date of the one run."""
    runs = {name: record["benchmarks"][name].get("run") for name in benchmarks()}
    if len({*runs.values()}) > 1 or None in runs.values():
        listed = ", ".join(f"{name} {run}" for name, run in runs.items())
        raise ValueError(f"speeds of several runs: {listed}; run python -m tests.benchmarks speeds")
    machine = record["machine"]
    return f"{machine['processor']}; {machine['compiler']}; {runs[SHIPPED][:10]}"


def cells(record: Record, row: Row) -> Cells:
    """What is computed, how fast, and in proportion to which peer and to the limit."""
    figures = _figures(record, row.benchmark)
    speed = figures.get(row.figure) or figures[f"{row.figure}: ours"]
    ratios = [name for name in figures if name.startswith(row.figure + OURS)]
    peer, limit = "no peer", "not counted"
    if ratios:
        best = max(ratios, key=lambda name: SCALAR not in name)
        name = best.removeprefix(row.figure + OURS).replace(SCALAR, f"our {SCALAR}")
        peer = f"{short(figures[best]['value'])} × {name}"
    if row.figure + LIMIT in figures:
        limit = f"{100 * figures[row.figure + LIMIT]['value']:.0f} %"
    unit = speed["unit"].removesuffix("/s")
    return row.computed, f"{short(speed['value'])} {unit}", peer, limit


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


def _replaced(page: Path, block: str) -> str:
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert end, f"{page} has no lines {BEGIN}{END}"
    return before + begin + block + end + after
