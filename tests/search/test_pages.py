"""Tests of pages and fields of hits, in every store and for every kind of query."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from tests.support.stores import NewStore

RunQuery = Callable[..., Any]
SETTINGS = Settings(sentences=SentenceSettings(), concepts=ConceptSettings("names"))
FAMILY, SIZE = 8, 3
"""The number of near documents, and a page size that separates pairs of equal documents."""

QUERIES: dict[str, tuple[str, dict[str, Any]]] = {
    "any overlap": ("similar", {}),
    "a threshold": ("similar", {"overlap": 0.2}),
    "bands": ("similar", {"overlap": 0.2, "probability": 0.8}),
    "containment": ("similar", {"measure": "containment"}),
    "passages": ("passages", {}),
    "versions": ("versions", {"use_git": False}),
    "related": ("related", {}),
}


def sentences(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(f"w{rng.randrange(100_000)}" for _ in range(10)).capitalize() + "." for _ in range(count)]


def family() -> Iterator[Document]:
    """Yield a source, pairs of equal documents that share less and less with it, and documents that share nothing."""
    first = sentences(30, 0)
    named = "They met Jason Dufner and Elin Nordegren at Oak Hill."
    yield Document("source", " ".join([*first, named]), {"team": "x", "year": 0})
    for number in range(FAMILY):
        kept = 28 - number // 2
        text = " ".join([*first[:kept], named, *sentences(30 - kept, 1 + number // 2)])
        yield Document(f"near/{number:02}", text, {"team": "x", "year": number})
    for number in range(12):
        text = " ".join(sentences(30, 50 + number))
        yield Document(f"other/{number:02}", f"{text} They met Ann{number} Bo{number}.")


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over the family."""
    search = SimilaritySearch(shared_store(SETTINGS))
    assert not search.index(family()).has_failed
    return search


@pytest.fixture(params=QUERIES)
def run_query(request: pytest.FixtureRequest, search: SimilaritySearch) -> RunQuery:
    """Run one kind of query for the source. A test can add options."""
    method, options = QUERIES[request.param]
    return lambda **more: getattr(search, method)("source", **options, **more)


def value(hit: Any) -> float:
    """The value by which hits are ranked."""
    return float(next(getattr(hit, name) for name in ("overlap", "word_count", "score") if hasattr(hit, name)))


def test_pages_neither_repeat_nor_omit_a_document(run_query: RunQuery) -> None:
    whole = run_query(size=100).hits
    pages = [run_query(size=SIZE, offset=offset).hits for offset in range(0, FAMILY, SIZE)]
    hits = [hit for page in pages for hit in page]

    assert {f"near/{number:02}" for number in range(FAMILY)} == {hit.id for hit in whole}
    assert FAMILY == len(hits)
    assert {hit.key for hit in whole} == {hit.key for hit in hits}
    assert [value(hit) for hit in whole][: SIZE - 1] == [value(hit) for hit in hits][: SIZE - 1]
    assert [] == run_query(size=SIZE, offset=FAMILY).hits
    assert [3, 3, 2] == [len(page) for page in pages]


def test_hits_have_the_requested_fields_and_their_key(run_query: RunQuery) -> None:
    hits = run_query(size=3, offset=2, fields=["year", "team", "none"]).hits

    assert [{"year": int(hit.id[-2:]), "team": "x"} for hit in hits] == [hit.fields for hit in hits]
    assert [{}] * 3 == [hit.fields for hit in run_query(size=3).hits]
    for hit in hits:
        assert (hit.key.id, hit.key.index, hit.key.routing) == (hit.id, hit.index, hit.routing)


def test_results_of_many_queries_and_of_texts_have_pages(search: SimilaritySearch) -> None:
    text = next(family()).text
    queries: list[RunQuery] = [
        lambda **page: [search.similar(text=text, **page)],
        lambda **page: list(search.similar_many(["source", "near/00"], **page)),
    ]
    for run_query in queries:
        for whole, first, second in zip(run_query(size=8), run_query(size=4), run_query(size=4, offset=4), strict=True):
            assert {hit.id for hit in whole} == {hit.id for hit in [*first, *second]}


def test_the_newest_version_is_in_the_timeline_of_every_page(new_memory_store: NewStore) -> None:
    """It is the last hit of the first page if it is not among the best hits, and no later page repeats it."""
    first = sentences(30, 0)
    newest = "plan 2021-03-11.txt"
    with new_memory_store(Settings(sentences=SentenceSettings())) as store:
        search = SimilaritySearch(store)
        search.index(Document(f"plan 2021-03-{day:02}.txt", " ".join(first[: 30 - day])) for day in range(1, 12))
        results = [search.versions("plan 2021-03-01.txt", size=3, offset=offset) for offset in (0, 3, 6, 9)]

    assert [newest] * 4 == [result.timeline[-1].name for result in results]
    assert newest == results[0].hits[-1].id
    assert 10 == len({hit.id for result in results for hit in result}) == sum(len(result) for result in results)
