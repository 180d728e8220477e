"""Adds sentence or concept tokens to the documents of an index, and records similarity thresholds in its mapping.

To add tokens, the mapping is extended first. Then each document without the new tokens is written again.
If an upgrade is interrupted, the next run continues with the remaining documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simdoc_search.batches import split_by_count
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.sketch.token_kinds import token_kind_names
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import add_fields, mapped_fields
from simdoc_search.stores.remote.schema import field_mappings, thresholds_mapping
from simdoc_search.stores.remote.store import RemoteStore
from simdoc_search.stores.sentences_and_concepts import find_missing_kinds

_BATCH_SIZE = 64

AddTokens = Callable[[Sequence[Record]], list[Record]]


def upgrade_index(
    store: RemoteStore, new_settings: Settings, add_tokens: AddTokens, progress: Callable[[int], None]
) -> None:
    """Add sentences or concepts to an index that simdoc-search created.

    `progress` is called with the number of documents that were finished since the last call.

    Raises:
        StoreError: the index cannot be written to.
    """
    expected = field_mappings(new_settings, store.field)
    missing = {name: expected[name] for name in ("tokens", *token_kind_names(new_settings))}
    if reason := add_fields(store.engine, store.index, store.field, missing):
        raise StoreError(f"{store.location} cannot be upgraded: {reason}")
    options: dict[str, Any] = {"create": False, "store_texts": None, "key": store.settings.sketch.key}
    upgraded = RemoteStore.open_index(store.engine, store.index, None, field=store.field, **options)
    records = (
        record
        for record in upgraded.scan(load={"sentences", "concepts"})
        if len(record.token_ids) and find_missing_kinds(new_settings, record)
    )
    with upgraded.writer() as writer:
        for page in split_by_count(records, _BATCH_SIZE):
            complete_records = upgraded.records([record.id for record in page], load={"text", "passages"})
            writer.put(add_tokens(list(complete_records)))
            progress(len(page))


def write_thresholds(
    engine: Engine, mappings: Mapping[str, Mapping[str, Any]], field: str, thresholds: SimilarityThresholds
) -> None:
    """Record thresholds in the mapping of each index. Raises StoreError if the engine rejects them."""
    for index, mapping in mappings.items():
        if reason := add_fields(engine, index, field, thresholds_mapping(mapped_fields(mapping, field), thresholds)):
            raise StoreError(f"{engine.name}/{index} cannot store the thresholds: {reason}")
