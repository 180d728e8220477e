"""Finds documents by id, finds ids by name or prefix, and suggests ids, fields and folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.documents import MAX_ID_BYTES, DocumentKey, unicode_forms
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.stores.fields import (
    METADATA_FIELD,
    alternative_names,
    distinctive_words,
    escape_surrogates,
    field_or_folder_names,
    metadata_prefix,
    most_similar_ids,
)
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import ResponseTooLargeError
from simdoc_search.stores.remote.filter_clauses import nested_clause, path_clause
from simdoc_search.stores.remote.mappings import leaf_field_paths, nested_path
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits, total_hits
from simdoc_search.stores.remote.queries import any_clause, exists_clause
from simdoc_search.stores.remote.texts import select_fields, source_paths
from simdoc_search.stores.remote.writer import is_possible_id

SAMPLE_SIZE = 200
"""Number of documents in a sample of an index."""

_MAX_HITS_FOR_SUGGESTIONS = 20
_IDS_AT_ONCE = 50
_MAX_DOCUMENTS_PER_ID = 100

SourceFilter = dict[str, Any] | list[str]
"""A `_source` filter, which selects the parts of a document that a search loads."""


def find_by_id(
    access: IndexAccess,
    ids: Iterable[str],
    *,
    source: SourceFilter,
    ids_per_request: int,
    clauses: Sequence[dict[str, Any]] = (),
    engine: Engine | None = None,
    index: str | None = None,
) -> Iterator[RawHit]:
    """Yield all documents with these ids, in any index and with any routing. Several documents may have the same id.

    `source` selects the parts of each document to load. All `clauses` must also match. The default is the store's
    index, and its engine for interactive queries.
    """
    possible_ids = [id for id in ids if is_possible_id(id)]

    def find(part: list[str]) -> list[RawHit]:
        query = access.id_field.query(part)
        body: dict[str, Any] = {
            "query": {"bool": {"filter": [query, *clauses]}} if clauses else query,
            "size": 2 * len(part) if len(part) > 1 else _MAX_DOCUMENTS_PER_ID,
            "track_total_hits": True,
            "seq_no_primary_term": True,  # conditional updates need it
            "_source": source,
        }
        try:
            response = (engine or access.engine).search(index or access.name, body)
            hits: list[RawHit] = response["hits"]["hits"]
            if total_hits(response) <= body["size"] or len(part) == 1:
                return hits
        except ResponseTooLargeError:
            if len(part) == 1:
                raise
        middle = len(part) // 2
        return [*find(part[:middle]), *find(part[middle:])]

    for start in range(0, len(possible_ids), ids_per_request):
        yield from find(possible_ids[start : start + ids_per_request])


def read_fields(
    access: IndexAccess, keys: Sequence[DocumentKey], fields: Sequence[str]
) -> dict[DocumentKey, Mapping[str, Any]]:
    """Return the values of fields of the documents with these keys; see `Store.read_fields`."""
    source = [*access.id_field.source_fields, *source_paths(fields, is_simdoc_index=access.is_simdoc_index)]
    ids = dict.fromkeys(key.id for key in keys)
    hits = find_by_id(access, ids, source=source, ids_per_request=_IDS_AT_ONCE)
    return {
        access.id_field.key_of(hit): select_fields(
            hit.get("_source") or {}, fields, is_simdoc_index=access.is_simdoc_index
        )
        for hit in hits
    }


def find_keys(access: IndexAccess, id: str, index: str) -> set[DocumentKey]:
    """Return the keys of the documents with an id in an index, alias or data stream."""
    source = access.id_field.source_fields or {"excludes": ["*"]}
    try:
        return {*map(access.id_field.key_of, find_by_id(access, [id], source=source, ids_per_request=1, index=index))}
    except StoreNotFoundError:
        return set()


def application_fields(access: IndexAccess, keys: Sequence[DocumentKey]) -> dict[DocumentKey, dict[str, Any]]:
    """Return the fields of documents of an application; see `Store.application_fields`."""
    if access.is_simdoc_index:
        return {}
    source: SourceFilter = {"excludes": [access.field, *(access.text_fields or ())]}
    ids = dict.fromkeys(key.id for key in keys)
    hits = find_by_id(access, ids, source=source, ids_per_request=_IDS_AT_ONCE)
    return {access.id_field.key_of(hit): access.fields_of(hit) for hit in hits}


def find_ids_by_name(access: IndexAccess, name: str, filters: Filters | None) -> list[str]:
    """Return the sorted ids of the documents that have this name; see `Store.ids_with_name`."""
    if not access.is_simdoc_index:
        return []
    clauses = [{"term": {f"{access.field}.names": escape_surrogates(name)}}, *access.filter_clauses(filters)]
    body = {"query": {"bool": {"filter": clauses}}, "_source": False, "sort": ["_doc"]}
    return sorted({hit["_id"] for hit in all_hits(access.engine, access.name, body)})


def suggest_ids(access: IndexAccess, id: str, filters: Filters | None) -> list[str]:
    """Return up to ten similar ids of stored documents; see `Store.suggest_ids`."""
    if not access.is_simdoc_index or len(id) > MAX_ID_BYTES:
        return []
    id_names = {name for spelling in unicode_forms(id) for name in (spelling, *alternative_names(spelling))}
    names, field = [escape_surrogates(name) for name in id_names], f"{access.field}.names"
    fuzzy = [{"fuzzy": {field: {"value": name, "fuzziness": distance}}} for name in names for distance in (1, 2)]
    prefixes = [{"prefix": {field: name[: len(name) * 2 // 3]}} for name in names]
    patterns = [f"*{word}*" for word in distinctive_words(id)]
    contained = [{"wildcard": {field: {"value": pattern, "case_insensitive": True}}} for pattern in patterns]
    found_ids: set[str] = set()
    for clauses in filter(None, (fuzzy, prefixes, contained)):
        query = {"bool": {"should": clauses, "minimum_should_match": 1, "filter": access.filter_clauses(filters)}}
        body = {"query": query, "size": _MAX_HITS_FOR_SUGGESTIONS, "_source": False}
        found_ids.update(hit["_id"] for hit in access.engine.search(access.name, body)["hits"]["hits"])
    return most_similar_ids(id, found_ids)


def find_ids_by_prefix(access: IndexAccess, prefix: str, limit: int) -> list[str]:
    """Return up to `limit` ids that begin with a prefix, sorted.

    The list is empty if the ids of an application's index are `_id`, which does not support prefix queries.
    """
    if access.id_field.field is None and not access.is_simdoc_index:
        return []
    fields = (
        [access.id_field.field] if access.id_field.field else [f"{access.field}.{name}" for name in ("path", "names")]
    )
    query = {"bool": {"should": [{"prefix": {field: prefix}} for field in fields]}}
    hits = access.engine.search(access.name, {"query": query, "size": limit, "_source": access.id_field.source_fields})[
        "hits"
    ]
    return sorted(id for id in map(access.id_field.id_of, hits["hits"]) if id.startswith(prefix))


def suggest_filter_names(access: IndexAccess, condition: Condition) -> list[str] | None:
    """Return suggestions for a condition that no document can match; see `Store.suggest_filter_names`."""
    if not access.is_simdoc_index:
        paths = {nested_path(mapping, condition.field) for mapping in access.indices.mappings.values()}
        exists = exists_clause(condition.field)
        query = any_clause(nested_clause(exists, path) for path in paths)
    elif condition.field == "path":
        query = path_clause(condition.values, access.field)
    else:
        query = {"prefix": {f"{access.field}.{METADATA_FIELD}": metadata_prefix(condition.field)}}
    if access.engine.call("POST", [access.name, "_count"], {"query": query}, terminate_after=1)["count"]:
        return None
    if not access.is_simdoc_index:
        names = {name for mapping in access.indices.mappings.values() for name in leaf_field_paths(mapping)}
        return sorted(name for name in names if not name.startswith(f"{access.field}."))
    sample = access.engine.search(access.name, {"size": SAMPLE_SIZE, "_source": ["metadata"]})["hits"]["hits"]
    return field_or_folder_names(map(access.to_record, sample), condition)
