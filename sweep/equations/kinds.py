"""Whether the names of an expression are known, and its parts numbers or conditions as needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sweep.equations.expressions import (
    SIGNATURES,
    Call,
    Expression,
    Kind,
    Name,
    Number,
    kind_of_argument,
    names_in,
    text_of,
    walk,
)
from sweep.wording import nearest, shown

MAX_SHOWN = 60


def cut(expression: Expression) -> str:
    """The text of an expression as messages show it, without its end if it is long."""
    text = text_of(expression)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def kind_of(expression: Expression, known: Mapping[str, Kind]) -> Kind:
    """Whether it is a number or a condition; unknown names count as numbers."""
    match expression:
        case Number():
            return "number"
        case Name(name):
            return known.get(name, "number")
        case Call(function):
            return SIGNATURES[function].value


def faults_in(
    expression: Expression, wanted: Kind, known: Mapping[str, Kind], elsewhere: Mapping[str, str]
) -> Iterator[str]:
    """What is wrong with the expression: each unknown name, and each part of the wrong kind.

    `known` are the names that may stand here; `elsewhere` are the others of the file, with what
    they are ("a state").
    """
    for name, part in names_in(expression).items():
        if name in elsewhere and name not in known:
            message = f"{name!r} is {elsewhere[name]}, which cannot stand here"
            yield f"column {part.column}: {message}"
        elif name not in known:
            yield f"column {part.column}: {shown(name)} is unknown; {nearest(name[:64], known)}"
    yield from _wrong_kind(expression, wanted, known, None)
    for part in walk(expression):
        if isinstance(part, Call):
            for index, argument in enumerate(part.arguments):
                needed = kind_of_argument(part.function, index)
                yield from _wrong_kind(argument, needed, known, part)


def _wrong_kind(
    expression: Expression, wanted: Kind, known: Mapping[str, Kind], whole: Expression | None
) -> Iterator[str]:
    if kind_of(expression, known) != wanted:
        text = cut(expression)
        place = "here" if whole is None else f"in {cut(whole)}"
        if wanted == "number":
            message = f"{text} is a condition, but a number is needed {place}"
            yield f"column {expression.column}: {message}; write where({text}, 1, 0)"
        else:
            message = f"{text} is a number, but a condition is needed {place}"
            yield f"column {expression.column}: {message}; compare it, as in {text} > 0"
