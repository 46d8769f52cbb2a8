"""Run options: one table of them for sweep files, `sweep.run` and the command line.

No option changes a bit of a result.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from sweep.text.reader import Key, Table, is_flag, is_mapping, whole_from

LOCAL, SLURM = "local", "slurm"  # values of `cluster`
BackendName = Literal["auto", "cpu", "gpu"]
BACKENDS: tuple[str, ...] = get_args(BackendName)
MAX_WORKERS = 4096
MAX_DURATION_LENGTH = 80  # characters
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(d|h|min|m|s)\s*")
_SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0, "m": 60.0, "s": 1.0}


@dataclass(frozen=True, kw_only=True)
class Option(Key):
    """One run option: a key of [run], an argument in Python, an option of the command line."""

    meaning: str  # in --help and in the documentation of `sweep.run`
    metavar: str = ""  # in --help; a flag has none
    in_file: bool = True  # whether [run] takes it
    on_command_line: bool = True

    def read_text(self, text: str) -> Any:
        """As `read`, for the text of a command line, in which digits are a number."""
        if re.fullmatch(r"-?[0-9]{1,18}", text):
            return self.read(int(text))
        return self.read(float(text) if re.fullmatch(r"[0-9]{1,18}\.[0-9]*", text) else text)


def _cluster(value: object) -> object:
    if not isinstance(value, str):
        return None
    return value if value in (LOCAL, SLURM) or _is_address(value) else None


def _is_address(text: str) -> bool:
    """Whether Dask accepts it as an address; without a protocol it is one of TCP."""
    if text.startswith("inproc://"):
        return True
    match = re.fullmatch(r"((tcp|tls|wss?|ucx)://)?(\[[^\s\[\]]+\]|[^\s/:\[\]]+):(\d{1,5})", text)
    return match is not None and 0 < int(match[4]) < 2**16


def _shard(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}/[0-9]{1,18}", value):
        value = [int(part) for part in value.split("/")]
    match value:
        case [int(i), int(n)] if 1 <= i <= n and bool not in (type(i), type(n)):
            return i, n
        case _:
            return None


def _duration(value: object) -> object:
    """Seconds of 90, "90 s", "55m" or "1h30m"."""
    seconds = math.nan
    if isinstance(value, str) and len(value) <= MAX_DURATION_LENGTH:
        parts = _DURATION.findall(value.strip())
        if parts and not _DURATION.sub("", value.strip()):
            seconds = sum(float(amount) * _SECONDS[unit] for amount, unit in parts)
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value < 1e300:
        seconds = float(value)
    return seconds if 0 < seconds < math.inf else None


def _count(meaning: str, maximum: int, maximum_text: str) -> Option:
    expected = f"a whole number from 1 to {maximum_text}"
    return Option(expected=expected, parsed=whole_from(1, maximum), meaning=meaning, metavar="N")


def _switch(meaning: str, *, in_file: bool = True) -> Option:
    return Option(expected="true or false", parsed=is_flag, meaning=meaning, in_file=in_file)


_BACKEND = Option(
    meaning='Device that computes; "auto" is a GPU if there is one, otherwise the CPU.',
    expected=" or ".join(", ".join(map(json.dumps, BACKENDS)).rsplit(", ", 1)),
    parsed=lambda value: value if value in BACKENDS else None,
    metavar="|".join(BACKENDS),
)
_CLUSTER = Option(
    meaning='Compute in processes: "local", "slurm", or the address of a Dask scheduler.',
    expected='"local", "slurm" or the address of a Dask scheduler such as "tcp://HOST:PORT"',
    parsed=_cluster,
    metavar="WHERE",
)
_GPUS = Option(
    meaning="Number of local GPUs, one process per GPU.",
    expected=f'"all" or a whole number from 1 to {MAX_WORKERS:,}',
    parsed=lambda value: value if value == "all" else whole_from(1, MAX_WORKERS)(value),
    metavar="all|N",
)
_SHARD = Option(
    meaning="Compute only shard I of N: every N-th chunk.",
    expected="I/N with whole numbers, I from 1 to N",
    parsed=_shard,
    metavar="I/N",
    in_file=False,
)
_TIME_LIMIT = Option(
    meaning='Stop after this time, such as "90s", "55m" or "1h30m".',
    expected='a length of time above 0: write seconds, or text such as "55m" or "1h30m"',
    parsed=_duration,
    metavar="TIME",
)
_SLURM = Option(
    meaning="What each SLURM job requests.",
    expected="a table",
    parsed=is_mapping,
    on_command_line=False,
)


class RunKeywords(TypedDict, total=False):
    """The run options as a user gives them; None is the same as not given."""

    backend: Annotated[BackendName | None, _BACKEND]
    workers: Annotated[
        int | None,
        _count(
            "Number of threads, processes or jobs; default: one per core.",
            MAX_WORKERS,
            f"{MAX_WORKERS:,}",
        ),
    ]
    chunk_points: Annotated[
        int | None,
        _count("Points per chunk of a new store; default: from the sweep.", 2**31, "2^31"),
    ]
    cluster: Annotated[str | None, _CLUSTER]
    gpus: Annotated[int | Literal["all"] | None, _GPUS]
    shard: Annotated[tuple[int, int] | str | None, _SHARD]
    time_limit: Annotated[float | str | None, _TIME_LIMIT]
    durable: Annotated[bool | None, _switch("Let finished results survive a power failure.")]
    accept_revision: Annotated[
        bool | None, _switch("Accept a store made by another revision or kernel.")
    ]
    retry_failed: Annotated[bool | None, _switch("Compute failed points again.", in_file=False)]
    fail_fast: Annotated[bool | None, _switch("Stop at the first chunk that fails.")]
    slurm: Annotated[Mapping[str, object] | None, _SLURM]


OPTIONS: Mapping[str, Option] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(RunKeywords, include_extras=True).items()
}


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The run options as the engine reads them, by the names of RunKeywords."""

    backend: BackendName = "auto"
    workers: int | None = None  # None: one per processor this process may use
    chunk_points: int | None = None  # of a new store; None: chosen from the sweep
    cluster: str | None = None  # None: threads
    gpus: int | Literal["all"] | None = None
    shard: tuple[int, int] | None = None  # (i, n): shard i of n, i from 1
    time_limit: float | None = None  # seconds
    durable: bool = False
    accept_revision: bool = False
    retry_failed: bool = False
    fail_fast: bool = False
    slurm: Mapping[str, object] = field(default_factory=dict[str, object])  # [run.slurm]


def read(table: Table, *, in_file: bool) -> dict[str, Any]:
    """The correct options of a table, as RunOptions has them; the others are faults of it."""
    allowed = {name: option for name, option in OPTIONS.items() if option.in_file or not in_file}
    correct: dict[str, Any] = {}
    for name, value in table.mapping.items():
        if name in allowed:
            parsed = table.read(name, allowed[name].read, value)
            correct |= {} if parsed is None else {name: parsed}
        elif name in OPTIONS:
            table.fault(name, "there is no such option in files", f"give `{name}` to the run")
        else:
            table.unknown(name, "there is no such option", [*allowed])
    return correct
