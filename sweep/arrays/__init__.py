"""Methods of kind "array": NumPy code that a backend calls with its own array library.

A model's array methods are functions of their names in the module, or package, of its name here:

    method(xp, parameters) -> outputs

`xp` is numpy or a library of the same functions, `parameters` holds an array of shape (n,) for each
parameter of the sweep, and the result one for each output of the model and for "status", in SI
units; outputs of a point that is not ok may hold anything. Scalars are plain: CuPy refuses what is
not exactly an int, a float or NumPy's own, a Status too. A point's bits must not depend on the
points beside it: nothing is summed or multiplied across points, and matrices are solved one by one.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from sweep.errors import SweepError
from sweep.spec import Method, Model

Array = Any  # of the backend's array library
ArrayMethod = Callable[[Any, Mapping[str, Array]], Mapping[str, Array]]


def array_method(model: Model, method: Method) -> ArrayMethod:
    """The function that computes a method of kind "array"; SweepError if there is none."""
    try:
        return cast("ArrayMethod", getattr(_imported(model.name)[0], method.name))
    except (ImportError, AttributeError):
        raise SweepError(
            f"method {method.name} of {model.name} is missing: write it as the function "
            f"{method.name} in sweep/arrays/{model.name}"
        ) from None


def array_text(model: Model, method: Method) -> str:
    """The Python text of a method of kind "array", with all of its model's package.

    It is the text that this process computes with: a later edit of a file does not change it.
    """
    array_method(model, method)
    return _imported(model.name)[1]


@functools.cache
def _imported(name: str) -> tuple[Any, str]:
    """The module of a model's array methods, and its text."""
    module = importlib.import_module(f"{__name__}.{name}")
    file = Path(str(inspect.getsourcefile(module)))
    files = sorted(file.parent.glob("*.py")) if file.name == "__init__.py" else [file]
    root = Path(__file__).resolve().parent
    return module, "".join(
        f"# {path.resolve().relative_to(root.parent)}\n{path.read_text(encoding='utf-8')}"
        for path in files
    )
