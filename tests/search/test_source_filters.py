"""Who may not read a document learns nothing by asking about it: in every store, by every question and every name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simdoc_search import Document, Place, Settings, SimdocError, SimilaritySearch, any_of, none_of
from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, UnknownDocumentError
from simdoc_search.search import SearchResult
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.stores.filters import Filters
from tests.support.stores import NewStore

SETTINGS = Settings(sentences=Sentences(), concepts=Concepts("names"))
BEN: Filters = {"readers": ["ben", "everyone"]}
ANN: Filters = {"readers": any_of("ann", "everyone")}
EVE: Filters = [{"readers": "everyone"}, {"readers": none_of("ann")}]
TEXT = "They met Jason Dufner and Elin Nordegren at Oak Hill. " + " ".join(f"Word{n} follows." for n in range(60))

QUESTIONS: dict[str, Callable[..., Any]] = {
    "similar": SimilaritySearch.similar,
    "bands": lambda search, query, **more: search.similar(query, overlap=0.2, probability=0.8, **more),
    "containment": lambda search, query, **more: search.similar(query, measure="containment", **more),
    "many": lambda search, query, **more: _raised(*search.similar_many([query], **more)),
    "passages": SimilaritySearch.passages,
    "passages of many": lambda search, query, **more: _raised(*search.passages_of_many([query], **more)),
    "versions": SimilaritySearch.versions,
    "related": SimilaritySearch.related,
}


def _raised(answer: Any) -> Any:
    if isinstance(answer, SimdocError):
        raise answer
    return answer


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """Documents of one text, the first two for ann alone."""
    readers = {
        "drafts/merger.txt": ["ann"],
        "drafts/merger_20": ["ann"],
        "sold/merger.txt": ["ben", "everyone"],
        "sold/manual.txt": ["everyone"],
    }
    made = SimilaritySearch(shared_store(SETTINGS))
    assert not made.index(Document(id, TEXT, {"readers": each}) for id, each in readers.items()).failed
    return made


@pytest.fixture(params=QUESTIONS)
def ask(request: pytest.FixtureRequest, search: SimilaritySearch) -> Callable[..., Any]:
    """Asks one of the questions."""
    return lambda query, **more: QUESTIONS[request.param](search, query, **more)


def said(ask: Callable[..., Any], query: Any, filters: Filters) -> str:
    """The message of the error that there is no such document."""
    with pytest.raises(UnknownDocumentError) as caught:
        ask(query, source_filters=filters)
    return str(caught.value)


def test_who_may_read_the_source_gets_an_answer(ask: Callable[..., Any]) -> None:
    """The filters of the source are none of the hits, which have their own."""
    hits = {hit.id for hit in ask("sold/manual.txt", source_filters=BEN).hits}

    assert {"drafts/merger.txt", "drafts/merger_20", "sold/merger.txt"} == hits
    assert {"sold/merger.txt"} == {hit.id for hit in ask("sold/manual.txt", source_filters=BEN, filters=BEN).hits}
    assert hits <= {hit.id for hit in ask("drafts/merger.txt", source_filters=ANN).hits} | {"drafts/merger.txt"}


@pytest.mark.parametrize(
    "query", ["drafts/merger.txt", "./drafts/merger.txt", "drafts/merger", Place("drafts/merger.txt")]
)
def test_a_source_that_may_not_be_read_is_as_if_it_were_not_there(ask: Callable[..., Any], query: Any) -> None:
    """By its id, its path, its name or its place the message is that for what was never there."""
    id = query.id if isinstance(query, Place) else query
    absent = id.replace("drafts", "drifts")
    named = Place(absent) if isinstance(query, Place) else absent
    messages = [said(ask, query, BEN), said(ask, named, BEN).replace("drifts", "drafts")]

    assert messages[0] == messages[1]
    assert "merger_20" not in messages[0].partition(";")[2]
    assert "drafts/merger.txt" not in messages[0].partition(";")[2]


def test_what_may_not_be_read_makes_no_query_ambiguous(search: SimilaritySearch) -> None:
    """Of two documents with a name, or two readings, the one that may be read is meant; for others both are named."""
    assert "sold/merger.txt" == search.similar("merger", source_filters=BEN).query.id
    with pytest.raises(AmbiguousQueryError):
        search.similar("merger", source_filters=ANN)
    with pytest.raises(UnknownDocumentError):
        search.similar("drafts/merger_20", source_filters=EVE)
    assert (
        "drafts/merger_20" == search.similar("drafts/merger_20", source_filters=[{"path": "drafts/merger_"}]).query.id
    )


def test_only_what_may_be_read_is_suggested(search: SimilaritySearch) -> None:
    """And of that the most alike."""
    for filters, expected in ((BEN, ("sold/merger.txt",)), (EVE, ("sold/merger.txt",)), (None, 3)):
        with pytest.raises(UnknownDocumentError) as caught:
            search.similar("merger.txd", source_filters=filters)

        assert expected in (caught.value.suggestions, len(caught.value.suggestions))


def test_one_of_many_that_may_not_be_read_spoils_no_other(search: SimilaritySearch) -> None:
    """It is an error in its place."""
    queries = ["drafts/merger.txt", "sold/manual.txt", "nobody"]
    answers = list(search.similar_many(queries, source_filters=BEN))

    assert [UnknownDocumentError, SearchResult, UnknownDocumentError] == [type(each) for each in answers]


def test_filters_of_the_source_are_filters(search: SimilaritySearch) -> None:
    """What is none is refused at the call; a field that no document has lets nobody read anything."""
    for method in (search.similar, search.passages):
        with pytest.raises(QuerySyntaxError, match="is not a filter"):
            method("sold/manual.txt", source_filters="ben")  # type: ignore[arg-type]
        with pytest.raises(UnknownDocumentError):
            method("sold/manual.txt", source_filters={"reader": "everyone"})
    assert "sold/manual.txt" == search.resolve("manual", source_filters=BEN).id
    with pytest.raises(UnknownDocumentError):
        search.resolve("drafts/merger.txt", source_filters=BEN)
