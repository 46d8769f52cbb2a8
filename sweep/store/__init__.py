"""The results of a sweep, on disk and in memory; the only package that uses zarr."""

from sweep.store.arrays import Arrays as Arrays
from sweep.store.blocks import Blocks as Blocks
from sweep.store.blocks import Remaining as Remaining
from sweep.store.blocks import remaining as remaining
from sweep.store.blocks import target_of as target_of
from sweep.store.datasets import open_results as open_results
from sweep.store.datasets import write_derived as write_derived
from sweep.store.disk_faults import gone as gone
from sweep.store.location import is_in_memory as is_in_memory
from sweep.store.location import is_url as is_url
from sweep.store.location import refuse_no_path as refuse_no_path
from sweep.store.store import Store as Store
from sweep.store.store_files import anything_at as anything_at
from sweep.store.target import Target as Target
