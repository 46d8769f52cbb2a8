"""Elements of names over indices: `gap[lower]`, `shape[lower,3]`, and their names in C++."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

ELEMENT = re.compile(r"([A-Za-z]\w*)\[([\w, ]*)\]")


def element(name: str, places: Iterable[str | int]) -> str:
    """The name of one element: a label or a number for each index, without white space."""
    return f"{name}[{','.join(map(str, places))}]"


def base(name: str) -> str:
    """The name as it is written with `over`: `gap` of `gap[lower]`; others as they are."""
    return name.partition("[")[0]


def places_of(name: str) -> list[str]:
    """The labels and numbers of an element; none if the name is no element."""
    match = ELEMENT.fullmatch(name)
    return [each.strip() for each in match[2].split(",")] if match else []


def is_of(name: str, group: str) -> bool:
    """Whether a name is `group`, or one of its elements."""
    return group in (name, base(name))


def canonical(name: str, elements: Sequence[str]) -> str:
    """The element that a name such as `gap[0]` or `gap[lower]` means; the name if it means none.

    `elements` are all elements of that name, in the order of their indices.
    """
    places = places_of(name)
    known = [places_of(each) for each in elements]
    if not places or not known or any(len(each) != len(places) for each in known):
        return name
    labels = [list(dict.fromkeys(column)) for column in zip(*known, strict=True)]
    meant: list[str] = []
    for place, along in zip(places, labels, strict=True):
        number = int(place) if place.isdecimal() and len(place) < 10 else len(along)
        meant.append(place if place in along or number >= len(along) else along[number])
    found = element(base(name), meant)
    return found if found in elements else name


def spelled(prefix: str, name: str) -> str:
    """The name in C++; different ones for different names.

    Names of users have the prefix; those of elements begin with another letter, and each part has
    its length before it.
    """
    if "[" not in name:
        return prefix + name
    parts = (base(name), *places_of(name))
    return f"e{prefix}{'_'.join(f'{len(part)}{part}' for part in parts)}"
