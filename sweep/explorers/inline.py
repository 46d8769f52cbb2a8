"""A page that a notebook shows where it is the value of a cell."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    NativePath = Path
else:
    NativePath = type(Path())  # Path itself has no subclasses before Python 3.12

HEIGHT = 860  # pixels


class PageFile(NativePath):
    """The path of an explorer's page, shown in a frame that can reach nothing but itself."""

    def _repr_html_(self) -> str | None:
        """The page in a sandboxed frame; None if there is no such file."""
        if not self.is_file():
            return None
        text = html.escape(self.read_text("utf-8"))
        return (
            f'<iframe srcdoc="{text}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0" title="Explorer"></iframe>'
        )
