"""A kernel's code, and with it the time to compile it, grows little with the number of events."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sweep.file.model_file import read_model
from sweep.kernel.compiler import run_compiler
from sweep.kernel.source import Kernel, kernel_text
from tests.cases.large import five_modes, tube_on_one_support
from tests.kernel.same_bits import compiler_of_users

# Times the code of a model with two events. Where each event had code of its own, both models had
# 1.7 and 2.2 times the code that they have now: 1.3 and 2.2 times that of two.
MOST_OF_TEN, MOST_OF_SIX = 1.7, 3.0


def size(model: str | Mapping[str, Any], path: Path) -> int:
    """Bytes of the library of a model's first method with all outputs, compiled as users do."""
    read, compiler = read_model(model, Path()), compiler_of_users()
    kernel = Kernel(
        model=read,
        method=read.methods[0],
        parameter_set=read.parameter_sets[0],
        outputs=read.outputs,
        variants=(),
    )
    flags = (*compiler.flags, "-DSWEEP_PACK=1")
    run_compiler(kernel_text(kernel, "cpu"), compiler, flags, path)
    return path.stat().st_size


@pytest.mark.broad
def test_many_events_take_little_more_code_than_two(tmp_path: Path) -> None:
    two = size("belt", tmp_path / "two.so")
    assert size(five_modes(), tmp_path / "ten.so") < MOST_OF_TEN * two
    assert size(tube_on_one_support(), tmp_path / "six.so") < MOST_OF_SIX * two
