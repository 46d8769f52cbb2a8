"""The duration of commands as a user runs them, each in a separate process."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Seconds:
    """The duration of a command."""

    wall: float
    processor: float  # of all its threads


def with_cache(folder: Path) -> Mapping[str, str]:
    """An environment with that folder as the kernel cache."""
    return {**os.environ, "TRIBOSWEEP_CACHE_DIR": str(folder)}


def seconds(arguments: tuple[str, ...], environment: Mapping[str, str]) -> Seconds:
    """The duration of `sweep` with these arguments; RuntimeError if it fails."""
    command = [sys.executable, "-m", "sweep", *arguments]
    before, began = _processor_seconds(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    taken = Seconds(time.perf_counter() - began, _processor_seconds() - before)
    if done.returncode:
        raise RuntimeError(f"{command} exits {done.returncode}: {done.stderr}")
    return taken


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
