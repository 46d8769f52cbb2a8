"""`sweep example`: the shipped sweep files."""

from __future__ import annotations

import itertools
import re
import sys
from typing import Annotated

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json, chosen
from sweep.cli.printing import print_json, print_table
from sweep.model.shipped import shipped_configs


@command("sweep example", "sweep example wear_power > my.toml")
def example(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The file to print; default: list all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the sweep files that come with the program, or print one."""
    configs = shipped_configs()
    texts = {stem: path.read_text(encoding="utf-8") for stem, path in configs.items()}
    if name is not None:
        texts = {name: chosen("sweep file", name, texts)}
    abouts = {stem: _about(text) for stem, text in texts.items()}
    if as_json:
        print_json([{"name": n, "about": abouts[n], "text": text} for n, text in texts.items()])
    elif name is not None:
        sys.stdout.write(texts[name])
    else:
        print_table(abouts.items())
        print("\nprint one: sweep example NAME\ncompute one: sweep run NAME")


def _about(text: str) -> str:
    """The first sentence of the comment at the top of a sweep file."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    return re.split(r"(?<=\.) ", " ".join(line.lstrip("# ") for line in lines))[0]
