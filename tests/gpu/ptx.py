"""Run the PTX that NVRTC makes of a text on this machine's processor.

In the PTX, NVIDIA's compiler has finished every contraction, reordering and selection. Only ptxas
follows, which translates the instructions for the machine. Each line becomes a line of C++ with the
semantics of ptx_machine.h; an unknown line is an error.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

MACHINE = Path(__file__).with_name("ptx_machine.h")
BYTES = {
    f"{letter}{width}": width // 8
    for letter, widths in {"b": (8, 16, 32, 64), "u": (8, 16, 32, 64), "f": (64,)}.items()
    for width in widths
}
SPECIAL = {"%ctaid.x": "blockIdx.x", "%ntid.x": "blockDim.x", "%tid.x": "threadIdx.x"}

COMMENT = re.compile(r"//.*")
ENTRY = re.compile(r"\.visible \.entry (\w+)\((.*?)\)\s*\{(.*?)\n\}", re.DOTALL)
TABLE = re.compile(r"\.global \.align (\d+) \.b8 (\w+)\[(\d+)\] = (\{[\d, ]*\});")
REGISTERS = re.compile(r"\.reg \.(\w+) %(\w+)(?:<(\d+)>)?;")
LOCAL = re.compile(r"\.local \.align (\d+) \.b8 (\w+)\[(\d+)\];")
LABEL = re.compile(r"\$(\w+):")
GUARDED = re.compile(r"@(!?)%(\w+) (.*)")
BRANCH = re.compile(r"bra(?:\.uni)? \$(\w+);")
PARAMETER = re.compile(r"ld\.param\.[bu]64 (\S+), \[(\w+)\];")
LOADED = re.compile(r"ld\.(?:global|local)\.(?:nc\.)?(?:v[24]\.)?(\w+) (.*), (\[.*\]);")
STORED = re.compile(r"st\.(?:global|local)\.(?:v[24]\.)?(\w+) (\[.*?\]), (.*);")
INSTRUCTION = re.compile(r"([a-z][\w.]*) (\S+?), (.*);")
JUMP = re.compile(r"\bbra(\.uni)? \$|^(@!?%\w+ )?ret;")
OPERATION = re.compile(r"(?:@!?%\w+ )?([a-z][\w.]*)(?: |;)")
DECLARATIONS = (".reg", ".local")
HEXADECIMAL = re.compile(r"(0x[0-9A-Fa-f]+)U?")
NAME = re.compile(r"[A-Za-z_]\w*")
ADDRESS = re.compile(r"\[([^+\]]+)(?:\+(-?\d+))?\]")

LAUNCHER = """
extern "C" void twin_{name}(void* argument, long long blocks, unsigned int threads) {{
    blockDim.x = threads;
    for (long long block = blocks; block-- > 0;)
        for (unsigned int thread = threads; thread-- > 0;) {{
            blockIdx.x = (u32)block;
            threadIdx.x = thread;
            tribosweep_{name}((u64)argument);
        }}
}}
"""

# How often each stretch without a label or branch ran: in all threads, and in all warps, where a
# warp counts as often as the thread of it that ran the stretch most often.
COUNTERS = """
static u64 run_{name}[{stretches}];
extern "C" {{ u64 threads_{name}[{stretches}], warps_{name}[{stretches}]; }}
"""
COUNTING_LAUNCHER = """
extern "C" void twin_{name}(void* argument, long long blocks, unsigned int threads) {{
    blockDim.x = threads;
    for (long long block = 0; block < blocks; ++block)
        for (unsigned int warp = 0; warp < threads; warp += 32) {{
            u64 most[{stretches}] = {{}};
            for (unsigned int thread = warp; thread < warp + 32; ++thread) {{
                std::memset(run_{name}, 0, sizeof run_{name});
                blockIdx.x = (u32)block;
                threadIdx.x = thread;
                tribosweep_{name}((u64)argument);
                for (int i = 0; i < {stretches}; ++i) {{
                    threads_{name}[i] += run_{name}[i];
                    if (run_{name}[i] > most[i]) most[i] = run_{name}[i];
                }}
            }}
            for (int i = 0; i < {stretches}; ++i) warps_{name}[i] += most[i];
        }}
}}
"""


def processor_text(ptx: str) -> str:
    """A module of PTX as C++ for the processor, with a launcher for each entry as in twin.py."""
    parts, entries = _parsed(ptx)
    for name, parameter, lines in entries:
        parts.append(_function(name, parameter, lines, [_statement(line) for line in lines]))
        parts.append(LAUNCHER.format(name=name.removeprefix("tribosweep_")))
    return "\n".join(parts)


def counting_text(ptx: str) -> str:
    """The same with counters of its stretches(), threads_ENTRY and warps_ENTRY.

    Threads run one after another, so a warp whose threads part is taken to come together again as
    soon as it can: what a GPU does is at least this.
    """
    parts, entries = _parsed(ptx)
    for name, parameter, lines in entries:
        short = name.removeprefix("tribosweep_")
        begins = {line: i for i, line in enumerate(_begins(lines))}
        names = {"name": short, "stretches": len(begins)}
        done: list[str] = []
        for i, line in enumerate(lines):
            count = [f"++run_{short}[{begins[i]}];"] if i in begins else []
            labelled = LABEL.fullmatch(line)
            done += [_statement(line), *count] if labelled else [*count, _statement(line)]
        parts.append(COUNTERS.format(**names))
        parts.append(_function(name, parameter, lines, done))
        parts.append(COUNTING_LAUNCHER.format(**names))
    return "\n".join(parts)


def stretches(ptx: str) -> dict[str, list[Counter[str]]]:
    """By entry, the instructions of its stretches without a label or branch."""
    by_entry: dict[str, list[Counter[str]]] = {}
    for name, _, lines in _parsed(ptx)[1]:
        begins = _begins(lines)
        ends = [*begins[1:], len(lines)]
        by_entry[name.removeprefix("tribosweep_")] = [
            Counter(operation for line in lines[a:b] if (operation := _operation(line)))
            for a, b in zip(begins, ends, strict=True)
        ]
    return by_entry


def _begins(lines: list[str]) -> list[int]:
    """The first lines of stretches: labels, and lines after a branch."""
    return [
        i
        for i, line in enumerate(lines)
        if i == 0 or LABEL.fullmatch(line) or JUMP.search(lines[i - 1])
    ]


def _operation(line: str) -> str:
    """The name of the instruction in a line, or empty."""
    match = OPERATION.match(line)
    return match[1] if match else ""


def _parsed(ptx: str) -> tuple[list[str], list[tuple[str, str, list[str]]]]:
    """The C++ of everything before the entries; name, parameter and lines of each entry."""
    plain = COMMENT.sub("", ptx)
    parts = [MACHINE.read_text(encoding="utf-8")]
    for align, name, size, values in TABLE.findall(plain):
        parts.append(f"alignas({align}) static const unsigned char {name}[{size}] = {values};")
    entries = ENTRY.findall(plain)
    if len(entries) != plain.count(".entry") or ".func" in plain:
        raise ValueError("PTX with something beside entries, or an entry of another form")
    return parts, [
        (name, parameter.split()[-1], [" ".join(x.split()) for x in body.splitlines() if x.strip()])
        for name, parameter, body in entries
    ]


def _function(name: str, parameter: str, lines: list[str], done: list[str]) -> str:
    top = [text for line in lines for text in _declared(line)]
    return "\n".join([f"static void {name}(u64 {parameter}) {{", *top, *done, "}"])


def _declared(line: str) -> list[str]:
    """Registers and local memory are filled with garbage."""
    if match := LOCAL.fullmatch(line):
        align, name, size = match.groups()
        return [
            f"alignas({align}) unsigned char {name}[{size}];",
            f"std::memset({name}, 0xa5, sizeof {name});",
        ]
    if match := REGISTERS.fullmatch(line):
        kind, name, count = match.groups()
        names = [f"{name}{i}" for i in range(1, int(count))] if count else [name]
        type_, garbage = ("bool", "true") if kind == "pred" else ("u64", "0xa5a5")
        return [f"{type_} {', '.join(f'{each} = {garbage}' for each in names)};"] if names else []
    if line.startswith(DECLARATIONS):
        raise ValueError(f"PTX not understood: {line}")
    return []


def _statement(line: str) -> str:
    if line.startswith(DECLARATIONS):
        return ""
    if match := LABEL.fullmatch(line):
        return f"{match[1]}:;"
    if match := GUARDED.fullmatch(line):
        return f"if ({match[1]}{match[2]}) {{ {_statement(match[3])} }}"
    if match := BRANCH.fullmatch(line):
        return f"goto {match[1]};"
    if line == "ret;":
        return "return;"
    if line.startswith(".pragma"):
        return ""
    if match := PARAMETER.fullmatch(line):
        return f"{_operand(match[1])} = {match[2]};"
    if match := LOADED.fullmatch(line):
        kind, into, address = match.groups()
        each = [f"{to} = loaded<{_type(kind)}>({at});" for to, at in _places(kind, into)]
        return _at(address, each)
    if match := STORED.fullmatch(line):
        kind, address, values = match.groups()
        each = [f"store<{_type(kind)}>({at}, {value});" for value, at in _places(kind, values)]
        return _at(address, each)
    if match := INSTRUCTION.fullmatch(line):
        operation, into, values = match.groups()
        operands = ", ".join(_operand(value) for value in values.split(","))
        return f"{_operand(into)} = {operation.replace('.', '_')}({operands});"
    raise ValueError(f"PTX not understood: {line}")


def _at(address: str, statements: list[str]) -> str:
    """Statements for consecutive places from `at`; a load may overwrite its own address."""
    match = ADDRESS.fullmatch(address)
    if not match:
        raise ValueError(f"PTX not understood: {address}")
    at = f"u64 at = {_operand(match[1])} + (u64)({match[2] or 0}LL);"
    return " ".join(["{", at, *statements, "}"])


def _places(kind: str, operands: str) -> list[tuple[str, str]]:
    """Each operand of a load or store, which may be a vector, and its place."""
    each = operands.strip("{}").split(",")
    return [(_operand(operand), f"at + {i * BYTES[kind]}") for i, operand in enumerate(each)]


def _type(kind: str) -> str:
    return f"std::uint{8 * BYTES[kind]}_t"


def _operand(text: str) -> str:
    text = text.strip()
    if text in SPECIAL:
        return SPECIAL[text]
    if text.startswith("%"):
        return text[1:]
    if text.startswith("0d"):
        return f"0x{text[2:]}"
    if match := HEXADECIMAL.fullmatch(text):
        return f"(u64){match[1]}"
    if re.fullmatch(r"-?\d+", text):
        return "(u64)INT64_MIN" if int(text) == -(1 << 63) else f"(u64)({text}LL)"
    if not NAME.fullmatch(text):
        raise ValueError(f"PTX not understood: {text}")
    return f"(u64){text}"  # its address
