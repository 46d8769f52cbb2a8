"""Pages of the records in results/verification: published figures and ours, with the errata."""

from __future__ import annotations

import shutil
from pathlib import Path

NOTES = "\n## Notes\n"


def verification_pages(records: Path, target: Path) -> dict[str, str]:
    """The records as pages by name, whose pictures are copied into `target`."""
    target.mkdir(parents=True, exist_ok=True)
    for picture in records.glob("*.png"):
        shutil.copy2(picture, target)
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(records.glob("*.md"))}


def errata_page(records: dict[str, str]) -> str:
    """The notes of all records, which say where a document errs and why, and the records."""
    sections = [
        f"## {_title(text)}\n\n{text.partition(NOTES)[2].strip()}\n\n"
        f"[All figures and checks]({name}.md)."
        for name, text in records.items()
    ]
    names = "\n".join(records)
    return "\n\n".join(
        [
            "# Errata of the source documents\n\n`make verify` compares every published figure "
            "that the models reproduce with ours, and writes a record for each document. These are "
            "the notes of the records: where a document errs, why, and what is right.",
            *sections,
            f"```{{toctree}}\n:hidden:\n\n{names}\n```\n",
        ]
    )


def _title(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")
