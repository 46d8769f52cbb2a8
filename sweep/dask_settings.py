"""Dask's configuration files, which are read when Dask is imported: by xarray, for example."""

from __future__ import annotations

from sweep.errors import MachineError


def unreadable_settings(error: Exception) -> MachineError | None:
    """The error to show if Dask cannot read one of its configuration files; None otherwise."""
    if isinstance(error, ValueError) and str(error).startswith("A dask config file"):
        return MachineError(f"{error}\ncorrect this Dask configuration file, or remove it")
    return None
