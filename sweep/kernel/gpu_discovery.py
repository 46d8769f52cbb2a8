"""Which GPUs this process may use, found without importing CuPy or touching a GPU.

Each GPU is identified by the value of CUDA_VISIBLE_DEVICES that selects it for a process. The GPUs
are those that `nvidia-smi -L` lists, with a partitioned GPU (MIG) replaced by its partitions. If
CUDA_VISIBLE_DEVICES is set already, they are its entries up to the first invalid one, as CUDA reads
them (CUDA C++ Programming Guide, environment variables).
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sweep.errors import DeviceError, MachineError, SweepError
from sweep.text.wording import install

VARIABLE = "CUDA_VISIBLE_DEVICES"
LISTED = re.compile(
    r"GPU \d+: (.*?) \(UUID: (GPU-[^)]+)\)|MIG (.*?)\s+Device.*\(UUID: (MIG-[^)]+)\)"
)
TIMEOUT = 60.0  # s, for nvidia-smi or CuPy to answer
KERNEL_MODULE = Path("/proc/driver/nvidia/version")  # on Linux, if the driver is loaded
VERSION = re.compile(r"\b\d+(\.\d+)+\b")

# CuPy's own count, for containers without nvidia-smi.
COUNT = "from sweep.kernel.cupy_device import count_gpus; print(count_gpus())"


@dataclass(frozen=True)
class Gpu:
    """A GPU, or a partition of one."""

    identifier: str  # an index or a UUID: the one entry of CUDA_VISIBLE_DEVICES
    name: str = ""  # "NVIDIA H200"; empty if unknown

    @property
    def is_part(self) -> bool:
        return self.identifier.startswith("MIG-")

    def __str__(self) -> str:
        return f"{self.name} ({self.identifier})" if self.name else self.identifier


def install_cupy() -> str:
    """How to install CuPy, for either version of CUDA."""
    return (
        f"{install('cuda12')} installs it for a driver of CUDA 12, {install('cuda13')} for one of "
        "CUDA 13"
    )


def no_cupy() -> str:
    """That CuPy is missing, and the cure."""
    return f"no GPU can be used: CuPy is not installed. {install_cupy()}"


def find_gpus(count: int | Literal["all"] = "all") -> tuple[Gpu, ...]:
    """The first `count` GPUs that this process may use.

    DeviceError if there is none or CuPy is missing; SweepError if there are fewer than `count`.
    """
    if not has_cupy():
        raise DeviceError(no_cupy())
    gpus = visible_gpus()
    if not gpus:
        hidden = os.environ.get(VARIABLE)
        reason = "nvidia-smi lists none" if hidden is None else f"{VARIABLE}={hidden!r} names none"
        raise DeviceError(
            f"no GPU answers: {reason}. See `nvidia-smi -L`; install or update the NVIDIA driver, "
            f"or the CuPy that fits it: {install_cupy()}"
        )
    if count == "all":
        return gpus
    if count > len(gpus):
        present = "1 GPU is" if len(gpus) == 1 else f"{len(gpus)} GPUs are"
        raise SweepError(
            f"gpus={count}: {present} here ({', '.join(map(str, gpus))}); ask for at most "
            f"{len(gpus)}, or for 'all'"
        )
    return gpus[:count]


def visible_gpus() -> tuple[Gpu, ...]:
    """All GPUs that this process may use."""
    listing = _listing()
    text = os.environ.get(VARIABLE)
    if text is not None:
        entries = (_entry(part.strip(), listing) for part in text.split(","))
        usable = itertools.takewhile(bool, entries)
        return tuple(dict.fromkeys(gpu for gpu in usable if gpu))
    if listing is not None:  # a partitioned GPU computes nothing itself
        pairs = itertools.pairwise([*listing, Gpu("")])
        return tuple(gpu for gpu, after in pairs if gpu.is_part or not after.is_part)
    # Without a driver, CuPy fails.
    return tuple(Gpu(str(i)) for i in range(int(_printed(sys.executable, "-c", COUNT) or 0)))


def has_cupy() -> bool:
    """Whether CuPy is installed, usable or not."""
    return importlib.util.find_spec("cupy") is not None


def kernel_cache_error(error: Exception) -> MachineError | None:
    """The error to report if CuPy cannot make its folder for kernels, else None.

    CuPy makes that folder in the home folder when it is imported, and zarr imports CuPy wherever it
    is installed.
    """
    frames = traceback.walk_tb(error.__traceback__)
    modules = (str(frame.f_globals.get("__name__")) for frame, _ in frames)
    if isinstance(error, OSError) and any(name.partition(".")[0] == "cupy" for name in modules):
        return MachineError(
            f"CuPy cannot keep its kernels: {error}. Make room, or set CUPY_CACHE_DIR to another "
            "folder"
        )
    return None


def driver_version() -> str | None:
    """The version of the NVIDIA driver, such as "580.159.03"; None if it is not found.

    It is read from the kernel module, or from nvidia-smi.
    """
    try:
        text = KERNEL_MODULE.read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        text = _printed("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader") or ""
    version = VERSION.search(text)
    return version[0] if version else None


def _printed(*command: str) -> str | None:
    """What a command prints; None if it is missing or fails."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout


def _listing() -> list[Gpu] | None:
    """Every GPU that nvidia-smi lists, followed by its partitions; None without nvidia-smi."""
    text = _printed("nvidia-smi", "-L")
    if text is None:
        return None
    lines = (match.groups() for match in LISTED.finditer(text))
    return [Gpu(own or part, name or f"MIG {size}") for name, own, size, part in lines]


def _entry(entry: str, listing: list[Gpu] | None) -> Gpu | None:
    """The GPU of an entry. An index stays an index: the orders of CUDA and the list may differ."""
    whole_gpus = [gpu for gpu in listing or () if not gpu.is_part]
    if entry.isdecimal():
        names = {gpu.name for gpu in whole_gpus}
        exists = listing is None or int(entry) < len(whole_gpus)
        return Gpu(entry, names.pop() if len(names) == 1 else "") if exists else None
    if entry.startswith(("GPU-", "MIG-")):
        matching = [gpu for gpu in listing or () if gpu.identifier.startswith(entry)]
        if len(matching) == 1:
            return matching[0]
        # nvidia-smi need not list the older form of a partition's name.
        return Gpu(entry) if listing is None or entry.startswith("MIG-") else None
    return None
