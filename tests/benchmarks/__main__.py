"""The benchmarks of this machine: `python -m tests.benchmarks [--quick] [NAME ...]`.

Print a table for each and store the figures in results/benchmarks/cpu.json. With --quick everything
is small, to check that it runs, and nothing is stored. Exit status 1 if a bound does not hold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from tests.benchmarks import record

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
    "verify_speed",
    "step_size_errors",
    "chaos",
    "explorer",
)
RECORD = Path(__file__).parents[2] / "results" / "benchmarks" / "cpu.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is kept")
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    entries, broken = {}, []
    for name in asked.names or NAMES:
        module = import_module(f"tests.benchmarks.{name}")
        load, began = os.getloadavg()[0], time.perf_counter()
        figures = module.measure(asked.quick)
        seconds = time.perf_counter() - began
        title = f"{name}: {module.__doc__.splitlines()[0]}"
        record.show(f"{title} (load {load:.2f} at the start, {seconds:.0f} s)", figures)
        entries[name] = record.entry(figures, load)
        broken += [f"{name}: {figure.name}" for figure in figures if not figure.holds]
    if not asked.quick:
        record.keep(RECORD, entries)
        print(f"kept in {RECORD}")
    for line in broken:
        print(f"bound not kept: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
