"""The documents' figures against ours, found by looking: no list is kept.

A module here, or a package, with a function `compare() -> Record` is a document of its name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from sweep.verify.record import Record

Comparison = Callable[[], Record]


@cache
def documents() -> dict[str, Comparison]:
    """What computes the record of each document, by name, in the order of names."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: each.compare for name, each in modules.items() if hasattr(each, "compare")}
