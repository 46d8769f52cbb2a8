"""Indices of a model from a file, tables of numbers over them, and their entries in the file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol, cast

from sweep.errors import FaultError
from sweep.text.reader import finite, near
from sweep.text.wording import written

MAX_SIZE = 256  # of an index
MAX_INDICES, MAX_TABLES, MAX_OVER = 16, 64, 3  # in a model, and of one name
MAX_ELEMENTS = 65_536  # of a name with `over`; also numbers in all tables


@dataclass(frozen=True, kw_only=True)
class Index:
    """What names with `over` have a value for: labels, or numbers from 0."""

    name: str
    size: int  # 0: it is faulty
    labels: tuple[str, ...] = ()
    same_as: str | None = None  # the index of which it is a second name

    @property
    def places(self) -> tuple[str, ...]:
        """How its values are written in names of elements."""
        return self.labels or tuple(map(str, range(self.size)))

    @property
    def entry(self) -> object:
        """The index as the canonical text has it."""
        return {"same_as": self.same_as} if self.same_as else [*self.labels] or self.size


@dataclass(frozen=True, kw_only=True)
class NumberTable:
    """Numbers over indices; without any, one of them."""

    name: str
    over: tuple[str, ...]
    values: tuple[float, ...]  # in C order
    unit: str
    meaning: str


class OverEntry(Protocol):
    """A table of a model's file, as `entries.ModelTable`."""

    def get(self, key: str) -> object:
        """The value of a key."""
        ...

    def fault(self, key: str, what: str, cure: str = "") -> None:
        """Add a fault at a key."""
        ...


def combinations(over: Sequence[str], indices: Mapping[str, Index]) -> Iterator[dict[str, int]]:
    """Each choice of a value for each of these indices, the last one running fastest."""
    for places in product(*(range(indices[name].size) for name in over)):
        yield dict(zip(over, places, strict=True))


def over_of(entry: OverEntry, indices: Mapping[str, Index]) -> tuple[str, ...]:
    """The indices at the key `over` of an entry; none if they are faulty."""
    value = entry.get("over")
    if value is None:
        return ()
    names = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value]
    what = ""
    if not indices:
        entry.fault("over", "this model has no indices", "write [indices], such as block = 10")
        return ()
    for name in names:
        if not isinstance(name, str) or name not in indices:
            entry.fault("over", f"{written(name)} is not an index", near(name, indices))
            return ()
    if not names:
        what, cure = "empty", "name an index, or remove it"
    elif len({*names}) < len(names):
        what, cure = "an index is listed twice", 'give it a second name: { same_as = "..." }'
    elif len(names) > MAX_OVER:
        what, cure = f"{len(names)} indices", f"at most {MAX_OVER} are allowed"
    elif (size := math.prod(indices[str(name)].size for name in names)) > MAX_ELEMENTS:
        what, cure = f"{size:,} elements", f"at most {MAX_ELEMENTS:,} are allowed"
    else:
        return tuple(map(str, names))
    entry.fault("over", what, cure)
    return ()


def index_of(name: str, raw: object, earlier: Mapping[str, Index]) -> Index:
    """The index in [indices]; FaultError if it is none."""
    form = f'write {name} = 10, or labels: {name} = ["lower", "upper"]'
    if isinstance(raw, (list, tuple)):
        labels = cast("Sequence[object]", raw)
        texts = tuple(each for each in labels if isinstance(each, str))
        if not labels or len(texts) < len(labels):
            raise FaultError(f"{written(labels)} is not a list of labels", form)
        if twice := [each for k, each in enumerate(texts) if each in texts[:k]]:
            raise FaultError(f"the label {twice[0]!r} occurs twice", "rename one")
        return Index(name=name, size=_size(len(texts)), labels=texts)
    if isinstance(raw, Mapping):
        table = cast("Mapping[str, object]", raw)
        other = table.get("same_as")
        if {*table} != {"same_as"}:
            cure = f'{form}, or {{ same_as = "another index" }}'
            raise FaultError(f"{written(table)} is not known", cure)
        if not isinstance(other, str) or other not in earlier:
            cure = near(other, earlier) if earlier else "write that one above it"
            raise FaultError(f"{written(other)} is not an index above it", cure)
        return Index(
            name=name, size=earlier[other].size, labels=earlier[other].labels, same_as=other
        )
    if type(raw) is not int:
        raise FaultError(f"{written(raw)} is not a number of values", form)
    return Index(name=name, size=_size(raw))


def _size(size: int) -> int:
    if not 1 <= size <= MAX_SIZE:
        raise FaultError(f"{written(size)} values", f"an index has 1 to {MAX_SIZE}")
    return size


def nested_numbers(raw: object, over: Sequence[Index], place: str = "") -> list[float]:
    """The numbers in nested lists, as long as these indices; FaultError if they are not."""
    at = f"{place}: " if place else ""
    if not over:
        if (number := finite(raw)) is None:
            raise FaultError(f"{at}{written(raw)} is not a finite number", "write a number")
        return [number]
    index, *others = over
    is_list = isinstance(raw, (list, tuple))
    parts = cast("Sequence[object]", raw) if is_list else ()
    if len(parts) != index.size:
        count = f"a list of {len(parts)}" if is_list else written(raw)
        what = f"{at}{count}, but {index.name} has {index.size} values"
        raise FaultError(what, f"give a list with as many{' lists' if others else ' numbers'}")
    places = [f"{place}[{label}]" for label in index.places]
    return [
        number
        for part, where in zip(parts, places, strict=True)
        for number in nested_numbers(part, others, where)
    ]


def nested(values: Sequence[float], sizes: Sequence[int]) -> object:
    """Numbers in C order as nested lists, one level for each size."""
    if not sizes:
        return values[0]
    step = len(values) // sizes[0]
    return [nested(values[i : i + step], sizes[1:]) for i in range(0, len(values), step)]
