"""Objects of an fsspec file system by their keys: each is there whole, or not at all."""

from __future__ import annotations

from typing import Any


def put(system: Any, key: str, content: bytes) -> None:
    """An object, whole at once; one that is there is replaced."""
    system.pipe_file(key, content)


def remove(system: Any, key: str) -> None:
    """No object, whether there was one or not."""
    try:
        system.rm_file(key)
    except FileNotFoundError:
        pass


def found(system: Any, folder: str) -> list[str]:
    """The keys of all objects in a folder, in order."""
    system.invalidate_cache()  # fsspec remembers what others have changed since
    try:
        return sorted(system.find(folder))
    except FileNotFoundError:
        return []
