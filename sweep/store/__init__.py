"""The results of a sweep, on disk and in memory; the only package that uses zarr."""

from sweep.store.derived_stores import write_derived
from sweep.store.disk import Store
from sweep.store.in_stretches import InStretches, in_stretches, passes, stretches
from sweep.store.memory import MemoryResults
from sweep.store.pass_folder import PassFolder
from sweep.store.place import anything_at, is_in_memory, is_url, refuse_no_path
from sweep.store.reading import open_results
from sweep.store.remaining import Remaining, remaining

__all__ = [
    "InStretches",
    "MemoryResults",
    "PassFolder",
    "Remaining",
    "Store",
    "anything_at",
    "in_stretches",
    "is_in_memory",
    "is_url",
    "open_results",
    "passes",
    "refuse_no_path",
    "remaining",
    "stretches",
    "write_derived",
]
