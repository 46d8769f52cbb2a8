"""Why points are outside validity: which of the causes that the sentence lists applies."""

from __future__ import annotations

import importlib
import importlib.util
from collections import Counter
from collections.abc import Callable, Mapping
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from sweep.equations.model import causes_in_window
from sweep.equations.system_file import system_of_text
from sweep.model.table import Method, Model, NotAllZero, every_parameter
from sweep.request.chunk import Values
from sweep.results.holds import violated_holds

# In a module of sweep.theory named after a model: by sentence, where the cause applies.
Causes = Mapping[str, NDArray[np.bool_]]


def theory_of(model: str) -> ModuleType | None:
    """The module of closed forms of a model, or None."""
    name = f"sweep.theory.{model}"
    if not model.isidentifier() or importlib.util.find_spec(name) is None:
        return None
    return importlib.import_module(name)


def causes(model: Model, method: Method, parameters: Mapping[str, Values]) -> dict[str, int]:
    """How many points outside validity have which cause; those without a known one are absent.

    `parameters` has one value for each point and parameter. A point counts for its first cause.
    """
    n_points = next((values.size for values in parameters.values()), 0)
    if not n_points:
        return {}
    masks = _of_tables(model, method, parameters)
    if model.text:
        masks |= causes_in_window(system_of_text(model.text), parameters)
    causes_in_theory: Callable[[Mapping[str, Values]], Causes]
    causes_in_theory = getattr(theory_of(model.name), "causes_outside_validity", lambda _: {})
    masks |= causes_in_theory(parameters)
    unexplained = np.ones(n_points, bool)
    counts: Counter[str] = Counter()
    for sentence, applies in masks.items():
        counts[sentence] += int(np.count_nonzero(unexplained & applies))
        unexplained &= ~applies
    if model.text and unexplained.any():
        left = {name: values[unexplained] for name, values in parameters.items()}
        for sentence, applies in violated_holds(model, method, left).items():
            counts[sentence] += int(np.count_nonzero(applies))
    return {sentence: n for sentence, n in counts.items() if n}


def _of_tables(
    model: Model, method: Method, parameters: Mapping[str, Values]
) -> dict[str, NDArray[np.bool_]]:
    """The causes that the model's table describes: relations that do not hold, and ranges."""
    known: dict[str, NDArray[np.bool_]] = {}
    for relation in model.relations:
        if isinstance(relation, NotAllZero):
            names = relation.parameters
            if set(names) <= parameters.keys():
                all_zero = np.logical_and.reduce([parameters[name] == 0 for name in names])
                known[f"{relation.reason}: {' or '.join(names)} must be above 0"] = all_zero
        elif {relation.lesser, relation.greater} <= parameters.keys():
            words = f"{relation.reason}: {relation.lesser} must be below {relation.greater}"
            known[words] = parameters[relation.lesser] >= parameters[relation.greater]
    for parameter in every_parameter(model, [method]):
        if parameter.name in parameters:
            values = parameters[parameter.name]
            known.setdefault(
                f"{parameter.name} is out of its range",
                parameter.outside(values) & ~np.isnan(values),
            )
    return known
