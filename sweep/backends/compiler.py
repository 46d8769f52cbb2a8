"""The C++ compiler of this machine, and a shared library from a kernel's text."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sweep.backends.cache import cache_folder, cached, digest
from sweep.errors import CompileError

FLAGS = (
    "-std=c++17",
    "-O3",
    "-march=native",
    "-ffp-contract=off",  # bits must not depend on where a compiler fuses
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    "-shared",
)

SUFFIX = ".dll" if os.name == "nt" else ".so"

CURES = (
    "Install one (Debian: apt install g++), or bring one into this environment with: "
    "pip install 'tribosweep[compiler]'"
)
NO_COMPILER = f"no C++ compiler: none of g++, clang++ or c++ is on PATH. {CURES}"


class NoCompilerError(CompileError):
    """None was named, and there is none; kernels that are in the cache can be run."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C++, and the version it prints of itself."""

    command: tuple[str, ...]
    version: str

    @property
    def flags(self) -> tuple[str, ...]:
        bundled = "ziglang" in self.command
        # zig's C++ library is never needed, and building it takes a minute.
        return (*FLAGS, "-nostdlib++") if bundled else FLAGS

    @property
    def name(self) -> str:
        return "zig" if "ziglang" in self.command else Path(self.command[0]).name


def find_compiler() -> Compiler:
    """TRIBOSWEEP_CXX if set, else g++, clang++ or c++ from PATH, else the bundled zig.

    CompileError with both cures where there is none.
    """
    chosen = os.environ.get("TRIBOSWEEP_CXX")
    return _find(chosen or "", os.environ.get("PATH", ""))


@functools.cache
def _find(chosen: str, path: str) -> Compiler:
    if chosen:
        return _compiler(_words(chosen), f"the compiler of TRIBOSWEEP_CXX={chosen!r}")
    for name in ("g++", "clang++", "c++"):
        found = shutil.which(name, path=path)
        if found:
            return _compiler((found,), f"the compiler {found!r}")
    if importlib.util.find_spec("ziglang"):
        return zig()
    raise NoCompilerError(NO_COMPILER)


def zig() -> Compiler:
    """The compiler of the extra `compiler`; CompileError if it is not installed."""
    return _compiler((sys.executable, "-m", "ziglang", "c++"), "the bundled compiler")


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:  # a quotation mark that is never closed: no such program, then
        return (command,)


def _compiler(command: tuple[str, ...], wording: str) -> Compiler:
    try:
        said = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=True, timeout=120
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CompileError(
            f"{wording} does not run ({error}). Set TRIBOSWEEP_CXX to one that does. {CURES}"
        ) from error
    return Compiler(command, said.stdout.splitlines()[0] if said.stdout else "unknown version")


def compile_library(text: str, compiler: Compiler, extra_flags: Sequence[str] = ()) -> Path:
    """The shared library of `text`, compiled now or taken from the cache.

    CompileError carries the command and what the compiler printed.
    """
    flags = (*compiler.flags, *extra_flags)
    made_by = digest(*compiler.command, compiler.version, *compiler.flags)

    def make(library: Path) -> None:
        source = library.with_suffix(".cpp")
        source.write_text(text, encoding="utf-8")
        command = [*compiler.command, *flags, "-o", str(library), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CompileError(
                f"the kernel does not compile: {shlex.join(command)}\n{done.stderr.strip()}"
            )

    return cached(f"{_content(text, extra_flags)}-{made_by}{SUFFIX}", make)


def compiled_library(text: str, extra_flags: Sequence[str] = ()) -> Path | None:
    """A library of `text` for this processor from the cache, whatever compiler made it, if any.

    For machines without a compiler; all compilers' libraries give the same bits.
    """
    found = cache_folder().glob(f"{_content(text, extra_flags)}-*{SUFFIX}")
    return min(found, default=None)


def _content(text: str, extra_flags: Sequence[str]) -> str:
    return digest(text, *FLAGS, *extra_flags, processor())


@functools.cache
def processor() -> str:
    """What -march=native depends on: machine, model and features of the processor."""
    features = ""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = dict.fromkeys(
            line.split(":", 1)[1].strip()
            for line in info.read_text(errors="replace").splitlines()
            if line.split("\t")[0].strip() in ("flags", "Features", "CPU part")
        )
        features = " ".join(lines)
    return " ".join((sys.platform, platform.machine(), processor_name(), features))


@functools.cache
def processor_name() -> str:
    """The processor's name as it gives it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
