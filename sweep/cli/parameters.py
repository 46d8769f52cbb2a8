"""Arguments and options that commands share, and how they are read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar

import typer

from sweep.errors import SweepError
from sweep.request.options import OPTIONS, Option
from sweep.text.wording import nearest

Named = TypeVar("Named")
Command = TypeVar("Command", bound=Callable[..., Any])


def filled(parameter: typer.CallbackParam, value: str | None) -> str | None:
    """The value of an argument or option; SweepError if it is empty."""
    if value == "":
        argument = parameter.param_type_name == "argument"
        name = parameter.metavar if argument else parameter.opts[0]
        raise SweepError(f"{name} is empty; is a shell variable unset?")
    return value


def argument(metavar: str, meaning: str) -> Any:
    """An argument that must not be empty if it is given."""
    return typer.Argument(metavar=metavar, help=meaning, callback=filled)


def option(metavar: str, meaning: str, *names: str) -> Any:
    """An option with a value; by default it is named after its parameter."""
    return typer.Option(*names, metavar=metavar, help=meaning)


def flag(name: str, meaning: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=meaning)


def output_option(kind: Literal["STORE", "FILE", "FOLDER"], meaning: str) -> Any:
    """The option -o, for the one place where the result of a command goes.

    `meaning` ends with "Default: ...", unless the option is required.
    """
    names = ("--output", "--store", "-o") if kind == "STORE" else ("--output", "-o")
    return typer.Option(*names, parser=_output_text, metavar=kind, help=meaning)


def _output_text(text: str) -> str:
    """The value of --output; SweepError if it is empty, which a path would take for the folder."""
    if text == "":
        raise SweepError("--output is empty; is a shell variable unset?")
    return text


Json = Annotated[bool, flag("--json", "Print JSON.")]
StorePath = Annotated[str, argument("STORE", "A store made by `sweep run`.")]
ConfigPath = Annotated[str, argument("FILE", "A sweep file, or the name of a shipped one.")]
Overrides = Annotated[
    list[str] | None,
    option("NAME=VALUE", "Override one entry of the file; may be repeated.", "--set"),
]


def takes_run_options(*names: str) -> Callable[[Command], Command]:
    """A decorator for a command with `**options`: it takes these; one not given is None."""
    return takes({name: _run_option(name, OPTIONS[name]) for name in names})


def takes(options: Mapping[str, Any]) -> Callable[[Command], Command]:
    """A decorator for a command with `**others`: it takes these too, as flags without a metavar."""
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[(str if each.metavar else bool) | None, each],
        )
        for name, each in options.items()
    ]

    def extended(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        before = [each for each in own if each.kind is each.POSITIONAL_OR_KEYWORD]
        behind = [each for each in own if each.kind is each.KEYWORD_ONLY]
        parameters = [*before, *added, *behind]
        vars(command)["__signature__"] = inspect.Signature(parameters)
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return extended


def _run_option(name: str, row: Option) -> Any:
    """A row of the table of run options as typer has it."""

    def parsed(text: str) -> Any:
        try:
            return row.read_text(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    parser = parsed if row.metavar else None
    names = f"--{name.replace('_', '-')}"
    return typer.Option(names, help=row.meaning, metavar=row.metavar or None, parser=parser)


def chosen(kind: str, name: str, choices: Mapping[str, Named]) -> Named:
    """The choice with this name; SweepError with the nearest known name if there is none."""
    if name in choices:
        return choices[name]
    raise SweepError(f"there is no {kind} {name!r}; {nearest(name, choices)}")


def named(texts: Iterable[str] | None, option_name: str = "--at") -> dict[str, str]:
    """The texts of `--at NAME=VALUE`, or of another option of that form, by name."""
    values: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=option_name)
        if name in values:
            raise typer.BadParameter(f"{name} is given twice", param_hint=option_name)
        values[name] = value
    return values
