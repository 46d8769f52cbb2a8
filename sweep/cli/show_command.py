"""`sweep show`: what a store holds."""

from __future__ import annotations

from sweep.cli.app import Json, StorePath, app, examples
from sweep.cli.contents import (
    dataset_json,
    print_dataset,
    print_outputs,
    print_statuses,
    sentences_of,
)
from sweep.cli.printing import print_json


@app.command(epilog=examples("sweep show results/wear_power.zarr"))
def show(store: StorePath, as_json: Json = False) -> None:
    """Show the axes, parameters, provenance and outputs of a store.

    For each output: least, mean and greatest value, or the shares of a flag, over the points that
    are ok.
    """
    from sweep.store import open_results
    from sweep.summary import contents

    dataset = open_results(store)
    found = contents(dataset)
    sentences = sentences_of(dataset)
    if as_json:
        print_json(dataset_json(dataset, found, sentences))
    else:
        print_dataset(dataset)
        print_outputs(dataset, found)
        print_statuses(found.counts, sentences, found.causes)
