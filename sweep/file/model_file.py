"""Models by name, by the path of a file, or as a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sweep.equations.model import model_of
from sweep.equations.system import System
from sweep.equations.system_file import examine
from sweep.errors import ConfigError, Fault, SweepError
from sweep.file.index_tables import with_index_tables
from sweep.file.spectra import with_spectra
from sweep.file.sweep_file import MODEL_KEYS, mapping_tables, parsed_file
from sweep.file.time_tables import COLUMNS, SAMPLES, with_samples
from sweep.model.installed import installed_model, offers
from sweep.model.shipped import shipped_models
from sweep.model.table import Model
from sweep.model.tables import models
from sweep.text.reader import Faults
from sweep.text.wording import nearest, written


def is_path(name: str) -> bool:
    """Whether it is the path of a model's file and not the name of a shipped model."""
    return "/" in name or "\\" in name or name.endswith(".toml")


def known_models() -> tuple[str, ...]:
    """The names of all models: shipped tables in Python, shipped files, installed packages."""
    return (*shipped_names(), *(offer.name for offer in offers() if offer.model))


def shipped_names() -> tuple[str, ...]:
    """The names of all shipped models: those with a table in Python, then those in files."""
    return (*models(), *shipped_models())


def read_model(source: str | Mapping[str, object], folder: Path) -> Model:
    """The model with a name, in the file with a path (relative to `folder`), or in a mapping.

    Raises ConfigError with all faults of the file, or if there is none.
    """
    if isinstance(source, str) and source in models():
        return models()[source]
    if isinstance(source, str) and not is_path(source) and source not in shipped_models():
        try:
            if model := installed_model(source):
                return model
        except SweepError as error:
            raise ConfigError(source, [Fault("", str(error))]) from error
    return model_of(read_system_file(source, folder))


def read_system_file(source: str | Mapping[str, object], folder: Path) -> System:
    """The checked system of equations of a model from a file, with its tests."""
    if not isinstance(source, str):
        name, tables = "[model]", mapping_tables(source)
    elif is_path(source) or source in shipped_models():
        path = folder / source if is_path(source) else shipped_models()[source]
        name, folder = source, path.parent
        tables = parsed_file(path, source, "model", shipped_names())
        if "model" in tables and tables.keys().isdisjoint(MODEL_KEYS):
            raise ConfigError(source, [_of_sweep_file(source, tables["model"])])
    elif source in (known := known_models()):
        what = f"{source!r} is a table in Python: only models in files have [[tests]]"
        raise ConfigError(source, [Fault("", what)])
    else:
        cure = file_beside(source, folder) or nearest(source, known)
        raise ConfigError(source, [Fault("", f"{written(source)} is unknown", cure)])
    unread = Faults()
    for read in (with_samples, with_spectra, with_index_tables):
        tables = read(tables, folder, unread)
    system, faults = examine(tables)
    keys = (*COLUMNS, *SAMPLES, "columns")
    follow = {f"{fault.where}.{key}" for fault in unread.found for key in keys}
    follow |= {fault.where for fault in unread.found}
    faults = (*unread.found, *(fault for fault in faults if fault.where not in follow))
    if system is None or faults:
        raise ConfigError(name, faults)
    return system


def file_beside(name: str, folder: Path) -> str:
    """A sentence with the model file of this name in a folder, if there is one."""
    is_there = f"{name}.toml" in {file.name for file in folder.glob("*.toml")}
    return f"did you mean './{name}.toml'?" if is_there else ""


def _of_sweep_file(source: str, model: object) -> Fault:
    """The fault of a path that is one of a sweep file of this model."""
    cure = "move its table [model] to a file of its own, and name that"
    if isinstance(model, str):
        named = str(Path(source).parent / model) if is_path(model) else model
        cure = f"name its model, {named!r}"
    return Fault("", f"{source!r} is a sweep file", cure)
