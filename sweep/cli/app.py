"""The command `sweep` itself, and what its subcommands share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sweep import __version__
from sweep.errors import SweepError

if TYPE_CHECKING:
    from sweep.engine import OpenBackend

Named = TypeVar("Named")


@dataclass(frozen=True)
class Invocation:
    """What commands know of their call: its arguments, and what opens backends."""

    arguments: tuple[str, ...]
    open_backend: OpenBackend | None = None  # None: by name, as ever


def filled(parameter: typer.CallbackParam, value: str | None) -> str | None:
    """The value of an argument or option; SweepError if it is an empty text."""
    if value == "":
        argument = parameter.param_type_name == "argument"
        name = parameter.metavar if argument else parameter.opts[0]
        raise SweepError(_empty(name))
    return value


def _empty(name: str | None) -> str:
    return f"{name} is empty: an unset variable of the shell, perhaps"


def output_path(text: str | Path) -> Path:
    """What --output says; SweepError if it is an empty text, which a Path would not tell."""
    if text == "":
        raise SweepError(_empty("--output"))
    return Path(text)


Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
StorePath = Annotated[
    str,
    typer.Argument(metavar="STORE", help="A store that `sweep run` made.", callback=filled),
]
ConfigPath = Annotated[
    str,
    typer.Argument(
        metavar="CONFIG", help="A sweep file, or the name of a shipped one.", callback=filled
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change one entry of the file."),
]

EXITS = """\b
Exit status:
  0    done
  1    some points failed, and the rest is in the store; or none could be computed
  2    the request was wrong
  3    stopped by the machine (no compiler, disk full)
  70   a fault of the program; TRIBOSWEEP_DEBUG=1 shows where
  130  Ctrl-C: run again to go on
  143  SIGTERM or time limit: run again to go on

\b
Environment:
  TRIBOSWEEP_CACHE_DIR  folder of compiled kernels
  TRIBOSWEEP_CXX        the C++ compiler, instead of g++, clang++ or c++
"""

app = typer.Typer(
    epilog=EXITS,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def examples(*commands: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "".join(f"  {command}\n" for command in commands)


def chosen(kind: str, name: str, choices: Mapping[str, Named]) -> Named:
    """The choice of that name; SweepError with the nearest known name if there is none."""
    if name in choices:
        return choices[name]
    from sweep.wording import nearest

    raise SweepError(f"there is no {kind} {name!r}; {nearest(name, choices)}")


def places(texts: Iterable[str]) -> dict[str, float]:
    """What --at says: the value of each name."""
    cuts: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name.strip() in cuts:
            raise typer.BadParameter(f"{name.strip()} is given twice", param_hint="--at")
        try:
            cuts[name.strip()] = float(value)
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is not NAME=VALUE with a plain number in SI units", param_hint="--at"
            ) from None
    return cuts


def _print_version(asked: bool) -> None:
    if asked:
        print(f"tribosweep {__version__}")
        raise typer.Exit


@app.callback()
def sweep(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Friction dissipation and wear over grids of parameters.

    `sweep example` lists sweep files to begin with, `sweep run` computes one.
    """
