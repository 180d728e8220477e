"""Answers page by page, and what hits have in their fields, in every store and for every question."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from tests.support.stores import NewStore

Ask = Callable[..., Any]
SETTINGS = Settings(sentences=Sentences(), concepts=Concepts("names"))
FAMILY, SIZE = 14, 3  # pages that part documents which are equal

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "any overlap": ("similar", {}),
    "a threshold": ("similar", {"overlap": 0.2}),
    "bands": ("similar", {"overlap": 0.2, "probability": 0.8}),
    "verified": ("similar", {"overlap": 0.2}),
    "containment": ("similar", {"measure": "containment"}),
    "passages": ("passages", {}),
    "versions": ("versions", {}),
    "related": ("related", {}),
}


def sentences(count: int, seed: int) -> list[str]:
    """Sentences of ten words that nobody wrote."""
    rng = random.Random(seed)
    return [" ".join(f"w{rng.randrange(100_000)}" for _ in range(10)).capitalize() + "." for _ in range(count)]


def family() -> Iterator[Document]:
    """A source, documents that share less and less of it, each twice, and others that share nothing."""
    first = sentences(30, 0)
    named = "They met Jason Dufner and Elin Nordegren at Oak Hill."
    yield Document("source", " ".join([*first, named]), {"team": "x", "year": 0})
    for number in range(FAMILY):
        kept = 28 - number // 2
        text = " ".join([*first[:kept], named, *sentences(30 - kept, 1 + number // 2)])
        yield Document(f"near/{number:02}", text, {"team": "x", "year": number})
    for number in range(12):
        yield Document(
            f"other/{number:02}", " ".join(sentences(30, 50 + number)) + f" They met Ann{number} Bo{number}."
        )


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over them."""
    made = SimilaritySearch(shared_store(SETTINGS))
    assert not made.index(family()).failed
    return made


@pytest.fixture(params=QUESTIONS)
def ask(request: pytest.FixtureRequest, search: SimilaritySearch) -> Ask:
    """Asks one of the questions about the source; more options may be given."""
    method, options = QUESTIONS[request.param]
    return lambda **more: getattr(search, method)("source", **options, **more)


def value(hit: Any) -> float:
    """What hits are ranked by."""
    return float(next(getattr(hit, name) for name in ("overlap", "words", "score") if hasattr(hit, name)))


def test_pages_neither_repeat_nor_leave_out_a_document(ask: Ask) -> None:
    """All of them together are what one large page is, and each begins where the one before it ended."""
    whole = ask(size=100).hits
    pages = [ask(size=SIZE, offset=offset).hits for offset in range(0, FAMILY, SIZE)]
    hits = [hit for page in pages for hit in page]

    assert {f"near/{number:02}" for number in range(FAMILY)} == {hit.id for hit in whole}
    assert FAMILY == len(hits)
    assert {hit.place for hit in whole} == {hit.place for hit in hits}
    assert [value(hit) for hit in whole][: SIZE - 1] == [value(hit) for hit in hits][: SIZE - 1]
    assert [] == ask(size=SIZE, offset=FAMILY).hits
    assert [3, 3, 3, 3, 2] == [len(page) for page in pages]


def test_hits_have_the_fields_that_were_asked_for(ask: Ask) -> None:
    """Those of its metadata; what a document lacks is left out, and nobody gets what was not asked for."""
    hits = ask(size=3, offset=2, fields=["year", "team", "none"]).hits

    assert [{"year": int(hit.id[-2:]), "team": "x"} for hit in hits] == [hit.fields for hit in hits]
    assert [{}] * 3 == [hit.fields for hit in ask(size=3).hits]


def test_hits_say_where_they_are(ask: Ask) -> None:
    """Index and routing as in their place; with it one goes on."""
    (hit,) = ask(size=1).hits

    assert (hit.place.id, hit.place.index, hit.place.routing) == (hit.id, hit.index, hit.routing)


def test_what_is_no_page_is_refused(search: SimilaritySearch) -> None:
    """At the call, for every question alike."""
    wrong: list[dict[str, Any]] = [{"offset": -1}, {"offset": 1.5}, {"offset": True}, {"size": 0}, {"fields": "year"}]
    for method in ("similar", "passages", "versions", "related"):
        for options in wrong:
            with pytest.raises(QuerySyntaxError, match=f"{next(iter(options))} must be"):
                getattr(search, method)("source", **options)


def test_pages_of_many_and_of_texts_are_pages_too(search: SimilaritySearch) -> None:
    """The second page of each answer follows its first."""
    text = next(family()).text
    questions: list[Ask] = [
        lambda **page: [search.similar_to_text(text, **page)],
        lambda **page: list(search.similar_many(["source", "near/00"], **page)),
        lambda **page: list(search.passages_of_many(["source", "near/00"], **page)),
    ]
    for asked in questions:
        for whole, first, second in zip(asked(size=8), asked(size=4), asked(size=4, offset=4), strict=True):
            assert {hit.id for hit in whole.hits} == {hit.id for hit in [*first.hits, *second.hits]}


def test_the_newest_version_is_in_the_timeline_of_each_page(new_memory_store: NewStore) -> None:
    """It ends the first page if it is not among the best, and no later page repeats it."""
    first = sentences(30, 0)
    texts = {f"plan 2021-03-{day:02}.txt": " ".join(first[: 30 - day]) for day in range(1, 12)}
    with new_memory_store(Settings(sentences=Sentences())) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in texts.items())
        results = [search.versions("plan 2021-03-01.txt", size=3, offset=offset) for offset in (0, 3, 6, 9)]

    assert ["plan 2021-03-11.txt"] * 4 == [each.timeline[-1].name for each in results]
    assert ["plan 2021-03-11.txt"] == [hit.id for hit in results[0].hits][-1:]
    assert 10 == len({hit.id for each in results for hit in each.hits}) == sum(len(each.hits) for each in results)
