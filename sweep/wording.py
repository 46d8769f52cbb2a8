"""Wording that messages share: values as shown, lists of names, the nearest known name."""

from __future__ import annotations

import re
import reprlib
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import metadata

SYNONYMS = {
    "logspace": "geomspace",
    "arange": "linspace",
    "partition": "queue",
    "time": "walltime",
    "mem": "memory",
    "ntasks": "jobs",
    "cpus": "cores",
    "cpus_per_task": "cores",
}  # names that other programs have for what ours are; NumPy and SLURM

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


def install(extra: str) -> str:
    """The command that installs what an optional part of this package needs.

    It names the packages themselves, because this package need not be on an index.
    """
    marker = re.compile(rf"""(.*?)\s*;\s*extra\s*==\s*['"]{extra}['"]\s*""")
    try:
        required = metadata.requires("tribosweep") or []
    except metadata.PackageNotFoundError:
        required = []
    found = [match[1] for each in required if (match := marker.fullmatch(each))]
    packages = " ".join(f"'{each}'" for each in found) or f"-e '.[{extra}]' (in its source folder)"
    return f"pip install {packages}"


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'mass'?` if a known name is near, otherwise the list of known names."""
    names = list(known)
    close = [SYNONYMS[name]] if SYNONYMS.get(name) in names else []
    close = close or get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose one of {listed(names)}"


def key_text(key: str) -> str:
    """A key as messages show it: quoted unless it is a plain word."""
    return key if key.replace("-", "_").isidentifier() else shown(key)
