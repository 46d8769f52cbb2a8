"""The page on a phone and in a notebook: fingers, small screens, a frame that may do little."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sweep
from sweep.explorers import explore
from tests.explorers.sweeps import SWEEP
from tests.explorers.tab import MARKS, Tab

pytest.importorskip("ziglang")
pytest.importorskip("playwright.sync_api")

pytestmark = MARKS
Opened = Callable[..., Tab]
WIDTH, HEIGHT = 375, 700
WINDOW = "explorer.state.window"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("phone")
    sweep.run(SWEEP, store=folder / "impact.zarr")
    return explore(folder / "impact.zarr", folder / "impact.html")


@pytest.fixture
def phone(opened: Opened, page: Path) -> Tab:
    return opened(page, size=(WIDTH, HEIGHT), has_touch=True, is_mobile=True)


def test_the_map_is_on_the_first_screen_and_controls_are_folded(phone: Tab) -> None:
    box = phone.page.locator("#map").bounding_box()
    assert box["y"] + box["height"] < HEIGHT
    assert box["height"] > HEIGHT / 3
    assert not phone.page.is_visible("#output")
    phone.page.click("#settings > summary")
    assert phone.page.is_visible("#output")
    assert phone.value("document.documentElement.scrollWidth") <= WIDTH


def test_the_figures_of_a_point_are_near_the_tap(phone: Tab) -> None:
    x, y = phone.at(0.6, 0.4)
    phone.page.touchscreen.tap(x, y)
    phone.wait_for_figures()
    figures = phone.page.locator("#figures").bounding_box()
    assert abs(figures["y"] - y) < HEIGHT
    tip = phone.page.locator("#tip").bounding_box()
    assert 0 <= tip["x"] <= tip["x"] + tip["width"] <= WIDTH
    assert abs(tip["y"] + tip["height"] / 2 - y) < 20
    shown = phone.value("document.querySelector('#figures td').textContent")
    assert phone.text("#tip").startswith(shown)


def test_texts_and_buttons_are_large_enough_for_fingers(phone: Tab) -> None:
    phone.unfold()
    small = """[...document.querySelectorAll('button, select, input:not([type=checkbox])')]
        .filter((each) => each.offsetParent && each.offsetHeight < 44).map(({ id }) => id)"""
    assert phone.value(small) == []
    sizes = """[...document.querySelectorAll('select, input')]
        .map((each) => parseFloat(getComputedStyle(each).fontSize))"""
    assert min(phone.value(sizes)) >= 16  # smaller ones make a phone zoom in


def test_two_fingers_zoom_and_one_moves(phone: Tab) -> None:
    """The places under the fingers stay under them."""
    with fingers(phone) as touch:
        before = [phone.value(f"map.places({x}, {y}).x") for x, y in ((120, 100), (220, 160))]
        touch("touchStart", (120, 100), (220, 160))
        touch("touchMove", (100, 90), (260, 180))
        touch("touchMove", (80, 80), (300, 200))
        touch("touchEnd")
        phone.settle()
        assert phone.value(WINDOW) is not None
        after = [phone.value(f"map.places({x}, 100).x") for x in (80, 300)]
        width = before[1] - before[0]
        assert after == pytest.approx(before, abs=0.02 * width)
        held = phone.value("map.places(150, 120)")
        touch("touchStart", (150, 120))
        touch("touchMove", (170, 130))
        touch("touchMove", (190, 150))
        touch("touchEnd")
        phone.settle()
        moved = phone.value("map.places(190, 150)")
        assert moved["x"] == pytest.approx(held["x"], abs=0.02 * width)
        assert moved["y"] == pytest.approx(held["y"], abs=0.02)
    assert phone.value("explorer.state.point") is None


@contextmanager
def fingers(phone: Tab) -> Iterator[Callable[..., None]]:
    """A function that puts fingers on places of the map, in its pixels."""
    session = phone.context.new_cdp_session(phone.page)
    box = phone.page.locator("#map").bounding_box()

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points = [
            {"x": box["x"] + x, "y": box["y"] + y, "id": i} for i, (x, y) in enumerate(places)
        ]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        phone.page.wait_for_timeout(50)

    yield touch
    session.detach()


def test_a_notebook_shows_the_page_in_a_frame(
    browser: Any, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a path. The frame reaches nothing outside, computes, and has the point for Python."""
    monkeypatch.chdir(tmp_path)
    results = sweep.open_results(page.with_suffix(".zarr"))
    shown = explore(results)
    assert shown == Path("impact_oscillator.html")
    text = shown._repr_html_()  # pyright: ignore[reportAttributeAccessIssue]
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html><body>{text}</body>", "utf-8")
    tab = browser.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((tmp_path / "cell.html").as_uri())
    frame = tab.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for()
    frame.locator("#map").click()
    frame.locator("#figures td").first.wait_for()
    at = frame.locator("#at").inner_text()
    point: dict[str, Any] = {}
    exec(at, point)
    assert float(sweep.trace(page.with_suffix(".zarr"), point["at"]).displacement[0]) != 0
    inner = tab.frames[1]
    reach = "(() => { try { return parent.document.title } catch { return 'nothing' } })()"
    assert inner.evaluate(reach) == "nothing"
    assert inner.evaluate("explorer.motion.observed.length") == 3
    assert errors == []
    tab.close()
    assert not hasattr(explore(results, "named.html"), "_repr_html_")
