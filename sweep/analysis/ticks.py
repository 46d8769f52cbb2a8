"""Numbers along logarithmic axes that read as people write them: 60, not 6×10¹."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis

PLAIN = 1e-3, 1e4  # ends of axes whose numbers are all written without powers of ten


def plain_ticks(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis without powers of ten if its range is moderate."""
    from matplotlib.ticker import LogFormatterSciNotation

    if axis.get_scale() != "log":
        return

    class Plain(LogFormatterSciNotation):
        """The numbers that matplotlib would write, as plain ones."""

        def __call__(self, x: float, pos: int | None = None) -> str:
            text = super().__call__(x, pos)
            low, high = sorted(axis.get_view_interval())
            is_plain = PLAIN[0] <= low * (1 + 1e-9) and high <= PLAIN[1] * (1 + 1e-9)
            return f"{x:g}" if text and is_plain else text

    axis.set_major_formatter(Plain(labelOnlyBase=True))
    axis.set_minor_formatter(Plain(labelOnlyBase=False))
