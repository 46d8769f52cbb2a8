"""Compiled kernels, loaded into this process, and the C structs they are called with."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sweep.backends.compiler import Compiler, compile_library
from sweep.errors import CompileError, MachineError

Loaded = TypeVar("Loaded")


class ColumnStruct(ctypes.Structure):
    """The Column of block_cpu.h and block_gpu.h."""

    _fields_ = (
        ("values", ctypes.c_void_p),
        ("repeat", ctypes.c_int64),
        ("count", ctypes.c_int64),
    )


class ForeignLibraryError(Exception):
    """A file in the cache that lacks the entries of a kernel: another library, or a damaged one."""


def request_struct(fields: Sequence[tuple[str, Any]], n_columns: int, n_outputs: int) -> type[Any]:
    """A Request struct: `fields`, then the addresses of the columns and of the outputs."""
    arrays = [("columns", ColumnStruct * n_columns), ("outputs", ctypes.c_void_p * n_outputs)]
    return type("Request", (ctypes.Structure,), {"_fields_": [*fields, *arrays]})


def check_layout(kernel_bytes: int, struct: type[ctypes.Structure], files: str) -> None:
    """CompileError unless a struct has the same size in the kernel and in Python.

    `files` names the two files that define it.
    """
    if kernel_bytes != ctypes.sizeof(struct):
        raise CompileError(
            f"the {struct.__name__} of the kernel has {kernel_bytes} bytes, that of this program "
            f"{ctypes.sizeof(struct)}: {files} differ in layout. Reinstall tribosweep"
        )


def compile_and_load(
    text: str, compiler: Compiler, flags: Sequence[str], load: Callable[[Path], Loaded]
) -> Loaded:
    """The library of a kernel's text as `load` returns it.

    A foreign file that the cache has under its name is removed, and the text compiled again.
    """
    path = compile_library(text, compiler, flags)
    try:
        return load(path)
    except ForeignLibraryError:
        path.unlink(missing_ok=True)
        return load(compile_library(text, compiler, flags))


def load_library(path: Path, entries: Sequence[str] = ()) -> ctypes.CDLL:
    """A shared library that has these entries.

    MachineError if this process may not load it, ForeignLibraryError if it lacks an entry.
    """
    content = path.read_bytes()  # not by loading it: a library stays loaded under its name
    for entry in entries:
        if entry.encode() not in content:
            raise ForeignLibraryError(f"{str(path)!r} has no {entry}")
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise MachineError(
            f"the compiled kernel {str(path)!r} cannot be loaded ({error}). If the file is "
            "damaged, remove that file; otherwise set TRIBOSWEEP_CACHE_DIR to a folder from which "
            "programs may be run"
        ) from error


def integer_of(library: ctypes.CDLL, entry: str) -> int:
    """The 64-bit integer that an entry without arguments returns."""
    function = getattr(library, entry)
    function.restype = ctypes.c_int64
    return int(function())
