"""`sweep show`: what a store holds."""

from __future__ import annotations

from typing import Annotated

from sweep.cli.app import command
from sweep.cli.contents import dataset_json, print_dataset, print_summary
from sweep.cli.parameters import Json, StorePath, flag
from sweep.cli.printing import print_json


@command(
    "sweep show results/wear_power.zarr",
    "sweep show results/wear_power.zarr --config > wear_power.toml",
)
def show(
    store: StorePath,
    config: Annotated[
        bool, flag("--config", "Print the store's sweep file and nothing else.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the axes, parameters, provenance and outputs of a store.

    For each output: least, mean and greatest value, or the shares of a flag, over the points that
    are ok.
    """
    from sweep.config.stored import tables_of_store, text_of
    from sweep.engine.threads import in_threads
    from sweep.store import open_results
    from sweep.summary import contents

    if config:
        tables = tables_of_store(store)
        print_json(tables) if as_json else print(text_of(tables), end="")
        return
    with in_threads():
        dataset = open_results(store)
        summary = contents(dataset)
    if as_json:
        print_json(dataset_json(dataset, summary))
    else:
        print_dataset(dataset)
        print_summary(dataset, summary)
