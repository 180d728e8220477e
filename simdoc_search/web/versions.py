"""Which documents are versions of one, which are about the same, and what is one about?"""

from __future__ import annotations

from typing import Any

from simdoc_search.as_json import concepts_as_json, place_as_json, related_as_json, versions_as_json
from simdoc_search.documents import Place
from simdoc_search.errors import NoFingerprintError
from simdoc_search.search import SimilaritySearch
from simdoc_search.search.versions_result import HINT, key_lines, words_of
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.limits import MOST_BITS
from simdoc_search.versions.relations import RELATED
from simdoc_search.web.collection import NotKeptError
from simdoc_search.web.columns import columns_of
from simdoc_search.web.limits import TEXT_LETTERS
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer
from simdoc_search.web.similar import ECHOED, again_of
from simdoc_search.web.texts import GivenText, given_text, has_text, place_of, query_at


def versions(asked: Asked) -> Answer:
    """The versions of the document at a place, or of a text, the oldest first.

    Git is not asked when files were committed: a request starts no other program.
    """
    search = asked.collection.search()
    source, given = _source(asked)
    options: dict[str, Any] = {"size": asked.size, "offset": asked.offset, "filters": asked.filters()}
    options["version_control"] = False
    options |= limits_of(asked)
    if given:
        result = search.versions(text=given.text, **options)
    else:
        result = search.versions(query_at(source) if source else None, **options)
    values = {
        "result": result,
        "source": source,
        "given": given,
        "words_of": words_of,
        "key_lines": key_lines,
        "hint": HINT,
        "pages": asked.pages(len(result.hits)),
        "again": {} if given else again_of(asked),
    }
    own = source.id if source else None
    return Answer("versions.html", values, versions_as_json(result, own, _file(given), {}, None))


def related(asked: Asked) -> Answer:
    """The documents about the same as the document at a place, or as a text."""
    search = check_has_concepts(asked)
    source, given = _source(asked)
    options: dict[str, Any] = {"size": asked.size, "offset": asked.offset, "filters": asked.filters()}
    options |= {"explain": asked.is_on("explain"), **limits_of(asked)}
    if given:
        result = search.related(text=given.text, **options)
    else:
        result = search.related(query_at(source) if source else None, **options)
    places = [hit.place for hit in result.hits]
    columns = columns_of(asked, search, places)
    values = {
        "result": result,
        "source": source,
        "given": given,
        "echoed": given is not None and len(given.text) <= ECHOED,
        "columns": columns,
        "related_from": RELATED,
        "pages": asked.pages(len(result.hits)),
        "again": {} if given else again_of(asked),
    }
    said = related_as_json(result, source.id if source else None, _file(given))
    return Answer("related.html", values, columns.completed(said, places))


def concepts(asked: Asked) -> Answer:
    """The concepts of the document at a place."""
    search = check_has_concepts(asked)
    place = place_of(asked, search)
    try:
        result = search.concepts(query_at(place))
    except NoFingerprintError:
        result = None
    said = concepts_as_json(result) if result else {**place_as_json(place), "concepts": []}
    return Answer("concepts.html", {"place": place, "result": result}, said)


def check_has_concepts(asked: Asked) -> SimilaritySearch:
    """The search over a collection that has concepts.

    Raises:
        NotKeptError: it has none.
    """
    search = asked.collection.search()
    if search.store.settings.concepts is None:
        location = search.store.info().location
        raise NotKeptError(f"this collection was made without concepts; {KINDS['concepts'].how_to_add(location)}")
    return search


def limits_of(asked: Asked) -> dict[str, float]:
    """What is given of the limits; the index has the others.

    Raises:
        QuerySyntaxError: one of them is out of range.
    """
    shares = {name: asked.percent(name) for name in ("enough", "least")}
    found = {name: float(share) for name, share in shares.items() if share is not None}
    if asked.one("bits").strip():
        found["bits"] = asked.number("bits", 0, 0, MOST_BITS)
    if (score := asked.score("min_score")) is not None:
        found["min_score"] = score
    return found


def _source(asked: Asked) -> tuple[Place | None, GivenText | None]:
    if has_text(asked):
        return None, given_text(asked, TEXT_LETTERS)
    return place_of(asked, asked.collection.search()), None


def _file(given: GivenText | None) -> str | None:
    return given.name or None if given else None
