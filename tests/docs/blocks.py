"""The code of a Markdown page, run in the order of the page.

A block of `python` or `shell` is run, in a folder of the page's own; a line of `shell` is a command
of `sweep`. A block of `toml` is read, and is written to the file that its caption, or the
sentence before it, names. A block of
`text` is output, or something that cannot run everywhere. There is no other kind.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FENCE = re.compile(
    r"^```(?:\{code-block\} *)?(?P<language>\S*)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
CAPTION = re.compile(r"\A:caption: *(\S+)\n\n?")
NAMED = re.compile(
    r"`(\S+\.(?:toml|py|md|csv))`:\n\n\Z"
)  # before the block, where Markdown has no captions
NOT_CODE = ("text", "{toctree}", "{include}", "{eval-rst}", "{note}", "{math}", "{glossary}")


@dataclass(frozen=True)
class Block:
    """One block of code, its language, its first line in the page and the file it is written to."""

    language: str
    text: str
    line: int
    file: str


def blocks(page: str) -> Iterator[Block]:
    """The blocks of code of a page."""
    for fence in FENCE.finditer(page):
        text, line = fence["text"], page.count("\n", 0, fence.start("text")) + 1
        caption = CAPTION.match(text)
        if caption:
            text, line = text[caption.end() :], line + caption[0].count("\n")
        name = caption or NAMED.search(page[: fence.start()])
        yield Block(fence["language"], text, line, name[1] if name else "")


def run_page(path: Path, folder: Path) -> None:
    """Run the blocks of a page in the current folder. AssertionError with the line of a fault."""
    from sweep.cli import main

    names: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks(path.read_text(encoding="utf-8")):
        place = f"{path.name}, line {block.line}"
        if block.language == "python":
            exec(compile("\n" * (block.line - 1) + block.text, str(path), "exec"), names)
        elif block.language == "toml":
            tomllib.loads(block.text)
            if block.file:
                (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "shell":
            for command in commands(block.text):
                assert command[0] == "sweep", f"{place}: {command[0]} is no command of sweep"
                assert main(command[1:]) == 0, f"{place}: {shlex.join(command)}"
        else:
            assert block.language in NOT_CODE, f"{place}: {block.language!r} is not run, nor text"


def commands(text: str) -> list[list[str]]:
    """The commands of a shell block."""
    lines = text.replace("\\\n", " ").splitlines()
    parts = (part for line in lines for part in line.split(" && "))
    words_of_parts = (shlex.split(part, comments=True) for part in parts)
    return [words for words in words_of_parts if words]
