"""The files of a store, in a local folder or at a URL: the only operations that differ.

Everything else about a store is written once, on these. `LocalFiles` says what each of them does. A
key is the path of a file relative to the root, with slashes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from sweep.store.local import LocalFiles
    from sweep.store.remote import RemoteFiles

GROUP = "zarr.json"  # metadata of the store
STATUS = "status/zarr.json"

Files: TypeAlias = "LocalFiles | RemoteFiles"


def attributes_of(files: Files) -> Mapping[str, Any]:
    """The attributes of a store; none without metadata. Raises ValueError if that is damaged."""
    return json.loads(files.read(GROUP) or b"{}").get("attributes", {})


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order in which files are put in place: metadata of status and group last.

    The shape of the status tells whether an extension still has to remove cut chunks; the group
    tells whether there is a store.
    """
    last = (STATUS, GROUP)
    return sorted(keys, key=lambda key: (last.index(key) if key in last else -1, key))
