"""The distribution of a parameter, as a table of a sweep file has it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sweep.errors import FaultError
from sweep.file.keys import DISTRIBUTION, only_form
from sweep.file.quantities import in_range, number, together, warn_of_turns
from sweep.file.sweep_file import is_table
from sweep.model.table import Parameter
from sweep.sampling.distributions import DISTRIBUTIONS, Margin, Role, refuse
from sweep.text.reader import Faults, Table
from sweep.text.wording import listed, written

EXAMPLE = "write {name} = {{ uniform = [least, greatest] }}, or another distribution"
PLAIN_NUMBER = Parameter(name="", symbol="", unit="1", meaning="")


def read_margin(raw: object, parameter: Parameter) -> Margin:
    """The distribution in a table; FaultError if it is none."""
    form, entries = distribution_in(raw, parameter.name)
    roles = DISTRIBUTIONS[form].arguments
    arguments = _arguments(form, list(zip(roles.items(), entries, strict=True)), parameter)
    refuse(form, arguments)
    return Margin(form, arguments, parameter.whole)


def distribution_in(raw: object, name: str) -> tuple[str, list[object]]:
    """The form of a distribution and as many entries as it takes; FaultError if it is none.

    `name` is that of its parameter.
    """
    how = EXAMPLE.format(name=name)
    if not is_table(raw):
        raise FaultError(f"{written(raw)} is not a table", how)
    faults = Faults()
    table = Table(raw, "", faults)
    given = table.values(DISTRIBUTION.keys)
    table.close()
    if faults.found:
        raise together([(each.where, FaultError(each.what, each.cure)) for each in faults.found])
    form = only_form(given, tuple(DISTRIBUTIONS), how)
    roles, entries = DISTRIBUTIONS[form].arguments, given[form]
    if len(entries) != len(roles):
        raise FaultError(f"{form} takes [{listed(roles)}], not {len(entries)} entries")
    return form, entries


def _arguments(
    form: str, entries: Sequence[tuple[tuple[str, Role], object]], parameter: Parameter
) -> tuple[float, ...]:
    """The arguments of a distribution in SI units, each of the kind that its role says."""
    ranged = [(name, entry) for (name, role), entry in entries if role == "value"]
    values = dict(zip(dict(ranged), in_range(ranged, parameter).tolist(), strict=True))
    wrong: list[tuple[str, FaultError]] = []
    for (name, role), entry in entries:
        try:
            if role != "value":
                values[name] = _amount(entry, role, parameter)
            elif not math.isfinite(values[name]):
                raise FaultError(f"{form} needs a finite number")
        except FaultError as error:
            wrong.append((name, error))
    if wrong:
        raise together(wrong)
    return tuple(values[name] for (name, _), _ in entries)


def _amount(entry: object, role: Role, parameter: Parameter) -> float:
    """A number that need not be in the parameter's range; FaultError if it cannot be used."""
    value = number(entry, PLAIN_NUMBER if role == "plain" else replace(parameter, infinite=False))
    warn_of_turns([entry], PLAIN_NUMBER if role == "plain" else parameter)
    if role != "number" and not value > 0:
        raise FaultError(f"{written(entry)} is out of range", "it has to be above 0")
    return value
