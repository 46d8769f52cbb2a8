"""A fault of the program that `sweep models` runs into."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def bug(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """A function that makes `sweep models` raise an exception that nothing expects."""

    def break_(error: Exception) -> None:
        def broken() -> None:
            raise error

        monkeypatch.setattr("sweep.cli.actions.models_action.known_models", broken)

    return break_
