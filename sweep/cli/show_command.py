"""`sweep show`: what a store holds."""

from __future__ import annotations

from typing import Annotated

from sweep.cli.app import command
from sweep.cli.parameters import Json, StorePath, flag


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
    from sweep.cli.actions.show_action import print_store

    print_store(store, config=config, as_json=as_json)
