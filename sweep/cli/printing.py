"""How results are written: tables, quantities, JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

LINES = 8  # of processes, and of errors
UNWRAPPED = 10_000  # columns of a table that no terminal shows


def print_table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Aligned columns; cells wrap on a terminal, the first of a row never, and nowhere else."""
    from rich.console import Console
    from rich.table import Table

    width = None if sys.stdout.isatty() else UNWRAPPED
    console = Console(width=width, markup=False, emoji=False, highlight=False)
    table = Table(box=None, show_header=bool(header), pad_edge=False, padding=(0, 2, 0, 0))
    lines = list(rows)
    for place, name in enumerate(header or [""] * max(map(len, lines), default=0)):
        table.add_column(name, no_wrap=not place, overflow="fold")
    for line in lines:
        table.add_row(*line)
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def print_first(lines: Sequence[str], what: str) -> None:
    """The first few lines, and how many more there are."""
    for line in lines[:LINES]:
        print(f"  {line}")
    if len(lines) > LINES:
        print(f"  and {len(lines) - LINES:,} more {what}")


def print_json(value: object) -> None:
    """Strict JSON, which has no numbers that are not finite: what `finite` makes of those."""
    print(json.dumps(finite(value), indent=2, allow_nan=False))


def finite(value: Any) -> Any:
    """The same value, every infinite number as "Infinity" or "-Infinity", every NaN as None.

    So zarr writes infinities in its metadata, and the number types of most languages read them.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return {str(key): finite(entry) for key, entry in entries.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in cast("Sequence[object]", value)]
    return value


def duration(seconds: float) -> str:
    """A length of time as people say it: 0.63 s, 3 min 20 s, 2 h 5 min."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def counted(number: int, one: str) -> str:
    """So many of them: 1 point, 2,000 points."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def share(part: float) -> str:
    """A share in per cent; what is not all is never 100 %, what is not nothing never 0 %."""
    percent = 100 * part
    if 0 < percent < 0.1:
        return "below 0.1 %"
    if 99.9 < percent < 100:
        return "above 99.9 %"
    return f"{percent:.1f} %"


def rate(points_per_second: float) -> str:
    """A pace with three figures: 834,000 points/s."""
    return f"{float(f'{points_per_second:.3g}'):,.{0 if points_per_second >= 100 else 2}f} points/s"
