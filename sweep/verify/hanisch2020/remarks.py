"""What the paper says that is not so, or not said, and what has to hold of our figures."""

from __future__ import annotations

import math

from sweep.theory import mdr_contact as theory
from sweep.verify.hanisch2020.figures import SMALL, Compared, Figures
from sweep.verify.hanisch2020.published import N_COEFFICIENTS, PHASE
from sweep.verify.record import Check

POISSON_RATIO = 0.3


def notes(figures: Figures) -> tuple[str, ...]:
    """One paragraph each; the figures in it are computed."""
    return (
        _closed_forms(),
        _fits(figures),
        _regions(figures),
        _sign(figures),
        _depth(),
        _readings(figures),
        _stars(),
    )


def checks(figures: Figures) -> tuple[Check, ...]:
    """The paper's errors reproduced, and ours below their bounds."""
    slip, stick = _of(figures, "xi", "eq. 25"), _of(figures, "beta", "eq. 27")
    fig2, far, near, _, _ = (
        float(theory.three_regions(b, d, p)) / w - 1 for b, d, p, w in figures.cases
    )
    ours = [_of(figures, name, "ours, least squares") for name in ("xi", "beta")]
    closed = [_of(figures, name, "closed form") for name in ("xi", "beta")]
    count = sum(each.n_coefficients for each in ours)
    return (
        Check("our fit over ξ in (0, 4)", ours[0].distance.greatest, 1e-3),
        Check("our fit over β > 0.1 at φ = 90°", ours[1].distance.greatest, 1e-3),
        Check("coefficients of both (eqs. 25 and 27 have 17)", count, sum(N_COEFFICIENTS.values())),
        Check("closed form over ξ against exact", closed[0].distance.greatest, 1e-9),
        Check("closed form over β against exact", closed[1].distance.greatest, 1e-5),
        Check("Fig. 2's case is 0.771809", abs(figures.cases[0][3] - 0.771809), 5e-7),
        Check("eq. 24 in Fig. 2's case is 30 % off", abs(fig2 - 0.30), 0.005),
        Check("eq. 24 where I meets II is 39 % off", abs(_kink() - 0.39), 0.005),
        Check("eq. 24 at φ = 153°, β = 1.2 is −55 % off", abs(far + 0.55), 0.005),
        Check("eq. 24 at φ = 0.05, β = 1.07 is 179 times too large", abs(near + 1 - 179), 0.5),
        Check("eq. 25 is 9.3 % off at most", abs(slip.distance.greatest - 0.093), 5e-4),
        Check("eq. 27 is 3.3 % off at most", abs(stick.distance.greatest - 0.033), 5e-4),
        Check("eq. 25 with a plus is 91 % off", abs(figures.misread - 0.91), 0.005),
    )


def _closed_forms() -> str:
    return (
        "There is a master curve between regions II and III, for every phase: the universal "
        "surface W̄ = F(β, φ) (theory.mdr_contact.universal_surface), at φ = 90° "
        "(1 + 2β²)²/(4β(1 + β²)^{3/2}). Between I and II it is, with w = √(1 − 1/ξ), "
        "W̄δ = 2ξ − 8ξ²/5 up to ξ = 1 and (2/5)(1 − w)(1 + 3w + w²)/(1 + w)² beyond. They are the "
        "true replacement of eqs. 24, 25 and 27, and have no fitted coefficient."
    )


def _fits(figures: Figures) -> str:
    slip, stick = _of(figures, "xi", "eq. 25"), _of(figures, "beta", "eq. 27")
    ours = [_of(figures, name, "ours, least squares") for name in ("xi", "beta")]
    best = _of(figures, "xi", "best of eq. 25's degrees")
    return (
        f"Eq. 25 ({slip.n_coefficients} coefficients) is up to {slip.distance.greatest:.1%} off, "
        f"eq. 27 ({stick.n_coefficients}) up to {stick.distance.greatest:.1%}; ours take "
        f"{ours[0].n_coefficients} and {ours[1].n_coefficients} for "
        f"{ours[0].distance.greatest:.2%} and {ours[1].distance.greatest:.3%}. No rational "
        f"function of ξ of eq. 25's degrees does better than {best.distance.greatest:.2%}: at "
        "ξ = 1 a stick core appears and the curvature is infinite. So ours is in two pieces, the "
        "upper one in the radius of that core, √(1 − 1/ξ). Coefficients fixed at 1 are not "
        "counted, nor is ξ = 1."
    )


def _regions(figures: Figures) -> str:
    _, far, near, _, _ = figures.cases
    worst = _of(figures, "xi", "eq. 24, regions I and II").distance
    return (
        f"Eq. 24 has kinks: {_kink():+.0%} where I meets II, and it is {worst.greatest:.0%} off at "
        f"ξ = {worst.where:.2f}, where the whole contact still slips. It is meant for any phase, "
        f"but takes no account of the side of 90° it is on: {_off(far):+.0%} at φ = 153°, β = 1.2, "
        f"and {_off(near) + 1:.0f} times too large at φ = 0.05, β = 1.07."
    )


def _sign(figures: Figures) -> str:
    ahead, behind = figures.cases[3][3], figures.cases[4][3]
    return (
        f"φ and −φ differ, which the paper does not say: at β = 1.5, W̄ is {ahead:.4f} for φ = 0.3 "
        f"and {behind:.4f} for φ = −0.3. The greatest loss is not at 90° but, for β ≤ 1, at "
        f"{math.degrees(float(theory.greatest_loss_phase(0.5))):.1f}° or so (β = 0.5)."
    )


def _depth() -> str:
    depth = float(theory.slip_depth(3.0, PHASE))
    return (
        "Eq. 15 for the stick area leaves the normal motion out of the slip depth, which is larger "
        f"by (R_A + R_B)/2, R² = 1 + β² ∓ 2β cos φ: {depth:.2f} at β = 3, φ = 90°, about β for "
        "large β."
    )


def _readings(figures: Figures) -> str:
    changes = figures.changes
    return (
        "Copies of the paper are damaged. The sign before 0.5866 in eq. 25 is lost: it is minus, "
        f"plus would be up to {figures.misread:.0%} off. The exponent of the last "
        "constant of eq. 27's numerator is hard to read (−4.0017e-6): without it the "
        f"curve changes by {changes['0']:.1e}, so nothing depends on it; −4.0017e-4 would change it"
        f" by {changes['−4.0017e-4']:.1%}."
    )


def _stars() -> str:
    nu = POISSON_RATIO
    right = float(theory.stiffness_ratio(nu))
    wrong = float(theory.contact_modulus(1.0, nu)) * 2 * (1 + nu)
    return (
        "The star of G* is lost where it is defined (“G = 4G/(2 − ν)”): G* = 4G/(2 − ν) with "
        "G = E/(2(1 + ν)), E* = E/(1 − ν²), and κ = E*/G* = (2 − ν)/(2(1 − ν)). Taking G for G* "
        f"makes κ and β at ν = {nu} {wrong / right:.2f} times as large ({wrong:.4f} for "
        f"{right:.4f})."
    )


def _kink() -> float:
    xi = 1 / math.sqrt(8)
    paper = float(theory.three_regions(xi * SMALL, SMALL, PHASE)) * SMALL
    return paper / (3 / 8 * float(theory.constant_load_energy(xi))) - 1


def _off(case: tuple[float, float, float, float]) -> float:
    beta, delta, phase, exact = case
    return float(theory.three_regions(beta, delta, phase)) / exact - 1


def _of(figures: Figures, variable: str, label: str) -> Compared:
    (found,) = (c for c in figures.compared if (c.variable, c.label) == (variable, label))
    return found
