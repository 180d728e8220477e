"""What `simdoc-search index --with` adds to a store that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import Interrupted, document_progress, say
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.concepts import Extractor
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind


def made_ready(
    there: Settings | None,
    beside: Settings,
    store: str,
    engine: EngineKind | None,
    kinds: tuple[KindName, ...],
    extractor: Extractor | None,
    *,
    has_paths: bool,
    hidden: bool,
) -> Settings | None:
    """The settings of the store that is there, after it got what is asked for; None: it must be made."""
    from simdoc_search.stores.sketching import check_can_sketch, extractor_for
    from simdoc_search.stores.upgrade import upgrade_store

    if not has_paths and not (there and kinds):
        raise click.UsageError("Missing argument 'PATH...'.")
    if not there:
        check_can_sketch(beside, extractor_for(beside, extractor), store)
    if not there or not kinds:
        return there
    done: list[int] = []
    with document_progress(hidden=hidden) as update:

        def progress(count: int) -> None:
            done.append(count)
            update(advance=count)

        try:
            settings = upgrade_store(store, kinds, extractor=extractor, engine=engine, progress=progress)
        except KeyboardInterrupt:
            raise Interrupted("interrupted; run the same command again, it resumes") from None
    if done:
        shown = " and ".join(kinds)
        say(f"{counted(sum(done), 'document')} upgraded with {shown}", err=True)
    elif not has_paths:
        say("nothing to upgrade", err=True)
    return settings
