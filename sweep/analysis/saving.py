"""Write pictures, and texts atomically."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.errors import SweepError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure in the format that the suffix names; SweepError if it cannot be written."""
    path = Path(path)
    refuse_end(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except OSError as error:
        raise SweepError(
            f"the picture cannot be written to {str(path)!r}: {error}; choose another path"
        ) from error
    return path


def refuse_end(path: Path) -> None:
    """SweepError if the suffix does not name a picture format."""
    from matplotlib.figure import Figure

    formats = Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        known = ", ".join(f".{name}" for name in sorted(formats))
        raise SweepError(f"{str(path)!r} has no suffix of a picture format: use one of {known}")


def write_texts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write texts by file name into a folder and return the paths; existing files are replaced.

    SweepError if the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            scratch = folder / f".{name}.{os.getpid()}"
            scratch.write_text(text, encoding="utf-8", newline="\n")
            scratch.replace(folder / name)
    except OSError as error:
        raise SweepError(
            f"cannot write to {str(folder)!r}: {error}; choose another folder with -o"
        ) from error
    return [folder / name for name in texts]
