"""`sweep models`: the models, their parameters, methods and outputs."""

from __future__ import annotations

from typing import Annotated

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, flag


@command("sweep models", "sweep models friction_oscillator", name="models")
def list_models(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The model to describe; default: list all.")
    ] = None,
    check: Annotated[
        bool,
        flag("--check", "Check the file and run its tests; status 1 if one fails."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the models, or describe or check one.

    NAME is also the path of a model's file. The description has parameters with units and ranges,
    methods, outputs and statuses. Models of installed packages that are left out are named on
    stderr, with the reason.
    """
    from sweep.cli.actions.models_action import print_models

    raise typer.Exit(print_models(name, check=check, as_json=as_json))
