"""Receipts: what was written when, where and how fast, as JSON lines beside a store.

They are advisory. Nothing is decided from them, and a line torn by a killed writer is passed over.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def append(folder: Path, receipt: Mapping[str, object]) -> None:
    """One more line in this process's file, with time, host and pid added."""
    host, pid = socket.gethostname(), os.getpid()
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"time": time, "host": host, "pid": pid, **receipt}) + "\n"
    folder.mkdir(exist_ok=True)
    # Unbuffered, so that the lines of two threads are each one write at the file's end.
    with (folder / f"{host}-{pid}.jsonl").open("ab", buffering=0) as file:
        file.write(line.encode("utf-8"))


def read(folder: Path) -> list[dict[str, Any]]:
    """All whole receipts of all writers, by time."""
    found = [receipt for path in sorted(folder.glob("*.jsonl")) for receipt in _lines(path)]
    return sorted(found, key=lambda receipt: str(receipt.get("time", "")))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            receipt = json.loads(line)
        except ValueError:
            continue
        if isinstance(receipt, dict):
            yield receipt
