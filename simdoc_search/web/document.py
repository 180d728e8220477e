"""The page of one document: its text, its metadata, and similar and related documents."""

from __future__ import annotations

from simdoc_search.as_json.queries import key_as_json
from simdoc_search.as_json.related import related_as_json
from simdoc_search.as_json.similar import similar_as_json
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoFingerprintError
from simdoc_search.search.related_result import RelatedResult
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.web.columns import read_document_fields
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_query import find_document_key, make_query, read_stored_record
from simdoc_search.web.response import Page

_MAX_RELATED_DOCUMENTS = 5
_PART_CHARACTERS = 20_000
"""The number of characters of the text that a page shows."""


def document(request: PageRequest) -> Page:
    """Return the page of a document with a part of its text."""
    search = request.served_store.search()
    key = find_document_key(request, search)
    record = read_stored_record(search, key)
    start = request.integer("start", 0, 0, 10**9)
    end = start + _PART_CHARACTERS
    text = None if record.text is None else record.text[start:end]
    length = None if record.text is None else len(record.text)
    try:
        result = search.similar(make_query(key), size=request.size)
    except NoFingerprintError:
        result = None
    has_concepts = search.store.settings.concepts is not None
    related = _find_related(search, key) if has_concepts else None
    values = {
        "key": key,
        "can_open_file": record.origin is not None and not record.origin.content_hash,
        "fields": read_document_fields(request, search, record),
        "text": text,
        "start": start,
        "previous_start": max(start - _PART_CHARACTERS, 0),
        "next_start": end if length is not None and end < length else 0,
        "length": length,
        "result": result,
        "related": related.hits if related else [],
        "has_concepts": has_concepts,
    }
    as_json = {
        **key_as_json(key),
        "metadata": dict(record.metadata),
        "size": record.origin.size if record.origin else None,
        "character_count": length,
        "start": start,
        "text": text,
        "similar": similar_as_json(result) if result else None,
        "related": related_as_json(related, key.id, None) if related else None,
    }
    return Page("document.html", values, as_json)


def _find_related(search: SimilaritySearch, key: DocumentKey) -> RelatedResult | None:
    try:
        return search.related(make_query(key), size=_MAX_RELATED_DOCUMENTS, name_concepts=False)
    except NoFingerprintError:
        return None
