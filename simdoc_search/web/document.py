"""One document: what it is, how it begins, and which are alike."""

from __future__ import annotations

from simdoc_search.as_json import place_as_json, similar_as_json
from simdoc_search.errors import NoFingerprintError
from simdoc_search.web.answer import Answer
from simdoc_search.web.asked import Asked
from simdoc_search.web.columns import facts_of
from simdoc_search.web.texts import place_of, query_at, record_at

__all__ = ["document"]

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
    values = {
        "place": place,
        "facts": facts_of(asked, search, record),
        "text": text,
        "at": at,
        "before": max(at - _SHOWN, 0),
        "after": at + _SHOWN if length is not None and at + _SHOWN < length else 0,
        "length": length,
        "result": result,
    }
    said = {
        **place_as_json(place),
        "metadata": dict(record.metadata),
        "size": record.origin.size if record.origin else None,
        "characters": length,
        "at": at,
        "text": text,
        "similar": similar_as_json(result) if result else None,
    }
    return Answer("document.html", values, said)
