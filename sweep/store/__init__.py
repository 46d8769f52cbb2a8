"""The results of a sweep, on disk and in memory; the only package that uses zarr."""

from sweep.store.derived_stores import write_derived as write_derived
from sweep.store.disk import Store as Store
from sweep.store.faults import gone as gone
from sweep.store.files import PassFolder as PassFolder
from sweep.store.files import anything_at as anything_at
from sweep.store.in_stretches import InStretches as InStretches
from sweep.store.in_stretches import Remaining as Remaining
from sweep.store.in_stretches import Results as Results
from sweep.store.in_stretches import in_stretches as in_stretches
from sweep.store.in_stretches import passes as passes
from sweep.store.in_stretches import remaining as remaining
from sweep.store.in_stretches import stretches as stretches
from sweep.store.memory import MemoryResults as MemoryResults
from sweep.store.place import is_in_memory as is_in_memory
from sweep.store.place import is_url as is_url
from sweep.store.place import refuse_no_path as refuse_no_path
from sweep.store.reading import open_results as open_results
