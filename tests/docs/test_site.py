"""The documentation site: it can be built, and its links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.docs import reading, site
from tests.explorers.sweeps import contents_of
from tests.explorers.tab import CHROMIUM, chromium

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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the site, built from a copy of the documents that lies next to it."""
    folder = tmp_path_factory.mktemp("site")
    site.build(sys.executable, site.copied(folder), folder / "html", site.environment())
    return folder / "html"


@pytest.mark.broad
def test_the_site_is_built_without_warnings_and_no_link_is_broken(built: Path) -> None:
    assert not site.broken_links(built)
    assert (built / "index.html").is_file()
    assert len(EXAMPLES) >= 12
    for example in EXAMPLES:
        path = built / "generated" / "gallery" / f"{example.stem}.html"
        page = path.read_text(encoding="utf-8")
        assert f"images/sphx_glr_{example.stem}_001.png" in page
        ((frame, link),) = re.findall(
            r'<iframe class="explorer" [^>]*src="([^"]+)".*?<a href="([^"]+)">Explore ', page
        )
        store, explorer = explored(example)
        assert path.parent / link == path.parent / "../.." / explorer
        assert frame == link
        assert contents_of(path.parent / link)["name"] == store
    assert not list((built.parent / "docs" / "examples").glob("*.zarr*"))


@pytest.mark.broad
def test_thumbnails_are_drawn_in_their_own_size(built: Path) -> None:
    for example in EXAMPLES:
        thumbnail = built / "_images" / f"sphx_glr_{example.stem}_thumb.png"
        with Image.open(thumbnail) as image:
            assert image.size == (400, 280)
            own = np.asarray(image.convert("L"), float)
        with Image.open(built / "_images" / f"sphx_glr_{example.stem}_001.png") as image:
            scaled = np.asarray(image.convert("L").resize((400, 280)), float)
        assert np.abs(own - scaled).mean() > 5, "the thumbnail is the picture, scaled down"


@pytest.mark.broad
def test_pages_have_no_marks_of_tools_and_no_objects_of_python(built: Path) -> None:
    pages = [e for e in built.rglob("*.html") if "_static" not in e.parts]
    assert len(pages) > 60
    marks = re.compile(
        r"PosixPath\(|WindowsPath\(|TypeAliasForwardRef|# (?:noqa|fmt:|pyright:|type:)"
    )
    assert not {e.name: found[0] for e in pages if (found := marks.search(e.read_text("utf-8")))}


@pytest.mark.broad
@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="no chromium: `apt-get install chromium`")
def test_no_page_is_scrolled_sideways_on_a_telephone(built: Path) -> None:
    found: dict[str, list[str]] = {}
    with chromium() as browser:
        for path in sorted(built.rglob("*.html")):
            if "_static" not in path.parts:
                page = reading.opened(browser, path, reading.TELEPHONE)
                if wide := reading.too_wide(page):
                    found[str(path.relative_to(built))] = wide
                page.context.close()
    assert not found


@pytest.mark.broad
@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="no chromium: `apt-get install chromium`")
def test_the_first_two_screens_have_install_code_and_a_living_explorer(built: Path) -> None:
    with chromium() as browser:
        page = reading.opened(browser, built / "index.html", reading.DESK)
        assert "pip install" in page.locator("pre").first.inner_text()
        code = page.locator("div.highlight-python pre")
        lines = [line for line in code.inner_text().splitlines() if line.strip()]
        assert len(lines) == 10
        two_screens = 2 * reading.DESK[1]
        assert reading.bottom(page, "div.highlight-python") < reading.DESK[1]
        assert reading.bottom(page, "iframe.explorer") < two_screens
        explorer = page.frame_locator("iframe.explorer")
        explorer.locator("html[data-ready=yes]").wait_for(state="attached")
        assert reading.bottom(page, "iframe.explorer") < two_screens
        explorer.locator("#map").click(position={"x": 300, "y": 100})
        explorer.locator("#figures td").first.wait_for()


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="no chromium: `apt-get install chromium`")
def test_what_is_too_wide_is_found(tmp_path: Path) -> None:
    line = "<p style='white-space: nowrap'>" + "a long line " * 20 + "</p>"
    pages = {
        "wide": line,
        "cut": f"<div style='overflow-x: clip'>{line}</div>",
        "scrolls": f"<div style='overflow-x: auto'>{line}</div>",
        "narrow": "<p>" + "a long line " * 20,
    }
    found: dict[str, bool] = {}
    with chromium() as browser:
        for name, text in pages.items():
            (tmp_path / "page.html").write_text(f"<!doctype html><div class='bd-article'>{text}")
            page = reading.opened(browser, tmp_path / "page.html", reading.TELEPHONE)
            found[name] = bool(reading.too_wide(page))
    assert found == {"wide": True, "cut": True, "scrolls": False, "narrow": False}


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
