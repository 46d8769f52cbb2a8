"""Settings of the documentation site, which `make docs` builds without a network.

The package may be a checkout or an installed wheel: whichever `import sweep` finds.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

from sweep import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

HERE = Path(__file__).parent
LONG_CELL = 25  # characters; a table with a cell of so many has sentences
sys.path.insert(0, str(HERE))
HERE.joinpath("generated", "explorers").mkdir(parents=True, exist_ok=True)

project = "tribosweep"
author = "The tribosweep authors"
copyright = author  # noqa: A001
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinxcontrib.typer",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "generators", "examples"]
html_extra_path = ["wear_power.html", "generated/explorers"]
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "generated/gallery",
    "image_scrapers": ("generators.gallery.collect",),
    "reset_modules": ("generators.gallery.prepare",),
    "reset_modules_order": "both",
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),  # pictures and links to explorers stand there already
    "show_memory": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "min_reported_time": 10**6,
    "remove_config_comments": True,
}
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
default_role = "literal"  # one backtick in docstrings
autosummary_generate = False
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Source", "Changes", "Report")}
python_display_short_literal_types = True
maximum_signature_line_length = 88
highlight_language = "none"
html_theme = "pydata_sphinx_theme"
html_title = "tribosweep"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_use_index = False
html_sidebars = {"index": []}
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
}


def setup(app: Sphinx) -> None:
    """Write the generated pages; set equations in MathML, which needs no script from elsewhere."""
    from generators.gallery import place_thumbnails
    from generators.pages import write_pages

    write_pages(HERE / "generated", HERE.parent / "results" / "verification")
    app.connect("builder-inited", place_thumbnails, priority=900)  # after the gallery's
    app.connect("autodoc-process-docstring", _plain_docstring)
    app.connect("autodoc-process-signature", _short_types)
    app.connect("doctree-read", _stack_tables)
    app.add_html_math_renderer("mathml", (_inline_equation, None), (_block_equation, None))


def _inline_equation(page: HTML5Translator, node: nodes.math) -> None:
    page.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block_equation(page: HTML5Translator, node: nodes.math_block) -> None:
    page.body.append(f"<div class='equation'>{tex2mathml(node.astext(), as_block=True)}</div>")
    raise nodes.SkipNode


def _short_types(*arguments: object) -> tuple[str, str] | None:
    """A signature in which types have their short names."""
    signature, returned = cast("tuple[str | None, str | None]", arguments[-2:])
    return None if signature is None else (_shortened(signature), _shortened(returned or ""))


def _shortened(text: str) -> str:
    text = text.replace("*too_many: Never", "*")  # positions that are refused with a message
    text = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)  # sweep.request.sweeps.Request
    text = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)
    text = re.sub(r"Optional\[(Literal\[[^]]*\])\]", r"\1 | None", text)
    text = re.sub(r"Union\[(.*?), NoneType\]", lambda m: f"{' | '.join(_parts(m[1]))} | None", text)
    return re.sub(r"Literal\[([^]]*)\]", lambda m: " | ".join(_parts(m[1])), text)


def _parts(text: str) -> list[str]:
    """What commas outside of brackets separate."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text)]


def _stack_tables(_app: Sphinx, document: nodes.document) -> None:
    """Mark tables with sentences: on a telephone each of their cells has a line of its own.

    There each cell shows the title of its column, which is hidden elsewhere.
    """
    for table in document.findall(nodes.table):
        if all(len(cell.astext()) < LONG_CELL for cell in table.findall(nodes.entry)):
            continue
        table["classes"].append("stacked")
        head = next(table.findall(nodes.thead), None)
        titles = [cell.astext() for cell in head.findall(nodes.entry)] if head else []
        for row in next(table.findall(nodes.tbody)).findall(nodes.row):
            for title, cell in [*zip(titles, row.findall(nodes.entry), strict=False)][1:-1]:
                if cell.children and cell.astext():
                    text = nodes.inline("", f"{title}: ", classes=["column-title"])
                    cast("nodes.paragraph", cell[0]).insert(0, text)


def _plain_docstring(_app: Sphinx, _what: str, _name: str, *rest: object) -> None:
    """Escape what would be markup; show indented lines as they are. Changes the list of lines."""
    lines = cast("list[str]", rest[-1])
    shown: list[str] = []
    literal = listed = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not literal:
            shown += ["::", ""]
        literal = indented or (literal and not line.strip())
        entry = re.fullmatch(r"(\w+(?:, \w+)*): (.+)", line)
        before = next((each for each in reversed(shown) if each), "")
        listed = entry is not None and (listed or before.endswith(":"))
        if entry and listed:
            shown += [""] if shown[-1].endswith(":") else []
            line = f"- `{entry[1]}`: {entry[2]}"
        shown.append(line if indented else re.sub(r"([|*])", r"\\\1", line))
    lines[:] = shown
