"""Adds sentences and concepts to an existing store for `simdoc-search index --with`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simdoc_search.cli.common import document_progress, explain_interruption, say
from simdoc_search.display import format_count

if TYPE_CHECKING:
    from simdoc_search.concepts import Extractor
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.sketch.token_kinds import TokenKindName
    from simdoc_search.stores.location import EngineKind


def upgrade(
    store: str,
    engine: EngineKind | None,
    token_kinds: tuple[TokenKindName, ...],
    extractor: Extractor | None,
    *,
    hide_progress: bool,
    reports_unchanged: bool,
) -> Settings:
    """Upgrade a store, print the number of upgraded documents, and return the new settings.

    Without an `extractor`, that of the store or the default is used. `reports_unchanged` says whether to print a line
    if no document needs an upgrade.
    """
    from simdoc_search.stores.upgrade import upgrade_store

    upgraded = 0
    with document_progress(hidden=hide_progress) as update:

        def progress(count: int) -> None:
            nonlocal upgraded
            upgraded += count
            update(advance=count)

        with explain_interruption():
            settings = upgrade_store(store, token_kinds, extractor=extractor, engine=engine, progress=progress)
    if upgraded:
        say(f"{' and '.join(token_kinds)} added to {format_count(upgraded, 'document')}", err=True)
    elif reports_unchanged:
        say("nothing to upgrade", err=True)
    return settings
