"""The HTML of an explorer, with a content security policy that allows its own text alone."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "page"
SCRIPTS = (
    "data.js",
    "colours.js",
    "computing.js",
    "map.js",
    "motion.js",
    "copying.js",
    "page.js",
    "drawing.js",
    "point.js",
    "controls.js",
)
WORKER = ("kernel.js", "worker.js")


def document(page: Mapping[str, Any]) -> str:
    """The page as text. Names and attributes appear in it as data only."""
    scripts = [_text("uPlot.iife.min.js"), "\n".join(map(_short, SCRIPTS))]
    styles = [_text("uPlot.min.css"), _text("page.css")]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))} 'wasm-unsafe-eval'",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data: blob:",
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "POLICY": html.escape(policy),
        "TITLE": html.escape(f"{page['name']}: {page['title']}"),
        "STYLES": "".join(f"<style>{style}</style>\n" for style in styles),
        "WORKER": "\n".join(map(_short, WORKER)),
        "CONTENTS": json.dumps(page, separators=(",", ":"), allow_nan=False).replace(
            "<", "\\u003c"
        ),
        "LICENCE": _text("uPlot.LICENSE"),
        "SCRIPTS": "".join(f"<script>{script}</script>\n" for script in scripts),
    }
    before, *rest = _text("page.html").split("{{")
    for each in rest:
        name, after = each.split("}}", 1)
        before += parts[name] + after
    return before


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _short(name: str) -> str:
    """A script without indentation and lines that are comments."""
    lines = (line.strip() for line in _text(name).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
