"""How the commands read stores: through Dask, in threads of this process."""

from __future__ import annotations

from contextlib import AbstractContextManager

from dask import config as dask_config
from dask.base import named_schedulers


def in_threads() -> AbstractContextManager[object]:
    """A context in which Dask computes in threads, whatever the user's settings are.

    With the name "threads" Dask would import distributed before it looks the name up, which takes
    longer than reading a small store.
    """
    return dask_config.set(scheduler=named_schedulers["threads"])
