"""A sweep file that is being read, and the parameters that it may give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from sweep.config.schema import TopLevel
from sweep.config.sweep_file import TOP_LEVEL_KEYS, Document, Table, has_several
from sweep.errors import MAX_FAULTS_SHOWN
from sweep.request import Axis
from sweep.spec import Model, Parameter
from sweep.wording import listed, nearest


@dataclass(frozen=True)
class Draft:
    """The tables of a sweep file, beside the model that it names."""

    document: Document
    top: TopLevel
    model: Model
    known: Mapping[str, Parameter]  # every parameter that may occur, in any set

    @property
    def on_axes(self) -> list[str]:
        """The parameters that are along axes, in the order of the file."""
        return [
            parameter
            for name, raw in self.top.axes.items()
            for parameter in (raw if self.is_group(raw, name) else [name])
        ]

    def is_group(self, raw: object, name: str) -> TypeGuard[Table]:
        """Whether an entry of [axes] is a table of several parameters along one dimension."""
        return has_several(raw) or (raw == {} and name not in self.known)

    def unknown(self, names: Iterable[str], keys: Sequence[str] = ()) -> dict[str, str]:
        """A message for each unknown parameter; the first ones also name the nearest."""
        unknown = [name for name in names if name not in self.known]
        shown_ones, choices = unknown[:MAX_FAULTS_SHOWN], (*self.known, *keys)
        return {n: self._unknown(n, choices if n in shown_ones else ()) for n in unknown}

    def _unknown(self, name: str, choices: Sequence[str]) -> str:
        if name in TOP_LEVEL_KEYS:
            return f"not a parameter; {name} belongs at the top of the file, before any [table]"
        methods = self.model.methods
        owners = [m.name for m in methods if name in {p.name for p in m.parameters}]
        if owners:
            return f"belongs to another method ({listed(owners)}); choose that one, or remove it"
        cure = f"; {nearest(name, choices)}" if choices else ""
        return f"{self.model.name} has no such parameter{cure}"


@dataclass(frozen=True)
class Sample:
    """The parameters that [sample] names, and its axis unless there are problems."""

    names: tuple[str, ...]
    axis: Axis | None
    is_complete: bool = True  # False: more parameters may be in a file that cannot be read
