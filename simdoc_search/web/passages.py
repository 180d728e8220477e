"""Which documents share passages, and where?"""

from __future__ import annotations

from typing import Any

from simdoc_search.as_json import passages_as_json
from simdoc_search.documents import Place
from simdoc_search.search import PassageHit, PassageResult
from simdoc_search.web.answer import Answer
from simdoc_search.web.asked import Asked
from simdoc_search.web.columns import columns_of
from simdoc_search.web.limits import TEXT_LETTERS
from simdoc_search.web.similar import ECHOED, again_of
from simdoc_search.web.texts import (
    GivenText,
    check_has_passages,
    given_text,
    has_text,
    place_of,
    query_at,
)

__all__ = ["passages"]

_LEAST, _MOST = 1, 10_000  # words


def passages(asked: Asked) -> Answer:
    """The documents that share passages with the document at a place, or with a text."""
    search = asked.collection.search()
    check_has_passages(search)
    words = asked.number("min_words", 0, _LEAST, _MOST)
    options: dict[str, Any] = {
        "size": asked.size,
        "offset": asked.offset,
        "filters": asked.filters(),
        "min_words": words or None,
        "preset": asked.preset,
    }
    given: GivenText | None = None
    source: Place | None = None
    if has_text(asked):
        given = given_text(asked, TEXT_LETTERS)
        result = search.passages(text=given.text, **options)
    else:
        source = place_of(asked, search)
        result = search.passages(query_at(source), **options)
    settings = search.store.settings
    run = settings.passages.run(settings.analysis.shingle_size) if settings.passages else 0
    places = [hit.place for hit in result.hits]
    columns = columns_of(asked, search, places)
    values = {
        "result": result,
        "source": source,
        "given": given,
        "echoed": given is not None and len(given.text) <= ECHOED,
        "quotes": {hit.place: _quote(hit, result) for hit in result.hits},
        "columns": columns,
        "run": run,
        "pages": asked.pages(len(result.hits)),
        "again": {} if given else again_of(asked),
    }
    asked_about = {"id": source.id if source else None, "file": given.name or None if given else None}
    return Answer("passages.html", values, columns.completed(passages_as_json(asked_about, result), places))


def _quote(hit: PassageHit, result: PassageResult) -> str:
    return result.text[slice(*hit.longest.a)] if hit.longest and result.text else ""
