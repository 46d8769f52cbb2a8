"""`sweep source`: the C++ text of a kernel."""

from __future__ import annotations

from pathlib import Path

from sweep.cli.actions.models_action import known_or_path
from sweep.cli.parameters import chosen
from sweep.cli.printing import print_json
from sweep.file.model_file import read_model
from sweep.kernel.source import Kernel, Target, kernel_text


def print_source(
    model: str, method: str, backend: Target, parameter_set: str | None, *, as_json: bool
) -> None:
    """Print the C++ text of a kernel with all outputs of its model."""
    table = read_model(known_or_path(model), Path())
    sets = {each.name: each for each in table.parameter_sets}
    kernel = Kernel(
        model=table,
        method=chosen(f"method of {model}", method, {each.name: each for each in table.methods}),
        parameter_set=chosen(f"parameter set of {model}", parameter_set or next(iter(sets)), sets),
        outputs=table.outputs,
    )
    text = kernel_text(kernel, backend)
    if as_json:
        names = {"model": table.name, "method": kernel.method.name, "backend": backend}
        print_json({**names, "parameter_set": kernel.parameter_set.name, "text": text})
    else:
        print(text, end="")
