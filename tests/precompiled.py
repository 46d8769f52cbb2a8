"""A compiler's command for tests: they compile hundreds of kernels, each for a moment's work."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from sweep.errors import SweepError
from sweep.kernel.cache import cached, digest
from sweep.kernel.compiler import FLAGS, processor

# Parsing it takes half the time of compiling a small kernel.
# Without stdlib.h, that comes with its allocation: the text for GPUs declares functions so named.
HEADER = "#if defined(__AVX__)\n#define _MM_MALLOC_H_INCLUDED\n#include <immintrin.h>\n#endif\n"

QUICK = ("-O1", "-fno-tree-pta")  # what pointers may point to takes GCC a quarter of its time


def quick(compiler: str) -> str:
    """GCC with QUICK and the intrinsics' header compiled in advance; another compiler with -O1.

    GCC reads the header's text instead wherever other options make the compiled one useless.
    """
    command = [compiler, *QUICK]
    flags = [*command, *(flag for flag in FLAGS if flag not in ("-O3", "-shared"))]

    def precompile(path: Path) -> None:
        source = path.with_suffix("")
        _write(source)
        subprocess.run([*flags, "-x", "c++-header", "-o", path, source], check=True)

    try:
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
        if "Free Software Foundation" not in version:
            return shlex.join([compiler, QUICK[0]])
        name = f"intrinsics-{digest(*flags, version, processor(), HEADER)}.h"
        header = cached(name, _write)
        cached(f"{name}.gch", precompile)
        command += ["-include", str(header)]
    except (OSError, subprocess.SubprocessError, SweepError):
        pass  # then each kernel parses it
    return shlex.join(command)


def _write(header: Path) -> None:
    header.write_text(HEADER, encoding="utf-8")
