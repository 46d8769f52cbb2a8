"""Settings of the documentation site, which `make docs` builds without a network.

The package may be a checkout or an installed wheel: whichever `import sweep` finds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

from sweep import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

HERE = Path(__file__).parent

project = "tribosweep"
author = "The tribosweep authors"
copyright = author  # noqa: A001
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_extra_path = ["wear_power.html"]
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath", "deflist"]
# Files of the repository that are not pages; they are checked by a test.
suppress_warnings = ["myst.header"]
default_role = "literal"  # one backtick in docstrings
autodoc_typehints = "signature"
maximum_signature_line_length = 88
highlight_language = "none"
html_theme = "pydata_sphinx_theme"
html_title = "tribosweep"
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": False, "show_prev_next": True}


def setup(app: Sphinx) -> None:
    """Set equations in MathML, which browsers show without a script from elsewhere."""
    app.add_html_math_renderer("mathml", (_inline_equation, None), (_block_equation, None))


def _inline_equation(page: HTML5Translator, node: nodes.math) -> None:
    page.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block_equation(page: HTML5Translator, node: nodes.math_block) -> None:
    page.body.append(f"<div class='math'>{tex2mathml(node.astext(), as_block=True)}</div>")
    raise nodes.SkipNode
