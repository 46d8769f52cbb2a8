"""Methods of kind "array": NumPy code that a backend calls with its own array library.

The array methods of a model are functions in the module or package with the model's name in this
folder, each with the name of the method:

    method(xp, parameters) -> outputs

`xp` is numpy or a library with the same functions. `parameters` holds an array of shape (n,) for
each parameter of the sweep; the result holds one for each output of the model and for "status". All
values are in SI units; the outputs of a point that is not ok are arbitrary. Scalars must be plain
int, float or NumPy scalars: CuPy refuses subclasses such as Status. The bits of a point must not
depend on other points: do not sum or multiply across points, and solve matrices one by one.

For a traced method there is also the motion of one point, whose parameters have shape (1,). Its
function, with the same name, is in the module MODEL_motion: the digest of a method's text, by which
a store knows the code that made it, has nothing of traces.

    method(xp, parameters) -> Motion
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sweep.errors import SweepError
from sweep.spec import Method, Model

Array = Any  # an array of the backend's library
ArrayMethod = Callable[[Any, Mapping[str, Array]], Mapping[str, Array]]


@dataclass(frozen=True)
class Motion:
    """The motion of one point over time, from 0 to `last`."""

    status: int
    last: float = math.nan  # s
    # The model's observables at times of shape (n,), by name; None if the status is not ok.
    look: Callable[[Array], Mapping[str, Array]] | None = None


ArrayMotion = Callable[[Any, Mapping[str, Array]], Motion]


def array_method(model: Model, method: Method) -> ArrayMethod:
    """The function that computes a method of kind "array"; SweepError if there is none."""
    return cast("ArrayMethod", _function(model.name, model, method))


def array_motion(model: Model, method: Method) -> ArrayMotion:
    """The function that gives the motion of a traced method; SweepError if there is none."""
    return cast("ArrayMotion", _function(f"{model.name}_motion", model, method))


def array_text(model: Model, method: Method) -> str:
    """The Python text of a method of kind "array": the whole package of its model.

    It is the text that this process computes with: a later edit of a file does not change it.
    """
    array_method(model, method)
    return _imported(model.name)[1]


def _function(module: str, model: Model, method: Method) -> object:
    exists = importlib.util.find_spec(f"{__name__}.{module}") is not None
    function = getattr(_imported(module)[0], method.name, None) if exists else None
    if function is None:
        raise SweepError(
            f"method {method.name} of {model.name} is missing: add a function {method.name} to "
            f"sweep/arrays/{module}"
        )
    return function


@functools.cache
def _imported(name: str) -> tuple[Any, str]:
    """A module of array methods or of their motions, and its text."""
    module = importlib.import_module(f"{__name__}.{name}")
    file = Path(str(inspect.getsourcefile(module)))
    files = sorted(file.parent.glob("*.py")) if file.name == "__init__.py" else [file]
    root = Path(__file__).resolve().parent
    return module, "".join(
        f"# {path.resolve().relative_to(root.parent)}\n{path.read_text(encoding='utf-8')}"
        for path in files
    )
