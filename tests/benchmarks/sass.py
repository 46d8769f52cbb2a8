"""A GPU kernel's machine code: what its loops compute and write, and which is the time loop.

Operations on doubles limit the speed of a kernel: cupy_device.DOUBLES_PER_CLOCK has how many a
multiprocessor starts per clock. nvdisasm is needed: it is part of CUDA, and `pip install
nvidia-cuda-nvdisasm` installs it.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

SECTION = re.compile(r"^\.text\.(\w+):$(.*?)(?=^//-|\Z)", re.DOTALL | re.MULTILINE)
LABEL = re.compile(r"^([.$\w]+):$")
INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
TARGET = re.compile(r"\bBRA\b.*`\(([.$\w]+)\)")
ON_DOUBLES = re.compile(r"\b(DADD|DMUL|DFMA|DSETP)\b")
LOCAL = re.compile(r"\b(LDL|STL)\b")
WRITES = re.compile(r"\b(ST|STG|STS|RED|REDG|ATOM|ATOMG)\b")
# A register, and what is added to it in place; the high half of one of 64 bits has ".X".
COUNTS = re.compile(r"\bU?(?:IADD3?|VIADD)(?:\.64)? (U?R\d+)(?:, U?P[\dT])*, \1, (-?0x[0-9a-f]+)\b")
WORD = 1 << 32  # a negative number of 32 bits is listed as one that is smaller by so much
COMPARES = re.compile(r"\bU?ISETP\b.*")

TIMEOUT = 30.0  # s, for what takes one
CUDA = Path("/usr/local/cuda")  # where it is installed to, unless a variable says otherwise

Code = list[tuple[int, str]]  # address, instruction


@dataclass(frozen=True)
class Loop:
    """The work of one iteration of a loop, with all its branches."""

    first: int  # address
    last: int
    depth: int  # loops around it
    innermost: bool
    instructions: int
    on_doubles: int
    local_memory: int  # loads and stores
    writes: int  # to memory that is not local
    counted: int | None  # what its counter changes by: the steps of a turn; None: no one counter
    # By the shortest way through its branches: most turns leave out what is seldom needed.
    fewest_instructions: int
    fewest_on_doubles: int


def loops(code: Code) -> list[Loop]:
    """The loops, in the order of their backward branches.

    ValueError if two overlap: the code between a backward branch and its target is then no loop.
    """
    spans = sorted({(int(to, 16), at) for at, to in _branches(code) if int(to, 16) <= at})
    for (a, b), (c, d) in itertools.combinations(spans, 2):
        if a < c <= b < d:
            raise ValueError(f"loops at {a:#x}-{b:#x} and {c:#x}-{d:#x} overlap")
    code_loops = [_loop(span, spans, code) for span in spans]
    return sorted(code_loops, key=lambda loop: loop.last)


def time_loops(code: Code) -> list[Loop]:
    """The loops in which a time-stepping method spends its time.

    They compute on doubles, contain no loop, and are inside the loop over the budget. Other loops,
    such as those that square a matrix beforehand, are not. Where one takes more steps in a turn
    than another, the latter takes those that are left, or cannot be tried together.
    """
    inside = [loop for loop in loops(code) if loop.innermost and loop.depth and loop.on_doubles]
    most = max((loop.counted or 0 for loop in inside), default=0)
    return [loop for loop in inside if (loop.counted or most) == most]


def writes(code: Code) -> int:
    """Instructions that write to memory that is not local."""
    return _count(WRITES, [text for _, text in code])


def listings(cubin: bytes) -> dict[str, Code]:
    """The instructions of each entry and the functions it calls; branches name their targets."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = [str(nvdisasm()), "-c", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT)
    return {name: parsed(body) for name, body in SECTION.findall(done.stdout)}


def available() -> bool:
    """Whether this machine has nvdisasm."""
    return nvdisasm() is not None


def parsed(section: str) -> Code:
    """The instructions of one section of nvdisasm's text."""
    code: Code = []
    labels: dict[str, int] = {}
    waiting: list[str] = []
    for line in section.splitlines():
        if label := LABEL.match(line):
            waiting.append(label[1])
        elif instruction := INSTRUCTION.match(line):
            address = int(instruction[1], 16)
            labels |= dict.fromkeys(waiting, address)
            waiting = []
            code.append((address, instruction[2]))
    return [(at, _with_addresses(text, labels)) for at, text in code]


def _with_addresses(text: str, labels: dict[str, int]) -> str:
    target = TARGET.search(text)
    if not target or target[1] not in labels:
        return text
    return text.replace(f"`({target[1]})", f"{labels[target[1]]:#x}")


def _branches(code: Code) -> list[tuple[int, str]]:
    pairs = [(at, re.search(r"\bBRA\b.*?(0x[0-9a-f]+)", text)) for at, text in code]
    return [(at, match[1]) for at, match in pairs if match]


def _loop(span: tuple[int, int], spans: list[tuple[int, int]], code: Code) -> Loop:
    first, last = span
    inside = [(at, text) for at, text in code if first <= at <= last]
    body = [text for _, text in inside]
    fewest_instructions, fewest_on_doubles = _shortest(inside)
    others = [other for other in spans if other != span]
    return Loop(
        first=first,
        last=last,
        depth=sum(a <= first and last <= b for a, b in others),
        innermost=not any(first <= a and b <= last for a, b in others),
        instructions=len(body),
        on_doubles=_count(ON_DOUBLES, body),
        local_memory=_count(LOCAL, body),
        writes=_count(WRITES, body),
        counted=_counted(body),
        fewest_instructions=fewest_instructions,
        fewest_on_doubles=fewest_on_doubles,
    )


def _shortest(inside: Code) -> tuple[int, int]:
    """The fewest instructions of a turn, and which of them are on doubles."""
    forward = {at: int(to, 16) for at, to in _branches(inside) if int(to, 16) > at}
    ways: dict[int, tuple[int, int]] = {}  # from an address to the end
    after = (0, 0)
    for at, text in reversed(inside):
        jump = ways.get(forward.get(at, -1))  # none: backward, or out of the loop
        if jump is not None:
            always = re.match(r"BRA\S* 0x", text) is not None
            after = jump if always else min(after, jump)
        after = (after[0] + 1, after[1] + bool(ON_DOUBLES.search(text)))
        ways[at] = after
    return after


def _counted(body: list[str]) -> int | None:
    """The increment of the register that is both incremented and compared."""
    steps = {match[1]: int(match[2], 16) for text in body if (match := COUNTS.search(text))}
    compared = " ".join(match[0] for text in body if (match := COMPARES.search(text)))
    changes = [
        min(by % WORD, -by % WORD)
        for name, by in steps.items()
        if re.search(rf"\b{name}\b", compared)
    ]
    return changes[0] if len(changes) == 1 else None


def _count(pattern: re.Pattern[str], body: list[str]) -> int:
    return sum(bool(pattern.search(text)) for text in body)


def nvdisasm() -> Path | None:
    """The nvdisasm of the wheel, on PATH, or of an installed CUDA."""
    try:
        listed = files("nvidia-cuda-nvdisasm") or []
    except PackageNotFoundError:
        listed = []
    brought = (Path(str(file.locate())) for file in listed if Path(file.name).stem == "nvdisasm")
    roots = [os.environ[name] for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    folders = [os.environ.get("PATH", ""), *(str(Path(root) / "bin") for root in (*roots, CUDA))]
    path = next(brought, None) or shutil.which("nvdisasm", path=os.pathsep.join(folders))
    return Path(path) if path else None
