"""Hanisch, Richter, Li 2020: energy dissipated in a rubbing contact, and its master curves."""

from __future__ import annotations

import math

from sweep.theory import mdr_contact as theory
from sweep.verify.document import Document
from sweep.verify.hanisch2020 import tables
from sweep.verify.hanisch2020.figures import Figures, compute
from sweep.verify.hanisch2020.pictures import pictures
from sweep.verify.hanisch2020.published import CONSTANTS, FOLDER, PHASE
from sweep.verify.record import Check, Record

POISSON_RATIO = 0.3


def compare() -> Record:
    """Every figure of the paper beside ours; some seconds, compilation included."""
    return record_of(compute())


def record_of(figures: Figures) -> Record:
    """The record of these figures."""
    document = Document(FOLDER)
    computed = document.tables(vars(tables), figures)
    count = sum(curve.n_coefficients for curve in figures.curves.values())
    published = CONSTANTS["n_coefficients_25"] + CONSTANTS["n_coefficients_27"]
    checks = [
        *document.checks(computed),
        Check("coefficients of both fits (eqs. 25 and 27 have 17)", count, published),
    ]
    return document.record(computed, checks, _fields(figures), pictures(figures))


def _fields(figures: Figures) -> dict[str, float]:
    """Figures that the notes quote and no table has."""
    right = float(theory.stiffness_ratio(POISSON_RATIO))
    wrong = float(theory.contact_modulus(1.0, POISSON_RATIO)) * 2 * (1 + POISSON_RATIO)
    return {
        "n_25": CONSTANTS["n_coefficients_25"],
        "n_27": CONSTANTS["n_coefficients_27"],
        "n_xi": figures.curves["xi"].n_coefficients,
        "n_beta": figures.curves["beta"].n_coefficients,
        "greatest_loss": math.degrees(float(theory.greatest_loss_phase(0.5))),
        "depth": float(theory.slip_depth(3.0, PHASE)),
        "star": wrong / right,
        "poisson_ratio": POISSON_RATIO,
        "wrong_ratio": wrong,
        "right_ratio": right,
    }
