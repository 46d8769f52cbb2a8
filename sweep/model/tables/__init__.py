"""The models: every module in this folder that has a MODEL. There is no other list of them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from sweep.model.table import Model


@cache
def models() -> dict[str, Model]:
    """Every model by name, sorted by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").MODEL for name in names}
