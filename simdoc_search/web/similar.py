"""Which documents are alike, as a whole or in part?"""

from __future__ import annotations

from typing import Any

from simdoc_search.as_json import similar_as_json
from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.web.columns import columns_of
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer
from simdoc_search.web.texts import GivenText, check_has_passages, check_name, given_text, has_text, place_of, query_at

ECHOED = 1_000_000
"""Characters of a text that a page of answers carries along, so that hits can be compared with it."""


def similar(asked: Asked) -> Answer:
    """The documents that are alike: to a FINGERPRINT, to the document at a place, or to a text."""
    search = asked.collection.search()
    options: dict[str, Any] = {
        "overlap": asked.percent("overlap"),
        "probability": asked.percent("probability"),
        "size": asked.size,
        "offset": asked.offset,
        "filters": asked.filters(),
        "measure": asked.measure,
        "verify": not asked.is_on("estimate"),
    }
    if asked.measure != "jaccard":
        check_has_passages(search)
    given: GivenText | None = None
    source: Place | None = None
    if has_text(asked):
        given = given_text(asked)
        result = search.similar_to_text(given.text, **options)
    elif query := asked.one("q").strip():
        check_name(search, query)
        result = search.similar(query, **options)
        source = Place(result.query.id)
    elif asked.one("id"):
        source = place_of(asked, search)
        result = search.similar(query_at(source), **options)
    else:
        raise QuerySyntaxError("there is nothing to look for; name a document, paste a text or choose a file")
    places = [hit.place for hit in result.hits]
    columns = columns_of(asked, search, places)
    values = {
        "result": result,
        "source": source,
        "given": given,
        "echoed": given is not None and len(given.text) <= ECHOED,
        "columns": columns,
        "pages": asked.pages(len(result.hits)),
        "again": {} if given else again_of(asked),
    }
    return Answer("similar.html", values, columns.completed(similar_as_json(result), places))


def again_of(asked: Asked) -> dict[str, Any]:
    """What an address needs to ask the same again, but for what is changed in it."""
    kept = (
        *("q", "id", "index", "routing", "overlap", "probability", "measure", "estimate", "preset", "min_words"),
        *("all", "ignore_quotes", "enough", "least", "explain", "size"),
    )
    values: dict[str, Any] = {name: asked.one(name) for name in kept if asked.one(name)}
    return values | {
        name: [*asked.values[name]] for name in ("filter", "exclude", "show", "ignore") if name in asked.values
    }
