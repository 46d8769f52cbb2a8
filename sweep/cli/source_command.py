"""`sweep source`: the C++ text of a kernel."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, option


@command(
    "sweep source friction_oscillator exact",
    "sweep source friction_oscillator exact --parameter-set cycles",
)
def source(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Name of a model.")],
    method: Annotated[str, typer.Argument(metavar="METHOD", help="Name of one of its methods.")],
    backend: Annotated[
        Literal["cpu", "gpu"], option("cpu|gpu", "Backend that compiles the text.")
    ] = "cpu",
    parameter_set: Annotated[
        str | None, option("NAME", "Parameter set; default: the first of the model.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the C++ text of a kernel.

    The kernel computes all outputs of the model.
    """
    from sweep.cli.actions.source_action import print_source

    print_source(model, method, backend, parameter_set, as_json=as_json)
