"""Results of benchmarks: figures and their bounds, as a table and in a JSON file."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sweep.kernel.compiler import find_compiler, processor_name

PACKAGES = ("numpy", "numba", "zarr", "xarray")


@dataclass(frozen=True)
class Figure:
    """One number, and its bound if it has one."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool:
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)

    @property
    def bound(self) -> str:
        """The bound in words, empty if there is none."""
        if self.at_most is not None:
            return f"≤ {number(self.at_most)}"
        return "" if self.at_least is None else f"≥ {number(self.at_least)}"


def number(value: float) -> str:
    """Four digits, and separators in large numbers."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{float(f'{value:.4g}'):,.0f}" if 1e4 <= abs(value) < 1e10 else f"{value:.4g}"


def machine() -> dict[str, Any]:
    """The processor, the compiler and the versions that figures depend on."""
    return {
        "processor": ", ".join((processor_name(), *_processor_model())),
        "processors": os.cpu_count(),
        "system": platform.platform(),
        "compiler": find_compiler().version,
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print the table of one benchmark."""
    table = Table()
    for heading, side in (("figure", "left"), ("value", "right"), ("unit", "left")):
        table.add_column(heading, justify=side, overflow="fold")
    table.add_column("bound")
    table.add_column("note", overflow="fold")
    for figure in figures:
        verdict = figure.bound and f"{figure.bound}  {'ok' if figure.holds else 'FAILS'}"
        style = "" if figure.holds else "red"
        table.add_row(
            figure.name, number(figure.value), figure.unit, verdict, figure.note, style=style
        )
    console = Console(width=None if os.isatty(1) else 150)
    console.print(title, style="bold", highlight=False)
    console.print(table)


def entry(figures: Sequence[Figure], load: float) -> dict[str, Any]:
    """The entry of one benchmark in the file: its date, and the load average at its start."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "load": round(load, 2),
        "figures": [_plain(figure) for figure in figures],
    }


def renewed(path: Path, entries: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the file has of this machine, older entries being replaced by these."""
    here = machine()
    kept: dict[str, Any] = {}
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        kept = before["benchmarks"] if before["machine"] == here else {}
    return {"machine": here, "benchmarks": dict(sorted({**kept, **entries}.items()))}


def keep(path: Path, record: dict[str, Any]) -> None:
    """Write the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _processor_model() -> list[str]:
    """What distinguishes processors of the same name, if the system reports it."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8", errors="replace") if info.exists() else ""
    first = dict(re.findall(r"^(.+?)\s*: (.*)$", text.split("\n\n")[0], re.MULTILINE))
    names = ("cpu family", "model", "stepping")
    return [f"{name} {first[name]}" for name in names if name in first]


def _plain(figure: Figure) -> dict[str, Any]:
    shown = {"name": figure.name, "value": float(f"{figure.value:.6g}"), "unit": figure.unit}
    extra = {"at_most": figure.at_most, "at_least": figure.at_least, "note": figure.note or None}
    return shown | {name: value for name, value in extra.items() if value is not None}
