"""Which GPUs this process may use, found without CuPy and without touching one.

Each is told by what the variable CUDA_VISIBLE_DEVICES of a process of its own has to be. They are
those of `nvidia-smi -L`, partitions (MIG) in place of the GPU they are of; where that variable is
set already, they are its entries, read as CUDA reads them (CUDA C++ Programming Guide, environment
variables): up to the first that is none.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sweep.errors import DeviceError, SweepError

INSTALL = (
    "pip install 'tribosweep[cuda12]' brings it for a driver of CUDA 12, 'tribosweep[cuda13]' for "
    "one of CUDA 13"
)
NO_CUPY = f"no GPU can be used: CuPy is not installed. {INSTALL}"

VARIABLE = "CUDA_VISIBLE_DEVICES"
LISTED = re.compile(
    r"GPU \d+: (.*?) \(UUID: (GPU-[^)]+)\)|MIG (.*?)\s+Device.*\(UUID: (MIG-[^)]+)\)"
)
PATIENCE = 60.0  # s, for nvidia-smi or CuPy to answer
KERNEL_MODULE = Path("/proc/driver/nvidia/version")  # on Linux, where the driver is loaded
VERSION = re.compile(r"\b\d+(\.\d+)+\b")

# CuPy's own count, where there is no nvidia-smi: containers may come without.
COUNT = "from sweep.backends.cupy_device import count_gpus; print(count_gpus())"


@dataclass(frozen=True)
class Gpu:
    """A GPU, or a partition of one."""

    identifier: str  # an index or a UUID: the one entry of CUDA_VISIBLE_DEVICES
    name: str = ""  # "NVIDIA H200"; empty where it is not told

    def __str__(self) -> str:
        return f"{self.name} ({self.identifier})" if self.name else self.identifier


def find_gpus(asked: int | Literal["all"] = "all") -> tuple[Gpu, ...]:
    """So many of the GPUs that this process may use.

    DeviceError if there is none, or no CuPy; SweepError if fewer are there than asked for.
    """
    if not has_cupy():
        raise DeviceError(NO_CUPY)
    found = visible_gpus()
    if not found:
        hidden = os.environ.get(VARIABLE)
        reason = "nvidia-smi lists none" if hidden is None else f"{VARIABLE}={hidden!r} names none"
        raise DeviceError(
            f"no GPU answers: {reason}. See `nvidia-smi -L`; install or update the NVIDIA driver, "
            f"or the CuPy that fits it: {INSTALL}"
        )
    if asked == "all":
        return found
    if asked > len(found):
        there = "1 GPU is" if len(found) == 1 else f"{len(found)} GPUs are"
        raise SweepError(
            f"gpus={asked}: {there} here ({', '.join(map(str, found))}); ask for at most "
            f"{len(found)}, or for all (--gpus all)"
        )
    return found[:asked]


def visible_gpus() -> tuple[Gpu, ...]:
    """All GPUs that this process may use, none if there are none."""
    listing = _listing()
    text = os.environ.get(VARIABLE)
    if text is not None:
        return _entries(text, listing)
    if listing is not None:
        return _undivided(listing)
    return tuple(Gpu(str(i)) for i in range(_count()))


def has_cupy() -> bool:
    """Whether CuPy is installed, of use or not."""
    return importlib.util.find_spec("cupy") is not None


def driver_version() -> str | None:
    """The NVIDIA driver's own version, such as "580.159.03"; None where none is found.

    It is the kernel module's, or what nvidia-smi says.
    """
    try:
        told = KERNEL_MODULE.read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        told = _nvidia_smi("--query-gpu=driver_version", "--format=csv,noheader") or ""
    found = VERSION.search(told)
    return found[0] if found else None


def _nvidia_smi(*arguments: str) -> str | None:
    """What it prints; None if it is not there, or fails."""
    command = ["nvidia-smi", *arguments]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout


def _listing() -> list[Gpu] | None:
    """Every GPU that nvidia-smi lists, each followed by its partitions; None if it cannot say."""
    told = _nvidia_smi("-L")
    if told is None:
        return None
    found = (match.groups() for match in LISTED.finditer(told))
    return [Gpu(own or part, name or f"MIG {size}") for name, own, size, part in found]


def _is_part(gpu: Gpu) -> bool:
    return gpu.identifier.startswith("MIG-")


def _undivided(listing: list[Gpu]) -> tuple[Gpu, ...]:
    """The partitions, and those GPUs that have none: a divided one computes nothing itself."""
    pairs = itertools.pairwise([*listing, Gpu("")])
    return tuple(gpu for gpu, after in pairs if _is_part(gpu) or not _is_part(after))


def _entries(text: str, listing: list[Gpu] | None) -> tuple[Gpu, ...]:
    found: dict[str, Gpu] = {}
    for entry in (part.strip() for part in text.split(",")):
        gpu = _entry(entry, listing)
        if gpu is None:
            break
        found.setdefault(gpu.identifier, gpu)
    return tuple(found.values())


def _entry(entry: str, listing: list[Gpu] | None) -> Gpu | None:
    """What one entry names; indices stay as they are, since CUDA's order need not be the list's."""
    whole = [gpu for gpu in listing or () if not _is_part(gpu)]
    if entry.isdecimal():
        alike = {gpu.name for gpu in whole}
        there = listing is None or int(entry) < len(whole)
        return Gpu(entry, alike.pop() if len(alike) == 1 else "") if there else None
    if entry.startswith(("GPU-", "MIG-")):
        named = [gpu for gpu in listing or () if gpu.identifier.startswith(entry)]
        if len(named) == 1:
            return named[0]
        # Partitions have an older form too, which nvidia-smi need not list.
        return Gpu(entry) if listing is None or entry.startswith("MIG-") else None
    return None


def _count() -> int:
    """As CuPy counts them, in a process of its own: none where it finds none, or no driver."""
    try:
        told = subprocess.run(
            [sys.executable, "-c", COUNT],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    return int(told.stdout)
