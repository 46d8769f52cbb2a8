"""Which done chunks are known to be damaged, as JSON beside a store; the next run believes it not.

Reading every checksum takes as long as reading the store, so it is done when asked for, and what it
found is kept for the next run, which looks at those chunks alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from sweep.spec import Chunk

FILE = "damaged.json"


def note(folder: Path, chunks: Iterable[Chunk]) -> None:
    """Keeps the indices of the chunks found damaged, instead of those found before."""
    found = list(chunks)
    if not found and not (folder / FILE).exists():
        return
    folder.mkdir(exist_ok=True)
    scratch = folder / f"{FILE}.partial"
    scratch.write_text(line(found), encoding="utf-8")
    scratch.replace(folder / FILE)


def line(chunks: Iterable[Chunk]) -> str:
    """The indices as they are kept."""
    return json.dumps([list(chunk.index) for chunk in chunks]) + "\n"


def noted(folder: Path) -> set[tuple[int, ...]]:
    """The indices that were kept; none where there is no such file, or no readable one."""
    try:
        return parsed((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()


def parsed(text: str) -> set[tuple[int, ...]]:
    """The indices in what was kept; none if that is torn."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return set()
    rows = cast("list[object]", found) if isinstance(found, list) else []
    lists = [cast("list[object]", row) for row in rows if isinstance(row, list)]
    return {
        tuple(cast("list[int]", row))
        for row in lists
        if all(isinstance(place, int) for place in row)
    }
