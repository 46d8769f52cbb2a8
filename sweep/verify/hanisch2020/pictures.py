"""The paper's Figs. 2 to 5: the first from springs in steps, the others from exact energies."""

from __future__ import annotations

from pathlib import Path

from sweep.analysis.master_curve.draw import plot_amplitudes, plot_fits, plot_phases
from sweep.analysis.traces import plot_trace
from sweep.theory import mdr_contact as theory
from sweep.verify.hanisch2020.figures import Figures
from sweep.verify.record import Picture


def pictures(figures: Figures) -> tuple[Picture, ...]:
    """The pictures of the record; they are drawn when they are saved."""

    def states(path: Path) -> None:
        plot_trace(figures.cycles.map, path)

    def amplitudes(path: Path) -> None:
        plot_amplitudes(figures.amplitudes, path)

    def phases(path: Path) -> None:
        plot_phases(figures.phases, path)

    def fits(path: Path) -> None:
        published = {
            "xi": ("eq. 25", theory.slip_transition),
            "beta": ("eq. 27", theory.stick_transition),
        }
        plot_fits(list(figures.curves.values()), path, published)

    return (
        Picture(
            "hanisch2020_fig2.png",
            "Fig. 2: stick, slip and no contact over two cycles; radius over that at d0",
            states,
        ),
        Picture("hanisch2020_fig3.png", "Fig. 3: W̄ over β, and W̄δ over β/δ", amplitudes),
        Picture("hanisch2020_fig4.png", "Fig. 4: W̄ over β for several phases, δ = 0.01", phases),
        Picture("hanisch2020_fig5.png", "Fig. 5: the fits and their errors", fits),
    )
