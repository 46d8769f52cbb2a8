"""What the document says that is not so, or not said; the figures in it are computed."""

from __future__ import annotations

from collections.abc import Iterable

from sweep.theory.stability import longest_step
from sweep.verify.sdnd104 import published
from sweep.verify.sdnd104.causes import variants
from sweep.verify.sdnd104.figures import Figures
from sweep.verify.sdnd104.published import (
    COLUMNS,
    EULER_SINCE,
    REFERENCE,
    SPRING,
    STEP,
    SYSTEM,
    TANGENTIAL_STIFFNESS,
    USED_STIFFNESS,
)
from sweep.verify.writing import number

SLIPPING = published.AMPLITUDES[:3]


def notes(figures: Figures) -> tuple[str, ...]:
    """One paragraph each."""
    return (
        _window(figures),
        _power(figures),
        _contact(figures),
        _step(figures),
        _spring(figures),
        _shares(figures),
        _blocks(figures),
        _table(figures),
        _columns_with_table(figures),
        _without_variant(figures),
        _greatest(),
        _since(figures),
    )


def _window(figures: Figures) -> str:
    exact, shorter = figures.exact_power(15.0), figures.exact_power(15.0, end=11.99)
    return (
        "The document heads its table of references [4, 11.99] s, but its numbers are those of "
        f"[4, 12] s, as in its program (tmax = 12): at a₀ = 15 m/s² they are {exact:.8f} W and "
        f"{shorter:.8f} W, and it is the second, {published.PROSE_REFERENCE} W, that its prose "
        "calls the reference. [4, 12] s is eight whole periods, so that stick-slip is there what "
        "its closed form says."
    )


def _power(figures: Figures) -> str:
    ratio = figures.exact_power(15.0) / figures.friction_power(15.0)
    return (
        "In words the power of wear is P_u = μmg|V|; the integrals and the table are mg|V|, "
        f"{ratio:.6g} times as much. Here wear power is the mean of N|v| (Archard; Code_Aster's "
        "PUIS_USURE) and friction power that of μN|v|."
    )


def _contact(figures: Figures) -> str:
    named = figures.power("euler", 1.01, contact=TANGENTIAL_STIFFNESS) / EULER_SINCE[2] - 1
    bounds = [
        2 / (stiffness / SYSTEM["mass"]) ** 0.5
        for stiffness in (TANGENTIAL_STIFFNESS, USED_STIFFNESS)
    ]
    return (
        "The document's tangential stiffness of 900000 N/m is a slip by ten: its results are those "
        f"of 9e6 N/m, and with 900000 EULER at a₀ = 1.01 m/s² would be {100 * named:+.2f} % off "
        f"the published value. Its own bound on the step, {number(published.STABLE_BELOW, 2)} s, "
        f"is 2/√(K_T/m) = {number(bounds[1], 2)} s of 9e6 N/m; of 900000 N/m it would be "
        f"{number(bounds[0], 2)} s. With the critical damping 2√(m(k + K_T)), which the runs had, "
        f"EULER is stable in stick up to {number(_longest(USED_STIFFNESS), 3)} s."
    )


def _longest(contact: float) -> float:
    """EULER's longest stable step [s] in stick with that K_T (N/m) and its critical damping."""
    mass = SYSTEM["mass"]
    damping = 2 * (mass * (SPRING + contact)) ** 0.5
    return longest_step("euler", mass, SPRING, contact, damping)


def _step(figures: Figures) -> str:
    named = figures.power("devogelaere", 15.0, constant_step=STEP)
    return (
        "The document names steps of 3e-5 s in section 3.1 and of 1e-4 s in section 5. The second "
        f"fits: DEVOGE prints {COLUMNS['devogelaere'][0]} W at a₀ = 15 m/s², and ours "
        f"is {figures.power('devogelaere', 15.0):.5f} W at 1e-4 s, {named:.5f} W at 3e-5 s. The "
        "schemes of variable step began at 1e-5 s and went up to 1e-4 s, RK54 at a tolerance of "
        "1e-6, RK32 of 1e-5, both of 1e-7 at a₀ = 1.01 m/s²."
    )


def _spring(figures: Figures) -> str:
    moved = (figures.exact_power(a0, SPRING) / figures.exact_power(a0) - 1 for a0 in SLIPPING)
    return (
        "The weak spring of 3e-5 N/m, which the reference does not have, moves the exact wear "
        f"power by {_told(moved, 2)} (relative, a₀ = 15 / 1.5 / 1.01 m/s²)."
    )


