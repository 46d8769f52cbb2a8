"""The table [derived]: parameters that follow from others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sweep.config.draft import Draft
from sweep.config.problems import Check, Problem
from sweep.equations.derived import derivation, in_order, inputs
from sweep.equations.expressions import text_of
from sweep.errors import FaultError
from sweep.plan.point_columns import derived_faults, derived_values
from sweep.request import STRETCH, Axis, Sweep
from sweep.spec import Parameter
from sweep.wording import listed, nearest, shown

MAX_CHECKED = 2**22  # points at which derived values are checked in advance


def derived_of(draft: Draft) -> Check[dict[str, str]]:
    """The expressions of derived parameters in one notation; only the correct ones."""
    top, unknown = draft.top, draft.unknown(draft.top.derived)
    tables = {"parameters": top.parameters, "axes": draft.on_axes, "sample": top.sample or {}}
    derived: dict[str, str] = {}
    for name, text in top.derived.items():
        table = next((each for each, names in tables.items() if name in names), None)
        if name in unknown:
            yield Problem("derived", name, unknown[name])
        elif table is not None:
            yield Problem("derived", name, f"also given under [{table}]; keep one of the two")
        elif not isinstance(text, str):
            cure = f'write {name} = "2*other", or give a number under [parameters]'
            yield Problem("derived", name, f"{shown(text)} is not an expression in quotes; {cure}")
        else:
            derived |= yield from _derivation(name, text, draft.known)
    ordered = set(in_order(derived))
    for name in [each for each in derived if each not in ordered]:
        others = listed(sorted(set(inputs(derived[name])) & derived.keys()))
        yield Problem("derived", name, f"derived from itself through {others}; break the circle")
    return derived


def _derivation(name: str, text: str, known: Mapping[str, Parameter]) -> Check[dict[str, str]]:
    """The expression by its parameter; none if there are problems."""
    try:
        expression = derivation(text)
    except FaultError as error:
        yield Problem("derived", name, str(error))
        return {}
    needed = inputs(text)
    unknown = [each for each in needed if each not in known]
    for each in unknown:
        message = f"{shown(text)} has {each}, which is not a parameter"
        yield Problem("derived", name, f"{message}; {nearest(each, known)}")
    if not needed:
        yield Problem("derived", name, f"{shown(text)} has no parameter; move it to [parameters]")
    return {name: text_of(expression)} if needed and not unknown else {}


def check_derived(sweep: Sweep) -> Check[None]:
    """Problems of the values: out of range, or derived from a parameter without a value.

    On a grid of more points than can be checked, every so many are; the others are when they are
    computed.
    """
    if not sweep.derived:
        return
    along = {name for axis in sweep.axes for name in axis.columns}
    faults: list[Problem] = []
    for name, text in sweep.derived.items():
        for each in inputs(text):
            if each not in {*sweep.constants, *along, *sweep.derived}:
                fault = f"{each} is not a parameter of this sweep; derive {name} from others"
                faults.append(Problem("derived", name, fault))
            elif math.isnan(sweep.constants.get(each, 0.0)):
                fault = f"{each} has a default that the kernel derives; give it under [parameters]"
                faults.append(Problem("derived", name, fault))
    yield from faults
    if faults:
        return
    count = max(len(sweep.axes), 1)
    thinned = replace(sweep, axes=tuple(_thinned(each, count) for each in sweep.axes))
    for name, fault in derived_faults(thinned, derived_values(thinned)).items():
        yield Problem("derived", name, fault)


def _thinned(axis: Axis, dimensions: int) -> Axis:
    """At most so many values of an axis that a grid of such axes can be checked.

    They are spread over the first STRETCH of them; of an array, also the last one.
    """
    limit = max(int(MAX_CHECKED ** (1 / dimensions)), 2)
    heads = {name: values[:STRETCH] for name, values in axis.columns.items()}
    columns = {
        n: np.append(head[:: -(-len(head) // limit)], head[-1:]) for n, head in heads.items()
    }
    return replace(axis, columns=columns)
