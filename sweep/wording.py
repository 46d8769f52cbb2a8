"""Wording that messages share: values as shown, lists of names, the nearest known name."""

from __future__ import annotations

import reprlib
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlevel = 3


def shown(value: object) -> str:
    """The value as Python writes it, cut to about 60 characters."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # an int of more digits than Python converts to text
        return f"something too long to show ({type(value).__name__})"


def escaped(text: str) -> str:
    """The text with control characters, except line breaks, as escapes that a terminal ignores."""
    return "".join(
        repr(char)[1:-1] if unicodedata.category(char) in ("Cc", "Cf") and char != "\n" else char
        for char in text
    )


def listed(names: Iterable[str]) -> str:
    """`a, b, c`, or `none` if there are no names."""
    return ", ".join(names) or "none"


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'mass'?` if a known name is near, otherwise the list of known names."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose one of {listed(names)}"


def key_text(key: str) -> str:
    """A key as messages show it: quoted unless it is a plain word."""
    return key if key.replace("-", "_").isidentifier() else shown(key)
