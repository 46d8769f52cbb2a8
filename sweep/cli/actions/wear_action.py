"""`sweep wear`: compute wear over years and keep it in a store of its own."""

from __future__ import annotations

from collections.abc import Mapping

from sweep.api import refuse_suffix, store_of_wear
from sweep.cli.actions.contents import next_command, print_summary, summary_json
from sweep.cli.printing import print_json, print_warning
from sweep.cli.stopping import interruptible
from sweep.file import load_wear
from sweep.file.quantities import as_written
from sweep.results.summary import contents
from sweep.results.wear_over_years import left_out, wear_over_time
from sweep.store import open_results, write_derived
from sweep.store.datasets import source_at
from sweep.text.wording import listed

NAME_KEYS = (
    "law",
    "geometry",
    "power",
)  # keys with names as values, even if these look like numbers


def write_wear(
    store: str, place: str | None, options: Mapping[str, str | bool | None], *, as_json: bool
) -> None:
    """Write the store of the wear that follows from another store, and print what it holds."""
    table: dict[str, object] = {
        key: as_written(value) if key not in NAME_KEYS and isinstance(value, str) else value
        for key, value in options.items()
        if value is not None
    }
    if isinstance(power := table.get("power"), str) and "," in power:
        table["power"] = [name.strip() for name in power.split(",")]
    wear = load_wear(table, "sweep wear", lambda key: f"--{key.replace('_', '-')}")
    with interruptible("stopped by {cause}: nothing was written"):
        source = source_at(store)
        dataset = open_results(store)
        written = place or store_of_wear(store)
        refuse_suffix(written)
        write_derived(wear_over_time(dataset, wear), written, source)
        if omitted := left_out(dataset, wear):
            print_warning(f"left out: {listed(omitted)}; wear does not carry them")
        worn = open_results(written)
        summary = contents(worn)
    if as_json:
        print_json({"store": written, **summary_json(worn, summary)})
        return
    print_summary(worn, summary)
    print(f"{written}\nnext: {next_command('plot', written)}")
