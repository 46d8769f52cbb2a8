"""What `make` would do: what `make bench` installs, what the tests are started with, and that
the documents say what it runs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("make"), reason="no make, no shell scripts"
)

ROOT = Path(__file__).parents[1]
# The line of nvidia-smi's table that has versions, as several releases print it.
HEADER = "| NVIDIA-SMI 580.159.03   Driver Version: 580.159.03   CUDA {} {}   |"


def plain_environment() -> dict[str, str]:
    """The environment without what a `make` around this process has set."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}


def make_bench(folder: Path, header: str, *variables: str, dry: bool = True) -> tuple[int, str]:
    """make's status and words, where nvidia-smi prints this."""
    script = folder / "nvidia-smi"
    script.write_text(f"#!/bin/sh\necho 'Sat Nov 21'\necho '+---+'\necho '{header}'\n")
    script.chmod(0o755)
    kept = plain_environment()
    kept["PATH"] = f"{folder}{os.pathsep}{kept['PATH']}"
    command = ["make", *(["-n"] if dry else []), f"VENV={folder}/venv", "bench", *variables]
    process = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True)
    return process.returncode, process.stdout + process.stderr


def extras(words: str) -> list[str]:
    """What pip would install of this project, in order."""
    return [line.split("[")[1].split("]")[0] for line in words.splitlines() if "pip" in line]


@pytest.mark.parametrize(
    ("header", "variables", "extra"),
    [
        ("", ("CUDA=12",), "cuda12"),
        (HEADER.format("Version:", "12.8"), (), "cuda12"),
        (HEADER.format("Version:", "13.0"), (), "cuda13"),
        (HEADER.format("UMD Version:", "13.1"), (), "cuda13"),
        (HEADER.format("Version:", "14.2"), (), "cuda13"),  # a driver takes older CUDA too
        (HEADER.format("Version:", "13.0"), ("CUDA=12",), "cuda12"),
    ],
)
def test_a_gpus_benchmark_brings_the_cupy_that_fits_its_driver(
    tmp_path: Path, header: str, variables: tuple[str, ...], extra: str
) -> None:
    status, words = make_bench(tmp_path, header, "BACKEND=gpu", *variables)
    assert status == 0
    extra_names = extras(words)
    assert extra_names[0] == extra
    assert extra_names[1] in ("dev", "dev,compiler")
    assert words.splitlines()[-1].endswith("python -m tests.benchmarks.gpu")


def test_a_cpus_benchmark_brings_none(tmp_path: Path) -> None:
    status, words = make_bench(tmp_path, HEADER.format("Version:", "13.0"))
    assert status == 0
    assert len(extras(words)) == 1
    assert "cuda" not in words
    assert words.splitlines()[-1].endswith("python -m tests.benchmarks")


@pytest.mark.parametrize(
    ("header", "variables", "version"),
    [
        ("No devices were found", (), "''"),
        (HEADER.format("Version:", "11.4"), (), "'11'"),
        (HEADER.format("Version:", "13.0"), ("CUDA=11.8",), "'11.8'"),
    ],
)
def test_where_no_cupy_fits_nothing_is_installed_and_that_is_said(
    tmp_path: Path, header: str, variables: tuple[str, ...], version: str
) -> None:
    status, words = make_bench(tmp_path, header, "BACKEND=gpu", *variables, dry=False)
    assert status != 0
    assert version in words
    assert "make bench BACKEND=gpu CUDA=12" in words
    assert not (tmp_path / "venv").exists()


def test_the_tests_compile_each_python_module_once(tmp_path: Path) -> None:
    """Else each of the processes that they start would compile all that it imports."""
    probe = tmp_path / "probe.mk"
    probe.write_text('probe:\n\t@echo "bytecode [$$PYTHONDONTWRITEBYTECODE]"\n')
    command = ["make", "-f", "Makefile", "-f", str(probe), "probe"]
    unwritten = plain_environment() | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=unwritten, capture_output=True, text=True)
    assert done.stdout == "bytecode []\n", done.stderr


def recipes() -> dict[str, list[str]]:
    """The lines of each target of the Makefile, its variables written out."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name, value in re.findall(r"^(\w+) := (.*)$", text, re.MULTILINE):
        text = text.replace(f"$({name})", value).replace("$(BIN)", ".venv/bin")
    rules = re.findall(r"^([\w-]+):.*\n((?:\t.*\n)*)", text, re.MULTILINE)
    return {target: lines.replace("\t", "").splitlines() for target, lines in rules}


def test_the_page_on_installing_has_the_lines_that_make_runs() -> None:
    page = (ROOT / "docs" / "how_to" / "install.md").read_text(encoding="utf-8")
    written = {line for line in page.splitlines() if line.startswith(".venv/bin/")}
    made = {line for name in ("demo", "lint", "test", "docs") for line in recipes()[name]}
    run = {line for line in made if line.startswith(".venv/bin/")}
    assert {line for line in written if not line.startswith(".venv/bin/pip ")} == run


def test_the_targets_that_documents_name_exist() -> None:
    """CONTRIBUTING.md's `make check` and `make test` are run by no test, for they run the tests."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs" / "how_to").glob("*.md")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    named = {name for text in texts for name in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M)}
    assert {"check", "test", "test-all", "docs", "demo"} <= named
    assert named <= recipes().keys()
