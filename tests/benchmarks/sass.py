"""Instructions of a GPU kernel's innermost loops, counted from its machine code.

They bound how fast a kernel can be: a multiprocessor issues four instructions of 32 threads a
clock, and begins so many operations on doubles as cupy_device.DOUBLES_A_CLOCK says. It takes
cuobjdump and nvdisasm, which come with CUDA.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?);")
BACK = re.compile(r"\bBRA\S*\s.*?(0x[0-9a-f]+)")
ON_DOUBLES = re.compile(r"\b(DADD|DMUL|DFMA|DSETP)\b")
LOCAL = re.compile(r"\b(LDL|STL)\b")


@dataclass(frozen=True)
class Loop:
    """What one turn of an innermost loop takes, all its branches counted."""

    instructions: int
    on_doubles: int
    local_memory: int  # loads and stores


def loops(cubin: bytes, entry: str = "tribosweep_run") -> list[Loop]:
    """The innermost loops of an entry that compute on doubles, in the order of the code."""
    code = [(int(place, 16), text) for place, text in INSTRUCTION.findall(_listing(cubin, entry))]
    spans = [
        (int(back[1], 16), place)
        for place, text in code
        if (back := BACK.search(text)) and int(back[1], 16) < place
    ]
    bodies = [
        [text for place, text in code if first <= place <= last]
        for first, last in spans
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in spans)
    ]
    counted = [Loop(len(body), _count(ON_DOUBLES, body), _count(LOCAL, body)) for body in bodies]
    return [loop for loop in counted if loop.on_doubles]


def available() -> bool:
    """Whether this machine has cuobjdump, and nvdisasm, which it calls."""
    return bool(shutil.which("cuobjdump") and shutil.which("nvdisasm"))


def _listing(cubin: bytes, entry: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = ["cuobjdump", "-sass", "-fun", entry, str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _count(pattern: re.Pattern[str], body: list[str]) -> int:
    return sum(bool(pattern.search(text)) for text in body)
