"""Receipts: what was written when, where and how fast, as JSON lines next to a store.

They are advisory: no decision depends on them, and a line that makes no sense is skipped, for
example one torn by a killed process.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any, cast

from sweep.store.files import Files


class Receipts:
    """The receipts of all processes that write to a store; this process appends to its own."""

    def __init__(self, store: Files) -> None:
        self._files = store.beside("log")
        self._collected: list[str] = []
        self._flushed = time.monotonic()
        self._guard = Lock()

    def append(self, receipt: Mapping[str, object]) -> None:
        """Add one line, with time, host and process; it may be collected for some seconds."""
        with self._guard:
            self._collected.append(_line(receipt))
            due = time.monotonic() - self._flushed >= self._files.flush_seconds
        if due:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected."""
        with self._guard:
            lines, self._collected = self._collected, []
            self._flushed = time.monotonic()
        if lines:
            with self._files.writing():
                self._files.append(f"{socket.gethostname()}-{os.getpid()}.jsonl", "".join(lines))

    def read(self) -> list[dict[str, Any]]:
        """All valid receipts of all processes, sorted by time."""
        self.flush()
        keys = sorted(key for key in self._files.list() if key.endswith(".jsonl"))
        texts = ((self._files.read(key) or b"").decode("utf-8", "replace") for key in keys)
        found = [receipt for text in texts for receipt in _valid_lines(text.splitlines())]
        return sorted(found, key=lambda receipt: str(receipt.get("time", "")))


def _line(receipt: Mapping[str, object]) -> str:
    written = datetime.now(UTC).isoformat(timespec="milliseconds")
    signed = {"time": written, "host": socket.gethostname(), "pid": os.getpid(), **receipt}
    return json.dumps(signed) + "\n"


def _valid_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            receipt = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(receipt, dict) and _is_valid(cast("dict[str, Any]", receipt)):
            yield receipt


def _is_valid(receipt: Mapping[str, Any]) -> bool:
    """Whether every key that is used somewhere has a value of the right type."""
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
