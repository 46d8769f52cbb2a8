"""The command `sweep`: a table of its commands, each imported when it is chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from sweep.errors import SweepError
from sweep.text.wording import nearest
from sweep.version import __version__

Function = TypeVar("Function", bound=Callable[..., Any])

COMMANDS = {
    "run": ("sweep.cli.run_command", "Compute a sweep, or resume it."),
    "example": (
        "sweep.cli.example_command",
        "List the sweep files that come with the program, or print one.",
    ),
    "extend": (
        "sweep.cli.extend_command",
        "Append values to the axes of a store, for `sweep run` to compute.",
    ),
    "status": (
        "sweep.cli.status_command",
        "Show what is done, what is pending, and what to do next.",
    ),
    "show": (
        "sweep.cli.show_command",
        "Show the axes, parameters, provenance and outputs of a store.",
    ),
    "plot": ("sweep.cli.plot_command", "Draw one output as lines or a map, or its error."),
    "explore": (
        "sweep.cli.explore_command",
        "Write a page in which the map of a sweep can be explored.",
    ),
    "export": ("sweep.cli.export_command", "Write the results as netCDF, CSV or Parquet."),
    "trace": ("sweep.cli.trace_command", "Trace the motion of one point over time."),
    "wear": ("sweep.cli.wear_command", "Compute worn volume and depth over years."),
    "fit": ("sweep.cli.fit_command", "Fit master curves to the energies of rubbing contacts."),
    "compile": (
        "sweep.cli.compile_command",
        "Compile every kernel that a sweep needs into the cache.",
    ),
    "bench": (
        "sweep.cli.bench_command",
        "Measure how many points per second this machine computes.",
    ),
    "models": ("sweep.cli.models_command", "List the models, or describe or check one."),
    "source": ("sweep.cli.source_command", "Print the C++ text of a kernel."),
    "doctor": (
        "sweep.cli.doctor_command",
        "Check what this machine can compute, and how to fix problems.",
    ),
}  # in the order of the help: module and first sentence of the command

EXITS = """\b
Exit status:
  0    done
  1    some points failed and the others are in the store, or none could be computed
  2    wrong request
  3    the machine cannot do it (no compiler, disk full)
  70   a bug in the program; TRIBOSWEEP_DEBUG=1 shows the traceback
  130  Ctrl-C; run the same command to resume
  143  SIGTERM or time limit; run the same command to resume

\b
Environment:
  TRIBOSWEEP_CACHE_DIR  folder of compiled kernels
  TRIBOSWEEP_CXX        C++ compiler, instead of g++, clang++ or c++; options such as
                        -O1 make kernels compile faster and run slower
  TRIBOSWEEP_DEBUG      1 shows the traceback of a bug in the program
  XDG_CACHE_HOME        folder of caches, which include compiled kernels
  LOCALAPPDATA          the same on Windows, without XDG_CACHE_HOME
  CUDA_VISIBLE_DEVICES  the GPUs that may be used, as in any CUDA program
"""

_imported: dict[str, Any] = {}  # commands by name


class Commands(TyperGroup):
    """The commands of the table."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands.update({name: TyperCommand(name) for name in COMMANDS})  # for their names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 (as in the base)
        """A command, from its own module."""
        if cmd_name in COMMANDS:
            import_module(COMMANDS[cmd_name][0])
        return _imported.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called; SweepError with the nearest one if there is none."""
        if not (args[0].startswith("-") or ctx.resilient_parsing or args[0] in COMMANDS):
            cure = nearest(args[0], [*COMMANDS, "--help"])
            raise SweepError(f"there is no command {args[0]!r}; {cure}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands without importing one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


class Command(TyperCommand):
    """A command whose usage line shows what is typed: FILE, -o FILE, [NAME] if optional."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        typed = [each for each in self.params if each.param_type_name == "argument"]
        names = [str(each.metavar) for each in typed]
        shown = zip(names, typed, strict=True)
        arguments = [name if each.required else f"[{name}]" for name, each in shown]
        needed = [each for each in self.params if each.required and each not in typed]
        return ["[OPTIONS]", *arguments, *(f"{each.opts[-1]} {each.metavar}" for each in needed)]


def command(*examples: str, name: str | None = None) -> Callable[[Function], Function]:
    """A decorator of a command, with examples at the end of its help."""
    lines = "".join(f"  {example}\n" for example in examples)

    def declared(function: Function) -> Function:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        own_name = name or function.__name__
        alone.command(own_name, cls=Command, epilog=f"\b\nExamples:\n{lines}")(function)
        made: Any = typer.main.get_command(alone)
        for each in made.params:
            if each.param_type_name == "argument":
                each.display_type_rich = _no_type
        _imported[own_name] = made
        return function

    return declared


def _no_type(ctx: object) -> None:
    """Nothing in place of `<str>`, which help has behind the name of an argument."""


def usage_message(error: Any) -> str:
    """What is wrong with a command line and what to type, in the words of other messages."""
    message = str(error.format_message())
    command = getattr(getattr(error, "ctx", None), "command", None)
    params = [] if command is None else [*command.params]
    options = [name for each in params for name in each.opts if name.startswith("-")]
    options = [*dict.fromkeys([*options, "--help"])]
    if message.startswith("Usage:"):
        return message
    if message.startswith("No such option"):
        return f"there is no option {error.option_name!r}; {nearest(error.option_name, options)}"
    if extra := re.fullmatch(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)\.?", message):
        cure = "leave it out, or quote text with blanks"
        if "=" in extra[1] and (option := next((o for o in ("--at", "--set") if o in options), "")):
            cure = f"write {option} {extra[1]}"
        return f"{extra[1]!r} is one argument too many: {cure}"
    for kind, cure in {"integer": "give a whole number", "number": "give a number"}.items():
        message = re.sub(rf"Input should be a valid {kind}.*", cure, message)
    message = message.replace("Value error, ", "").removesuffix(".")
    return message[:1].lower() + message[1:]


app = typer.Typer(
    cls=Commands,
    epilog=EXITS,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _print_version(requested: bool) -> None:
    if requested:
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
    """Compute friction losses and wear over grids of parameters.

    To begin, list the shipped sweep files with `sweep example` and compute one with `sweep run`.
    """
