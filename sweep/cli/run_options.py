"""Run options as options of a command, made from their table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter
from typing import Annotated, Any, TypeVar

import typer

from sweep.options import OPTIONS, Option

Command = TypeVar("Command", bound=Callable[..., None])


def takes_run_options(*names: str) -> Callable[[Command], Command]:
    """A decorator for a command with `**options`: it takes these; one not given is None."""

    def extended(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        before = [each for each in own if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
        behind = [each for each in own if each.kind is Parameter.KEYWORD_ONLY]
        parameters = [*before, *(_parameter(name, OPTIONS[name]) for name in names), *behind]
        vars(command)["__signature__"] = inspect.Signature(parameters)
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return extended


def _parameter(name: str, option: Option) -> Parameter:
    """The parameter of a command that typer makes an option of."""
    flag = f"--{name.replace('_', '-')}"
    if not option.metavar:
        annotation: Any = Annotated[bool | None, typer.Option(flag, help=option.meaning)]
    else:
        described = typer.Option(
            flag, help=option.meaning, metavar=option.metavar, parser=_parser(option)
        )
        annotation = Annotated[str | None, described]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _parser(option: Option) -> Callable[[str], Any]:
    def value(text: str) -> Any:
        try:
            return option.read_text(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return value
