"""Tables of files and mappings, read key by key, with every fault at its key.

A faulty value is one fault and reads as if it were absent. What depends on something that is
missing or faulty adds no fault of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ParamSpec, Self, TypeVar, cast

from sweep.errors import MAX_FAULTS_SHOWN, ConfigError, Fault, FaultError
from sweep.text.wording import listed, meant_cure, nearest, nearest_name, written

MAX_TEXT_LENGTH = 1000  # of titles, meanings, sources
MAX_WORD_LENGTH = 64  # of keys as messages show them
MAX_KEYS_PLACED = 10_000  # of a table, whose faults are in the order of the file
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

Choice = TypeVar("Choice", bound=str)
Made = TypeVar("Made")
Arguments = ParamSpec("Arguments")
Place = Callable[[str, str], str]  # from a table's name and a key to where users find it
Position = tuple[int, ...]  # in a file: the index of a key in each table around it


class TooManyFaultsError(Exception):
    """So many faults that looking for more would only take time."""


@dataclass
class Faults:
    """The faults found while a file is read."""

    most: int | None = None  # after so many, reading ends
    found: list[Fault] = field(default_factory=list[Fault])
    positions: dict[str, Position] = field(default_factory=dict[str, Position])
    meant: set[str] = field(default_factory=set[str])  # what misspelt keys are taken for

    def add(self, where: str, what: str, cure: str = "") -> None:
        """Add a fault; TooManyFaultsError if they are enough."""
        self.found.append(Fault(where, what, cure))
        if len(self.found) == self.most:
            raise TooManyFaultsError

    def add_all(self, faults: Iterable[Fault]) -> None:
        """Add faults one by one, as they are found."""
        for fault in faults:
            self.add(fault.where, fault.what, fault.cure)

    def in_order(self) -> tuple[Fault, ...]:
        """The faults in the order of the file; those of options come first."""
        return tuple(sorted(self.found, key=lambda fault: self.positions.get(fault.where, ())))

    def raise_all(self, source: str) -> None:
        """Raise a ConfigError with all faults, if there are any; `source` names the file."""
        if self.found:
            raise ConfigError(source, self.in_order())


@dataclass(frozen=True)
class Key:
    """A key of a table: what it takes, as messages and documents say it."""

    expected: str
    parsed: Callable[[object], object]  # the value as it is used; None if it is not as expected
    default: object = None
    item: Callable[[object], object] | None = None  # as `parsed`, for what a list may contain

    def read(self, value: object) -> Any:
        """The value as it is used; FaultError, which says what is expected, if it cannot be."""
        if self.item is not None and isinstance(value, list):
            return [self._read_item(self.item, each) for each in cast("list[object]", value)]
        parsed = self.parsed(value)
        if parsed is None:
            raise FaultError(f"{written(value)} is not {self.expected}")
        return parsed

    def _read_item(self, item: Callable[[object], object], value: object) -> object:
        parsed = item(value)
        if parsed is None:
            raise FaultError(f"{written(value)} in the list is wrong", f"expected {self.expected}")
        return parsed


Keys = Mapping[str, Key]


def dotted(table: str, key: str) -> str:
    """Where the key of a table is in a model's file: `states.x.unit`."""
    is_text = isinstance(cast(object, key), str)  # in mappings, keys may be anything
    is_word = is_text and len(key) <= MAX_WORD_LENGTH and WORD.fullmatch(key)
    word = key if is_word else written(key)
    return f"{table}.{word}" if table and key else table or word


