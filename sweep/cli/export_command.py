"""`sweep export`: the results in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sweep.cli.app import StorePath, app, examples, output_option


@app.command(epilog=examples("sweep export results/wear_power.zarr -o wear_power.csv"))
def export(
    store: StorePath,
    path: Annotated[Path, output_option("FILE", "Path ending in .nc, .csv or .parquet.")],
    comments: Annotated[
        bool, typer.Option("--comments", help="Units and provenance in a CSV file, behind #.")
    ] = False,
) -> None:
    """Write the results as netCDF, or as CSV or Parquet with one row per point.

    The file includes the status of each point; netCDF and Parquet also units and provenance, which
    for CSV are in FILE.txt unless --comments puts them at its head.
    """
    from sweep.exporting import export as write

    print(write(store, path, comments=comments))
