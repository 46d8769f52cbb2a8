"""`sweep export`: the results in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sweep.cli.app import StorePath, app, examples, output_option


@app.command(epilog=examples("sweep export results/wear_power.zarr -o wear_power.csv"))
def export(
    store: StorePath,
    path: Annotated[Path, output_option("FILE", "Path ending in .nc or .csv.")],
) -> None:
    """Write the results as netCDF, or as CSV with one row per point.

    The file includes units, provenance and the status of each point.
    """
    from sweep.export import export as write
    from sweep.store import open_results
    from sweep.store.reading import settled

    print(write(settled(open_results(store)), path))
