"""Markdown of what generated pages are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def code(text: str) -> str:
    """Text as code, or nothing if it is empty."""
    return f"`{text}`" if text else ""


def plain(text: str) -> str:
    """Text in which nothing is markup, except for what is in backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if i % 2 else re.sub(r"([\\*_$<>\[\]#])", r"\\\1", part)
        for i, part in enumerate(parts)
    )


def equations(lines: Iterable[str]) -> str:
    """Equations in TeX, one below the other."""
    return "$$\n" + "\\\\\n".join(lines).join([r"\begin{aligned}", r"\end{aligned}"]) + "\n$$\n"
