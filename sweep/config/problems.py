"""Problems found in a sweep file: a check yields each of them and returns what it has made."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import NamedTuple, TypeVar


class Problem(NamedTuple):
    """What is wrong with an entry; without a key, with a table as a whole."""

    table: str  # "": the top level of the file
    key: str
    message: str


Made = TypeVar("Made")
Check = Generator[Problem, None, Made]


def in_table(table: str, messages: Mapping[str, str]) -> Check[None]:
    """A problem for each faulty key of a table."""
    for key, message in messages.items():
        yield Problem(table, key, message)


def finished(check: Check[Made]) -> tuple[Made, list[Problem]]:
    """What a check makes, and all problems that it finds."""
    problems: list[Problem] = []
    while True:
        try:
            problems.append(next(check))
        except StopIteration as end:
            return end.value, problems
