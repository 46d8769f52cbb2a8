"""What the document says that is not so, or not said, and what has to hold of our figures."""

from __future__ import annotations

import numpy as np

from sweep.verify.record import Check
from sweep.verify.sdnd122 import published
from sweep.verify.sdnd122.figures import HARMONICS, Figures, Values
from sweep.verify.sdnd122.published import COMPUTED, FREQUENCIES


def notes(figures: Figures) -> tuple[str, ...]:
    """One paragraph each; the figures in it are computed."""
    return (_formula(figures), _equation(), _computed(figures), _ranges(figures), _jordan(figures))


def _formula(figures: Figures) -> str:
    off = np.array(FREQUENCIES) / figures.right - 1
    return (
        "The document's duration of the contact is wrong: T₂ = 2√(m/(K+k)) arccos(ek/√(2E(K+k))) "
        "lacks −kKe² under the root; right is arccos(ek/√(2E(K+k) − kKe²)). Its contact is too "
        f"long, and its frequencies are too low, by {-off.max():.2e} to {-off.min():.2e}. Its "
        "printed frequencies are those of its formula to all digits. Towards grazing (E = ke²/2) "
        "its frequency jumps below the linear one, where the right one goes over into it."
    )


def _equation() -> str:
    return (
        "The document writes the equation of motion without the mass, ü + ku = −F(u); with its "
        "m = 1 kg that is no matter."
    )


def _computed(figures: Figures) -> str:
    right, tolerance = figures.right, published.TOLERANCE
    off = np.array(COMPUTED) / np.array(FREQUENCIES) - 1
    near = np.array(COMPUTED) / right - 1
    return (
        f"Code_Aster's computed frequencies lie {off.min():.2e} to {off.max():.2e} above the "
        f"document's, within the {tolerance:g} of its tests, and {near.min():.2e} to "
        f"{near.max():.2e} above the right ones. That rest is its five harmonics and the energy of "
        "one instant, t = T/4 with t = 0 at the greatest displacement: harmonic balance done so "
        "gives its numbers, and tends to the right ones as harmonics are added. At the first "
        f"energy its test reads {published.INTERPOLATED} Hz off its table by interpolation. With "
        f"the mean of the energy over the period, five harmonics err by "
        f"{abs(figures.balance[5][2] / right[2] - 1):.1e}."
    )


def _ranges(figures: Figures) -> str:
    low, high = figures.range_frequencies
    first, last = figures.range_energies * 1e3
    return (
        "The document's ranges of stability, 0.644 Hz < f < 0.6475 Hz and 6.2 mJ < E < 6.9 mJ, do "
        f"not match: those energies have frequencies from {low:.5f} to {high:.5f} Hz, and those "
        f"frequencies belong to {first:.3f} to {last:.3f} mJ."
    )


def _jordan(figures: Figures) -> str:
    sampled = figures.moduli["sampled"]
    share = float(np.mean(sampled >= published.STABLE_BELOW))
    return (
        "The motion conserves energy, so that both its multipliers are 1, in a Jordan block, at "
        "every energy: stable means that no multiplier reaches 1.01. An error ε of the trace moves "
        "them by √ε. With the stiffness sampled at the 1000 points of Newmark's scheme a contact "
        f"is wrong by up to a step, and {share:.0%} of the energies come out unstable, with "
        f"multipliers up to {sampled.max():.3f}; with each point's mean stiffness over the step "
        f"around it, none does, and they reach {figures.moduli['newmark'].max():.4f}. That "
        "the document's three pairs are stable says so much and no more."
    )


def checks(figures: Figures) -> tuple[Check, ...]:
    """All that has to hold of ours."""
    printed = np.abs(figures.formula - np.array(FREQUENCIES)).max()
    alike = np.abs(figures.as_code_aster[5] - np.array(COMPUTED)).max()
    return (
        Check("exact against the right formula", _off(figures.exact, figures), 1e-14),
        Check("newmark with 1000 steps", _off(figures.newmark, figures), 1e-5),
        Check(
            f"harmonic balance with {HARMONICS[-1]} harmonics",
            _off(figures.balance[HARMONICS[-1]], figures), 3e-6,
        ),
        Check(
            "the document's formula gives its frequencies, rounded",
            float(printed), published.LAST_PLACE / 2, "Hz",
        ),
        Check("harmonic balance as Code_Aster gives its frequencies", float(alike), 1e-5, "Hz"),
        Check("exact: trace of the monodromy matrix", _trace(figures, "exact"), 1e-9),
        *(
            Check(f"{name}: greatest multiplier − 1", float(figures.moduli[name].max()) - 1, 0.01)
            for name in ("exact", "newmark")
        ),
    )  # fmt: skip


def _off(frequencies: Values, figures: Figures) -> float:
    return float(np.abs(frequencies / figures.right - 1).max())


def _trace(figures: Figures, method: str) -> float:
    return float(np.abs(figures.traces[method] - 2).max())
