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

from sweep.errors import CompileError
from sweep.kernel.cache import cache_folder, cached, digest, is_intact
from sweep.text.wording import install

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

_being_written: set[Path] = set()  # by compilers that this process has started


class NoCompilerError(CompileError):
    """No compiler is chosen and none is installed; kernels that are in the cache can be run."""


def cures() -> str:
    """How to get a compiler."""
    return (
        "Install one (Debian: apt install g++), or bring one into this environment with: "
        f"{install('compiler')}"
    )


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C++, and the version that it prints."""

    command: tuple[str, ...]
    version: str

    @property
    def flags(self) -> tuple[str, ...]:
        """An -O or -march of the command itself replaces ours: no bit depends on them."""
        prefixes = {word[:2] for word in self.command if word.startswith(("-O", "-march="))}
        flags = tuple(flag for flag in FLAGS if flag[:2] not in prefixes)
        # Kernels do not need zig's C++ library, and building that takes a minute.
        return (*flags, "-nostdlib++") if "ziglang" in self.command else flags


def find_compiler() -> Compiler:
    """TRIBOSWEEP_CXX if set, else g++, clang++ or c++ from PATH, else the bundled zig.

    CompileError if there is none; it names both ways to install one.
    """
    return _find(os.environ.get("TRIBOSWEEP_CXX", ""), os.environ.get("PATH", ""))


@functools.cache
def _find(chosen: str, path: str) -> Compiler:
    if chosen:
        try:
            words = shlex.split(chosen)
        except ValueError:  # an unclosed quotation mark: no such program
            words = [chosen]
        return _compiler(tuple(words), f"the compiler of TRIBOSWEEP_CXX={chosen!r}")
    for name in ("g++", "clang++", "c++"):
        program = shutil.which(name, path=path)
        if program:
            return _compiler((program,), f"the compiler {program!r}")
    if importlib.util.find_spec("ziglang"):
        return zig()
    raise NoCompilerError(f"no C++ compiler: none of g++, clang++ or c++ is on PATH. {cures()}")


def zig() -> Compiler:
    """The compiler of the extra `compiler`; CompileError if it is not installed."""
    return _compiler((sys.executable, "-m", "ziglang", "c++"), "the bundled compiler")


def _compiler(command: tuple[str, ...], description: str) -> Compiler:
    try:
        answer = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, check=True, timeout=120
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CompileError(
            f"{description} does not run ({error}). Set TRIBOSWEEP_CXX to one that does. {cures()}"
        ) from error
    return Compiler(command, answer.stdout.splitlines()[0] if answer.stdout else "unknown version")


def compile_library(text: str, compiler: Compiler, extra_flags: Sequence[str] = ()) -> Path:
    """The shared library of `text`, compiled now or taken from the cache.

    CompileError carries the command and what the compiler printed.
    """
    flags = (*compiler.flags, *extra_flags)
    made_by = digest(*compiler.command, compiler.version, *compiler.flags)
    name = f"{_content(text, extra_flags)}-{made_by}{SUFFIX}"
    return cached(name, lambda path: run_compiler(text, compiler, flags, path))


def run_compiler(text: str, compiler: Compiler, flags: Sequence[str], path: Path) -> None:
    """Compile the text into a file; CompileError as of `compile_library`."""
    source = path.with_suffix(".cpp")
    source.write_text(text, encoding="utf-8")
    command = [*compiler.command, *flags, "-o", str(path), str(source)]
    _being_written.add(path)
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        _being_written.discard(path)
    source.unlink()
    if process.returncode:
        raise CompileError(
            f"the kernel does not compile: {shlex.join(command)}\n{process.stderr.strip()}"
        )
    if not path.exists():
        raise CompileError(
            f"the compiler reports success but makes no library: {shlex.join(command)}\n"
            "Set TRIBOSWEEP_CXX to a C++ compiler"
        )


def is_compiling() -> bool:
    """Whether a compiler that this process has started is at work."""
    return bool(_being_written)


def compiled_library(text: str, extra_flags: Sequence[str] = ()) -> Path | None:
    """An intact library of `text` for this processor from the cache, by any compiler; None if none.

    For machines without a compiler. The libraries of all compilers give the same bits.
    """
    libraries = cache_folder().glob(f"{_content(text, extra_flags)}-*{SUFFIX}")
    return min(filter(is_intact, libraries), default=None)


def _content(text: str, extra_flags: Sequence[str]) -> str:
    return digest(text, *FLAGS, *extra_flags, processor())


@functools.cache
def processor() -> str:
    """What -march=native depends on: machine, model and features of the processor."""
    features = dict.fromkeys(
        value for name, value in _cpu_info() if name in ("flags", "Features", "CPU part")
    )
    return " ".join((sys.platform, platform.machine(), processor_name(), " ".join(features)))


@functools.cache
def processor_name() -> str:
    """The name of the processor."""
    names = (value for name, value in _cpu_info() if name == "model name")
    return next(names, "") or platform.processor() or platform.machine()


def _cpu_info() -> list[tuple[str, str]]:
    """What Linux reports of every core, as names and values; empty on other systems."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    pairs = (line.partition(":") for line in lines)
    return [(name.strip(), value.strip()) for name, separator, value in pairs if separator]
