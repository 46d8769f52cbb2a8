"""`sweep explore`: write the page of a sweep, and open it."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sweep.cli.stopping import interruptible
from sweep.explorers import explore
from sweep.store.place import local_name


def write_page(
    source: str, path: Path | None, outputs: Sequence[str], size: int, *, open_page: bool
) -> None:
    """Write the page of a store or sweep file, by default beside it, and print its path."""
    path = path or _beside(source)
    with interruptible("stopped by {cause}: nothing was written"):
        print(explore(source, path, outputs=outputs, size=size))
    if open_page:
        webbrowser.open(path.resolve().as_uri())


def _beside(source: str) -> Path:
    path = local_name(source)
    ending = path.suffix if path.suffix in (".zarr", ".toml") else ""
    page = f"{path.name.removesuffix(ending)}.html"
    with suppress(PermissionError):  # named where the store is read
        if path.is_dir() and "://" not in source:
            return path.parent / page
    return Path(page)
