"""The tables of a model's file: what the reader of all files has, and expressions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from sweep.equations.expressions import Call, Expression, Number
from sweep.equations.functions import Kind
from sweep.equations.parsing import parse
from sweep.equations.system import Line, Scope
from sweep.reader import Faults, Position, Table, TooManyFaultsError, dotted, finite
from sweep.wording import written

MAX_CHARACTERS = 200_000  # of all expressions of a file
MAX_FAULTS = 100  # after which reading ends


@dataclass
class Lines:
    """The expressions found while a file is read."""

    found: list[Line] = field(default_factory=list[Line])
    characters: int = 0  # of all expressions
    is_stored: bool = False  # the file is the text in a store, which may exceed limits of files


class ModelTable(Table):
    """A table of a model's file."""

    def __init__(
        self,
        raw: object,
        name: str,
        faults: Faults,
        lines: Lines,
        position: Position = (),
    ) -> None:
        self.lines = lines
        super().__init__(raw, name, faults, dotted, position)

    def child(self, raw: object, name: str, position: Position) -> Self:
        """A table in this one; `name` is what places call it."""
        return type(self)(raw, name, self.faults, self.lines, position)

    def expression(
        self,
        key: str,
        kind: Kind = "number",
        scope: Scope = "motion",
        default: str | None = None,
        unit_of: str = "",
        per_time: bool = False,
    ) -> Expression:
        """An expression, written as text or as a number; 0 if it is missing or wrong.

        `kind`, `scope`, `unit_of` and `per_time` are those of its `Line`.
        """
        value = self.get(key)
        if value is None:
            value = default
        expression = self._parsed(key, value)
        if expression is None:
            return Number(0.0)
        line = Line(self.place_of(key), expression, kind, scope, unit_of, per_time)
        self.lines.found.append(line)
        self.lines.characters += len(value) if isinstance(value, str) else 0
        if self.lines.characters > MAX_CHARACTERS:
            self.fault(
                key, f"more than {MAX_CHARACTERS:,} characters of all expressions", "use fewer"
            )
            raise TooManyFaultsError
        return expression

    def _parsed(self, key: str, value: object) -> Expression | None:
        number = finite(value)
        if number is not None:
            positive = Number(abs(number), 1)
            return Call("negative", (positive,), 1) if number < 0 else positive
        if value is None:
            self.missing(key, f'write {key} = "..."')
        elif not isinstance(value, str):
            self.fault(key, f"{written(value)} is not an expression", "write it in quotes")
        else:
            return self.read(key, parse, value)
        return None
