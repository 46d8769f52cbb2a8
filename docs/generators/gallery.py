"""Pictures, thumbnails and explorers of the examples of the gallery."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

DOCS = Path(__file__).parents[1]
EXPLORERS = DOCS / "generated" / "explorers"
THUMBNAILS = DOCS / "generated" / "thumbnails"
THUMBNAIL = 3.2, 2.24, 125  # width and height in inches, dots per inch: 400 x 280
MAX_AXES = 3  # of a figure that is drawn again, a bar of colours among them
LABEL = 24  # characters that fit along a thumbnail
WRITTEN = ".thumbnail.png"  # next to an example, until its page is written


def collect(
    _block: tuple[str, str, int], block_vars: dict[str, Any], gallery_conf: dict[str, Any]
) -> str:
    """Move the files that a block of code has written to their places; return the page's text."""
    source = Path(block_vars["src_file"])
    images: list[str] = []
    if (thumbnail := source.with_name(WRITTEN)).exists():
        THUMBNAILS.mkdir(parents=True, exist_ok=True)
        shutil.move(thumbnail, THUMBNAILS / f"sphx_glr_{source.stem}_thumb.png")
    for picture in sorted(source.parent.glob("[!.]*.png")):
        images.append(next(block_vars["image_path_iterator"]))
        shutil.move(picture, images[-1])
    text = figure_rst(images, gallery_conf["src_dir"]) if images else ""
    for page in source.parent.glob("*.html"):
        EXPLORERS.mkdir(parents=True, exist_ok=True)
        shutil.move(page, EXPLORERS / page.name)
        name = page.stem.replace("_", " ")
        text += f"\n.. raw:: html\n\n    {_frame(f'../../{page.name}', name)}\n"
    return text


def _frame(link: str, name: str) -> str:
    return (
        f'<iframe class="explorer" loading="lazy" src="{link}" title="Explorer: {name}"></iframe>'
        f'<p><a href="{link}">Explore {name} in a page of its own</a></p>'
    )


def prepare(_gallery_conf: dict[str, Any], _example: str) -> None:
    """Before and after each example: remove its stores, and draw a thumbnail of its first picture.

    A store of an older example could belong to another sweep.
    """
    for path in (DOCS / "examples").glob("*.zarr*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if not hasattr(Figure.savefig, "__wrapped__"):
        Figure.savefig = with_thumbnail(Figure.savefig)


def with_thumbnail(save: Callable[..., None]) -> Callable[..., None]:
    """`Figure.savefig`, which also draws the figure in the size of a thumbnail, without headings.

    A picture of a page that is only scaled down has letters too small to read. Of many panels the
    last one is drawn alone: the loop of a trace.
    """

    @wraps(save)
    def both(figure: Figure, path: object, **options: Any) -> None:
        save(figure, path, **options)
        thumbnail = DOCS / "examples" / WRITTEN
        if thumbnail.exists():
            return
        if len(figure.axes) > MAX_AXES:
            *others, last = figure.axes
            for axes in others:
                axes.remove()
            last.set_subplotspec(figure.add_gridspec(1, 1)[0])
        for axes in figure.axes:
            axes.set_ylabel(textwrap.fill(" ".join(axes.get_ylabel().split()), LABEL))
            axes.set_title("")
            axes.set_title("", loc="left")
        for heading in (*figure.texts, *figure.artists, *figure.legends):
            heading.set_visible(False)
            heading.set_in_layout(False)
        *size, dots = THUMBNAIL
        figure.set_size_inches(*size)
        if figure.get_layout_engine() is None:
            figure.set_layout_engine("constrained")
        save(figure, thumbnail, dpi=dots)

    return both


def place_thumbnails(_app: object = None) -> None:
    """Put the thumbnails in place of the scaled pictures of sphinx-gallery, once it has run."""
    folder = DOCS / "generated" / "gallery" / "images" / "thumb"
    for thumbnail in THUMBNAILS.glob("*.png"):
        shutil.copy2(thumbnail, folder)
