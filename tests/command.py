"""The command as a user runs it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import sweep

CHECKOUT = Path(sweep.__file__).parents[1]
MODULE = (sys.executable, "-m", "sweep")

Run = Callable[..., tuple[int, str, str]]  # arguments -> status, stdout, stderr


def environment(**changes: str) -> dict[str, str]:
    """As it is, with this checkout importable from any folder, and standard streams buffered."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**kept, "PYTHONPATH": str(CHECKOUT), **changes}


def sweep_command(
    *arguments: object, folder: Path, **changes: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MODULE, *map(str, arguments)],
        cwd=folder,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=120,
    )


def json_lines(text: str) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
