"""The results of a sweep, on disk and in memory; the only package that uses zarr."""

from sweep.store.derived import write_derived
from sweep.store.disk import Store
from sweep.store.memory import MemoryResults
from sweep.store.pass_folder import PassFolder
from sweep.store.place import anything_at, is_in_memory, is_url, refuse_no_path
from sweep.store.reading import open_results

__all__ = [
    "MemoryResults",
    "PassFolder",
    "Store",
    "anything_at",
    "is_in_memory",
    "is_url",
    "open_results",
    "refuse_no_path",
    "write_derived",
]
