"""The benchmarks of this machine: `python -m tests.benchmarks [--quick] [NAME ...]`.

Print a table for each and store the figures in results/benchmarks/cpu.json. The name `speeds` is
short for all that the tables in README.md and docs/explanation/speed.md need; a run that has them
writes the tables, and every run the figures within sentences (prose.csv). With --quick everything
is small, to check that it runs, and nothing is stored. Exit status 1 if a bound does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from tests.benchmarks import record, tables

NAMES = (
    "exact_speed",
    "schemes_speed",
    "systems_speed",
    "work_precision",
    "contact_speed",
    "time_stepping_speed",
    "impact_speed",
    "engine_share",
    "processes",
    "writing",
    "memory",
    "billion",
    "reduced_speed",
    "no_event_missed",
    "refinement",
    "demo",
    "step_size_errors",
    "chaos",
    "explorer",
    "shipped_speed",
)
SPEEDS = "speeds"
RECORD = Path(__file__).parents[2] / "results" / "benchmarks" / "cpu.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((SPEEDS, *NAMES)))
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is kept")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in (*NAMES, SPEEDS)]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {SPEEDS}, {', '.join(NAMES)}")
    run, entries, broken = record.now(), {}, []
    for name in chosen(arguments.names):
        module = import_module(f"tests.benchmarks.{name}")
        load, began = os.getloadavg()[0], time.perf_counter()
        figures = module.measure(arguments.quick)
        seconds = time.perf_counter() - began
        title = f"{name}: {module.__doc__.splitlines()[0]}"
        record.show(f"{title} (load {load:.2f} at the start, {seconds:.0f} s)", figures)
        entries[name] = record.entry(figures, load, run)
        broken += [f"{name}: {figure.name}" for figure in figures if not figure.holds]
    renewed, speeds = record.renewed(RECORD, entries), {*tables.benchmarks()}
    whole = speeds <= {*entries}
    pages = tables.pages(renewed) if whole else tables.with_prose(renewed, {})
    if not arguments.quick:
        record.keep(RECORD, renewed)
        for page, text in pages.items():
            page.write_text(text, encoding="utf-8")
        print("written:", *map(str, (RECORD, *pages)))
        if not whole and speeds & {*entries}:
            print(f"the tables need one run of all speeds: python -m tests.benchmarks {SPEEDS}")
    for line in broken:
        print(f"bound not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


def chosen(names: list[str]) -> list[str]:
    """These benchmarks once each, in order, or all if none is named."""
    wanted = {*(names or NAMES), *(tables.benchmarks() if SPEEDS in names else ())}
    return [name for name in NAMES if name in wanted]


if __name__ == "__main__":
    sys.exit(main())
