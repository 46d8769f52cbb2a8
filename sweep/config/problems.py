"""Problems found in a sweep file: a check yields each of them and returns what it has made."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NamedTuple, ParamSpec, TypeVar

from sweep.errors import FaultError
from sweep.wording import nearest, shown


class Problem(NamedTuple):
    """What is wrong with an entry; without a key, with a table as a whole."""

    table: str  # "": the top level of the file
    key: str
    message: str


Made = TypeVar("Made")
Arguments = ParamSpec("Arguments")
Check = Generator[Problem, None, Made]


def in_table(table: str, messages: Mapping[str, str]) -> Check[None]:
    """A problem for each faulty key of a table."""
    for key, message in messages.items():
        yield Problem(table, key, message)


def readable(
    table: str,
    key: str,
    read: Callable[Arguments, Made],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Check[Made | None]:
    """What `read` returns; None, with a problem of this key, if it raises FaultError."""
    try:
        return read(*args, **kwargs)
    except FaultError as error:
        yield Problem(table, key, str(error))
        return None


def check_names(
    table: str,
    key: str,
    names: Sequence[str],
    known: Sequence[str],
    wrong: Mapping[str, str],
    unknown: str = "unknown",
) -> Check[None]:
    """A problem for each of the names that is listed twice or must not be there.

    `wrong` has messages for some of them; of the others, those not in `known` are `unknown`.
    """
    for name in dict.fromkeys(names):
        if name in wrong:
            yield Problem(table, key, wrong[name])
        elif name not in known:
            yield Problem(table, key, f"{shown(name)} is {unknown}; {nearest(name, known)}")
        elif (count := names.count(name)) > 1:
            yield Problem(table, key, f"{name!r} is listed {count} times; list it once")


def finished(check: Check[Made]) -> tuple[Made, list[Problem]]:
    """What a check makes, and all problems that it finds."""
    problems: list[Problem] = []
    while True:
        try:
            problems.append(next(check))
        except StopIteration as end:
            return end.value, problems
