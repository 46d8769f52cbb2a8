"""The paper's Figs. 2 to 5: the first from springs in steps, the others from exact energies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from sweep.analysis.master_curve.draw import draw_amplitudes, draw_fits, draw_phases
from sweep.analysis.saving import save
from sweep.analysis.traces import plot_trace
from sweep.theory import mdr_contact as theory
from sweep.verify.hanisch2020.figures import Figures
from sweep.verify.record import Picture


def pictures(figures: Figures) -> tuple[Picture, ...]:
    """The pictures of the record; they are drawn when they are saved."""
    published = {
        "xi": ("eq. 25", theory.slip_transition),
        "beta": ("eq. 27", theory.stick_transition),
    }
    curves = list(figures.curves.values())
    drawn: dict[str, Callable[[Path], object]] = {
        "Fig. 2: stick, slip and no contact over two cycles; radius over that at d0": partial(
            plot_trace, figures.cycles.map
        ),
        "Fig. 3: W̄ over β, and W̄δ over β/δ": lambda path: save(
            draw_amplitudes(figures.amplitudes), path
        ),
        "Fig. 4: W̄ over β for several phases, δ = 0.01": lambda path: save(
            draw_phases(figures.phases), path
        ),
        "Fig. 5: the fits and their errors": lambda path: save(draw_fits(curves, published), path),
    }
    return tuple(
        Picture(f"hanisch2020_fig{number}.png", caption, draw)
        for number, (caption, draw) in enumerate(drawn.items(), start=2)
    )
