"""`sweep show`: print what a store holds."""

from __future__ import annotations

from sweep.cli.actions.contents import dataset_json, print_dataset, print_summary
from sweep.cli.printing import print_json
from sweep.engine.dask_threads import in_threads
from sweep.file.stored import tables_of_store, text_of
from sweep.results.summary import contents
from sweep.store import open_results


def print_store(store: str, *, config: bool, as_json: bool) -> None:
    """Print what a store holds, or its sweep file."""
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
