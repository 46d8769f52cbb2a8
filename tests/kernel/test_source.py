"""The flat text of a kernel: whole, the same everywhere, each line where it says it stands."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sweep.errors import CompileError, SweepError
from sweep.kernel import source
from sweep.kernel.compiler import compile_library, find_compiler
from sweep.kernel.source import (
    Kernel,
    KernelTexts,
    Target,
    flat_text,
    kernel_digest,
    kernel_of,
    kernel_text,
)
from sweep.model.shipped import kernels_folder
from sweep.model.tables import models
from tests.points.test_chunking import sweep_over

ROOT = Path(__file__).resolve().parents[2]
SWEEP = sweep_over()
KERNELS = [
    Kernel(model=model, method=method, parameter_set=parameter_set, outputs=model.outputs)
    for model in models().values()
    for method in model.methods
    for parameter_set in model.parameter_sets
]
every_kernel = pytest.mark.parametrize(
    "kernel", KERNELS, ids=lambda k: f"{k.model.name}.{k.method.name}.{k.parameter_set.name}"
)
LINE = re.compile(r'#line (\d+) "([^"]+)"')


@every_kernel
def test_every_line_is_where_its_line_directive_says(kernel: Kernel) -> None:
    """Line by line: what follows a #line is what that file has from there on."""
    files: dict[str, list[str]] = {}
    line_numbers: dict[str, set[int]] = {}
    name, number = "", 0
    text = kernel_text(kernel)
    begun = re.findall(r'^#line 1 "(kernels/[^"]+)"$', text, re.MULTILINE)
    assert len(begun) == len(set(begun))  # every header is inserted once
    assert '#include "' not in text
    assert "#pragma once" not in text
    for line in text.splitlines():
        if directive := LINE.fullmatch(line):
            number, name = int(directive[1]), directive[2]
            continue
        if name not in ("", "generated"):
            if name not in files:
                files[name] = (kernels_folder().parent / name).read_text().splitlines()
            is_boundary = not line.strip() and number > len(files[name])  # between two parts
            if not is_boundary and not line.startswith("namespace method = "):
                original_line = files[name][number - 1]
                was_pragma = original_line.strip() == "#pragma once" and line == ""
                assert line == original_line or was_pragma
                line_numbers.setdefault(name, set()).add(number)
        number += 1
    assert "kernels/portable.h" in files
    assert f"kernels/models/{kernel.model.name}.h" in files
    for name, lines in files.items():  # and nothing is left out but the includes
        for absent in set(range(1, len(lines) + 1)) - line_numbers[name]:
            assert source.INCLUDE.match(lines[absent - 1])


def test_requested_outputs_and_variants_reach_the_kernel() -> None:
    sweep = sweep_over(outputs=("wear_power", "regime"))
    text = kernel_text(kernel_of(sweep, ("no_spring",)))
    assert "constexpr bool wear_power = true;" in text
    assert "constexpr bool slip_distance = false;" in text
    assert "constexpr bool no_spring = true;" in text
    assert "constexpr bool no_damping = false;" in text
    assert "points.scatter_real(0, o.wear_power);" in text
    assert "points.scatter_flag(1, o.regime);" in text
    assert "constexpr int n_outputs = 2;" in text
    assert "constexpr ParameterSet parameter_set = ParameterSet::seconds;" in text


def test_only_equal_kernels_have_equal_texts_and_hashes() -> None:
    kernel = kernel_of(SWEEP)
    others = [
        kernel_of(SWEEP, ("no_spring",)),
        dataclasses.replace(kernel, outputs=kernel.outputs[:1]),
        dataclasses.replace(kernel, parameter_set=kernel.model.parameter_sets[1]),
    ]
    assert kernel == kernel_of(sweep_over(mass=7.0))
    assert hash(kernel) == hash(kernel_of(sweep_over(mass=7.0)))
    assert len({kernel_text(k) for k in (kernel, *others)}) == 4
    assert len({kernel, *others}) == 4


