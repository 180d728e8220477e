"""Adds sentences and concepts to an existing store for `simdoc-search index --with`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simdoc_search.cli.common import Interrupted, document_progress, say
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.concepts import Extractor
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind


def upgrade(
    store: str,
    engine: EngineKind | None,
    kinds: tuple[KindName, ...],
    extractor: Extractor | None,
    *,
    hidden: bool,
    is_alone: bool,
) -> Settings:
    """Upgrade a store, and return its new settings.

    Args:
        store: the address of the store.
        engine: the kind of engine, if it is given.
        kinds: what to add.
        extractor: the extractor of concepts.
        hidden: whether to show no progress.
        is_alone: whether nothing else is done, so that an unchanged store is reported.
    """
    from simdoc_search.stores.upgrade import upgrade_store

    upgraded = 0
    with document_progress(hidden=hidden) as update:

        def progress(count: int) -> None:
            nonlocal upgraded
            upgraded += count
            update(advance=count)

        try:
            settings = upgrade_store(store, kinds, extractor=extractor, engine=engine, progress=progress)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; run the same command again, it resumes") from None
    if upgraded:
        say(
            f"{counted(upgraded, 'document')} upgraded with {' and '.join(kinds)}",
            err=True,
        )
    elif is_alone:
        say("nothing to upgrade", err=True)
    return settings
