"""The models, found by looking: a module here with a MODEL is a model, and no list is kept."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from sweep.spec import Model


@cache
def models() -> dict[str, Model]:
    """Every model by name, in the order of names."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").MODEL for name in names}