class Table:
    """A table and where it is; what is wrong in it is added to `faults`."""

    def __init__(
        self,
        raw: object,
        name: str,
        faults: Faults,
        place: Place = dotted,
        position: Position = (),
    ) -> None:
        self.name = name
        self.faults = faults
        self.place = place
        self.position = position
        self.known: dict[str, None] = {}  # the keys that have been read
        self.lacking: dict[str, str] = {}  # the keys that are missing, and what to do
        self.meant: set[str] = set()  # what misspelt keys are taken for
        self.is_faulty = False
        self.is_table = isinstance(raw, Mapping)
        self.mapping = cast("Mapping[str, object]", raw if isinstance(raw, Mapping) else {})
        for index, key in enumerate(islice(self.mapping, MAX_KEYS_PLACED)):
            self.faults.positions.setdefault(self.place_of(key), (*position, index))
        if not self.is_table:
            where = self.place_of("")
            cure = f"write [{where}] above its entries" if "." in where else ""
            self.fault("", f"{written(cast(object, raw))} is not a table", cure)

    def child(self, raw: object, name: str, position: Position) -> Self:
        """A table in this one; `name` is what places call it."""
        return type(self)(raw, name, self.faults, self.place, position)

    def without(self, keys: Collection[str]) -> Self:
        """The same table without some of its keys."""
        mapping = {key: value for key, value in self.mapping.items() if key not in keys}
        return self.child(mapping, self.name, self.position)

    def entry(self, key: str) -> Entry:
        """The table that is written as the value of a key, at which its faults are."""
        return Entry(self, key)

    def fault(self, key: str, what: str, cure: str = "") -> None:
        """Add a fault at a key; without one, at the table."""
        self.is_faulty = True
        where = self.place_of(key)
        self.faults.positions.setdefault(where, self.position_of(key))
        self.faults.add(where, what, cure)

    def place_of(self, key: str) -> str:
        """Where users find a key."""
        return self.place(self.name, key)

    def position_of(self, key: str) -> Position:
        """The position of a key in the file; of a missing one, the end of the table."""
        index = self.faults.positions.get(self.place_of(key)) if key else self.position
        return (*self.position, len(self.mapping)) if index is None else index

    def read(
        self,
        key: str,
        reads: Callable[Arguments, Made],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Made | None:
        """What `reads` returns; None, with a fault at the key, if it raises FaultError."""
        try:
            return reads(*args, **kwargs)
        except FaultError as error:
            self.fault(key, error.what, error.cure)
            return None

    def get(self, key: str) -> object:
        """The value of a key, None if there is none; the key is known from then on."""
        self.known[key] = None
        return self.mapping.get(key)

    def has(self, key: str) -> bool:
        """Whether the key is given; it is known from then on."""
        return self.get(key) is not None

    def missing(self, key: str, cure: str) -> None:
        """Note that a key is missing, which `close` reports unless the key is misspelt."""
        self.lacking[key] = cure

    def value(self, name: str, key: Key) -> Any:
        """The value of a key; its default if it is missing or faulty."""
        value = self.get(name)
        if name not in self.mapping or (value is None and key.default is None):
            return key.default
        parsed = self.read(name, key.read, value)
        return key.default if parsed is None else parsed

    def values(self, keys: Keys) -> dict[str, Any]:
        """The value of each of these keys."""
        return {name: self.value(name, key) for name, key in keys.items()}

    def text(self, key: str, default: str | None = None, example: str = "...") -> str:
        """One line of text without control characters; required if there is no default."""
        value = self.get(key)
        line = " ".join(value.split()) if isinstance(value, str) else ""
        if value is None:
            if default is None:
                self.missing(key, f'write {key} = "{example}"')
        elif not isinstance(value, str):
            self.fault(key, f"{written(value)} is not text in quotes")
        elif len(value) > MAX_TEXT_LENGTH:
            self.fault(
                key, f"{len(value):,} characters", f"at most {MAX_TEXT_LENGTH:,} are allowed"
            )
        elif not line.isprintable():
            self.fault(key, f"{written(value)} has characters that cannot be printed")
        elif not line and default is None:
            self.fault(key, "empty", f'write {key} = "{example}"')
        return line or default or ""

    def choice(self, key: str, choices: Sequence[Choice], default: Choice | None) -> Choice:
        """One of several words; required if there is no default."""
        value = self.get(key)
        if value is None and default is None:
            self.missing(key, f"choose one of {listed(choices)}")
        elif value is not None and value not in choices:
            self.fault(key, f"{written(value)} is unknown", near(value, choices))
        return next((each for each in choices if each == value), default or choices[0])

    def number(self, key: str, default: float | None = None, unit: str = "1") -> float | None:
        """A finite number, or the default; `unit` is the one that it is in."""
        value = self.get(key)
        number = finite(value)
        if value is not None and number is None:
            cure = "write a plain number" + (f", in {unit}" if unit != "1" else "")
            self.fault(key, f"{written(value)} is not a finite number", cure)
        return default if number is None else number

    def flag(self, key: str) -> bool:
        """`true` or `false`, the default."""
        return self.value(key, FLAG) is True

    def whole(self, key: str, least: int, most: int) -> int | None:
        """A whole number of a range; None if there is none."""
        return self.value(key, whole_key(least, most))

    def table(self, key: str) -> Self:
        """The table at a key; an empty one if there is none."""
        value = self.get(key)
        name = f"{self.name}.{key}" if self.name else key
        return self.child(value if key in self.mapping else {}, name, self.position_of(key))

    def optional(self, key: str) -> Self | None:
        """The table at a key; None if there is none, or, with a fault, something else."""
        table = self.table(key) if self.has(key) else None
        return table if table is not None and table.is_table else None

    def names(
        self,
        key: str,
        names: Sequence[str],
        known: Sequence[str] | None,
        wrong: Mapping[str, tuple[str, str]],
        unknown: str = "unknown",
    ) -> None:
        """Add a fault for each name in the list at a key that is there twice or must not be there.

        `wrong` has what is wrong with some of them and the cure; of the others, those not in
        `known` are `unknown`. Without known ones, any name may be right.
        """
        for name in dict.fromkeys(names):
            if name in wrong:
                self.fault(key, *wrong[name])
            elif known is not None and name not in known:
                self.fault(key, f"{written(name)} is {unknown}", nearest(name, known))
            elif (count := names.count(name)) > 1:
                self.fault(key, f"{name!r} is listed {count} times", "list it once")

    def named(
        self,
        key: str,
        most: int,
        read: Callable[[str, Self], Made],
        check: Callable[[str], FaultError | None],
        empty: str = "",
    ) -> tuple[Made, ...]:
        """What `read` makes of each entry of the table at a key: of its checked name and table.

        `check` finds what is wrong with a name. An empty table is a fault, for which `empty` is
        the cure, if there is one.
        """
        table, tables = self.table(key), dict[str, Self]()
        if len(table.mapping) > most:
            table.fault("", f"{len(table.mapping):,} {key}", f"at most {most:,} are allowed")
        else:
            names = [name for name in table.mapping if isinstance(cast(object, name), str)]
            table.known.update(dict.fromkeys(names))
            table.close()
            for name in names:
                raw, position = table.mapping[name], table.position_of(name)
                tables[name] = table.child(raw, table.place_of(name), position)
                if not tables[name].is_table:  # what it leaves out is not known
                    self.faults.meant.add(name)
                if error := check(name):
                    tables[name].fault("", error.what, error.cure)
        if empty and table.is_table and not table.mapping:
            table.fault("", "empty" if key in self.mapping else "missing", empty)
        return tuple(_closed(each, read(name, each)) for name, each in tables.items())

    def tables(self, key: str, most: int, read: Callable[[Self], Made]) -> tuple[Made, ...]:
        """What `read` makes of each table of an array; its place has its number and its name."""
        value = self.get(key)
        elements = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else ()
        if value is not None and not isinstance(value, (list, tuple)):
            self.fault(key, "not a list of tables", f"write [[{key}]] above each")
        if len(elements) > most:
            self.fault(key, f"{len(elements):,} {key}", f"at most {most:,} are allowed")
            return ()
        place, position = self.place_of(key), self.position_of(key)
        tables = [
            self.child(each, f"{place}[{i}]{_quoted_name(each)}", (*position, i))
            for i, each in enumerate(elements, 1)
        ]
        return tuple(_closed(each, read(each)) for each in tables)

    def close(self, what: str = "there is no such key", known: Sequence[str] = ()) -> None:
        """Add a fault for each key that was not read, and for each that is missing.

        A key that is misspelt is not missing, too. `what` says what is wrong with an unknown key,
        `{key}`; `known` are further choices.
        """
        choices = (*self.known, *known)
        for key in [each for each in self.mapping if each not in self.known]:
            self.unknown(key, what.format(key=written(key)), choices)
            self.known[key] = None
        for key, cure in self.lacking.items():
            if self.is_table and key not in self.meant:
                self.fault(key, "missing", cure)
        self.lacking.clear()

    def unknown(self, key: str, what: str, choices: Sequence[str]) -> None:
        """Add the fault of an unknown key, which is taken for the nearest of the choices.

        Near names are looked up only for the faults that are printed.
        """
        name = key[:MAX_WORD_LENGTH] if isinstance(cast(object, key), str) else ""
        if len(self.faults.found) >= MAX_FAULTS_SHOWN:
            self.fault(key, what)
            return
        meant = nearest_name(name, choices)
        self.fault(key, what, meant_cure(meant, choices))
        self.meant.update([meant] if meant else [])
        self.faults.meant.update(self.meant)


class Entry(Table):
    """A table written as the value of a key of another table, which has its faults."""

    def __init__(self, parent: Table, key: str) -> None:
        self.parent = parent
        self.key = key
        raw = parent.get(key)
        super().__init__(raw, key, Faults())
        self.faults = parent.faults

    def fault(self, key: str, what: str, cure: str = "") -> None:
        """Add a fault at the key of the other table."""
        self.is_faulty = True
        self.parent.fault(self.key, f"{key}: {what}" if key else what, cure)


def is_text(value: object) -> object:
    """The value if it is text."""
    return value if isinstance(value, str) else None


def is_flag(value: object) -> object:
    """The value if it is true or false."""
    return value if isinstance(value, bool) else None


def is_mapping(value: object) -> object:
    """The value if it is a table."""
    return cast("object", value) if isinstance(value, Mapping) else None


def whole_from(least: int, most: int) -> Callable[[object], int | None]:
    """What returns a value if it is a whole number of this range."""
    return lambda value: value if type(value) is int and least <= value <= most else None


def whole_key(least: int, most: int) -> Key:
    """A key that takes a whole number of this range."""
    return Key(f"a whole number from {least:,} to {most:,}", whole_from(least, most))


def one_of(*choices: str) -> Callable[[object], object]:
    """What returns a value if it is one of these words."""
    return lambda value: value if isinstance(value, str) and value in choices else None


FLAG = Key("true or false", is_flag)


def finite(value: object) -> float | None:
    """The value as a finite float; None if it is none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None


def finite_numbers(value: object) -> tuple[float, ...]:
    """The numbers of a list, zeros with their signs; none if the value is anything else."""
    items = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else ()
    return () if any(finite(item) is None for item in items) else tuple(map(float, items))


def near(value: object, known: Sequence[str] | Mapping[str, object]) -> str:
    """The known name that is nearest to a value of the file, or all of them."""
    return nearest(value[:MAX_WORD_LENGTH] if isinstance(value, str) else "", known)


def _closed(table: Table, entry: Made) -> Made:
    """The entry, after a check of its table for keys that were not read."""
    table.close()
    return entry


def _quoted_name(raw: object) -> str:
    name = cast("Mapping[str, object]", raw).get("name") if isinstance(raw, Mapping) else None
    return f" {written(name)}" if isinstance(name, str) else ""
