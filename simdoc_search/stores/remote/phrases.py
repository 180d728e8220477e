"""Finds the documents whose text fields contain phrases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.errors import FormatMismatchError
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Phrase, PhraseMatches
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.mappings import mapping_at
from simdoc_search.stores.remote.point_in_time import total_hits
from simdoc_search.stores.remote.queries import phrase_query

MAX_PER_PHRASE, MAX_FOR_ALL_PHRASES = 200, 5_000
"""Maximum number of documents that are read for each of many phrases, and for a few phrases together."""

PHRASES_AT_ONCE = 100
"""Maximum number of searches in one request."""

_TEXT_TYPES = frozenset({"text", "match_only_text", "search_as_you_type", "annotated_text"})
_WITH_POSITIONS = frozenset({"positions", "offsets"})


def can_find_phrases(access: IndexAccess) -> bool:
    """Return whether all indices store word positions in each text field."""
    fields, mappings = _text_fields(access), access.indices.queryable.values()
    return bool(fields) and all(_has_positions(mapping, field) for mapping in mappings for field in fields)


def find_phrases(
    access: IndexAccess, phrases: Sequence[Phrase], filters: Filters | None, exclude: Place | None
) -> PhraseMatches:
    """Return the documents that contain at least one of the phrases; see `Store.documents_with_phrases`."""
    fields = _text_fields(access)
    if not can_find_phrases(access):
        named = f"field {', '.join(fields)}" if fields else "text field"
        raise FormatMismatchError(f"{access.location} has no {named} with word positions, which phrase queries need")
    size = min(max(MAX_PER_PHRASE, MAX_FOR_ALL_PHRASES // max(1, len(phrases))), MAX_FOR_ALL_PHRASES)
    clauses = access.query_clauses(filters)

    def search(phrase: Phrase) -> dict[str, Any]:
        return {
            "query": phrase_query(phrase.text, fields, clauses, exclude, access.ids),
            "size": size,
            "sort": ["_doc"],
            "track_total_hits": size + 1,
            "_source": access.ids.parts or False,
        }

    matches: defaultdict[Place, list[int]] = defaultdict(list)
    incomplete = []
    for start in range(0, len(phrases), PHRASES_AT_ONCE):
        searches = map(search, phrases[start : start + PHRASES_AT_ONCE])
        for number, answer in enumerate(access.engine.search_many(access.name, searches), start):
            hits = answer["hits"]["hits"]
            for hit in hits:
                matches[access.ids.place_of(hit)].append(number)
            if total_hits(answer) > len(hits):
                incomplete.append(number)
    return PhraseMatches({place: tuple(numbers) for place, numbers in matches.items()}, tuple(incomplete))


def _text_fields(access: IndexAccess) -> Sequence[str]:
    return ["body"] if access.text_fields is None else access.text_fields


def _has_positions(mapping: Mapping[str, Any], name: str) -> bool:
    field = mapping_at(mapping, name) or {}
    if field.get("type") not in _TEXT_TYPES or str(field.get("index", True)).lower() == "false":
        return False
    return field.get("index_options", "positions") in _WITH_POSITIONS or field["type"] == "match_only_text"
