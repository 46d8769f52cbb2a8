"""Points and the bits of the CPU backend, for a machine with a GPU but no compiler.

python -m tests.gpu_cases [FOLDER]      # writes an .npz per case; default: .gpu_cases
python -m pytest -m gpu --require-gpu   # on that machine, with NumPy, CuPy and pytest
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sweep.backends.cpu import CpuBackend
from sweep.source import kernel_of, kernel_text
from sweep.work import Column, Points
from tests.points import Bits, Case, array_cases, cases

FOLDER = Path(__file__).resolve().parents[1] / ".gpu_cases"
N_POINTS = 2000
N_ARRAY_POINTS = 500  # of methods of kind "array", which take longer on a core


def expected(case: Case, folder: Path = FOLDER) -> tuple[Points, Bits]:
    """The points of a case and the CPU's bits, from a file or else computed now."""
    path = _place(case, folder)
    if not path.exists():
        return case.points, CpuBackend().compute(case.sweep, case.points).arrays
    with np.load(path) as kept:
        columns = {name: Column(kept[f"in {name}"]) for name in case.points.columns}
        bits = {name: kept[f"out {name}"] for name in (*_outputs(case), "status")}
    points = Points(n_points=len(bits["status"]), columns=columns, variants=case.points.variants)
    return points, bits


def not_carried(folder: Path = FOLDER) -> list[str]:
    """The cases without a file, or with one of another text."""
    small = 64  # the points are not used here
    return [case.name for case in _all(small, small) if not _place(case, folder).exists()]


def write(
    folder: Path = FOLDER, n_points: int = N_POINTS, n_array_points: int = N_ARRAY_POINTS
) -> None:
    """Write the points and bits of every case."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    for case in _all(n_points, n_array_points):
        outputs = CpuBackend().compute(case.sweep, case.points).arrays
        inputs = {f"in {name}": column.values for name, column in case.points.columns.items()}
        np.savez_compressed(
            _place(case, folder), **inputs, **{f"out {name}": v for name, v in outputs.items()}
        )
        counts = dict(zip(*np.unique(outputs["status"], return_counts=True), strict=True))
        statuses = ", ".join(f"status {status}: {count}" for status, count in counts.items())
        print(f"{case.name}: {case.points.n_points} points, {statuses}")


def _all(n_points: int, n_array_points: int) -> Iterator[Case]:
    yield from cases(n_points)
    yield from array_cases(n_array_points)


def _place(case: Case, folder: Path) -> Path:
    """The file of a case; its name has a digest of the text that computed it."""
    text = kernel_text(kernel_of(case.sweep, case.points.variants))
    return folder / f"{case.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.npz"


def _outputs(case: Case) -> tuple[str, ...]:
    return tuple(output.name for output in case.sweep.outputs)


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:2]))
