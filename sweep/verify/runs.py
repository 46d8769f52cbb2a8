"""Sweeps computed in memory for the comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import xarray as xr

from sweep.config import load
from sweep.engine.loop import run
from sweep.errors import SweepError
from sweep.spec import Status
from sweep.store import MemoryResults


def computed(
    model: str,
    method: str,
    outputs: Sequence[str],
    parameters: Mapping[str, float],
    axes: Mapping[str, Sequence[float]],
) -> xr.Dataset:
    """The outputs over the grid of the axes, with dimensions named after them; SI units.

    Raises SweepError unless every point is ok: a comparison cannot use missing values.
    """
    source = {
        "model": model,
        "method": method,
        "outputs": list(outputs),
        "parameters": dict(parameters),
        "axes": {name: {"values": list(values)} for name, values in axes.items()},
    }
    request = load(source)
    results = MemoryResults(request.sweep)
    run(results, request.options)
    dataset = results.dataset()
    if (dataset["status"] != Status.ok).any():
        raise SweepError(f"{model} by {method}: some points of the comparison are not computed")
    return dataset
