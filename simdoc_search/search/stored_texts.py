"""Reads stored texts in batches, and compares them exactly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import WordPositions, locate_words
from simdoc_search.batches import Item, split_by_count
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import DocumentKey
from simdoc_search.passages.exact_overlap import Measures, measure_many
from simdoc_search.search.resolver import Query, Resolver
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import ALL_PARTS, Record, RecordPart, StoredText

BATCH_SIZE = 16
"""Maximum number of texts that are read at once."""


@dataclass(frozen=True, slots=True)
class AnalysedText:
    """A text with its words. It is analysed only once for several comparisons."""

    text: str
    words: WordPositions

    @classmethod
    def from_text(cls, text: str, analysis: Analysis) -> AnalysedText:
        """Analyse a text."""
        check_stopped()
        return cls(text, locate_words(text, analysis))


def measure_texts(
    text: str, other_texts: Mapping[DocumentKey, StoredText], analysis: Analysis
) -> dict[DocumentKey, Measures]:
    """Return the exact overlap of a text with each of the other texts."""
    check_stopped()
    return dict(
        zip(other_texts, measure_many(text, [other.text for other in other_texts.values()], analysis), strict=True)
    )


def read_records(
    store: Store, keys: Sequence[DocumentKey], *, load: Collection[RecordPart] = ()
) -> dict[DocumentKey, Record]:
    """Return the records with these keys and these parts; see `Store.get`. Deleted documents are omitted."""
    requested_keys = set(keys)
    ids = dict.fromkeys(key.id for key in keys)
    return {record.key: record for record in store.records(ids, load=load) if record.key in requested_keys}


def add_metadata(store: Store, records: Sequence[Record], fields: Sequence[str]) -> list[Record]:
    """Return the records with these metadata fields.

    Records of an index that simdoc-search did not create have no metadata, so the fields are read. Other records
    already have all fields.
    """
    if store.is_simdoc_index or not records:
        return list(records)
    values = store.read_fields([record.key for record in records], fields)
    return [replace(record, metadata=values.get(record.key, {})) for record in records]


def add_all_metadata(store: Store, record: Record) -> Record:
    """Return a record with all of its metadata.

    In an index that simdoc-search did not create, these are all fields but the text. Nested fields are written with
    dots, such as `author.name`.
    """
    fields = store.application_fields([record.key]).get(record.key)
    return record if fields is None else replace(record, metadata=dict(_flatten(fields)))


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def read_simhashes(store: Store, keys: Sequence[DocumentKey]) -> dict[DocumentKey, Simhashes]:
    """Return the simhashes of the sentences of the documents with these keys. Deleted documents are omitted."""
    requested_keys = set(keys)
    simhashes = store.simhashes(dict.fromkeys(key.id for key in keys))
    return {key: values for key, values in simhashes if key in requested_keys}


def read_texts(store: Store, keys: Sequence[DocumentKey]) -> dict[DocumentKey, str]:
    """Return the texts of the documents with these keys. Documents without a stored text are omitted."""
    return {key: stored.text for key, stored in read_stored_texts(store, keys).items()}


def read_stored_texts(store: Store, keys: Sequence[DocumentKey]) -> dict[DocumentKey, StoredText]:
    """Return the texts of the documents with these keys, with their hashes; see `read_texts`."""
    requested_keys = set(keys)
    return {text.key: text for text in store.texts(dict.fromkeys(key.id for key in keys)) if text.key in requested_keys}


def resolve_record(store: Store, query: Query, filters: Filters | None = None) -> Record:
    """Return the complete record of the query document. The document must match the filters.

    The errors are those of `Resolver.resolve` and `Resolver.get_record`.
    """
    resolver = Resolver(store, filters)
    key = query if isinstance(query, DocumentKey) else None
    return read_complete_record(store, resolver.get_record(resolver.resolve(query).id, key))


def read_complete_record(store: Store, record: Record) -> Record:
    """Return the current record with text, passages, sentences and concepts. A deleted record is returned unchanged."""
    return read_records(store, [record.key], load=ALL_PARTS).get(record.key, record)


def split_into_batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in lists of up to `BATCH_SIZE` items, unless the search is stopped."""
    for batch in split_by_count(items, BATCH_SIZE):
        check_stopped()
        yield batch
