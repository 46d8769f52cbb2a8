"""NVRTC without a driver: compile a text for a GPU and read the report of ptxas."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import re
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files

PACKAGE = "nvidia-cuda-nvrtc"
ARCHITECTURE = "sm_90"  # of H100 and H200
OF_CUPY = ("--device-as-default-execution-space", "-ftz=true")  # options that CuPy adds
NAME = re.compile(r"^(lib)?nvrtc(64_\d+_0)?\.(so\.\d+|dll)$")
PROPERTIES = re.compile(
    r"Function properties for (?P<entry>\w+)\n"
    r".*?(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads\n"
    r".*?Used (?P<registers>\d+) registers"
)


@dataclass(frozen=True)
class Usage:
    """What one entry needs per GPU thread."""

    registers: int
    stack: int  # bytes of local memory, spills included
    spill_stores: int  # bytes
    spill_loads: int


@dataclass(frozen=True)
class Compiled:
    """The machine code of a text, or the reason why there is none."""

    ok: bool
    log: str
    code: bytes
    seconds: float

    @property
    def usage(self) -> dict[str, Usage]:
        """The usage of each entry."""
        return {
            match["entry"]: Usage(
                *(int(match[k]) for k in ("registers", "stack", "stores", "loads"))
            )
            for match in PROPERTIES.finditer(self.log)
        }


def compiled(text: str, options: tuple[str, ...] = ()) -> Compiled:
    """`text` compiled to machine code for ARCHITECTURE; the log has the report of ptxas."""
    library = _library()
    options = (f"--gpu-architecture={ARCHITECTURE}", "--ptxas-options=-v", *options)
    program = ctypes.c_void_p()
    name, source = b"kernel.cu", text.encode()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), source, name, 0, None, None))
    try:
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        began = time.perf_counter()
        ok = library.nvrtcCompileProgram(program, len(options), words) == 0
        seconds = time.perf_counter() - began
        log = _read(library, program, "ProgramLog").decode().rstrip("\0")
        return Compiled(ok, log, _read(library, program, "CUBIN") if ok else b"", seconds)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def version() -> str:
    """The version of the package: another one may give other code."""
    return importlib.metadata.version(PACKAGE)


@functools.cache
def _library() -> ctypes.CDLL:
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError:
        listed = []
    for file in listed:
        if NAME.match(file.name):
            return ctypes.CDLL(str(file.locate()))
    raise RuntimeError(f"no NVRTC in this environment ({sys.platform}): pip install '.[test]'")


def _read(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _check(getattr(library, f"nvrtcGet{what}")(program, text))
    return text.raw


def _check(result: int) -> None:
    if result:
        raise RuntimeError(f"NVRTC returns {result}")
