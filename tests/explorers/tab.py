"""Chromium, and a page in it that is opened from a file, offline."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
FEW = "(WINDOW[0] = 12, WINDOW[1] = 9, null)"  # so many points in a map that the page computes
PATIENCE = 60_000  # ms, on a machine that does much else

MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no chromium: `apt-get install chromium`"),
]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser of playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = play.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


class Tab:
    """A page in the browser, without a network, and what it says on its console."""

    def __init__(self, browser: Any, path: Path, fragment: str = "", **settings: Any) -> None:
        size = settings.pop("size", (1200, 900))
        viewport = {"width": size[0], "height": size[1]}
        self.context = browser.new_context(viewport=viewport, offline=True, **settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.errors: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type != "log" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "request", lambda r: self.errors.append(r.url) if r.url.startswith("http") else None
        )
        self.page.goto(f"{path.as_uri()}{fragment}")
        self.page.wait_for_selector("html[data-ready=yes]")

    def value(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def text(self, place: str) -> str:
        return self.page.inner_text(place)

    def wait_for(self, expression: str) -> None:
        for _ in range(PATIENCE // 50):
            if self.value(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(
            f"{expression} has not become true; {self.text('#state')}; {self.errors}"
        )

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A place of the map, from 0 to 1 in each direction."""
        box = self.page.locator("#map").bounding_box()
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def click(self, x: float, y: float, table: str = "figures") -> None:
        self.page.mouse.click(*self.at(x, y))
        self.wait_for_figures(table)

    def wait_for_figures(self, *tables: str) -> None:
        """Wait until one of the tables has figures; the table of computed ones by default."""
        cells = ", ".join(f"#{table} td" for table in tables or ["figures"])
        self.wait_for(f"document.querySelectorAll('{cells}').length > 0")

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.page.mouse.move(*self.at(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.at(*end))
        self.page.mouse.up()
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_timeout(300)
        self.wait_for("!explorer.busy")

    def unfold(self) -> None:
        """Open every part of the page that is folded."""
        self.value("document.querySelectorAll('details').forEach((each) => (each.open = true))")

    def exact_rows(self, table: str) -> dict[str, list[str]]:
        """The rows of a table with all digits, in SI units."""
        self.page.check("#digits")
        return self.rows(table)

    def rows(self, table: str) -> dict[str, list[str]]:
        read = "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
        rows = self.page.eval_on_selector_all(f"#{table} tr", read)
        return {name: cells for name, *cells in rows}

    def copied(self, button: str, said: str) -> str:
        """What a button has put on the clipboard, and says that it has."""
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page.click(button)
        self.wait_for(f"document.querySelector('#state').textContent === '{said}'")
        return self.value("navigator.clipboard.readText()")

    def motion(self) -> dict[str, np.ndarray]:
        """The motion of the point that is shown, each observable bit by bit."""
        as_bits = "[...new BigUint64Array(values.buffer)].map(String)"
        observed = self.value(
            f"explorer.motion.observed.map(({{name, values}}) => [name, {as_bits}])"
        )
        return {name: np.array(values, np.uint64) for name, values in observed}

    def traced(self) -> dict[str, float]:
        """The point of the command that traces it."""
        pairs = re.findall(r"--at (\w+)=(\S+)", self.text("#trace"))
        return {name: float(value) for name, value in pairs}

    def downloaded(self, button: str) -> Path:
        with self.page.expect_download() as waiting:
            self.page.click(button)
        return Path(waiting.value.path())

    def computed(self, output: str) -> np.ndarray:
        """An output of the map that the page has computed, bit by bit."""
        shape = self.value("[explorer.computed.x.values.length, explorer.computed.y.values.length]")
        bits = self.value(
            f"Array.from(new BigUint64Array(explorer.computed.values[{output!r}].buffer), String)"
        )
        return np.array(bits, np.uint64).reshape(shape)


def bits(values: Any) -> np.ndarray:
    """Of doubles; every NaN has the same."""
    doubles = np.ascontiguousarray(values, np.float64)
    return np.where(np.isnan(doubles), np.uint64(0x7FF8 << 48), doubles.view(np.uint64))