PRINTER = """
from sweep.kernel.source import kernel_digest, kernel_of, kernel_text
from tests.points.test_chunking import sweep_over
print(kernel_digest(sweep_over()))
print(kernel_text(kernel_of(sweep_over(), ("no_spring", "no_damping"))))
"""


@pytest.mark.broad
def test_the_text_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Whatever the order of its hashes, and wherever it is run."""
    texts = {
        subprocess.run(
            [sys.executable, "-c", PRINTER],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, folder in (("1", ROOT), ("2", tmp_path))
    }
    kernel = kernel_of(SWEEP, ("no_spring", "no_damping"))
    assert texts == {f"{kernel_digest(SWEEP)}\n{kernel_text(kernel)}\n"}
    assert str(ROOT) not in texts.pop()  # no path of this machine: digests are the same elsewhere


# Headers that are not as they should be.


@pytest.fixture
def copied(copied_kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the kernels, and an empty cache."""
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path / "cache"))
    return copied_kernels


def test_an_unknown_field_is_an_error_at_its_file_and_line(copied: Path) -> None:
    """It is put in before the last line, behind whatever that header includes."""
    name = "models/friction_oscillator/exact.h"
    path = copied / name
    lines = path.read_text().splitlines()
    wrong = "HD real wrong(Parameters const& p) { return p.frictoin; }"
    path.write_text("\n".join([*lines[:-1], wrong, lines[-1]]) + "\n")
    with pytest.raises(CompileError, match=rf"(?ms)^kernels/{name}:{len(lines)}:.*frictoin"):
        compile_library(kernel_text(kernel_of(SWEEP)), find_compiler())


def test_a_missing_header_is_named_with_its_folder(copied: Path) -> None:
    (copied / "models/friction_oscillator/free_slip.h").unlink()
    with pytest.raises(SweepError, match=r"header 'models/.*/free_slip\.h' is missing"):
        kernel_text(kernel_of(SWEEP))
    with pytest.raises(SweepError, match=f"header 'no_such.h' is missing from {copied}"):
        flat_text("no_such.h")


def test_headers_that_include_each_other_end(copied: Path) -> None:
    (copied / "one.h").write_text('#pragma once\n#include "two.h"\nint one;\n')
    (copied / "two.h").write_text('#pragma once\n  #include  "one.h"\nint two;\n')
    assert flat_text("one.h").splitlines() == [
        '#line 1 "kernels/one.h"',
        "",
        '#line 1 "kernels/two.h"',
        "",
        '#line 3 "kernels/two.h"',
        "int two;",
        '#line 3 "kernels/one.h"',
        "int one;",
    ]


def test_an_edit_of_a_header_changes_the_digest(copied: Path) -> None:
    before = kernel_digest(SWEEP)
    path = copied / "models/friction_oscillator/scaled.h"
    path.write_text(path.read_text() + "int more();\n")
    assert kernel_digest(SWEEP) != before


@pytest.mark.parametrize("target", ["cpu", "gpu"])
def test_the_kernels_of_a_backend_are_of_one_code(copied: Path, target: Target) -> None:
    """A variant is compiled when it is needed, perhaps long after the first kernel."""
    texts, path = KernelTexts(), copied / "models/friction_oscillator/scaled.h"
    first, variant = kernel_of(SWEEP), kernel_of(SWEEP, ("no_shaking",))
    assert texts.text(first, target) == kernel_text(first, target)
    path.write_text(path.read_text() + "// a comment\n")
    assert texts.text(variant, target) == kernel_text(variant, target)
    path.write_text(path.read_text() + "int more();\n")
    with pytest.raises(SweepError, match=r"method exact .* was edited .*accept_revision"):
        texts.text(variant, target)
    assert KernelTexts().text(variant, target) == kernel_text(variant, target)
