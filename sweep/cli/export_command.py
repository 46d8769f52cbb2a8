"""`sweep export`: the results in other formats."""

from __future__ import annotations

from typing import Annotated

from sweep.cli.app import command
from sweep.cli.parameters import Json, StorePath, flag, output_option
from sweep.cli.printing import print_json


@command("sweep export results/wear_power.zarr -o wear_power.csv")
def export(
    store: StorePath,
    path: Annotated[
        str,
        output_option("FILE", "The file; its suffix sets the format: .nc, .csv or .parquet."),
    ],
    comments: Annotated[
        bool, flag("--comments", "Put units and provenance at the head of a CSV file, after #.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the results as netCDF, CSV or Parquet.

    A table has one row per point, with its status. Units and provenance are in the file; for CSV
    they are in FILE.txt unless --comments puts them at the file's head.
    """
    from sweep.results.exporting import export as write

    written = str(write(store, path, comments=comments))
    if as_json:
        print_json({"file": written})
    else:
        print(written)
