"""Pages of the command line and of the Python functions."""

from __future__ import annotations

import inspect
import pkgutil
import re

import sweep
from generators.tables import code, plain, table
from sweep import theory
from sweep.cli.app import COMMANDS, EXITS
from sweep.errors import SweepError
from sweep.theory import elementary


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


def python_page() -> str:
    """The functions and types of `sweep`, and the closed forms of `sweep.theory`."""
    parts = ["# Python\n\n`import sweep` imports nothing else until a function is used."]
    public = {name: getattr(sweep, name) for name in sweep.__all__ if name != "__version__"}
    functions = [name for name, each in public.items() if inspect.isfunction(each)]
    types = [name for name, each in public.items() if isinstance(each, type)]
    parts.append("## Functions")
    parts += [_directive("autofunction", f"sweep.{name}") for name in functions]
    parts.append("## Types")
    others = [name for name in public if name not in (*functions, *types)]
    rows = [(code(f"sweep.{name}"), code(str(public[name]))) for name in others]
    parts.append(table(("name in signatures", "stands for"), rows))
    for name in sorted(types):
        kind = "autoexception" if issubclass(public[name], Exception) else "autoclass"
        parts.append(_directive(kind, f"sweep.{name}"))
    parts.append("## Closed forms\n\nNumPy functions of arrays, in SI units.")
    packages = pkgutil.walk_packages(theory.__path__, "sweep.theory.")
    modules = (each for each in packages if each.name != elementary.__name__)
    for module in sorted(each.name for each in modules):
        parts.append(f"### `{module}`\n\n{_directive('automodule', module, ':members:')}")
    return "\n\n".join(parts) + "\n"


def _directive(kind: str, name: str, *options: str) -> str:
    lines = [f".. {kind}:: {name}", *(f"   {option}" for option in options)]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"
