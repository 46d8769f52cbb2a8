"""Diagnosis of this machine: versions, compiler, cache, processor and GPU, with cures."""

from __future__ import annotations

import ctypes
import platform
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from sweep.engine.workers import usable_processors
from sweep.errors import SweepError
from sweep.kernel.cache import cache_folder, remove
from sweep.kernel.compiler import compile_library, find_compiler, processor_name
from sweep.kernel.cupy_device import count_gpus, find_gpu
from sweep.kernel.gpu_discovery import KERNEL_MODULE, has_cupy, install_cupy, visible_gpus
from sweep.kernel.source import flat_text
from sweep.model.installed import offers
from sweep.version import __version__

LIBRARIES = ("numpy", "xarray", "zarr", "dask")
N_VALUES = 64  # of the trial kernel; kernels have at most 32 lanes

TRIAL = """
extern "C" int64 tribosweep_trial(double* values) {
    real a = 0.0;
    for (int i = 0; i < lanes; ++i) set_lane(a, i, values[i]);
    a = sqrt(a * a);
    for (int i = 0; i < lanes; ++i) values[i] = lane(a, i);
    return SWEEP_WIDTH;
}
"""


@dataclass(frozen=True)
class Finding:
    """One subject of the diagnosis: its state, and any problem together with the cure."""

    subject: str
    found: str
    problem: str = ""  # empty if there is none
    stops: bool = False  # whether nothing can be computed until it is solved


def examine() -> list[Finding]:
    """All findings about this machine; it can compute unless one of them `stops`."""
    required = {
        "processor": _processor,
        "kernel cache": _cache,
        "compiler": _compiler,
        "trial kernel": _trial_kernel,
    }
    findings = [_checked(subject, check) for subject, check in required.items()]
    return [*findings, *_gpus(), *_other_sweeps(), *_offers()]


def versions() -> dict[str, str]:
    """The versions of Python, this program, its libraries, and CuPy if it is installed."""
    known = {"python": platform.python_version(), "tribosweep": __version__}
    known |= {name: _version(name) for name in LIBRARIES}
    for name in packages_distributions().get("cupy", []) if has_cupy() else ():
        known[name] = _version(name)
    return known


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _checked(subject: str, check: Callable[[], tuple[str, str]], *, stops: bool = True) -> Finding:
    """What a check finds, with a problem if there is one, or the error that it raises."""
    try:
        description, problem = check()
    except SweepError as error:
        description, problem = "not usable", str(error)
    return Finding(subject, description, problem, stops=stops and bool(problem))


def _processor() -> tuple[str, str]:
    return f"{processor_name()}, {usable_processors()} cores usable by this process", ""


def _cache() -> tuple[str, str]:
    """Whether the cache is writable; cache_folder() refuses one that is not private."""
    folder = cache_folder()
    try:
        with tempfile.TemporaryFile(dir=folder):
            return f"{folder}, private and writable", ""
    except OSError as error:
        problem = f"not writable ({error.strerror}); set TRIBOSWEEP_CACHE_DIR to another folder"
        return str(folder), problem


def _compiler() -> tuple[str, str]:
    compiler = find_compiler()
    return f"{' '.join(compiler.command)}: {compiler.version}", ""


def _trial_kernel() -> tuple[str, str]:
    """Compile and run a kernel, whose text is new so that it is not in the cache."""
    text = f"{flat_text('portable.h')}\n{TRIAL}// {uuid.uuid4().hex}\n"
    library = compile_library(text, find_compiler())
    values = (ctypes.c_double * N_VALUES)(*range(N_VALUES))
    try:
        width = int(ctypes.CDLL(str(library)).tribosweep_trial(values))
    except OSError as error:
        cure = "mount the kernel cache without noexec, or set TRIBOSWEEP_CACHE_DIR"
        return "compiles", f"does not load: {error}; {cure}"
    finally:
        with suppress(OSError):  # Windows: it is loaded, and a small file stays in the cache
            remove(library)
    if list(values) != list(range(N_VALUES)):
        problem = "it computes wrong numbers; set TRIBOSWEEP_CXX to another compiler"
        return "compiles and runs", problem
    return f"compiles and runs, {width} doubles per vector", ""


def _gpus() -> Iterator[Finding]:
    """What each GPU can do, or what is missing; a problem only if there is an NVIDIA driver."""
    driver = shutil.which("nvidia-smi") or KERNEL_MODULE.exists()
    try:
        count = count_gpus()
    except SweepError as error:
        if has_cupy():
            yield Finding("GPU", "CuPy finds no device", str(error))
        elif driver:
            yield Finding("GPU", "CuPy is not installed", str(error))
        else:
            missing = "no NVIDIA driver is found, and CuPy is not installed"
            yield Finding("GPU", f"{missing}; {install_cupy()}")
        return
    for number in range(count):
        subject = "GPU" if count == 1 else f"GPU {number}"
        yield _checked(subject, partial(_gpu, number), stops=False)
    listed = visible_gpus()
    if len(listed) > 1:
        yield Finding("all GPUs", f"{len(listed)}: {', '.join(map(str, listed))}")


def _gpu(number: int) -> tuple[str, str]:
    return f"{find_gpu(number).facts}; compiles and runs a trial kernel", ""


def _other_sweeps() -> Iterator[Finding]:
    """Other packages that install a module `sweep`: only one of them can be imported."""
    names = set(packages_distributions().get("sweep", [])) - {"tribosweep"}
    for name in sorted(names):
        cure = f"run `pip uninstall {name}`, or install tribosweep in an environment of its own"
        problem = f"it installs a module `sweep` too, and only one can be imported: {cure}"
        yield Finding("module sweep", f"{name} {_version(name)}", problem)


def _offers() -> Iterator[Finding]:
    """The models of installed packages, and why some of them are left out."""
    for offer in offers():
        description = f"{offer.name} of {offer.package}"
        yield Finding("model", description + ", left out" * (not offer.model), offer.problem)
