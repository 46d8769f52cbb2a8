"""The table [derived]: parameters that follow from others."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sweep.equations.derived import derivation, in_order, inputs
from sweep.equations.expressions import text_of
from sweep.file.draft import Draft
from sweep.points.columns import derived_faults, derived_values
from sweep.request.sweeps import VALUES_IN_MEMORY, Axis, Sweep
from sweep.text.wording import listed, nearest, written

MAX_CHECKED = 2**22  # points at which derived values are checked in advance


def derived_of(draft: Draft) -> dict[str, str]:
    """The expressions of derived parameters in one notation; only the correct ones."""
    table, derived = draft.derived, dict[str, str]()
    for name, text in table.mapping.items():
        if not draft.may_have(name):
            continue
        if not isinstance(text, str):
            cure = f'write {name} = "2*other", or give a number under [parameters]'
            table.fault(name, f"{written(text)} is not an expression in quotes", cure)
        elif expression := _derivation(draft, name, text):
            derived[name] = expression
    ordered = set(in_order(derived))
    for name in [each for each in derived if each not in ordered]:
        others = listed(sorted(set(inputs(derived[name])) & derived.keys()))
        table.fault(name, f"derived from itself through {others}", "break the circle")
    return derived


def _derivation(draft: Draft, name: str, text: str) -> str | None:
    """The expression of a parameter in one notation; None if it is faulty."""
    table = draft.derived
    expression = table.read(name, derivation, text)
    if expression is None:
        return None
    needed = inputs(text)
    unknown = [each for each in needed if not draft.may_have(each)]
    for each in unknown:
        what = f"{written(text)} has {each}, which is not a parameter"
        table.fault(name, what, nearest(each, draft.known or {}))
    if not needed:
        table.fault(name, f"{written(text)} has no parameter", "move it to [parameters]")
    return text_of(expression) if needed and not unknown else None


def check_derived(draft: Draft, sweep: Sweep) -> None:
    """Check the values: whether each input has some, and whether they are in range.

    On a grid of more points than can be checked, every so many are; the others are when they are
    computed.
    """
    along = {name for axis in sweep.axes for name in axis.columns}
    available = {*sweep.constants, *along}
    derived: dict[str, str] = {}
    for name in in_order(sweep.derived):
        text, is_clear = sweep.derived[name], True
        for each in inputs(text):
            if each not in available and each not in sweep.derived:
                what = f"{each} is not a parameter of this sweep"
                draft.derived.fault(name, what, f"derive {name} from others")
            elif math.isnan(sweep.constants.get(each, 0.0)):
                what = f"{each} has a default that the kernel derives"
                draft.derived.fault(name, what, "give it under [parameters]")
            elif each in available:
                continue
            is_clear = False
        if is_clear:
            derived[name] = text
            available.add(name)
    if not derived:
        return
    count = max(len(sweep.axes), 1)
    axes = tuple(_thinned(each, count) for each in sweep.axes)
    thinned = replace(sweep, axes=axes, derived=derived)
    for name, error in derived_faults(thinned, derived_values(thinned)).items():
        draft.derived.fault(name, error.what, error.cure)


def _thinned(axis: Axis, dimensions: int) -> Axis:
    """At most so many values of an axis that a grid of such axes can be checked.

    They are spread over the first VALUES_IN_MEMORY of them; of an array, also the last one.
    """
    limit = max(int(MAX_CHECKED ** (1 / dimensions)), 2)
    heads = {name: values[:VALUES_IN_MEMORY] for name, values in axis.columns.items()}
    columns = {
        n: np.append(head[:: -(-len(head) // limit)], head[-1:]) for n, head in heads.items()
    }
    return replace(axis, columns=columns)
