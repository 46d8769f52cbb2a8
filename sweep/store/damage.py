"""A note of damaged chunks, as JSON next to a store, for the next run.

Reading every checksum takes as long as reading the store. So that is done on request, and the next
run checks only the chunks in the note.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from operator import index

from sweep.store.files import Files
from sweep.work import Chunk

FILE = "damaged.json"


def note(store: Files, chunks: Iterable[Chunk]) -> None:
    """Keep the indices of these chunks in place of those noted before."""
    log = store.beside("log")
    indices = [list(chunk.index) for chunk in chunks]
    with log.writing():
        if indices or log.exists(FILE):
            log.put(FILE, [f"{json.dumps(indices)}\n".encode()])


def noted(store: Files) -> set[tuple[int, ...]]:
    """The indices in the note; none if there is no note or it cannot be read."""
    try:
        rows = json.loads(store.beside("log").read(FILE) or b"[]")
        return {tuple(map(index, row)) for row in rows}
    except (OSError, ValueError, TypeError, RecursionError):
        return set()
