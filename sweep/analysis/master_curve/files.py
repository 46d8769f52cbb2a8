"""The files of a fit: its curves, and pictures of these and of the points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sweep.analysis.figures import save
from sweep.analysis.master_curve.curve import MasterCurve
from sweep.analysis.master_curve.draw import draw_amplitudes, draw_fits, draw_phases
from sweep.analysis.master_curve.points import VARIABLES, ContactEnergies
from sweep.analysis.master_curve.write import file_names, write
from sweep.work import Values

FITS, PHASES, AMPLITUDES = "fits.png", "phases.png", "amplitudes.png"


def write_all(
    everything: ContactEnergies,
    points: ContactEnergies,
    curves: Sequence[MasterCurve],
    folder: Path,
) -> list[Path]:
    """The paths of what was written: each curve's files, and pictures of the fits and the points.

    `points` are those fitted, chosen from `everything`; of that, those of one amplitude and several
    phases are drawn, and those of one phase and several amplitudes, where they make curves. Files
    there are replaced. SweepError if they cannot be written.
    """
    written = [path for curve in curves for path in write(curve, folder)]
    written.append(save(draw_fits(curves), folder / FITS))
    known = not np.isnan(everything.phase).any() and np.unique(everything.phase).size > 1
    if known and np.unique(points.delta).size == 1 and points.delta[0] != 0:
        same = everything.where(everything.delta == points.delta[0])
        if _makes_curves(same.phase):
            written.append(save(draw_phases(same), folder / PHASES))
    if np.all(points.delta >= 0) and points.delta.any() and np.unique(points.phase).size == 1:
        same = everything.where(everything.phase == points.phase[0]) if known else points
        if _makes_curves(same.delta):
            written.append(save(draw_amplitudes(same), folder / AMPLITUDES))
    return written


def remove_others(folder: Path, written: Sequence[Path]) -> list[Path]:
    """Remove the files of an earlier fit that this one did not replace, and return their paths."""
    names = [name for variable in VARIABLES for name in file_names(variable)]
    places = [folder / name for name in (*names, FITS, PHASES, AMPLITUDES)]
    stale = [path for path in places if path not in written and path.is_file()]
    for path in stale:
        path.unlink()
    return stale


def _makes_curves(column: Values) -> bool:
    """Whether several points share a value, as on a grid: those of a sample have one each."""
    return 0 < 2 * np.unique(column).size <= column.size
