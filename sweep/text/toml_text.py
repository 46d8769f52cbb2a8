"""TOML as it is written: one line for each key of a table, with tables in it on that line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast


def assignments(table: Mapping[str, object]) -> Iterator[str]:
    """The lines of a table; keys whose value is None are left out."""
    for key, value in table.items():
        if value is not None:
            yield f"{_key(key)} = {value_text(value)}"


def value_text(value: object) -> str:
    """A value as TOML has it; TypeError if TOML has none of its type."""
    match value:
        case str():
            return _text(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple() | list():
            return f"[{', '.join(map(value_text, cast('Sequence[object]', value)))}]"
        case Mapping():
            return f"{{ {', '.join(assignments(cast('Mapping[str, object]', value)))} }}"
        case _:
            raise TypeError(type(value).__name__)


def _key(key: str) -> str:
    """A key, in quotes if it has other letters than those of bare keys."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    """A basic string, whose escapes for printable text are those of JSON."""
    return json.dumps(text, ensure_ascii=False)
