"""A sweep file as it was written, with what `--set` changes; its sense is checked elsewhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal, TypeGuard, cast

import numpy as np

from sweep.errors import ConfigError, Fault
from sweep.shipped import shipped_configs
from sweep.wording import key_text, nearest, shown

Table = dict[str, object]
Flag = Literal["--set", "--at"]

TOP_LEVEL_KEYS = ("format", "model", "method", "outputs", "dtype")
TABLES = ("parameters", "axes", "sample", "refine", "run")
SAMPLE_KEYS = ("method", "points", "seed", "file", "columns")  # all others are parameters
MAX_FILE_BYTES = 2**26  # of a sweep file


@dataclass
class Draft:
    """The document as read, and all that was found wrong with it so far."""

    source: str  # as errors name it
    name: str | None  # stem of the file; "": a pipe has none; None: no file
    folder: Path  # that paths in the document are relative to
    document: Table
    faults: list[Fault] = field(default_factory=list[Fault])
    overridden: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def fault(self, table: str, key: str, message: str) -> None:
        """Note a fault; table "" is the top of the document, key "" the table as a whole."""
        self.faults.append(Fault(self.place(table, key), message))

    def note(self, table: str, wrong: Mapping[str, str]) -> None:
        """Note a fault for each key of a table that is wrong."""
        for key, sentence in wrong.items():
            self.fault(table, key, sentence)

    def place(self, table: str, key: str) -> str:
        """Where the user wrote it: `[parameters] mass`, `model`, `--set friction`."""
        if option := self.overridden.get((table, key)):
            return option
        if table:
            return f"[{table}] {key_text(key)}" if key else f"[{table}]"
        bracketed = key in TABLES or is_table(self.document.get(key))
        return f"[{key_text(key)}]" if bracketed else key_text(key)


def is_table(value: object) -> TypeGuard[Table]:
    """Whether it is a table (whose keys `read` has made text)."""
    return isinstance(value, dict)


def read(
    source: str | Path | Mapping[str, object],
    overrides: Sequence[str] = (),
    at: Sequence[str] = (),
) -> Draft:
    """The draft of a TOML file, a shipped one's name, or a mapping, with `--set` overrides applied.

    So are the `name=value` texts of `at`, each of which gives a parameter one value. Raises
    ConfigError where there is no document at all; the faults of overrides are noted in it.
    """
    if isinstance(source, Mapping):
        draft = Draft("the sweep given", None, Path(), _document(source))
    else:
        path = _found(source)
        document = _parsed(_text(path, str(source)), str(source))
        name = path.stem if path.is_file() else ""  # a pipe is called by a number
        draft = Draft(str(source), name, path.parent, document)
    for override in _texts(draft, overrides, "overrides"):
        _override(draft, override, "--set")
    for override in _texts(draft, at, "at"):
        _override(draft, override, "--at")
    return draft


def _texts(draft: Draft, given: object, name: str) -> list[str]:
    """The texts that are given, one or several; what is none is a fault."""
    several: list[object] = [given]
    if isinstance(given, Iterable) and not isinstance(given, str):
        several = list(cast(Iterable[object], given))
    for each in several:
        if not isinstance(each, str):
            draft.faults.append(Fault(name, f'{shown(each)} is not text such as "friction=0.2"'))
    return [each for each in several if isinstance(each, str)]


def _found(source: str | Path) -> Path:
    try:
        path = Path(source)
        if not path.is_file() and str(source) in shipped_configs():
            return shipped_configs()[str(source)]
    except (OSError, ValueError, TypeError):  # a name no file can have
        message = f"{shown(source)} is no path of a sweep file"
        raise ConfigError(shown(source), [Fault("", message)]) from None
    return path


def _text(path: Path, source: str) -> str:
    try:
        with path.open("rb") as file:  # a pipe will do; a device may have no end
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) <= MAX_FILE_BYTES:
            return content.decode("utf-8-sig")
        message = "this is larger than a sweep file can be; put long axes into CSV files"
    except FileNotFoundError:
        cure = nearest(path.stem, shipped_configs())
        message = f"there is no such file, nor a shipped sweep file of that name; {cure}"
    except IsADirectoryError:
        message = "this is a folder; give the path of a TOML file in it"
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"line {line} is not UTF-8 text; save the file as UTF-8"
    except (OSError, ValueError) as error:
        message = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    raise ConfigError(source, [Fault("", message)])


def _parsed(text: str, source: str) -> Table:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(source, [Fault("", "values are nested too deeply")]) from None
    except ValueError as error:
        raise ConfigError(source, [_syntax_fault(str(error), text)]) from None


def _syntax_fault(problem: str, text: str) -> Fault:
    """What tomllib said, with its place in front and the line it stumbled over behind."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", problem)
    if match is None:
        return Fault("", f"this is not TOML: {problem}")
    reason = match[1][0].lower() + match[1][1:]
    reason = reason.replace("('", "[").replace("', '", ".").replace("',)", "]").replace("')", "]")
    if match[2] is None:
        return Fault("end of file", f"this is not TOML: {reason}")
    line = text.split("\n")[int(match[2]) - 1].strip()
    cure = "; text stands in quotes" if reason == "invalid value" else ""
    place = f"line {match[2]}, column {match[3]}"
    return Fault(place, f"this is not TOML: {reason} in {shown(line)}{cure}")


