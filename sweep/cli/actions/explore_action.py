"""`sweep explore`: write the page of a sweep, and open it."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.cli.printing import print_json
from sweep.cli.stopping import interruptible
from sweep.explorers import explore


def write_page(
    source: str,
    path: str | None,
    outputs: Sequence[str],
    size: int | None,
    *,
    open_page: bool,
    as_json: bool,
) -> None:
    """Write the page of a store or sweep file and print its path."""
    with interruptible("stopped by {cause}: nothing was written"):
        written = str(explore(source, path, outputs=outputs, size=size, open=open_page))
    if as_json:
        print_json({"file": written})
    else:
        print(written)
