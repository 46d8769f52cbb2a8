"""Published figures compared with ours, document by document.

Every module or package here that has a function `compare() -> Record` is a document of that name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from sweep.verify.record import Record

Comparison = Callable[[], Record]


def documents() -> dict[str, Comparison]:
    """The function that computes each document's record, by document name, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: each.compare for name, each in modules.items() if hasattr(each, "compare")}
