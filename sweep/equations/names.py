"""Which names a model from a file may use."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from sweep.equations.functions import FUNCTIONS
from sweep.equations.schemes import SCHEMES
from sweep.errors import Fault, FaultError
from sweep.windows import IN_CYCLES, IN_TIME
from sweep.wording import listed, written

MAX_NAME_LENGTH = 64
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

# Parameters of every model from a file, and by method its numerical controls.
WINDOW, CYCLES = IN_TIME.names, IN_CYCLES.names
# Constant steps come first: an unknown method of a test is checked as if it were the first.
CONTROLS = {
    scheme.name: tuple(control.name for control in scheme.controls)
    for scheme in sorted(SCHEMES.values(), key=lambda scheme: not scheme.has_constant_steps)
}

RESERVED = {
    **dict.fromkeys(FUNCTIONS, "a function"),
    "t": "the time",
    "pi": "a number",
    "time": "the axis of traces",
    "mode": "the mode in traces",
    "event": "the events in traces",
    "status": "the status of a point",
    **dict.fromkeys((*WINDOW, *CYCLES), "a parameter of every model"),
    **dict.fromkeys(chain.from_iterable(CONTROLS.values()), "a parameter of methods"),
}
# In sweep files and results: keys of tables that also have parameters, and dimensions.
RESERVED_IN_SWEEPS = (
    "format", "model", "method", "outputs", "dtype", "parameters", "axes", "sample", "refine",
    "run", "derived", "reduce", "points", "seed", "file", "column", "columns", "scramblings",
    "values", "linspace", "geomspace", "over", "point", "level", "quantile", "threshold",
    "parameter", "points_by_status", "status_class",
)  # fmt: skip


def name_fault(name: str, in_sweeps: bool = False) -> FaultError | None:
    """What is wrong with a name; None if nothing is.

    `in_sweeps`: it is a parameter or an output, so that sweep files and results have it too.
    """
    if not NAME.fullmatch(name):
        rule = "a letter of a to z or A to Z, then letters, digits and underscores"
        return FaultError(f"{written(name)} is not a name", f"write {rule}")
    if len(name) > MAX_NAME_LENGTH:
        cure = f"at most {MAX_NAME_LENGTH} are allowed"
        return FaultError(f"{written(name)} has {len(name):,} characters", cure)
    what = RESERVED.get(name)
    if keyword.iskeyword(name):
        what = "a word of the language of expressions"
    elif what is None and in_sweeps and name in RESERVED_IN_SWEEPS:
        what = "a name with a meaning of its own in sweep files or results"
    return FaultError(f"{name!r} is {what}", "choose another name") if what else None


def name_fault_in_sweeps(name: str) -> FaultError | None:
    """What is wrong with the name of a parameter or an output."""
    return name_fault(name, in_sweeps=True)


def clashes(named: Iterable[tuple[str, str, str, object]]) -> Iterator[Fault]:
    """A fault for each name that another one has before it.

    `named` are (name, what it is, its place, ...): ("x", "a state", "states.x"). Only a mode and an
    event may share a name. Parameters and outputs must differ in more than upper and lower case,
    because results may lie in a file system that ignores it.
    """
    first: dict[str, list[str]] = {}
    in_sweeps: dict[str, str] = {}
    for name, role, place, _ in named:
        others = first.setdefault(name, [])
        if others and {role, *others} != {"a mode", "an event"}:
            cure = "names have to differ: choose another one"
            yield Fault(place, f"{name!r} is also {listed(dict.fromkeys(others))}", cure)
        others.append(role)
        if role in ("a parameter", "an output"):
            similar = in_sweeps.setdefault(name.lower(), name)
            if similar != name:
                what = f"differs from {similar!r} only in upper and lower case"
                yield Fault(place, what, "rename one")
