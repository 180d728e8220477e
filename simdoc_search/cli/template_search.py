"""The stored search templates, for `simdoc-search template`."""

from __future__ import annotations

from typing import Any, Final

import click

with_search_option: Final = click.option(
    "--search",
    "with_search",
    is_flag=True,
    help="The stored search templates, by which an application in any language asks: simdoc-similar and others.",
)


def search_as_json(field: str) -> dict[str, Any]:
    """Their bodies for PUT _scripts/NAME, by name."""
    from simdoc_search.attach.search_templates import search_templates

    return search_templates(field)
