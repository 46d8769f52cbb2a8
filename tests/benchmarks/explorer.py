"""The page of the demo's store in chromium: its size, and how soon it answers.

The bounds are for two idle processors. `drawn` is the time from opening the file until the map is
drawn; a click includes the motion's charts. Windows of the map are computed by one worker per core.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import sweep
from sweep.explore import explore
from tests.benchmarks.record import Figure
from tests.explore.tab import CHROMIUM, Tab, chromium

CLICK = """async ([x, y]) => {
  const { window } = map.view;
  const between = ([a, b], share) => a + share * (b - a);
  const point = pointAt({ x: between(window.x, x), y: between(window.y, y) });
  const began = performance.now();
  await select(point);
  return performance.now() - began;
}"""
PLACES = [(x / 10, y / 10) for x in range(1, 10, 2) for y in range(1, 10, 2)]
WINDOWS = [((0.3, 0.3), (0.6, 0.7)), ((0.5, 0.1), (0.9, 0.4)), ((0.6, 0.5), (0.95, 0.9))]


def measure(quick: bool) -> list[Figure]:
    if not CHROMIUM:
        return []
    with tempfile.TemporaryDirectory(prefix="tribosweep-") as folder, chromium() as browser:
        store = Path(folder) / "wear_power.zarr"
        sweep.run("wear_power", store=store)
        page = explore(store, Path(folder) / "wear_power.html")
        opened = [_drawn(browser, page) for _ in range(1 if quick else 5)]
        clicks, windows = _answers(browser, page, PLACES[::5] if quick else PLACES)
        size = page.stat().st_size / 1000
    return [
        Figure("size of the page", size, "kB", at_most=250),
        Figure("drawn", median(opened), "s", at_most=1),
        Figure("click", median(clicks), "ms", at_most=50, note=f"most {max(clicks):.0f} ms"),
        Figure("window of 256 x 192 points", max(windows), "s", at_most=1, note="the slowest"),
    ]


def _drawn(browser: object, page: Path) -> float:
    tab = Tab(browser, page)
    ready: float = tab.value("performance.getEntriesByName('ready')[0].startTime")
    tab.context.close()
    return ready / 1000


def _answers(
    browser: object, page: Path, places: list[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """Milliseconds of clicks and seconds of windows."""
    tab = Tab(browser, page)
    tab.click(0.5, 0.5)  # the first one compiles the module
    clicks = [tab.page.evaluate(CLICK, place) for place in places]
    windows: list[float] = []
    for start, end in WINDOWS:
        tab.drag(start, end)
        windows.append(tab.value("explorer.computed.milliseconds") / 1000)
        assert "256 × 192" in tab.text("#state")
        tab.page.click("#whole")
        tab.settle()
    return clicks, windows
