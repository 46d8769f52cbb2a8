"""Long coordinates in the small: what is read and drawn by parts, with parts of few values."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import sweep
from sweep.sampling import drawing, long_values


def shorten(patch: pytest.MonkeyPatch, stretch: int, block: int | None = None) -> None:
    """Replace VALUES_IN_MEMORY, and BLOCK, in every module that has them by name."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(sweep.__path__, "sweep.")
        if not module.name.endswith("__main__")
    ]
    for module in modules:
        if hasattr(module, "VALUES_IN_MEMORY"):
            patch.setattr(module, "VALUES_IN_MEMORY", stretch)
    if block is not None:
        for module in (drawing, long_values):
            patch.setattr(module, "BLOCK", block)
