"""`sweep verify`: published figures compared with computed ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sweep.cli.app import Json, chosen, command, output_option
from sweep.cli.printing import print_json, print_table
from sweep.cli.stopping import interruptible

if TYPE_CHECKING:
    from sweep.verify.record import Record


@command("sweep verify", "sweep verify sdnd104", "sweep verify sdnd104 --json -o /tmp")
def verify(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of a document; default: all.")
    ] = None,
    folder: Annotated[Path, output_option("FOLDER", "Folder of the files.")] = Path(
        "results/verification"
    ),
    as_json: Json = False,
) -> None:
    """Compare published figures with computed ones.

    Prints the tables and writes them to NAME.md and NAME.json in the folder. A wrong figure in a
    document is shown next to the computed one. The exit status is 1 if one of the checks fails.
    """
    from sweep.verify import documents
    from sweep.verify.writing import as_json as plain
    from sweep.verify.writing import save

    by_name = documents()
    selected = list(by_name.values()) if name is None else [chosen("document", name, by_name)]
    with interruptible("stopped by {cause}"):
        records = [compare() for compare in selected]
        written = [path for record in records for path in save(record, folder)]
        if as_json:
            tables = [plain(record) for record in records]
            print_json(tables if name is None else tables[0])
        else:
            for record in records:
                _print(record)
            print("\n".join(map(str, written)))
        raise typer.Exit(0 if all(record.holds for record in records) else 1)


def _print(record: Record) -> None:
    from sweep.verify.writing import cells, check_table, heads

    print(f"{record.title}\n")
    for table in (*record.tables, check_table(record.checks)):
        print(table.title)
        print_table(cells(table), heads(table))
        print()
    for note in record.notes:
        print(f"- {note}")
    print(f"\n{record.verdict}\n")
