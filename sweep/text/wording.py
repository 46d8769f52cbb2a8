"""Wording that messages share: values as shown, lists of names, the nearest known name."""

from __future__ import annotations

import math
import re
import reprlib
import unicodedata
from collections.abc import Iterable
from datetime import date, time
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISFIFO, S_ISSOCK

SYNONYMS = {
    "logspace": "geomspace",
    "arange": "linspace",
    "ln": "log",
    "partition": "queue",
    "time": "walltime",
    "mem": "memory",
    "ntasks": "jobs",
    "cpus": "cores",
    "cpus_per_task": "cores",
}  # names that other programs have for what ours are; NumPy, mathematics and SLURM

UNREADABLE = "reading is not permitted; change its permissions or those of the folders above it"

SPECIAL = {S_ISFIFO: "a FIFO", S_ISSOCK: "a socket", S_ISCHR: "a device", S_ISBLK: "a device"}


class _Written(reprlib.Repr):
    """Values as files have them."""

    def repr1(self, x: object, level: int) -> str:
        if isinstance(x, bool):
            return str(x).lower()
        return str(x) if isinstance(x, (date, time)) else super().repr1(x, level)


_PYTHON, _FILES = reprlib.Repr(), _Written()
for _short in (_PYTHON, _FILES):
    _short.maxstring = _short.maxother = 60
    _short.maxlevel = 3


def shown(value: object) -> str:
    """The value as Python writes it, cut to about 60 characters."""
    return _cut(value, _PYTHON)


def written(value: object) -> str:
    """The value as it is in a file: `true`, 1979-05-27."""
    return _cut(value, _FILES)


def _cut(value: object, short: reprlib.Repr) -> str:
    try:
        return short.repr(value)
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


def special(path: Path) -> str:
    """What a path is that is neither a file nor a folder, such as "a FIFO"; "" if it is either.

    Opening, reading or writing it may never end. Also "" if nothing can be found there.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return next((name for is_kind, name in SPECIAL.items() if is_kind(mode)), "")


def install(extra: str) -> str:
    """The command that installs what an optional part of this package needs.

    It names the packages themselves, because this package need not be on an index.
    """
    marker = re.compile(rf"""(.*?)\s*;\s*extra\s*==\s*['"]{extra}['"]\s*""")
    try:
        required = metadata.requires("tribosweep") or []
    except metadata.PackageNotFoundError:
        required = []
    requirements = [match[1] for each in required if (match := marker.fullmatch(each))]
    packages = (
        " ".join(f"'{each}'" for each in requirements) or f"-e '.[{extra}]' (in its source folder)"
    )
    return f"pip install {packages}"


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'mass'?` if a known name is near, otherwise the list of known names."""
    names = list(known)
    return meant_cure(nearest_name(name, names), names)


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is meant by a misspelt one; None if none is near."""
    names = list(known)
    close = [SYNONYMS[name]] if SYNONYMS.get(name) in names else []
    close = close or [each for each in names if each.lower() == name.lower()]
    close = close or get_close_matches(name, names, n=1)
    return close[0] if close else None


def meant_cure(meant: str | None, known: Iterable[str]) -> str:
    """What to do about a misspelt name that is taken for another one, or for none."""
    return f"choose one of {listed(known)}" if meant is None else f"did you mean {meant!r}?"


def key_text(key: str) -> str:
    """A key as messages show it: quoted unless it is a plain word."""
    return key if key.replace("-", "_").isidentifier() else shown(key)


def duration(seconds: float) -> str:
    """A duration such as 0.63 s, 3 min 20 s, 2 h 5 min."""
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def share(part: float) -> str:
    """A share in per cent; 100 % means all, and 0 % means none, without rounding."""
    percent = 100 * part
    if 0 < percent < 0.1:
        return "below 0.1 %"
    if 99.9 < percent < 100:
        return "above 99.9 %"
    return f"{percent:.1f} %"


def rate(points_per_second: float) -> str:
    """A rate with three significant digits: 834,000 points/s."""
    return f"{float(f'{points_per_second:.3g}'):,.{0 if points_per_second >= 100 else 2}f} points/s"
