"""The recipes of CONTRIBUTING.md, each followed in a copy of the tree.

Its lines of make run these tests: tests/test_makefile.py checks that they exist.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import Block, blocks, commands
from tests.docs.site import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = {
    part.partition("\n")[0]: list(blocks(part))
    for part in TEXT.split("\n## ")
    if "Add " in part[:4]
}
FOLDERS = ("sweep", "kernels", "configs", "docs", "results", "tests/validation")


@pytest.mark.broad
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_works(recipe: str, tmp_path: Path) -> None:
    unwanted = shutil.ignore_patterns("__pycache__", "_build", "generated", "modules", "*.zarr*")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=unwanted)
    for path in (*ROOT.glob("*.md"), ROOT / "pyproject.toml", ROOT / "tests" / "__init__.py"):
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    assert RECIPES[recipe]
    for block in RECIPES[recipe]:
        _follow(block, tmp_path)
    if recipe == "Add a page":
        _call(
            "-m",
            "sphinx",
            "-W",
            "-q",
            "-D",
            "sphinx_gallery_conf.plot_gallery=0",
            "docs",
            "html",
            tree=tmp_path,
        )
        assert (tmp_path / "html" / "how_to" / "count_points.html").is_file()


def test_every_change_of_a_recipe_fits_the_tree() -> None:
    """As far as that shows without following it."""
    changes = [
        block.text for each in RECIPES.values() for block in each if block.language == "diff"
    ]
    assert len(changes) >= 4
    for text in changes:
        options = ["git", "apply", "--check", "--unidiff-zero", "-"]
        done = subprocess.run(options, cwd=ROOT, input=text, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr


def test_every_recipe_is_there() -> None:
    named = {"output", "method", "model", "command", "plot", "document", "page"}
    assert {recipe.split()[-1] for recipe in RECIPES} == named


def _follow(block: Block, tree: Path) -> None:
    if block.language == "diff":
        options = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
        done = subprocess.run(options, cwd=tree, input=block.text, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
    elif block.language == "shell":
        for command in commands(block.text):
            if command[:2] == ["make", "verify"]:
                command = ["tests.validation", command[2].removeprefix("DOC=")]
            _call("-m", *command, tree=tree)
    elif block.file:
        assert not (tree / block.file).exists()
        (tree / block.file).parent.mkdir(exist_ok=True)
        (tree / block.file).write_text(block.text, encoding="utf-8")
    else:
        assert block.language == "python"
        _call("-c", block.text, tree=tree)


def _call(*arguments: str, tree: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
