"""`sweep source`: the C++ text of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sweep.cli.app import command
from sweep.cli.models_command import known_or_path
from sweep.cli.parameters import chosen, option


@command(
    "sweep source friction_oscillator exact",
    "sweep source friction_oscillator exact --parameter-set cycles",
)
def source(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Name of a model.")],
    method: Annotated[str, typer.Argument(metavar="METHOD", help="Name of one of its methods.")],
    backend: Annotated[
        Literal["cpu", "gpu"], typer.Option(help="Backend that compiles the text.")
    ] = "cpu",
    parameter_set: Annotated[
        str | None, option("NAME", "Parameter set; default: the first of the model.")
    ] = None,
) -> None:
    """Print the C++ text of a kernel.

    The kernel computes all outputs of the model.
    """
    from sweep.config.model_file import read_model
    from sweep.source import Kernel, kernel_text

    table = read_model(known_or_path(model), Path())
    sets = {each.name: each for each in table.parameter_sets}
    kernel = Kernel(
        model=table,
        method=chosen(f"method of {model}", method, {each.name: each for each in table.methods}),
        parameter_set=chosen(f"parameter set of {model}", parameter_set or next(iter(sets)), sets),
        outputs=table.outputs,
    )
    print(kernel_text(kernel, backend), end="")
