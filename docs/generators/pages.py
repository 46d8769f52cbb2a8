"""Writes all generated pages."""

from __future__ import annotations

from pathlib import Path

from generators.models import index_page, model_pages
from generators.programs import command_page, exit_status_page
from generators.sweep_files import sweep_file_page
from generators.verification import errata_page, verification_pages


def write_pages(target: Path, records: Path) -> None:
    """Write the generated pages into `target`; what is left there of older ones is removed."""
    notes = verification_pages(records, target / "verification")
    pages = {
        "models/index": index_page(),
        **{f"models/{name}": text for name, text in model_pages().items()},
        "sweep_file": sweep_file_page(),
        "commands": command_page(),
        "exit_statuses": exit_status_page(),
        "verification/index": errata_page(notes),
        **{f"verification/{name}": text for name, text in notes.items()},
    }
    wanted = {target / f"{name}.md": text for name, text in pages.items()}
    for path in {*target.rglob("*.md")} - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
