"""What is aimed at on a GPU beside what was measured: `python -m tests.gpu_aims gpu-DEVICE.json`.

Aims and limits are those of gpu_limits.json. The limits, by a data sheet, are scaled by the rate of
doubles of the device that was measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.gpu import BILLION, RESULTS, SAMPLES

RECORD = RESULTS / "gpu_limits.json"


def rows(figures: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    """A line for each aim, and one for each run that is extrapolated to all its points."""
    scale = (figures["device"]["double_rate"] or record["rate"]) / record["rate"]
    yield f"{'':50} {'aim /s':>9} {'/s':>9} {'of aim':>7} {'limit /s':>9} {'of it':>6}"
    for name, limit in record["limits"].items():
        if aim := limit["aim"]:
            measured = figures["kernels"].get(name, {})
            speed = measured.get(f"kernel_{limit['of']}_per_second", 0.0)  # 0: not measured
            most = scale * limit["most_per_second"]
            shares = f"{speed / aim:7.0%} {most:9.2e} {speed / most:6.0%}"
            yield f"{name:50} {aim:9.2e} {speed:9.2e} {shares}"
    for name in (BILLION, SAMPLES):
        measured = figures["maps"].get(name, {})
        if "seconds_of_all" in measured:
            speed, seconds = measured["points_per_second"], measured["seconds_of_all"]
            done = f"{seconds:.0f} s for all, from {measured['points']:.2e} points"
            yield f"{name:50} {'':9} {speed:9.2e} {done}"
        else:
            yield f"{name:50} {measured or 'not measured'}"


def report(path: Path) -> None:
    """Print the rows of a file of figures."""
    figures, record = (json.loads(each.read_text(encoding="utf-8")) for each in (path, RECORD))
    print(*rows(figures, record), sep="\n", flush=True)


if __name__ == "__main__":
    report(Path(sys.argv[1]))
