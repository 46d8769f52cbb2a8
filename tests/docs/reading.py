"""What a reader of the site sees: its pages in a browser, on a telephone and on a desk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TELEPHONE, DESK = (375, 700), (1280, 800)
# Elements and texts that reach beyond the right edge, although nothing around them can be scrolled.
STICKING_OUT = """() => {
    const article = document.querySelector('.bd-article');
    if (!article) return [];
    const shown = NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT;
    const nodes = document.createNodeIterator(article, shown);
    const range = document.createRange(), found = [];
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
        if (node === article) continue;
        range.selectNode(node);
        const box = (node.nodeType === Node.TEXT_NODE ? range : node).getBoundingClientRect();
        if (!box.width || !box.height || box.right <= innerWidth + 1) continue;
        let around = node.parentElement;
        while (around !== article && !/auto|scroll/.test(getComputedStyle(around).overflowX))
            around = around.parentElement;
        const text = node.textContent.trim().slice(0, 40);
        if (around === article) found.push(`${node.nodeName} ${text}`);
    }
    return found;
}"""
WIDER = "document.documentElement.scrollWidth - innerWidth"


def opened(browser: Any, path: Path, size: tuple[int, int]) -> Any:
    """A page of the site in a window of this size in pixels, without a network."""
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_context(viewport=viewport, offline=True).new_page()
    page.goto(path.as_uri())
    return page


def too_wide(page: Any) -> list[str]:
    """What a page has beyond the right edge of its window; empty if it need not be scrolled."""
    found = page.evaluate(STICKING_OUT)
    wider = page.evaluate(WIDER)
    return [*found, f"the page, by {wider} pixels"] if wider > 0 else found


def bottom(page: Any, selector: str) -> float:
    """The lower edge of an element, in pixels from the top of the page."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, f"{selector} is not shown"
    return page.evaluate("scrollY") + box["y"] + box["height"]
