"""Pages of the command line."""

from __future__ import annotations

import re

from generators.tables import code, plain, table
from sweep.cli.app import COMMANDS, EXITS
from sweep.errors import SweepError


def command_page() -> str:
    """Every command with its arguments and options, as its --help has them."""
    parts = [
        "# Commands\n\nEach command prints this text with `--help`. What `-o` and `--json` mean: "
        "[find a command](../how_to/use_commands.md). How commands end: "
        "[exit statuses](exit_statuses.md)."
    ]
    for name in COMMANDS:
        directive = _directive(
            "typer",
            f"sweep.cli.app.app:{name}",
            f":prog: sweep {name}",
            ":width: 88",
            ":preferred: text",  # with others it looks for a browser to download
            ":markup-mode: rich",  # it fails with None, which the app has
        )
        parts.append(f"## `sweep {name}`\n\n{directive}")
    return "\n\n".join(parts) + "\n"


def exit_status_page() -> str:
    """The exit statuses and environment variables of `sweep --help`."""
    statuses, _, variables = EXITS.partition("Environment:")
    return "\n\n".join(
        [
            "# Exit statuses and environment variables",
            "## Exit statuses",
            table(("status", "meaning"), _entries(statuses)),
            "In Python, whatever a user can act on is a `sweep.SweepError`, which has the status "
            f"of the command as `exit_status` ({SweepError.exit_status} or 3).",
            "## Environment variables",
            table(("variable", "meaning"), _entries(variables)),
        ]
    )


def _entries(text: str) -> list[tuple[str, str]]:
    """Rows of lines such as `  0    done`, which may go on in the next line."""
    rows = re.findall(r"^  (\S+) {2,}(.*(?:\n {8,}\S.*)*)", text, re.MULTILINE)
    return [(code(name), plain(re.sub(r"\s+", " ", meaning))) for name, meaning in rows]


def _directive(kind: str, name: str, *options: str) -> str:
    lines = [f".. {kind}:: {name}".rstrip(), *(f"   {option}".rstrip() for option in options)]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"
