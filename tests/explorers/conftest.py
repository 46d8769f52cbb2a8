"""One browser for the tests of a module, and the pages that are opened in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.explorers.tab import Tab, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Tab]]:
    """A function that opens a page. In the end none has had an error."""
    tabs: list[Tab] = []

    def open_tab(*arguments: Any, **settings: Any) -> Tab:
        tabs.append(Tab(browser, *arguments, **settings))
        return tabs[-1]

    yield open_tab
    for tab in tabs:
        assert tab.errors == []
        tab.context.close()
