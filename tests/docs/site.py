"""The documentation site built, and the links of its pages."""

from __future__ import annotations

import os
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[2]


def copied(folder: Path) -> Path:
    """A copy of the documents in a folder: a build writes among them."""
    unwanted = shutil.ignore_patterns("_build", "generated", "__pycache__", "*.zarr*")
    for name in ("docs", "results"):
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    for path in ROOT.glob("*.md"):
        shutil.copy(path, folder)
    return folder / "docs"


def build(python: Path | str, source: Path, target: Path, environment: dict[str, str]) -> None:
    """Build the site with the given interpreter; a warning is an error, and so is its message."""
    command = [str(python), "-m", "sphinx", "-W", "--keep-going", "-q", "-E"]
    folders = [str(source), str(target)]
    words = subprocess.run([*command, *folders], env=environment, text=True, capture_output=True)
    assert words.returncode == 0, words.stdout + words.stderr


def environment() -> dict[str, str]:
    """The environment with this checkout importable from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src", "data"):
                self.links.append(value)
            elif value and (name == "id" or (tag == "a" and name == "name")):
                self.places.add(value)


def broken_links(site: Path) -> list[str]:
    """Links within the site whose file or place in it does not exist: "page: link"."""
    written = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: _Page() for path in written}
    for path, page in pages.items():
        page.feed(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        for link in page.links
        if not _leads_somewhere(link, path, pages)
    ]


def _leads_somewhere(link: str, path: Path, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return False
    place = unquote(parts.fragment)
    return not place or target not in pages or place in pages[target].places
