"""A table of a model's file, read key by key, with every fault at its key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from sweep.equations.expressions import Call, Expression, Kind, Number
from sweep.equations.names import NAME, name_fault
from sweep.equations.parsing import ExpressionError, finite, parse
from sweep.equations.system import Line, Scope
from sweep.errors import Fault
from sweep.wording import listed, nearest, shown

MAX_TEXT_LENGTH = 1000  # of titles, meanings, sources
MAX_CHARACTERS = 200_000  # of all expressions of a file
MAX_FAULTS = 100  # after which reading ends

Choice = TypeVar("Choice", bound=str)
Entry = TypeVar("Entry")


@dataclass
class Findings:
    """What is found while a file is read."""

    faults: list[Fault] = field(default_factory=list[Fault])
    lines: list[Line] = field(default_factory=list[Line])
    characters: int = 0  # of all expressions
    is_stored: bool = False  # the file is the text in a store, which may exceed limits of files

    def add(self, fault: Fault) -> None:
        """Add a fault; TooManyFaultsError if they are enough."""
        self.faults.append(fault)
        if len(self.faults) >= MAX_FAULTS:
            raise TooManyFaultsError


class TooManyFaultsError(Exception):
    """So many faults that looking for more would only take time."""


class Table:
    """A table and its place in the file; what is found in it is added to `findings`."""

    def __init__(self, raw: object, place: str, findings: Findings) -> None:
        self.place = place
        self.findings = findings
        self.known: dict[str, None] = {}  # the keys that have been read
        self.raw: Mapping[str, object] = {}
        if isinstance(raw, Mapping):
            self.raw = cast("Mapping[str, object]", raw)
        else:
            self.fault("", f"{shown(raw)} is not a table")

    def fault(self, key: str, message: str) -> None:
        """Add a fault at a key; without one, at the table."""
        self.findings.add(Fault(self.place_of(key), message))

    def place_of(self, key: str) -> str:
        """The place of a key: `states.x.unit`."""
        word = key if isinstance(cast(object, key), str) and key.isascii() else shown(key)
        word = word if len(word) <= 64 and NAME.fullmatch(word) else shown(key)
        return f"{self.place}.{word}" if self.place and key else self.place or word

    def get(self, key: str) -> object:
        """The value of a key, None if there is none; the key is known from then on."""
        self.known[key] = None
        return self.raw.get(key)

    def has(self, key: str) -> bool:
        """Whether the key is given; it is known from then on."""
        return self.get(key) is not None

    def missing(self, key: str, cure: str) -> None:
        """Add the fault that a key is missing."""
        self.fault(key, f"missing; {cure}")

    def text(self, key: str, default: str | None = None, example: str = "...") -> str:
        """One line of text without control characters; required if there is no default."""
        value = self.get(key)
        line = " ".join(value.split()) if isinstance(value, str) else ""
        if value is None:
            if default is None:
                self.missing(key, f'write {key} = "{example}"')
        elif not isinstance(value, str):
            self.fault(key, f"{shown(value)} is not text in quotes")
        elif len(value) > MAX_TEXT_LENGTH:
            self.fault(key, f"{len(value):,} characters; at most {MAX_TEXT_LENGTH:,} are allowed")
        elif not line.isprintable():
            self.fault(key, f"{shown(value)} has characters that cannot be printed")
        elif not line and default is None:
            self.fault(key, f'empty; write {key} = "{example}"')
        return line or default or ""

    def choice(self, key: str, choices: Sequence[Choice], default: Choice | None) -> Choice:
        """One of several words; required if there is no default."""
        value = self.get(key)
        if value is None and default is None:
            self.missing(key, f"choose one of {listed(choices)}")
        elif value is not None and value not in choices:
            self.fault(key, f"{shown(value)} is unknown; {near(value, choices)}")
        return next((each for each in choices if each == value), default or choices[0])

    def number(self, key: str, default: float | None = None, unit: str = "1") -> float | None:
        """A finite number, or the default; `unit` is the one that it is in."""
        value = self.get(key)
        number = finite(value)
        if value is not None and number is None:
            cure = "write a plain number" + (f", in {unit}" if unit != "1" else "")
            self.fault(key, f"{shown(value)} is not a finite number; {cure}")
        return default if number is None else number

    def flag(self, key: str) -> bool:
        """`true` or `false`, the default."""
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            self.fault(key, f"{shown(value)} is not true or false")
        return value is True

    def whole(self, key: str, least: int, most: int) -> int | None:
        """A whole number of a range; None if there is none."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.fault(key, f"{shown(value)} is not a whole number from {least:,} to {most:,}")
            return None
        return value

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
        self.findings.lines.append(line)
        self.findings.characters += len(value) if isinstance(value, str) else 0
        if self.findings.characters > MAX_CHARACTERS:
            message = f"more than {MAX_CHARACTERS:,} characters of all expressions; use fewer"
            self.fault(key, message)
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
            self.fault(key, f"{shown(value)} is not an expression; write it in quotes")
        else:
            try:
                return parse(value)
            except ExpressionError as error:
                self.fault(key, str(error))
        return None

    def table(self, key: str) -> Table:
        """The table at a key; an empty one if there is none."""
        value = self.get(key)
        return Table({} if value is None else value, self.place_of(key), self.findings)

    def named(
        self,
        key: str,
        most: int,
        read: Callable[[str, Table], Entry],
        in_sweeps: bool = False,
        empty: str = "",
    ) -> tuple[Entry, ...]:
        """What `read` makes of each entry of the table at a key: of its checked name and table.

        Entries of `in_sweeps` have names that sweeps use, too. An empty table is a fault if there
        is a message `empty`.
        """
        table, tables = self.table(key), dict[str, Table]()
        if len(table.raw) > most:
            table.fault("", f"{len(table.raw):,} {key}; at most {most:,} are allowed")
        else:
            names = [name for name in table.raw if isinstance(cast(object, name), str)]
            table.known.update(dict.fromkeys(names))
            table.close()
            for name in names:
                tables[name] = Table(table.raw[name], table.place_of(name), self.findings)
                if fault := name_fault(name, in_sweeps):
                    tables[name].fault("", fault)
        if empty and not table.raw:
            table.fault("", empty)
        return tuple(_closed(each, read(name, each)) for name, each in tables.items())

    def tables(self, key: str, most: int, read: Callable[[Table], Entry]) -> tuple[Entry, ...]:
        """What `read` makes of each table of an array; its place has its number and its name."""
        value = self.get(key)
        elements = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else ()
        if value is not None and not isinstance(value, (list, tuple)):
            self.fault(key, f"not a list of tables; write [[{key}]] above each")
        if len(elements) > most:
            self.fault(key, f"{len(elements):,} {key}; at most {most:,} are allowed")
            return ()
        tables = [
            Table(each, f"{self.place_of(key)}[{i}]{_quoted_name(each)}", self.findings)
            for i, each in enumerate(elements, 1)
        ]
        return tuple(_closed(each, read(each)) for each in tables)

    def close(self) -> None:
        """Add a fault for each key that is none of those read."""
        for key in self.raw:
            if key not in self.known:
                self.fault(key, f"there is no such key; {near(key, self.known)}")


def _closed(table: Table, entry: Entry) -> Entry:
    """The entry, after a check of its table for keys that were not read."""
    table.close()
    return entry


def finite_numbers(value: object) -> tuple[float, ...]:
    """The numbers of a list, zeros with their signs; none if the value is anything else."""
    items = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else ()
    return () if any(finite(item) is None for item in items) else tuple(map(float, items))


def near(value: object, known: Iterable[str]) -> str:
    """The known name that is nearest to a value of the file, or all of them."""
    return nearest(value[:64] if isinstance(value, str) else "", known)


def _quoted_name(raw: object) -> str:
    name = cast("Mapping[str, object]", raw).get("name") if isinstance(raw, Mapping) else None
    return f" {shown(name)}" if isinstance(name, str) else ""
