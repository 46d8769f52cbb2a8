"""Hanisch, Richter, Li 2020: energy dissipated in a rubbing contact, and its master curves."""

from __future__ import annotations

import math
from functools import partial

from sweep.analysis.figures import save
from sweep.analysis.master_curve.draw import draw_amplitudes, draw_fits, draw_phases
from sweep.analysis.traces import plot_trace
from sweep.theory import mdr_contact as theory
from sweep.verify import document
from sweep.verify.hanisch2020 import energy_tables
from sweep.verify.hanisch2020.coefficients import CONSTANTS, FOLDER, PHASE
from sweep.verify.hanisch2020.energies import Figures, compute
from sweep.verify.record import Picture, Record

POISSON_RATIO = 0.3


def compare() -> Record:
    """Every figure of the paper beside ours; some seconds, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    return document.record_of(
        FOLDER, energy_tables.rows(figures), _others(figures), _pictures(figures)
    )


def _others(figures: Figures) -> dict[str, float]:
    """Figures that the notes and a check cite and no table has."""
    right = float(theory.stiffness_ratio(POISSON_RATIO))
    wrong = float(theory.contact_modulus(1.0, POISSON_RATIO)) * 2 * (1 + POISSON_RATIO)
    counts = {f"n_{name}": curve.n_coefficients for name, curve in figures.curves.items()}
    return {
        "n_25": CONSTANTS["n_coefficients_25"],
        "n_27": CONSTANTS["n_coefficients_27"],
        **counts,
        "n_both": sum(counts.values()),
        "greatest_loss": math.degrees(float(theory.greatest_loss_phase(0.5))),
        "depth": float(theory.slip_depth(3.0, PHASE)),
        "star": wrong / right,
        "poisson_ratio": POISSON_RATIO,
        "wrong_ratio": wrong,
        "right_ratio": right,
    }


def _pictures(figures: Figures) -> tuple[Picture, ...]:
    """The paper's Fig. 2 from springs in steps, the others from exact energies."""
    published = {
        "xi": ("eq. 25", theory.slip_transition),
        "beta": ("eq. 27", theory.stick_transition),
    }
    curves = list(figures.curves.values())
    return (
        Picture(
            "hanisch2020_fig2.png",
            "Fig. 2: stick, slip and no contact over two cycles; radius over that at d0",
            partial(plot_trace, figures.cycles.map),
        ),
        Picture(
            "hanisch2020_fig3.png",
            "Fig. 3: W̄ over β, and W̄δ over β/δ",
            lambda path: save(draw_amplitudes(figures.amplitudes), path),
        ),
        Picture(
            "hanisch2020_fig4.png",
            "Fig. 4: W̄ over β for several phases, δ = 0.01",
            lambda path: save(draw_phases(figures.phases), path),
        ),
        Picture(
            "hanisch2020_fig5.png",
            "Fig. 5: the fits and their errors",
            lambda path: save(draw_fits(curves, published), path),
        ),
    )
