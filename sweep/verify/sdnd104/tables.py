"""The document's wear powers beside ours."""

from __future__ import annotations

from collections.abc import Iterator

from sweep.verify.record import Column, Table
from sweep.verify.sdnd104 import published
from sweep.verify.sdnd104.figures import CONSTANT, SCHEMES, Figures, controls
from sweep.verify.sdnd104.published import (
    AMPLITUDES,
    COLUMNS,
    LONGEST_STEP,
    NAMES,
    REFERENCE,
    SPRING,
    STEP,
)
from sweep.verify.sdnd104.shared_columns import (
    AMPLITUDE,
    SCHEME,
    Rows,
    difference_column,
    power_column,
    relative,
    relative_column,
)
from sweep.verify.writing import number


def reference(figures: Figures) -> Table:
    """Section 2.1, and what it is the reference of."""

    def rows() -> Rows:
        for a0, printed in zip(AMPLITUDES, REFERENCE, strict=True):
            ours, shorter = figures.exact_power(a0), figures.exact_power(a0, end=11.99)
            sprung = (figures.exact_power(a0, SPRING, end) for end in published.WINDOW_ENDS)
            differences = ours - printed, relative(printed, shorter)
            yield (a0, printed, ours, differences[0], shorter, differences[1], *sprung)

    return Table(
        "reference",
        "Reference values (section 2.1)",
        (
            AMPLITUDE,
            Column("document", "document's table", "W", 10),
            power_column("exact", "exact, [4, 12] s", 14),
            difference_column("difference", "exact − document"),
            power_column("exact_shorter", "exact, [4, 11.99] s", 14),
            relative_column("document_from_shorter", "document from that"),
            power_column("sprung", "exact with the spring, [4, 12] s", 14),
            power_column("sprung_shorter", "the same, [4, 11.99] s", 14),
        ),
        tuple(rows()),
    )


def columns(figures: Figures) -> Table:
    """Section 4.1, each scheme as Code_Aster ran it."""

    def rows() -> Rows:
        for place, a0 in enumerate(AMPLITUDES):
            for scheme in SCHEMES:
                printed, ours = COLUMNS[scheme][place], figures.power(scheme, a0)
                mean, exact = figures.power(scheme, a0, blocks=1), REFERENCE[place]
                yield (
                    a0, NAMES[scheme], _steps(scheme, a0), exact, printed, ours, ours - printed,
                    relative(ours, printed), relative(ours * (1 + figures.shift(a0)), printed),
                    relative(printed, exact), relative(ours, exact), mean, relative(mean, exact),
                )  # fmt: skip

    return Table(
        "columns",
        "Code_Aster's columns (section 4.1), window [4, 12] s, exact sine",
        (
            AMPLITUDE,
            SCHEME,
            Column("steps", "steps"),
            Column("reference", "document's reference", "W", 10),
            Column("document", "Code_Aster's column", "W", 6),
            power_column("ours", "ours, 8 blocks"),
            difference_column("difference", "ours − column"),
            relative_column("relative", "relative"),
            relative_column("relative_with_table", "relative, ours with the table's shift"),
            relative_column("document_from_reference", "column from reference"),
            relative_column("ours_from_reference", "ours from reference"),
            power_column("time_mean", "ours, mean over time"),
            relative_column("time_mean_from_reference", "that from reference"),
        ),
        tuple(rows()),
    )


def since(figures: Figures) -> Table:
    """EULER's values of newer versions of Code_Aster."""

    def rows() -> Rows:
        for a0, printed in zip(AMPLITUDES, published.EULER_SINCE, strict=True):
            ours, mean = (figures.power("euler", a0, blocks=n) for n in (published.BLOCKS, 1))
            drifting = figures.drifting[a0]
            difference = ours - printed, relative(ours, printed)
            yield (a0, printed, ours, *difference, drifting, relative(drifting, printed), mean)

    return Table(
        "since",
        "EULER at constant h = 1e-4 s, as published since",
        (
            AMPLITUDE,
            power_column("published", "Code_Aster"),
            power_column("ours", "ours, 8 blocks"),
            difference_column("difference", "ours − Code_Aster"),
            relative_column("relative", "relative"),
            power_column("drifting", "plainly, t += h"),
            Column("drifting_relative", "relative", "1", 2),
            power_column("time_mean", "ours, mean over time"),
        ),
        tuple(rows()),
    )


