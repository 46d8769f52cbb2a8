"""A sweep file as written, before its content is checked."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import BinaryIO, TypeGuard, cast

import numpy as np

from sweep.errors import ConfigError, Fault
from sweep.file.keys import AXIS_FORMS, HOW_READ, SAMPLE, TABLES
from sweep.file.quantities import BARE_POINT, POINT_CURE
from sweep.file.stored import is_store, tables_of_store
from sweep.model.shipped import shipped_configs
from sweep.text.reader import Faults, Table
from sweep.text.wording import UNREADABLE, key_text, nearest, special, written

Entries = dict[str, object]
Places = Mapping[tuple[str, str], str]  # by table and key: the option that set the entry

MODEL_KEYS = ("states", "derivatives", "modes")  # that a model file has and a sweep file has not
MAX_FILE_BYTES = 2**26
# Files that the process has open already, as those of a shell's `<(command)`.
DESCRIPTOR = re.compile(r"/dev/stdin|(?:/dev/fd|/proc/self/fd)/(\d+)")
MAPPING_NAME = "the sweep given"  # how messages refer to a mapping
SYNTAX_CURES = {  # by the beginning of what tomllib says
    "invalid value": "put text in quotes",
    "cannot overwrite a value": "give each key once",
    "cannot declare": "give each table once",
}
FLAG = re.compile(r"= *(yes|no|on|off|true|false)\b", re.IGNORECASE)  # as others write it
FLAG_CURE = "a flag is true or false; put text in quotes"
TOO_DEEP = Fault("", "values are nested too deeply")


@dataclass(frozen=True)
class Document:
    """A sweep file or mapping, with its overrides and the values of `at`."""

    source: str  # how messages refer to it
    name: str | None  # stem of the file; "": read from a pipe; None: no file
    folder: Path  # where relative paths start
    tables: Entries  # the top level
    places: Places
    numbers: Mapping[str, object] = field(default_factory=dict[str, object])  # by `at`: {"case": 2}
    is_stored: bool = False  # the tables are those of a store

    def table(self, faults: Faults) -> Table:
        """The top level, ready to be read."""
        return Table(self.tables, "", faults, self.place)

    def place(self, table: str, key: str) -> str:
        """Where the user wrote an entry: `[parameters] mass`, `override mass`."""
        if option := self.places.get((table, key)):
            return option
        if table:
            return f"[{table}] {key_text(key)}" if key else f"[{table}]"
        is_bracketed = key in TABLES or is_table(self.tables.get(key))
        return f"[{key_text(key)}]" if is_bracketed else key_text(key)

    def fixed_parameters(self) -> set[str]:
        """The parameters to which overrides or `at` give one value."""
        return {key for table, key in self.places if table == "parameters"}


def is_table(value: object) -> TypeGuard[Entries]:
    """Whether it is a table, whose keys are text (`plain` has seen to that)."""
    return isinstance(value, dict)


def has_several(axis: object) -> TypeGuard[Entries]:
    """Whether an entry of [axes] is a table of several parameters along one dimension."""
    return is_table(axis) and any(map(is_table, axis.values()))


def sample_keys(sample: Mapping[str, object]) -> list[str]:
    """The keys of [sample] that are not parameters in this table."""
    is_range = {key: is_table(sample.get(key)) for key in HOW_READ}
    return [key for key in SAMPLE.keys if not is_range.get(key)]


def with_values(axis: object) -> object:
    """An entry of [axes] in which a list stands for a table with these `values`."""
    if isinstance(axis, list):
        return {"values": cast("list[object]", axis)}
    if is_table(axis) and len(axis) > 1 and axis.keys().isdisjoint((*AXIS_FORMS, "column")):
        return {name: with_values(each) for name, each in axis.items()}
    return axis


def _with_axis_values(tables: Entries) -> Entries:
    if not is_table(axes := tables.get("axes")):
        return tables
    return {**tables, "axes": {name: with_values(axis) for name, axis in axes.items()}}


def read(source: str | Path | Mapping[str, object]) -> Document:
    """The document in a TOML file, a shipped one given by name, or a mapping; also that of a store.

    Raises ConfigError if there is none, StoreError if a folder, a URL or a .zarr has no store.
    """
    if hasattr(source, "data_vars"):  # a Dataset, which is a mapping too
        cure = "give the sweep file, or the path of their store"
        raise ConfigError(
            type(source).__name__, [Fault("", "these are results, not a sweep", cure)]
        )
    if isinstance(source, Mapping):
        return Document(MAPPING_NAME, None, Path(), _with_axis_values(mapping_tables(source)), {})
    path = _path(source)
    if is_store(source):
        tables = tables_of_store(source)
        return Document(str(source), path.stem, Path(), tables, {}, is_stored=True)
    tables = parsed_file(path, str(source), "sweep file", shipped_configs())
    if is_model(tables):
        cure = f'write a sweep file with model = "./{path.name}"'
        raise ConfigError(str(source), [Fault("", "this is a model file", cure)])
    name = path.stem if path.is_file() else ""  # the name of a pipe is a number
    return Document(str(source), name, path.parent, _with_axis_values(tables), {})


def is_model(tables: Mapping[str, object]) -> bool:
    """Whether the tables are those of a model file, not of a sweep file."""
    return "model" not in tables and not tables.keys().isdisjoint(MODEL_KEYS)


def parsed_file(path: Path, source: str, kind: str, shipped: Iterable[str]) -> Entries:
    """The tables of a TOML file; `source` is how messages refer to it. Raises ConfigError.

    `kind` says what the file should be, and `shipped` are the names of those that are shipped.
    """
    text = _text(path, source, kind, shipped)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(source, [TOO_DEEP]) from None
    except ValueError as error:
        raise ConfigError(source, [_syntax_fault(str(error), text)]) from None


def plain(value: object) -> object:
    """The same value in TOML's types: without tuples, paths, and NumPy's numbers and arrays."""
    if isinstance(value, (np.generic, np.ndarray)):
        return cast(object, value.tolist())
    if isinstance(value, Mapping):
        entries = cast(Mapping[object, object], value).items()
        return {str(key): plain(entry) for key, entry in entries}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in cast(Sequence[object], value)]
    return str(value) if isinstance(value, PurePath) else value


def mapping_tables(source: Mapping[str, object]) -> Entries:
    """A mapping in TOML's types; ConfigError if it is nested too deeply."""
    try:
        return cast(Entries, plain(source))
    except RecursionError:
        raise ConfigError(MAPPING_NAME, [TOO_DEEP]) from None


