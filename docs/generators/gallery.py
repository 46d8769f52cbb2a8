"""What the examples of the gallery write: pictures, and explorers to which their pages lead."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

DOCS = Path(__file__).parents[1]
EXPLORERS = DOCS / "generated" / "explorers"


def collect(
    _block: tuple[str, str, int], block_vars: dict[str, Any], gallery_conf: dict[str, Any]
) -> str:
    """Move what a block of code wrote beside its file to where the site has it; the page's text."""
    folder = Path(block_vars["src_file"]).parent
    images: list[str] = []
    for picture, target in zip(sorted(folder.glob("*.png")), block_vars["image_path_iterator"]):  # noqa: B905 (the iterator has no end)
        images.append(target)
        shutil.move(picture, target)
    text = figure_rst(images, gallery_conf["src_dir"]) if images else ""
    for page in folder.glob("*.html"):
        EXPLORERS.mkdir(parents=True, exist_ok=True)
        shutil.move(page, EXPLORERS / page.name)
        link = f'<p><a href="../../{page.name}">Explore {page.stem.replace("_", " ")}</a></p>'
        text += f"\n.. raw:: html\n\n    {link}\n"
    return text


def remove_stores(_gallery_conf: dict[str, Any], _example: str) -> None:
    """Remove the stores of an example: those of an older one could belong to another sweep."""
    for path in (DOCS / "examples").glob("*.zarr*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
