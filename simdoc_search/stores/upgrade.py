"""Changes the settings of an existing store: adds sentences or concepts, and sets thresholds."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from simdoc_search.concepts import Extractor
from simdoc_search.errors import StoreError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.sketch.token_kinds import TokenKindName, token_kinds
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from simdoc_search.stores.location import MEMORY_LOCATION, EngineKind
from simdoc_search.stores.record import Record
from simdoc_search.stores.sentences_and_concepts import (
    check_can_index,
    choose_extractor,
    compute_sentences_and_concepts,
)


def upgrade_store(
    location: str | os.PathLike[str],
    kinds: Collection[TokenKindName],
    *,
    extractor: Extractor | None = None,
    engine: EngineKind | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Settings:
    """Add sentences or concepts to a store without them. To complete an interrupted upgrade, call this function again.

    `location` and `engine` are those of `open_store`. If `extractor` is None, the default extractor finds the concepts.
    `progress` is called with the number of documents that were finished since the last call.

    Returns:
        The new settings of the store.

    Raises:
        StoreNotFoundError: there is no store.
        StoreLockedError: another process is writing to the store.
        StoreError: the store keeps no texts, or simdoc-search did not create its index.
        MissingExtraError: the package for sentences or concepts is not installed.
    """
    from simdoc_search.stores.local import LocalStore  # noqa: PLC0415 - tantivy is an optional dependency

    with open_store(location, engine=engine) as store:
        kind_settings: dict[str, Any] = {
            "sentences": SentenceSettings(),
            "concepts": extractor.settings if extractor else ConceptSettings(),
        }
        missing = {name: kind_settings[name] for name in kinds if getattr(store.settings, name) is None}
        settings = replace(store.settings, **missing)
        is_local = isinstance(store, LocalStore)
        if is_local and not missing:
            return settings
        used_extractor = choose_extractor(settings, extractor)
        check_can_index(settings, used_extractor, str(location))
        kinds_of_settings = token_kinds(settings)
        if not store.is_simdoc_index:
            options = " ".join(kind.backfill_option for kind in kinds_of_settings if kind.name != "passages")
            raise StoreError(
                f"{store.location} was not created with `simdoc-search index`; add the tokens with `simdoc-search "
                f"backfill {options}`"
            )
        if not store.has_texts:
            options = " ".join(kind.index_option for kind in kinds_of_settings if kind.index_option)
            raise StoreError(
                f"the index {location} does not store texts, so it cannot be upgraded; index the documents into a new "
                f"index with `simdoc-search index {options}`"
            )

        def add_tokens(records: Sequence[Record]) -> list[Record]:
            sentences_and_concepts = compute_sentences_and_concepts(
                [record.text or "" for record in records], settings, used_extractor
            )
            return [
                replace(record, sentences=computed.sentences, concepts=computed.concepts)
                for record, computed in zip(records, sentences_and_concepts, strict=True)
            ]

        upgrade: Any
        if is_local:
            from simdoc_search.stores.local.upgrade import upgrade_folder as upgrade  # noqa: PLC0415
        else:
            from simdoc_search.stores.remote.upgrade import upgrade_index as upgrade  # noqa: PLC0415
        upgrade(store, settings, add_tokens, progress)
        return settings


def set_thresholds(store: Store, thresholds: SimilarityThresholds) -> SimilarityThresholds:
    """Store the default thresholds of `versions` and `related`.

    No document is rewritten. If the store is an alias, the thresholds are stored in each of its indices. Programs that
    have the store open must open it again to use the new thresholds. The thresholds are stored with six significant
    digits.

    Returns:
        The stored thresholds.

    Raises:
        StoreLockedError: another process is writing to the store.
        StoreError: the store is in memory, the engine's `min_hash` filter fills its field, or it cannot be written.
    """
    from simdoc_search.stores.local import LocalStore  # noqa: PLC0415 - tantivy is an optional dependency

    stored_thresholds = SimilarityThresholds.from_text(thresholds.to_text())
    if isinstance(store, LocalStore):
        from simdoc_search.stores.local.upgrade import write_thresholds as write_in_folder  # noqa: PLC0415

        if store.location == MEMORY_LOCATION:
            raise StoreError("an index in memory cannot save thresholds; pass the thresholds with each query")
        write_in_folder(store, stored_thresholds)
    else:
        from simdoc_search.stores.remote.mappings import read_mappings  # noqa: PLC0415
        from simdoc_search.stores.remote.shared_settings import select_queryable_mappings  # noqa: PLC0415
        from simdoc_search.stores.remote.store import RemoteStore  # noqa: PLC0415
        from simdoc_search.stores.remote.upgrade import write_thresholds  # noqa: PLC0415

        if not isinstance(store, RemoteStore) or store.access.is_min_hash_field:
            raise StoreError(
                "thresholds cannot be saved in an index whose fingerprints come from the engine's min_hash filter; "
                "pass the thresholds with each query"
            )
        mappings = read_mappings(store.engine, store.index) or {}
        write_thresholds(store.engine, select_queryable_mappings(mappings, store.field), store.field, stored_thresholds)
    return stored_thresholds
