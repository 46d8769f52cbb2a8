"""The results of a sweep, on disk and in memory; the only part that knows zarr."""

from sweep.store.disk import Store, open_results
from sweep.store.memory import MemoryResults

__all__ = ["MemoryResults", "Store", "open_results"]
