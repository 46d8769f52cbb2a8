"""What this machine can do for sweeps: versions, compiler, cache, processor, GPU, and each cure."""

from __future__ import annotations

import ctypes
import platform
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from sweep import __version__
from sweep.backends.cache import cache_folder
from sweep.backends.compiler import compile_library, find_compiler, processor_name
from sweep.backends.cupy_device import count_gpus, find_gpu
from sweep.backends.visible import has_cupy, visible_gpus
from sweep.engine import usable_processors
from sweep.errors import SweepError
from sweep.source import flat_text

LIBRARIES = ("numpy", "xarray", "zarr", "dask")
VALUES = 64  # of the trial kernel; the most lanes a kernel has is 32

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
    """One thing looked at: what there is, and what is wrong with it and would cure it."""

    subject: str
    found: str
    problem: str = ""  # empty: nothing is wrong
    stops: bool = False  # nothing can be computed before it is cured


def examine() -> list[Finding]:
    """Every finding about this machine; it can compute unless one of them `stops`."""
    looks: tuple[tuple[str, Callable[[], Finding]], ...] = (
        ("processor", _processor),
        ("kernel cache", _cache),
        ("compiler", _compiler),
        ("trial kernel", _trial_kernel),
    )
    needed = [_look(subject, look) for subject, look in looks]
    return [*needed, *_gpus(), *_other_sweeps()]


def versions() -> dict[str, str]:
    """The versions of Python, this program and the libraries it stands on, CuPy if it is there."""
    found = {"python": platform.python_version(), "tribosweep": __version__}
    found |= {name: _version(name) for name in LIBRARIES}
    for name in packages_distributions().get("cupy", []):
        found[name] = _version(name)
    return found


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _look(subject: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except SweepError as error:
        return Finding(subject, "not usable", str(error), stops=True)


def _processor() -> Finding:
    cores = usable_processors()
    return Finding("processor", f"{processor_name()}, {cores} cores usable by this process")


def _cache() -> Finding:
    """Private to the user (or refused), and writable."""
    folder = cache_folder()
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = f"not writable ({error.strerror}); set TRIBOSWEEP_CACHE_DIR to another folder"
        return Finding("kernel cache", str(folder), problem, stops=True)
    return Finding("kernel cache", f"{folder}, private and writable")


def _compiler() -> Finding:
    compiler = find_compiler()
    return Finding("compiler", f"{' '.join(compiler.command)}: {compiler.version}")


def _trial_kernel() -> Finding:
    """Compiled anew each time, so that an old one in the cache hides nothing."""
    text = f"{flat_text('portable.h')}\n{TRIAL}// {uuid.uuid4().hex}\n"
    library = compile_library(text, find_compiler())
    values = (ctypes.c_double * VALUES)(*range(VALUES))
    try:
        width = int(ctypes.CDLL(str(library)).tribosweep_trial(values))
    except OSError as error:
        cure = "mount the kernel cache without noexec, or set TRIBOSWEEP_CACHE_DIR"
        return Finding("trial kernel", "compiles", f"does not load: {error}; {cure}", stops=True)
    finally:
        _remove(library)
    if list(values) != list(range(VALUES)):
        problem = "it computes wrong numbers; name another compiler with TRIBOSWEEP_CXX"
        return Finding("trial kernel", "compiles and runs", problem, stops=True)
    return Finding("trial kernel", f"compiles and runs, {width} doubles a vector")


def _remove(library: Path) -> None:
    try:
        library.unlink()
    except OSError:  # Windows: it is loaded; one small file stays in the cache
        pass


def _gpus() -> Iterator[Finding]:
    """What each GPU can do, or what is missing: a problem only where there is an NVIDIA driver."""
    driver = shutil.which("nvidia-smi") or Path("/proc/driver/nvidia/version").exists()
    try:
        count = count_gpus()
    except SweepError as error:
        if has_cupy():
            yield Finding("GPU", "CuPy finds no device", str(error))
        else:
            yield Finding("GPU", "CuPy is not installed", str(error) if driver else "")
        return
    for number in range(count):
        yield _gpu(number, "GPU" if count == 1 else f"GPU {number}")
    listed = visible_gpus()
    if len(listed) > 1:
        yield Finding("--gpus all", f"{len(listed)}: {', '.join(map(str, listed))}")


def _gpu(number: int, subject: str) -> Finding:
    try:
        facts = find_gpu(number).facts
    except SweepError as error:
        return Finding(subject, "not usable", str(error))
    return Finding(subject, f"{facts}; compiles and runs a trial kernel")


def _other_sweeps() -> Iterator[Finding]:
    """Other packages that install a module of the same name, of which only one can be imported."""
    names = set(packages_distributions().get("sweep", [])) - {"tribosweep"}
    for name in sorted(names):
        cure = f"pip uninstall {name}, or give tribosweep an environment of its own"
        problem = f"it installs a module `sweep` too, which hides this one or is hidden: {cure}"
        yield Finding("module sweep", f"{name} {_version(name)}", problem)
