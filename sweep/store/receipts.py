"""Receipts: what was written when, where and how fast, as JSON lines beside a store.

They are advisory. Nothing is decided from them, and a line that makes no sense, torn by a killed
writer perhaps, is passed over.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast


def append(folder: Path, receipt: Mapping[str, object]) -> None:
    """One more line in this process's file, with time, host and pid added."""
    folder.mkdir(exist_ok=True)
    # Unbuffered, so that the lines of two threads are each one write at the file's end.
    with (folder / f"{writer()}.jsonl").open("ab", buffering=0) as file:
        file.write(line(receipt).encode("utf-8"))


def line(receipt: Mapping[str, object]) -> str:
    """The receipt as it is kept, with time, host and pid added."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    signed = {"time": time, "host": socket.gethostname(), "pid": os.getpid(), **receipt}
    return json.dumps(signed) + "\n"


def writer() -> str:
    """What names this process among all."""
    return f"{socket.gethostname()}-{os.getpid()}"


def read(folder: Path) -> list[dict[str, Any]]:
    """All whole receipts of all writers, by time."""
    files = sorted(folder.glob("*.jsonl"))
    return parsed(file.read_text(encoding="utf-8", errors="replace") for file in files)


def parsed(texts: Iterable[str]) -> list[dict[str, Any]]:
    """All whole receipts in what the writers have written, by time."""
    found = [receipt for text in texts for receipt in _lines(text)]
    return sorted(found, key=lambda receipt: str(receipt.get("time", "")))


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for each in text.splitlines():
        try:
            receipt = json.loads(each)
        except (ValueError, RecursionError):
            continue
        if isinstance(receipt, dict) and _makes_sense(cast("dict[str, Any]", receipt)):
            yield receipt


def _makes_sense(receipt: Mapping[str, Any]) -> bool:
    """Whether all that is read of receipts is what it should be, where it is there at all."""
    try:
        datetime.fromisoformat(receipt["time"])
        chunk, counts = receipt.get("chunk", []), receipt.get("counts", {})
        points = receipt["points"] if "error" in receipt else receipt.get("points", 0)
        return (
            all(isinstance(number, int) for number in (*chunk, *counts.values(), points))
            and isinstance(receipt.get("seconds", 0.0), (int, float))
            and isinstance(receipt["host"], str)
            and isinstance(receipt["pid"], int)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
