"""`sweep show`: what a store holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sweep.cli.app import Json, StorePath, app, examples
from sweep.cli.contents import dataset_json, print_dataset, print_outputs, print_statuses
from sweep.cli.printing import print_json

if TYPE_CHECKING:
    from sweep.spec import Status


@app.command(epilog=examples("sweep show results/wear_power.zarr"))
def show(store: StorePath, as_json: Json = False) -> None:
    """Show the axes, parameters, provenance and outputs of a store.

    For each output: least, mean and greatest value, or the shares of a flag, over the points that
    are ok.
    """
    from sweep.plan import model_in
    from sweep.store import open_results
    from sweep.summary import contents

    dataset = open_results(store)
    found = contents(dataset)
    model = model_in(dataset.attrs)
    sentences: Mapping[Status, str] = model.sentences if model else {}
    if as_json:
        print_json(dataset_json(dataset, found, sentences))
    else:
        print_dataset(dataset)
        print_outputs(dataset, found)
        print_statuses(found.counts, sentences, found.causes)
