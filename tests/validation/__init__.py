"""Published figures compared with ours: one folder per source document."""

from __future__ import annotations

from pathlib import Path

DOCUMENTS = tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/record.md")))
