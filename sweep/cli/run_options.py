"""Options of a command made from a table, as those of runs are from theirs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Annotated, Any, TypeVar

import typer

from sweep.options import OPTIONS, Option

Command = TypeVar("Command", bound=Callable[..., None])


def takes_run_options(*names: str) -> Callable[[Command], Command]:
    """A decorator for a command with `**options`: it takes these; one not given is None."""
    return takes({name: _described(name, OPTIONS[name]) for name in names})


def takes(options: Mapping[str, Any]) -> Callable[[Command], Command]:
    """A decorator for a command with `**others`: it takes these too, as flags without a metavar."""

    def extended(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        before = [each for each in own if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
        behind = [each for each in own if each.kind is Parameter.KEYWORD_ONLY]
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(option))
            for name, option in options.items()
        ]
        parameters = [*before, *added, *behind]
        vars(command)["__signature__"] = inspect.Signature(parameters)
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return extended


def _annotation(option: Any) -> Any:
    return Annotated[(str if option.metavar else bool) | None, option]


def _described(name: str, option: Option) -> Any:
    """The option as typer has it."""
    parser = _parser(option) if option.metavar else None
    flag = f"--{name.replace('_', '-')}"
    return typer.Option(flag, help=option.meaning, metavar=option.metavar or None, parser=parser)


def _parser(option: Option) -> Callable[[str], Any]:
    def value(text: str) -> Any:
        try:
            return option.read_text(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return value
