"""Formats of printed results: tables, quantities, JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from sweep.text.wording import escaped

MAX_LINES = 8  # of processes or errors
UNWRAPPED_WIDTH = 10_000  # characters, for output that is not a terminal


def print_table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Print aligned columns. On a terminal, all cells but the first of a row may wrap."""
    from rich.console import Console
    from rich.table import Table

    width = None if sys.stdout.isatty() else UNWRAPPED_WIDTH
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 2, 0, 0))
    lines = list(rows)
    for place, name in enumerate(header or [""] * max(map(len, lines), default=0)):
        table.add_column(name, no_wrap=not place, overflow="fold")
    for line in lines:
        table.add_row(*map(escaped, line))
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def print_section(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Print aligned columns, and an empty line."""
    print_table(rows, header)
    print()


def print_first(lines: Sequence[str], what: str) -> None:
    """Print the first few lines, and the number of the others."""
    for line in lines[:MAX_LINES]:
        print(f"  {escaped(line)}")
    if len(lines) > MAX_LINES:
        print(f"  and {len(lines) - MAX_LINES:,} more {what}")


def print_json(value: object) -> None:
    """Print strict JSON, in which `finite` replaces numbers that are not finite."""
    print(json.dumps(finite(value), indent=2, allow_nan=False))


def print_warning(text: str) -> None:
    """Print one warning on stderr."""
    print(f"warning: {escaped(text)}", file=sys.stderr)


def print_object(event: str, **entries: object) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(finite({"event": event, **entries}), allow_nan=False), flush=True)


def finite(value: Any) -> Any:
    """The same value with "Infinity" or "-Infinity" for infinite numbers, and None for NaN.

    Zarr writes infinities in the same way, and most languages can parse these texts as numbers.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return {str(key): finite(entry) for key, entry in entries.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in cast("Sequence[object]", value)]
    return value


def counted(number: int, one: str) -> str:
    """A number with its noun: 1 point, 2,000 points."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"