def windows(figures: Figures) -> Table:
    """Every method over both windows."""

    def rows() -> Rows:
        for place, a0 in enumerate(AMPLITUDES):
            for name, spring, values in _by_method(figures, a0):
                exact = figures.exact_power(a0, end=11.99)
                from_reference = relative(values[0], REFERENCE[place])
                shorter = values[1], relative(values[1], exact)
                yield (a0, name, spring, values[0], from_reference, *shorter)

    return Table(
        "windows",
        "Every method over both windows, mean over time, exact sine",
        (
            AMPLITUDE,
            SCHEME,
            Column("stiffness", "k", "N/m", 3),
            power_column("ours", "ours, [4, 12] s"),
            relative_column("from_reference", "from document's reference"),
            power_column("ours_shorter", "ours, [4, 11.99] s"),
            relative_column("from_exact_shorter", "from exact without spring"),
        ),
        tuple(rows()),
    )


def _by_method(figures: Figures, a0: float) -> Iterator[tuple[str, float, list[float]]]:
    ends = published.WINDOW_ENDS
    for spring in (0.0, SPRING):
        yield "exact", spring, [figures.exact_power(a0, spring, end) for end in ends]
        yield "moreau", spring, [figures.moreau_power(a0, spring, end) for end in ends]
    for scheme in SCHEMES:
        values = [figures.power(scheme, a0, blocks=1, end=end) for end in ends]
        yield NAMES[scheme], SPRING, values


def equal_steps(figures: Figures) -> Table:
    """Every scheme at the step that the document names."""

    def rows() -> Rows:
        for place, a0 in enumerate(AMPLITUDES):
            for scheme in SCHEMES:
                mean = figures.power(scheme, a0, blocks=1, constant_step=STEP)
                blocks = figures.power(scheme, a0, constant_step=STEP)
                printed = COLUMNS[scheme][place]
                yield (
                    a0, NAMES[scheme], mean, relative(mean, REFERENCE[place]),
                    relative(mean, figures.exact_power(a0, SPRING)),
                    blocks, relative(blocks, printed),
                )  # fmt: skip

    return Table(
        "equal_steps",
        "Equal steps of 3e-5 s (section 3.1), exact sine",
        (
            AMPLITUDE,
            SCHEME,
            power_column("time_mean", "ours, mean over time"),
            relative_column("from_reference", "from document's reference"),
            relative_column("from_sprung", "from exact with the spring"),
            power_column("blocks", "ours, 8 blocks"),
            relative_column("from_column", "from Code_Aster's column"),
        ),
        tuple(rows()),
    )


def earlier(figures: Figures) -> Table:
    """The edition of 2003."""

    def rows() -> Rows:
        for place, a0 in enumerate(AMPLITUDES):
            for scheme, printed in published.EARLIER_COLUMNS.items():
                ours = figures.power(scheme, a0)
                difference = relative(ours, printed[place])
                yield a0, NAMES[scheme], printed[place], ours, ours - printed[place], difference

    return Table(
        "earlier",
        "The columns of the edition of 2003, exact sine",
        (
            AMPLITUDE,
            SCHEME,
            Column("document", "Code_Aster's column", "W", 6),
            power_column("ours", "ours, 8 blocks"),
            difference_column("difference", "ours − column"),
            relative_column("relative", "relative"),
        ),
        tuple(rows()),
    )


def _steps(scheme: str, a0: float) -> str:
    chosen = controls(scheme, a0)
    if chosen["tolerance"] == CONSTANT:
        return f"h = {number(chosen['step'], 3)} s"
    return f"tolerance {number(chosen['tolerance'], 3)}, h ≤ {number(LONGEST_STEP, 3)} s"