def _path(source: str | Path) -> Path:
    try:
        path = Path(source)
        if not path.is_file() and str(source) in shipped_configs():
            return shipped_configs()[str(source)]
    except PermissionError:  # named where the file is read
        return Path(source)
    except (OSError, ValueError, TypeError):  # no file can have such a name
        what = f"{written(source)} is not the path of a sweep file"
        raise ConfigError(
            written(source), [Fault("", what, "give one, or a shipped name")]
        ) from None
    return path


def _text(path: Path, source: str, kind: str, shipped: Iterable[str]) -> str:
    try:
        with _opened(path) as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) <= MAX_FILE_BYTES:
            return content.decode("utf-8-sig")
        what = f"larger than {MAX_FILE_BYTES // 2**20} MiB"
        fault = Fault("", what, "put long axes into CSV files")
    except FileNotFoundError:
        cure = _nearest_file(path, source) or nearest(path.stem, shipped)
        what = f"there is no file {source!r}, and no shipped {kind} of that name"
        fault = Fault("", what, cure)
    except IsADirectoryError:
        fault = Fault("", "this is a folder", "give the path of a TOML file in it")
    except PermissionError:
        fault = Fault("", UNREADABLE)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        fault = Fault("", f"line {line} is not UTF-8 text", "save the file as UTF-8")
    except (OSError, ValueError) as error:
        fault = Fault("", f"cannot be read: {getattr(error, 'strerror', None) or error}")
    raise ConfigError(source, [fault])


def _opened(path: Path) -> BinaryIO:
    """The file, or the pipe that a shell has opened; OSError for what may have no end."""
    kind, descriptor = special(path), DESCRIPTOR.fullmatch(str(path))
    if not kind:
        return path.open("rb")
    if descriptor and kind != "a device":  # by its number: opening a FIFO again may never end
        return os.fdopen(os.dup(int(descriptor[1] or 0)), "rb")
    cure = "give a file, or a pipe as in `command | sweep run /dev/stdin`"
    raise OSError(f"it is {kind}, and reading it may never end; {cure}")


def _nearest_file(path: Path, source: str) -> str:
    """A sentence with the TOML file whose name is nearest in the same folder, if one is near."""
    files = [file.name for file in path.parent.glob("*.toml")]
    near = get_close_matches(path.name, files, n=1)
    return f"did you mean {source.removesuffix(path.name) + near[0]!r}?" if near else ""


def _syntax_fault(problem: str, text: str) -> Fault:
    """The message of tomllib, preceded by its location and followed by the faulty line."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", problem)
    if match is None:
        return Fault("", f"this is not TOML: {problem}")
    reason = match[1][0].lower() + match[1][1:]
    reason = reason.replace("('", "[").replace("', '", ".").replace("',)", "]").replace("')", "]")
    if match[2] is None:
        return Fault("end of file", f"this is not TOML: {reason}")
    line = text.split("\n")[int(match[2]) - 1].strip()
    cure = next((cure for start, cure in SYNTAX_CURES.items() if reason.startswith(start)), "")
    if cure == SYNTAX_CURES["invalid value"] and FLAG.search(line):
        cure = FLAG_CURE
    if not re.search("[\"'#]", line) and BARE_POINT.search(line):  # of no text or comment
        cure = POINT_CURE
    place = f"line {match[2]}, column {match[3]}"
    return Fault(place, f"this is not TOML: {reason} in {written(line)}", cure)
