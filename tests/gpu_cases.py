"""Points and the bits of the CPU backend, for a machine with a GPU but no compiler.

python -m tests.gpu_cases [FOLDER]      # writes an .npz per case; default: .gpu_cases
python -m pytest -m gpu --require-gpu   # on that machine, with NumPy, CuPy and pytest
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from sweep.kernel.cpu import CpuBackend
from sweep.kernel.source import kernel_of, kernel_text
from sweep.model.table import planes
from sweep.request.chunk import Column, Points
from sweep.request.sweeps import Axis
from sweep.statistics.outputs import reduced
from sweep.statistics.partial import Kept
from tests.cases import Bits, Case, cases
from tests.cases.files import file_cases

FOLDER = Path(__file__).resolve().parents[1] / ".gpu_cases"
N_POINTS = 2000

REDUCED = ("friction_oscillator-exact", "impact_oscillator-exact")  # cases, to all statistics
CELLS = 4  # into which their points are reduced
NUMERIC = ("mean", "standard_deviation", "minimum", "maximum", "quantile 0.1", "share above 1.5")
STATISTICS = {
    "real": (*NUMERIC, "quantile 0.5", "histogram 12"),
    "count": NUMERIC,
    "flag": ("share",),
}


def expected(case: Case, folder: Path = FOLDER) -> tuple[Points, Bits]:
    """The points of a case and the CPU's bits, from a file or else computed now."""
    path = file_of(case, folder)
    if not path.exists():
        return case.points, CpuBackend().compute(case.sweep, case.points).arrays
    with np.load(path) as kept:
        columns = {name: Column(kept[f"in {name}"]) for name in case.points.columns}
        bits = {name: kept[f"out {name}"] for name in (*_outputs(case), "status")}
    points = Points(n_points=len(bits["status"]), columns=columns, variants=case.points.variants)
    return points, bits


def in_cells(
    case: Case, points: Points, *, exact: bool = False, indices: bool = False
) -> tuple[Kept, Points]:
    """These points of the case in CELLS cells, each reduced to every statistic of every output.

    With `indices`, as if they were rows for Sobol' indices of two parameters, in 5 scramblings.
    """
    names = ("friction", "mass") if indices else ("friction",)
    recipe: dict[str, object] = {"sobol_indices": True, "scramblings": 5} if indices else {}
    axis = Axis("point", {name: np.zeros(points.n_points // CELLS) for name in names}, recipe)
    real = (*STATISTICS["real"], *(["sobol_indices"] if indices else []))
    statistics = {
        each.name: real if each.kind == "real" else STATISTICS[each.kind]
        for each in case.sweep.outputs
    }
    sweep = reduced(case.sweep.with_axes([axis]), 1, statistics, exact_quantiles=exact)
    return Kept(sweep), replace(points, cells=CELLS)


def file_of(case: Case, folder: Path) -> Path:
    """The file of a case; its name has a digest of the text that computed it."""
    text = kernel_text(kernel_of(case.sweep, case.points.variants))
    return folder / f"{case.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.npz"


def write(folder: Path = FOLDER, n_points: int = N_POINTS) -> None:
    """Write the points and bits of every case."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    for case in (*cases(n_points), *file_cases(n_points)):
        outputs = CpuBackend().compute(case.sweep, case.points).arrays
        inputs = {f"in {name}": column.values for name, column in case.points.columns.items()}
        np.savez_compressed(
            file_of(case, folder), **inputs, **{f"out {name}": v for name, v in outputs.items()}
        )
        counts = dict(zip(*np.unique(outputs["status"], return_counts=True), strict=True))
        statuses = ", ".join(f"status {status}: {count}" for status, count in counts.items())
        print(f"{case.name}: {case.points.n_points} points, {statuses}")


def _outputs(case: Case) -> tuple[str, ...]:
    return tuple(output.name for output in planes(case.sweep.outputs))


if __name__ == "__main__":
    write(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
