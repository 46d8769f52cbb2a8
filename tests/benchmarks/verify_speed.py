"""The duration of `sweep verify` for each source document.

Each run is a separate process; all kernels are in the cache except the first time. The bound for
sdnd104, 60 s with compiling, is for two idle processors. The note has the processor time, which
other programs affect less.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from sweep.verify import documents
from tests.benchmarks.record import Figure
from tests.benchmarks.timed_commands import Seconds, seconds, with_cache

MOST = {"sdnd104": 60.0}  # s
QUICK = ("sdnd122",)


def measure(quick: bool) -> list[Figure]:
    repeats = 1 if quick else 3
    names = QUICK if quick else tuple(documents())
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder:
        for name in names:
            first = _verify(name, Path(folder))
            again = [_verify(name, Path(folder)) for _ in range(repeats)]
            figures += _figures(name, first, again)
    return figures


def _verify(name: str, folder: Path) -> Seconds:
    arguments = ("verify", name, "-o", str(folder / "verification"))
    return seconds(arguments, with_cache(folder / "cache"))


def _figures(name: str, first: Seconds, again: list[Seconds]) -> list[Figure]:
    command, most = f"sweep verify {name}", MOST.get(name)
    wall = median(each.wall for each in again)
    note = f"{median(each.processor for each in again):.1f} s of processor time"
    return [
        Figure(f"{command}, first", first.wall, "s", at_most=most, note="the kernels compiled"),
        Figure(command, wall, "s", at_most=most, note=note),
    ]
