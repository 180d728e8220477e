"""One document: what it is, how it begins, and which are alike."""

from __future__ import annotations

from simdoc_search.as_json import place_as_json, related_as_json, similar_as_json
from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError
from simdoc_search.search import RelatedResult, SimilaritySearch
from simdoc_search.web.columns import facts_of
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer
from simdoc_search.web.texts import place_of, query_at, record_at

_RELATED = 5
_SHOWN = 20_000
"""Characters of a text that a page shows."""


def document(asked: Asked) -> Answer:
    """The document at a place."""
    search = asked.collection.search()
    place = place_of(asked, search)
    record = record_at(search, place)
    length = None if record.text is None else len(record.text)
    at = asked.number("at", 0, 0, 10**9)
    text = None if record.text is None else record.text[at : at + _SHOWN]
    try:
        result = search.similar(query_at(place), size=asked.size)
    except NoFingerprintError:
        result = None
    related = _related(search, place) if search.store.settings.concepts is not None else None
    values = {
        "place": place,
        "facts": facts_of(asked, search, record),
        "text": text,
        "at": at,
        "before": max(at - _SHOWN, 0),
        "after": at + _SHOWN if length is not None and at + _SHOWN < length else 0,
        "length": length,
        "result": result,
        "related": related.hits if related else [],
        "has_concepts": search.store.settings.concepts is not None,
    }
    said = {
        **place_as_json(place),
        "metadata": dict(record.metadata),
        "size": record.origin.size if record.origin else None,
        "characters": length,
        "at": at,
        "text": text,
        "similar": similar_as_json(result) if result else None,
        "related": related_as_json(related, place.id, None) if related else None,
    }
    return Answer("document.html", values, said)


def _related(search: SimilaritySearch, place: Place) -> RelatedResult | None:
    """Some documents on the same topic; None if the document has no concepts."""
    try:
        return search.related(query_at(place), size=_RELATED, name_concepts=False)
    except NoFingerprintError:
        return None
