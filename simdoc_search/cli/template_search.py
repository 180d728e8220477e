"""The stored search templates, for `simdoc-search template`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import say

if TYPE_CHECKING:
    from simdoc_search.stores.remote.engine import Engine

__all__ = ["say_search_installed", "search_as_json", "search_installed", "with_search_option"]

with_search_option = click.option(
    "--search",
    "with_search",
    is_flag=True,
    help="The stored search templates, by which an application in any language asks: simdoc-similar and others.",
)


def search_as_json(field: str) -> dict[str, Any]:
    """Their bodies for PUT _scripts/NAME, by name."""
    from simdoc_search.attach.search_templates import search_templates

    return search_templates(field)


def search_installed(engine: Engine, field: str, *, force: bool) -> dict[str, Any]:
    """Put them into an engine; what there is to say of it."""
    from simdoc_search.attach.search_templates import install_search_templates, search_templates

    new = install_search_templates(engine, field, force=force)
    return {"search_templates": list(search_templates(field)), "search_templates_installed": new}


def say_search_installed(done: dict[str, Any]) -> None:
    """Which of them are new, if they were asked for."""
    if "search_templates" in done:
        new = done["search_templates_installed"]
        say("the search templates " + (f"{', '.join(new)} are installed" if new else "were there already"))