def _document(source: Mapping[str, object]) -> Table:
    try:
        return cast(Table, plain(source))
    except RecursionError:
        raise ConfigError("the sweep given", [Fault("", "values are nested too deeply")]) from None


def plain(value: object) -> object:
    """The same value in TOML's types: no tuples, paths, or numbers and arrays of NumPy."""
    if isinstance(value, (np.generic, np.ndarray)):
        return cast(object, value.tolist())
    if isinstance(value, Mapping):
        entries = cast(Mapping[object, object], value).items()
        return {str(key): plain(entry) for key, entry in entries}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in cast(Sequence[object], value)]
    return str(value) if isinstance(value, PurePath) else value


def _override(draft: Draft, text: str, flag: Flag) -> None:
    """Apply one `name=value`, or note why it cannot be."""
    option, equals, value_text = text.partition("=")
    option = option.strip()
    table, _, key = option.rpartition(".")
    if not table and key not in TOP_LEVEL_KEYS:
        table = "parameters"
    wrong = _wrong_option(flag, option, equals, table, key)
    if not wrong and flag == "--at" and _is_given(draft, key):
        wrong = "it is given twice, and a point has one value of each parameter"
    value = None if wrong else _override_value(value_text.strip())
    if value is None:
        cure = wrong or f"{shown(value_text.strip())} is not a TOML value"
        draft.faults.append(Fault(f"{flag} {text if text.isprintable() else shown(text)}", cure))
    elif table in ("parameters", "axes") or (table == "sample" and key not in SAMPLE_KEYS):
        _set_parameter(draft, f"{flag} {option}", table, key, value)
    else:
        _set_entry(draft, table, key, value)
        draft.overridden[table, key] = f"{flag} {option}"


def _wrong_option(flag: Flag, option: str, equals: str, table: str, key: str) -> str | None:
    if not equals or not key:
        return f"write {flag} name=value"
    if flag == "--at" and table != "parameters":
        return f"--at gives parameters their values; write --set {option}=..."
    if option in TABLES:
        return f"this is a whole table; set one entry of it: --set {option}.name=value"
    if table.startswith("axes."):
        return f"set an axis as a whole: --set '{table[5:]}={{ linspace = [first, last, count] }}'"
    if table.startswith("sample."):
        return f"set a range as a whole: --set '{table[7:]}={{ uniform = [least, greatest] }}'"
    if table not in ("", *TABLES):
        return f"there is no table {shown(table)}; {nearest(table, TABLES)}"
    return None


def _is_given(draft: Draft, name: str) -> bool:
    """Whether a `--set` or an `--at` before has given the parameter a value."""
    return any((table, name) in draft.overridden for table in ("parameters", "axes", "sample"))


def _override_value(text: str) -> object:
    """The text as a TOML value, or itself where the shell ate its quotes; None if it is neither."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        bare = text != "" and text[0] not in "[{\"'" and text.isprintable()
        return text if bare else None
    return parsed["value"] if list(parsed) == ["value"] else None


def _set_parameter(draft: Draft, place: str, asked: str, name: str, value: object) -> None:
    """Vary the parameter if the value is a table, else make it a constant; and not the other.

    It varies along an axis, or in the sample where the document has one or that is asked for.
    """
    sampled = "sample" in draft.document and asked != "axes"
    varied = "sample" if sampled or asked == "sample" else "axes"
    table = varied if is_table(value) else "parameters"
    for other in ("parameters", "axes", "sample"):
        entries = draft.document.get(other)
        if other != table and is_table(entries) and not (other == "sample" and name in SAMPLE_KEYS):
            entries.pop(name, None)
    _set_entry(draft, table, name, value)
    draft.overridden[table, name] = place


def _set_entry(draft: Draft, table: str, key: str, value: object) -> None:
    entries = draft.document.setdefault(table, {}) if table else draft.document
    if is_table(entries):
        entries[key] = value
