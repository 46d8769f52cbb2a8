"""The benchmarks of this machine: `python -m tests.benchmarks [--quick] [NAME ...]`.

Print a table for each, store the figures in results/benchmarks/cpu.json and write the tables in
README.md and docs/explanation/speed.md. With --quick everything is small, to check that it runs,
and nothing is stored. Exit status 1 if a bound does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.benchmarks import record, speeds, tables

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
    "memory",
    "billion",
    "reduced_speed",
    "no_event_missed",
    "refinement",
    "chaos",
    "shipped_speed",
)
RECORD = Path(__file__).parents[2] / "results" / "benchmarks" / "cpu.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is kept")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in NAMES]:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    entries, broken = {}, []
    for name in arguments.names or NAMES:
        about, measure = _benchmark(name)
        load, began = os.getloadavg()[0], time.perf_counter()
        figures = measure(arguments.quick)
        seconds = time.perf_counter() - began
        title = f"{name}: {about} (load {load:.2f} at the start, {seconds:.0f} s)"
        record.show(title, figures)
        entries[name] = record.entry(figures, load)
        broken += [f"{name}: {figure.name}" for figure in figures if not figure.holds]
    if not arguments.quick:
        _keep(record.renewed(RECORD, entries))
    for line in broken:
        print(f"bound not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


def _benchmark(name: str) -> tuple[str, Callable[[bool], list[record.Figure]]]:
    """What it measures, and how: a function of kernel_speeds.py, or a module of its own."""
    kernels = import_module("tests.benchmarks.kernel_speeds")
    if cases := getattr(kernels, name, None):
        return cases.__doc__.splitlines()[0], lambda quick: speeds.figures(cases(quick), quick)
    module = import_module(f"tests.benchmarks.{name}")
    return module.__doc__.splitlines()[0], module.measure


def _keep(renewed: dict[str, Any]) -> None:
    """Write the record, and the tables if it has all that they need."""
    record.keep(RECORD, renewed)
    missing = [name for name in tables.benchmarks() if name not in renewed["benchmarks"]]
    if missing:
        print(f"written: {RECORD}; the tables also need", *missing)
        return
    pages = tables.pages(renewed)
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    print("written:", *map(str, (RECORD, *pages)))


if __name__ == "__main__":
    sys.exit(main())
