"""`sweep export`: the results in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sweep.cli.app import StorePath, app, examples, output_path


@app.command(epilog=examples("sweep export results/wear_power.zarr -o wear_power.csv"))
def export(
    store: StorePath,
    path: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=output_path,
            metavar="FILE",
            help="Path ending in .nc or .csv.",
        ),
    ],
) -> None:
    """Write the results as netCDF, or as CSV with one row per point.

    The file includes units, provenance and the status of each point.
    """
    from sweep.export import export as write
    from sweep.store import open_results
    from sweep.store.reading import settled

    print(write(settled(open_results(store)), path))