def _shares(figures: Figures) -> str:
    a0 = 15.0
    exact, sprung = figures.exact_power(a0), figures.exact_power(a0, SPRING)
    mean, printed = figures.power("euler", a0, blocks=1), figures.power("euler", a0)
    spring, law, gaps = (
        number(each, 3) for each in (sprung - exact, mean - sprung, printed - mean)
    )
    return (
        f"At a₀ = 15 m/s² EULER's {printed:.6f} W comes near the exact value with the spring, "
        f"{sprung:.6f} W, by cancellation: spring {spring} W, penalised law and scheme {law} W, "
        f"the eight intervals that the blocks leave out {gaps} W. The true mean over time of that "
        f"run is {mean:.6f} W."
    )


def _blocks(figures: Figures) -> str:
    mean, printed = (figures.power("rk54", 15.0, blocks=n) for n in (1, published.BLOCKS))
    return (
        "Code_Aster prints the mean of 8 blocks of floor(samples/8) samples, each block's energy "
        "over its own length, and leaves out the interval between two blocks and what is left at "
        "the end. Where steps vary, that is no mean over time: with RK54 at a₀ = 15 m/s² it is "
        f"{printed:.6f} W, and the mean over time {mean:.6f} W. Ours over one block (the default) "
        "is the mean over time."
    )


def _table(figures: Figures) -> str:
    told = _told(map(figures.shift, SLIPPING), 2)
    return (
        "The runs of 2017 read the excitation from a table of 10000 intervals in 12 s, linear in "
        f"between. That moves the exact wear power by {told} (relative, a₀ = 15 / 1.5 / 1.01 "
        "m/s²). Our methods have an exact sine. The shift is computed apart from them: between two "
        "entries the speed is a parabola, and the motion is followed exactly from event to event. "
        "EULER and DEVOGE with the table are plain Python, at h = 1e-4 s, 8 blocks."
    )


def _columns_with_table(figures: Figures) -> str:
    schemes = ("euler", "devogelaere")
    ours = [_told((figures.tabulated_schemes[s, a0] for a0 in SLIPPING), 7) for s in schemes]
    printed = [_told(COLUMNS[scheme][:3], 6) for scheme in schemes]
    return (
        f"With the table EULER gives {ours[0]} W where its column has {printed[0]}, DEVOGE "
        f"{ours[1]} W where its has {printed[1]}."
    )


def _told(values: Iterable[float], digits: int) -> str:
    return " / ".join(number(value, digits) for value in values)


def _without_variant(figures: Figures) -> str:
    found = [v for s in ("adapt_ordre2", "rk32") for v in variants(figures, s, 1.01)]
    printed = [number(COLUMNS[scheme][2], 6) for scheme in ("adapt_ordre2", "rk32")]
    return (
        f"Two values come out of no variant: ADAPT_ORDRE2's {printed[0]} W and RK32's "
        f"{printed[1]} W at a₀ = 1.01 m/s². Every step, tolerance, window and number of blocks "
        f"tried, with the sine or the shift of the table, gives {number(min(found), 4)} to "
        f"{number(max(found), 4)} W."
    )


def _greatest() -> str:
    adapt = abs(COLUMNS["adapt_ordre2"][0] / REFERENCE[0] - 1)
    return (
        "The greatest differences the document prints are 0.0065 %, 0.0078 % and 2.45 %; its own "
        f"columns give {_widest(0)}, {_widest(1)} and {_widest(2)}. At a₀ = 15 m/s² it prints the "
        f"{100 * adapt:.4f} % of ADAPT_ORDRE2 and RK32, and RK54's difference is greater; no "
        "column is as far off as 0.0078 % at 1.5 m/s²."
    )


def _widest(place: int) -> str:
    differences = (abs(values[place] / REFERENCE[place] - 1) for values in COLUMNS.values())
    return f"{100 * max(differences):.3g} %"


def _since(figures: Figures) -> str:
    ours, drifting = (
        max(abs(power / printed - 1) for power, printed in zip(powers, EULER_SINCE, strict=False))
        for powers in (
            [figures.power("euler", a0) for a0 in SLIPPING],
            [figures.drifting[a0] for a0 in SLIPPING],
        )
    )
    return (
        "EULER's values published since are of newer versions of Code_Aster and stand in none of "
        "the editions compared. There time is added up, t += h, here it is counted, t = q·h: ours "
        f"are within {number(ours, 2)} (relative) of them, and with time added up they come out in "
        f"all 12 digits ({number(drifting, 2)}). moreau is in no edition: it has no stiffness of "
        "contact."
    )
