"""The page that shows two texts side by side."""

from __future__ import annotations

from typing import Any

from simdoc_search.as_json import comparison_as_json
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.compare import compare as compare_texts
from simdoc_search.passages.report import pair_view
from simdoc_search.passages.summary import word_measures
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_limits import MAX_COMPARED_CHARACTERS
from simdoc_search.web.request_query import has_text, length_for_limit, named_place, request_query, stored_text
from simdoc_search.web.response import Page

_MAX_SHOWN_CHARACTERS = 2_000_000
"""The maximum total number of characters of two texts that a browser shows side by side without delay."""


def compare(request: PageRequest) -> Page:
    """Return the comparison of the documents `a` and `b`, or of a text and the document `b`."""
    search = request.served.search()
    second = named_place(request, search, "b")
    if has_text(request):
        query = request_query(request)
        first, name, text, side = None, query.name or "your text", query.text or "", {"file": query.file}
    else:
        first = named_place(request, search, "a")
        name, text, side = _name(first), stored_text(search, first), {"id": first.id}
    texts, names = (text, stored_text(search, second)), (name, _name(second))
    length = sum(length_for_limit(text, request) for text in texts)
    if length > MAX_COMPARED_CHARACTERS:
        raise QuerySyntaxError(
            f"the two texts together have {length:,} characters after normalisation, but the server compares at most "
            f"{MAX_COMPARED_CHARACTERS:,}; run `simdoc-search compare` instead"
        )
    settings = search.store.settings
    comparison = compare_texts(*texts, preset=request.preset, settings=settings)
    is_shown = length <= _MAX_SHOWN_CHARACTERS and not request.wants_json
    values: dict[str, Any] = {
        "names": names,
        "measures": word_measures(comparison),
        "pair": pair_view(comparison, texts, names, analysis=settings.analysis) if is_shown else None,
    }
    return Page("compare.html", values, comparison_as_json(comparison, (side, {"id": second.id})))


def _name(place: DocumentKey) -> str:
    return place.id if place.index is None else f"{place.id} in {place.index}"
