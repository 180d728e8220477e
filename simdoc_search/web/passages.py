"""Which documents share passages, and where?"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from simdoc_search.as_json import passages_as_json
from simdoc_search.display import estimate, percent
from simdoc_search.documents import Place
from simdoc_search.passages.report import Source, Sourced, source_view
from simdoc_search.search import PassageHit, PassageResult, SimilaritySearch
from simdoc_search.search.resolver import Resolver
from simdoc_search.search.stored_texts import read_records
from simdoc_search.web.columns import columns_of
from simdoc_search.web.limits import TEXT_LETTERS
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer
from simdoc_search.web.similar import ECHOED, again_of
from simdoc_search.web.texts import (
    GivenText,
    check_has_passages,
    check_name,
    given_text,
    has_text,
    place_of,
    query_at,
    record_at,
)

_LEAST, _MOST = 1, 10_000  # words

_SHOWN = 2_000_000
"""Characters of a text and its sources that a browser shows fluently."""


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
        "compare_all": asked.is_on("all"),
        "ignore": _ignored(asked, search),
        "ignore_quotes": asked.is_on("ignore_quotes"),
    }
    given: GivenText | None = None
    source: Place | None = None
    if has_text(asked):
        given = given_text(asked, TEXT_LETTERS)
        result = search.passages(text=given.text, **options)
    else:
        source = place_of(asked, search)
        result = search.passages(query_at(source), **options)
    name = source.id if source else (given.name if given else "") or "your text"
    places = [hit.place for hit in result.hits]
    columns = columns_of(asked, search, places)
    values = {
        "result": result,
        "headline": result.headline(name),
        "view": None if asked.wants_json else _view(name, result, search),
        "source": source,
        "given": given,
        "echoed": given is not None and len(given.text) <= ECHOED,
        "quotes": {hit.place: _quote(hit, result) for hit in result.hits},
        "columns": columns,
        "pages": asked.pages(len(result.hits), result.total),
        "again": {} if given else again_of(asked),
    }
    asked_about = {"id": source.id if source else None, "file": given.name or None if given else None}
    return Answer("passages.html", values, columns.completed(passages_as_json(asked_about, result), places))


def _ignored(asked: Asked, search: SimilaritySearch) -> list[str]:
    """The texts of the documents that `ignore` names."""
    texts = []
    for name in asked.all("ignore"):
        check_name(search, name)
        place = Resolver(search.store).record(search.resolve(name, overlap=0).id).place
        texts.append(record_at(search, place, needs_text=True).text or "")
    return texts


def _view(name: str, result: PassageResult, search: SimilaritySearch) -> Markup | None:
    """The text with its sources; None if there is nothing to show, or more than a browser shows fluently."""
    left = _SHOWN - len(result.text or "")
    if result.text is None or not result.hits or left < 0:
        return None
    sources = []
    for hit in result.hits:
        record = read_records(search.store, [hit.place]).get(hit.place) if left > 0 else None
        text = record.text if record else None
        left -= len(text or "")
        exact = hit.kind == "exact"
        words = f"{'' if exact else '~'}{hit.words:,}"
        share = percent(hit.share, 0) if exact else estimate(hit.share)
        sources.append(Source(hit.id, words, share, hit.adds, hit.passages, "", text if exact else None))
    view = Sourced(name, result.headline(name), result.text, sources, result.spans, result.ignored_spans)
    # Whatever others wrote went through `marking` there.
    return Markup("".join(source_view(view)))  # noqa: S704


def _quote(hit: PassageHit, result: PassageResult) -> str:
    return result.text[slice(*hit.longest.a)] if hit.longest and result.text else ""
