"""Compile a few lines of C++ with the kernel headers, for tests of the headers themselves.

probe = compile_probe(
    folder, "elementary.h", {"roots": Entry(1, 2, "out[0] = sqrt(in[0]); out[1] = -out[0];")}
)
positive, negative = probe("roots", [1.0, 4.0])
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.kernel.compiler import FLAGS

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
ENTRY = """
extern "C" void {name}(double const* columns, double* results, long long points) {{
    for (long long first = 0; first < points; first += lanes) {{
        int const count = points - first < lanes ? int(points - first) : lanes;
        real in[{inputs}], out[{outputs}];
        for (int k = 0; k < {inputs}; ++k)
            for (int i = 0; i < lanes; ++i)
                set_lane(in[k], i, columns[k * points + first + (i < count ? i : 0)]);
        {body}
        for (int k = 0; k < {outputs}; ++k)
            for (int i = 0; i < count; ++i)
                results[k * points + first + i] = lane(out[k], i);
    }}
}}
"""


@dataclass(frozen=True)
class Entry:
    """One function of a probe: `body` sets out[0..outputs) from in[0..inputs), all `real`."""

    inputs: int
    outputs: int
    body: str


@dataclass(frozen=True)
class Probe:
    """A compiled probe; a call with an entry's name and columns returns the entry's outputs."""

    library: ctypes.CDLL
    entries: Mapping[str, Entry]

    def __call__(self, name: str, *columns: ArrayLike) -> NDArray[np.float64]:
        """The outputs, shape (outputs, n), for columns of equal length n."""
        entry = self.entries[name]
        arguments = np.ascontiguousarray(columns, dtype=np.float64)
        if arguments.ndim != 2 or len(arguments) != entry.inputs:
            raise ValueError(f"{name!r} takes {entry.inputs} columns, got shape {arguments.shape}")
        results = np.empty((entry.outputs, arguments.shape[1]))
        getattr(self.library, name)(
            ctypes.c_void_p(arguments.ctypes.data),
            ctypes.c_void_p(results.ctypes.data),
            ctypes.c_longlong(arguments.shape[1]),
        )
        return results


def compilers() -> dict[str, tuple[str, ...]]:
    """The C++ compilers of this machine by name, the preferred one first."""
    commands = {name: (path,) for name in ("g++", "clang++") if (path := shutil.which(name))}
    if importlib.util.find_spec("ziglang"):
        commands["ziglang"] = (sys.executable, "-m", "ziglang", "c++")
    return commands


def compile_probe(
    folder: Path,
    header: str,
    entries: Mapping[str, Entry],
    *,
    width: int | None = None,
    pack: int | None = None,
    compiler: str | None = None,
) -> Probe:
    """The entries compiled with kernels/`header`, or an earlier build in `folder`.

    Width and pack default to the header's own choice, the compiler to the first of compilers().
    RuntimeError contains the messages of a compiler that fails.
    """
    text = probe_text(header, entries)
    available = compilers()
    if not available:
        raise RuntimeError("no C++ compiler: install g++ or clang++, or `pip install ziglang`")
    name = compiler or next(iter(available))
    sizes = {"SWEEP_WIDTH": width, "SWEEP_PACK": pack}
    defines = [f"-D{size}={value}" for size, value in sizes.items() if value is not None]
    quirks = ["-nostdlib++"] if name == "ziglang" else []
    command = [*available[name], *FLAGS, *quirks, *defines, f"-I{KERNELS}"]
    headers = b"".join(path.read_bytes() for path in sorted(KERNELS.rglob("*.h")))
    digest = hashlib.sha256("\0".join([text, *command]).encode() + headers).hexdigest()[:16]
    library = folder / f"probe-{digest}.so"
    if not library.exists():
        _build(command, text, library)
    return Probe(ctypes.CDLL(str(library)), dict(entries))


def probe_text(header: str, entries: Mapping[str, Entry]) -> str:
    """The C++ text of a probe."""
    functions = [
        ENTRY.format(name=name, inputs=entry.inputs, outputs=entry.outputs, body=entry.body)
        for name, entry in entries.items()
    ]
    return f'#include "{header}"\n' + "".join(functions)


def _build(command: list[str], text: str, library: Path) -> None:
    source = library.with_suffix(".cpp")
    source.write_text(text)
    scratch = library.with_suffix(f".{os.getpid()}")
    process = subprocess.run(
        [*command, str(source), "-o", str(scratch)], capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(f"{' '.join(process.args)}\n{process.stderr}")
    scratch.replace(library)
