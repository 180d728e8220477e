"""The site that `scripts/docs` builds of these pages; see the documentation of Sphinx for each setting."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Any

project = "simdoc-search"
author = "simdoc-search developers"
version = release = version_of("simdoc-search")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
suppress_warnings = ["myst.xref_missing"]  # files beside the pages; tests/test_docs.py sees that they are there
smartquotes = False
html_theme = "furo"
html_title = "simdoc-search"
html_copy_source = False
html_show_sphinx = False

default_role = "code"  # in docstrings `name` is a name, as in Markdown
myst_heading_anchors = 3
myst_enable_extensions = ["fieldlist"]
nitpicky = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = True
napoleon_numpy_docstring = False


def setup(app: Any) -> None:
    """What the help of a command has of stars and underscores is meant as it stands."""
    app.connect("sphinx-click-process-description", _literal)
    app.connect("sphinx-click-process-options", _escaped)


def _escaped(_app: Any, _context: Any, lines: list[str]) -> None:
    lines[:] = [line.replace("*", "\\*") for line in lines]


def _literal(_app: Any, _context: Any, lines: list[str]) -> None:
    shown: list[str] = []
    for line in lines:
        if line.startswith("| "):  # what keeps its lines is an example
            shown += [] if shown and shown[-1].startswith("   ") else ["", ".. code-block:: text", ""]
            shown.append(f"   {line[2:].strip()}")
        else:
            shown += (
                ["", line.replace("*", "\\*")] if shown and shown[-1].startswith("   ") else [line.replace("*", "\\*")]
            )
    lines[:] = shown
