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
sys.path.insert(0, str(HERE))
HERE.joinpath("generated", "explorers").mkdir(parents=True, exist_ok=True)

project = "tribosweep"
author = "The tribosweep authors"
copyright = author  # noqa: A001
release = version = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinxcontrib.typer",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "generators", "examples"]
html_extra_path = ["wear_power.html", "generated/explorers"]
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "generated/gallery",
    "image_scrapers": ("generators.gallery.collect",),
    "reset_modules": ("generators.gallery.remove_stores",),
    "reset_modules_order": "both",
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),  # pictures and links to explorers stand there already
    "show_memory": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "min_reported_time": 10**6,
}
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath", "deflist"]
default_role = "literal"  # one backtick in docstrings
autodoc_typehints = "signature"
maximum_signature_line_length = 88
highlight_language = "none"
html_theme = "pydata_sphinx_theme"
html_title = "tribosweep"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["equations.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": False, "show_prev_next": True}


def setup(app: Sphinx) -> None:
    """Write the generated pages; set equations in MathML, which needs no script from elsewhere."""
    from generators.pages import write_pages

    write_pages(HERE / "generated", HERE.parent / "results" / "verification")
    app.connect("autodoc-process-docstring", _plain_docstring)
    app.add_html_math_renderer("mathml", (_inline_equation, None), (_block_equation, None))


def _inline_equation(page: HTML5Translator, node: nodes.math) -> None:
    page.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block_equation(page: HTML5Translator, node: nodes.math_block) -> None:
    page.body.append(f"<div class='equation'>{tex2mathml(node.astext(), as_block=True)}</div>")
    raise nodes.SkipNode


def _plain_docstring(_app: Sphinx, _what: str, _name: str, *rest: object) -> None:
    """Escape what would be markup; show indented lines as they are. Changes the list of lines."""
    lines = cast("list[str]", rest[-1])
    shown: list[str] = []
    literal = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not literal:
            shown += ["::", ""]
        literal = indented or (literal and not line.strip())
        shown.append(line if indented else re.sub(r"([|*])", r"\\\1", line))
    lines[:] = shown
