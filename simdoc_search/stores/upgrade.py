"""Adding sentences or concepts to an existing index, from the texts that it keeps."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from simdoc_search.concepts import Extractor
from simdoc_search.errors import StoreError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.kinds import KindName
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.location import EngineKind
from simdoc_search.stores.record import Record
from simdoc_search.stores.sketching import check_can_sketch, extractor_for, sketches_of


def upgrade_store(
    location: str | os.PathLike[str],
    kinds: Collection[KindName],
    *,
    extractor: Extractor | None = None,
    engine: EngineKind | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Settings:
    """Add missing kinds of tokens to a store. To complete an interrupted upgrade, call it again.

    Args:
        location: where the store is, as for `open_store`.
        kinds: `sentences`, `concepts` or both.
        extractor: extractor of concepts; None for the default.
        engine: as for `open_store`.
        progress: called with numbers of finished documents.

    Returns:
        The new settings of the store.

    Raises:
        StoreNotFoundError: there is no store.
        StoreLockedError: another process writes to the store.
        StoreError: the store keeps no texts, or belongs to an application.
        MissingExtraError: the package for sentences or concepts is not installed.
    """
    from simdoc_search.stores.local.store import LocalStore  # noqa: PLC0415 - tantivy is an extra

    with open_store(location, engine=engine) as store:
        made: dict[str, Any] = {"sentences": Sentences(), "concepts": extractor.settings if extractor else Concepts()}
        lacking = {name: made[name] for name in kinds if getattr(store.settings, name) is None}
        wanted = replace(store.settings, **lacking)
        finder = extractor_for(wanted, extractor)
        is_local = isinstance(store, LocalStore)
        if is_local and not lacking:
            return wanted
        check_can_sketch(wanted, finder, str(location))
        if not store.store_texts:
            raise StoreError(
                f"the store {location} keeps no texts, so it cannot be upgraded; give a new one --with from the start"
            )

        def sketch(records: Sequence[Record]) -> list[Record]:
            sketches = sketches_of([each.text or "" for each in records], wanted, finder)
            return [replace(record, sentences=its.sentences, concepts=its.concepts)
                    for record, its in zip(records, sketches, strict=True)]  # fmt: skip

        if isinstance(store, LocalStore):
            from simdoc_search.stores.local.upgrade import upgrade_folder  # noqa: PLC0415 - likewise

            upgrade_folder(store, Path(store.location), wanted, sketch, progress)
        else:
            from simdoc_search.stores.remote.store import RemoteStore  # noqa: PLC0415 - not for a local store
            from simdoc_search.stores.remote.upgrade import upgrade_index  # noqa: PLC0415 - likewise

            upgrade_index(cast("RemoteStore", store), wanted, sketch, progress)
        return wanted
