"""The documentation site: it can be built, and its links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.docs import site
from tests.explorers.sweeps import contents_of

EXAMPLES = sorted((site.ROOT / "docs" / "examples").glob("plot_*.py"))
UNWRITTEN = {"_build", "generated"}
DOCUMENTS = [e for e in (site.ROOT / "docs").rglob("*.md") if not UNWRITTEN & {*e.parts}]
RECORDS = (site.ROOT / "results").rglob("*.md")
PAGES = sorted([*site.ROOT.glob("*.md"), *RECORDS, *DOCUMENTS])


def links(text: str) -> list[str]:
    """The relative paths that a Markdown text links to, without those in code."""
    prose = re.sub(r"^( {4}|\t).*$|```.*?^```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [each.partition("#")[0] for each in targets if ":" not in each and each[0] != "#"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(site.ROOT).as_posix())
def test_a_page_links_to_files_that_exist(page: Path) -> None:
    missing = [each for each in links(page.read_text(encoding="utf-8")) if not _exists(page, each)]
    assert not missing


def _exists(page: Path, link: str) -> bool:
    generated = site.ROOT / "docs" / "generated"
    target = (page.parent / link).resolve()
    return target.exists() or target.is_relative_to(generated)


@pytest.mark.broad
def test_the_site_is_built_without_warnings_and_no_link_is_broken(tmp_path: Path) -> None:
    site.build(sys.executable, site.copied(tmp_path), tmp_path / "html", site.environment())
    assert not site.broken_links(tmp_path / "html")
    assert (tmp_path / "html" / "index.html").is_file()
    assert len(EXAMPLES) >= 12
    for example in EXAMPLES:
        path = tmp_path / "html" / "generated" / "gallery" / f"{example.stem}.html"
        page = path.read_text(encoding="utf-8")
        assert f"images/sphx_glr_{example.stem}_001.png" in page
        (link,) = re.findall(r'<a href="([^"]+)">Explore ', page)
        store, explorer = explored(example)
        assert path.parent / link == path.parent / "../.." / explorer
        assert contents_of(path.parent / link)["name"] == store
    assert not list((tmp_path / "docs" / "examples").glob("*.zarr*"))


def explored(example: Path) -> tuple[str, str]:
    """The name of the one store that an example explores, and its page."""
    text = example.read_text(encoding="utf-8")
    ((store, page),) = re.findall(
        r'^sweep\.explore\("(\w+)\.zarr", "(\w+\.html)"\)$', text, re.MULTILINE
    )
    return store, page


def test_an_example_explores_the_store_that_it_computes() -> None:
    for example in EXAMPLES:
        (computed,) = re.findall(r'store="(\w+)\.zarr"', example.read_text(encoding="utf-8"))
        assert explored(example)[0] in (computed, f"{computed}_wear")
    assert len({explored(example)[1] for example in EXAMPLES}) == len(EXAMPLES)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#here"><a href="b.html#there"><img src="c">')
    (tmp_path / "b.html").write_text('<p id="here"><a href="https://example.org">')
    assert site.broken_links(tmp_path) == ["a.html: b.html#there", "a.html: c"]
