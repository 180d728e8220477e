"""Finds the documents whose text fields contain phrases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import FormatMismatchError
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Phrase, PhraseMatches
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.mappings import mapping_at
from simdoc_search.stores.remote.point_in_time import total_hits
from simdoc_search.stores.remote.queries import phrase_query

MIN_LIMIT_PER_PHRASE, MAX_LIMIT_PER_PHRASE = 200, 5_000
"""Bounds of the maximum number of documents that are read for each phrase.

The maximum number is `MAX_LIMIT_PER_PHRASE` divided by the number of phrases, but at least `MIN_LIMIT_PER_PHRASE`.
"""

PHRASES_AT_ONCE = 100
"""Maximum number of searches in one request."""

_TEXT_TYPES = frozenset({"text", "match_only_text", "search_as_you_type", "annotated_text"})
_OPTIONS_WITH_POSITIONS = frozenset({"positions", "offsets"})


def can_find_phrases(access: IndexAccess) -> bool:
    """Return whether all indices store word positions in each text field."""
    fields, mappings = _text_fields(access), access.indices.queryable_mappings.values()
    return bool(fields) and all(_has_positions(mapping, field) for mapping in mappings for field in fields)


def find_phrases(
    access: IndexAccess, phrases: Sequence[Phrase], filters: Filters | None, exclude: DocumentKey | None
) -> PhraseMatches:
    """Return the documents that contain at least one of the phrases; see `Store.documents_with_phrases`."""
    fields = _text_fields(access)
    if not can_find_phrases(access):
        problem = (
            f"not every index of {access.location} stores the word positions of {', '.join(fields)}"
            if fields
            else f"{access.location} has no text field"
        )
        raise FormatMismatchError(
            f"phrase queries need word positions, but {problem}; choose a field of the type text with the default "
            "index_options"
        )
    size = max(MIN_LIMIT_PER_PHRASE, MAX_LIMIT_PER_PHRASE // max(1, len(phrases)))
    clauses = access.query_clauses(filters)

    def search(phrase: Phrase) -> dict[str, Any]:
        return {
            "query": phrase_query(phrase.text, fields, clauses, exclude, access.id_field),
            "size": size,
            "sort": ["_doc"],
            "track_total_hits": size + 1,
            "_source": access.id_field.source_fields or False,
        }

    matches: defaultdict[DocumentKey, list[int]] = defaultdict(list)
    incomplete = []
    for start in range(0, len(phrases), PHRASES_AT_ONCE):
        searches = map(search, phrases[start : start + PHRASES_AT_ONCE])
        for position, response in enumerate(access.engine.search_many(access.name, searches), start):
            hits = response["hits"]["hits"]
            for hit in hits:
                matches[access.id_field.key_of(hit)].append(position)
            if total_hits(response) > len(hits):
                incomplete.append(position)
    return PhraseMatches({key: tuple(positions) for key, positions in matches.items()}, tuple(incomplete))


def _text_fields(access: IndexAccess) -> Sequence[str]:
    return ["body"] if access.text_fields is None else access.text_fields


def _has_positions(mapping: Mapping[str, Any], name: str) -> bool:
    field = mapping_at(mapping, name) or {}
    if field.get("type") not in _TEXT_TYPES or str(field.get("index", True)).lower() == "false":
        return False
    return field.get("index_options", "positions") in _OPTIONS_WITH_POSITIONS or field["type"] == "match_only_text"
